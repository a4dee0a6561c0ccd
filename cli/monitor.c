/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl monitor: keeps a copy of every object, changes it as the signals say, and reports how it
 * differs from before.
 *
 * rdmad sends one change of a port as a burst of signals: PropertiesChanged for each interface,
 * then StateChanged or SubnetReconfigured, which have the reason. The signals of a burst are
 * collected in a batch, and the object after the batch is compared with the object before it. (One
 * signal alone is not enough: a value and the reason why it is unavailable can be on two
 * interfaces.)
 *
 * After a restart of rdmad, all objects are read again and compared with the copies.
 */

#include <signal.h>
#include <sys/epoll.h>

#include <systemd/sd-event.h>

#include "bus.h"
#include "commands.h"
#include "monitor-report.h"
#include "names.h"
#include "suggestion.h"

/* How long a batch waits for the other signals of its burst. rdmad has sent them already, so this
 * is only the time that they may need on the bus. */
#define BATCH_USEC (20 * USEC_PER_MSEC)

static char **arg_properties; /* names, with NULL at the end; NULL: all */
static char **arg_exec;	      /* the words of the command; NULL: none */
static bool arg_date, arg_every;

static ExitStatus refuse_property(const char *name)
{
	Suggestion suggestion = suggestion_for(name);

	suggestion_offer_attributes(&suggestion);
	complain("--property: unknown attribute \"%s\"%s", name, suggestion_text(&suggestion));
	return STATUS_USAGE;
}

static ExitStatus parse_properties(_unused_ const Option *o, const char *argument)
{
	_cleanup_free_ char *copy = strdup(argument);
	char *rest = copy, *name;
	size_t n = 0;

	free(arg_properties);
	arg_properties = calloc(strlen(argument) + 2, sizeof(*arg_properties));
	if (!copy || !arg_properties)
		return out_of_memory();
	while ((name = strsep(&rest, ","))) {
		bool of_device;
		const Attribute *row = object_find_row(name, &of_device);

		if (!row)
			return refuse_property(name);
		if (!attr_is_in_signals(row)) {
			complain("--property: %s changes without a signal", row->name);
			return STATUS_USAGE;
		}
		arg_properties[n++] = CONST_CAST(char *, row->name);
	}
	return STATUS_OK;
}

static ExitStatus parse_exec(const Option *o, const char *argument)
{
	char **words;
	int r = exec_split(argument, &words);

	if (r >= 0) {
		exec_words_free(arg_exec);
		arg_exec = words;
	}
	return r == -ENOMEM ? out_of_memory() : r < 0 ? option_refuse(o, argument) : STATUS_OK;
}

/* clang-format off */
const Option monitor_options[] = {
	{"property", 0, "ATTRIBUTE,...", "Print changes of these attributes only",        parse_properties, NULL,       NULL, 0},
	{"every",    0, NULL,            "Print what changes because a link went down too", option_set,     &arg_every, NULL, 0},
	{"date",     0, NULL,            "Print the date in each line",                   option_set,       &arg_date,  NULL, 0},
	{"exec",     0, "PROGRAM",       "Run a command for each change",                 parse_exec,       NULL,       "a program and its arguments", 0},
	{},
};
/* clang-format on */

typedef struct Monitor {
	Context *c;
	sd_event *event;
	ObjectList objects;
	bool started; /* all objects were read once */
	bool synced;  /* all objects were read from the rdmad that runs now; before that its signals
			 are ignored, because what they say is read anyway */

	Object *before; /* the object of the batch as it was before; NULL: there is no batch */
	unsigned int batch_interfaces;
	sd_event_source *batch_timer;

	Report report;
	ExitStatus status;
} Monitor;

/* A call that reads all properties of INTERFACE of the object at PATH anew. */
typedef struct Refetch {
	Monitor *m;
	char *path;
	const char *interface;
} Refetch;

static void refetch_free(void *p)
{
	Refetch *r = p;

	if (!r)
		return;
	free(r->path);
	free(r);
}
DEFINE_CLEANUP(Refetch, refetch_free);

static void monitor_done(Monitor *m)
{
	object_free(m->before);
	object_list_done(&m->objects);
	sd_event_source_disable_unref(m->batch_timer);
	report_done(&m->report);
	if (m->event)
		sd_event_unref(m->event);
}

static int give_up(Monitor *m, ExitStatus status)
{
	m->status = status;
	return sd_event_exit(m->event, 0);
}

/* Ends the batch and reports what it changed. REASON is NULL if it is not known. */
static void batch_flush(Monitor *m, const char *reason)
{
	_cleanup_(object_free_pointer) Object *before = steal_pointer(&m->before);
	const Object *now;

	m->batch_interfaces = 0;
	sd_event_source_set_enabled(m->batch_timer, SD_EVENT_OFF);
	if (!before)
		return;
	now = object_list_find(&m->objects, before->path);
	if (now)
		report_difference(&m->report, before, now, reason);
}

static int on_batch_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	batch_flush(userdata, NULL);
	return 0;
}

/* Adds a signal about INTERFACES of O to the batch; call it before O is changed. A signal about
 * another object, or about an interface that the batch has already, belongs to the next burst and
 * begins a new batch. */
static int batch_add(Monitor *m, const Object *o, unsigned int interfaces)
{
	if (m->before && (!streq(m->before->path, o->path) || (m->batch_interfaces & interfaces)))
		batch_flush(m, NULL);
	if (!m->before) {
		m->before = object_copy(o);
		if (!m->before)
			return -ENOMEM;
		sd_event_source_set_time_relative(m->batch_timer, BATCH_USEC);
		sd_event_source_set_enabled(m->batch_timer, SD_EVENT_ONESHOT);
	}
	m->batch_interfaces |= interfaces;
	return 0;
}

static int on_refetched(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *error)
{
	Refetch *refetch = userdata;
	Object *o = object_list_find(&refetch->m->objects, refetch->path);
	AttrInterface interface;
	int r;

	/* The object has gone while the call was under way. A signal says that too. */
	if (!o || sd_bus_message_is_method_error(reply, NULL))
		return 0;
	r = object_interface(refetch->interface, &interface);
	if (r >= 0)
		r = batch_add(refetch->m, o, 1U << interface);
	return r < 0 ? r : object_read_properties(o, refetch->interface, reply);
}

static int refetch_interface(Monitor *m, const char *path, AttrInterface interface)
{
	_cleanup_(refetch_free_pointer) Refetch *refetch = calloc(1, sizeof(*refetch));
	sd_bus_slot *slot;
	int r;

	if (!refetch)
		return -ENOMEM;
	*refetch = (Refetch){
		.m = m, .path = strdup(path), .interface = attr_interface_name(interface)};
	if (!refetch->path)
		return -ENOMEM;
	r = sd_bus_call_method_async(m->c->bus, &slot, RDMAD_BUS_NAME, path,
				     "org.freedesktop.DBus.Properties", "GetAll", on_refetched,
				     refetch, "s", refetch->interface);
	if (r < 0)
		return r;
	sd_bus_slot_set_destroy_callback(slot, refetch_free);
	refetch = NULL;
	sd_bus_slot_set_floating(slot, true);
	sd_bus_slot_unref(slot);
	return 0;
}

static int on_properties_changed(Monitor *m, sd_bus_message *signal)
{
	Object *o = object_list_find(&m->objects, sd_bus_message_get_path(signal));
	AttrInterface interface;
	const char *name;
	int r;

	r = sd_bus_message_read_basic(signal, 's', &name);
	if (r < 0 || !o || object_interface(name, &interface) < 0)
		return r;
	r = batch_add(m, o, 1U << interface);
	if (r >= 0)
		r = object_read_properties(o, name, signal);
	if (r >= 0)
		r = sd_bus_message_enter_container(signal, 'a', "s");
	if (r > 0 && sd_bus_message_at_end(signal, false) == 0)
		r = refetch_interface(m, o->path, interface);
	return r;
}

static int on_interfaces_added(Monitor *m, sd_bus_message *signal)
{
	_cleanup_(object_free_pointer) Object *added = NULL;
	Object *o;
	const char *path;
	int r;

	r = sd_bus_message_read_basic(signal, 'o', &path);
	if (r < 0)
		return r;
	o = object_list_find(&m->objects, path);
	if (o) {
		r = batch_add(m, o, 0);
		return r < 0 ? r : object_read_interfaces(o, signal);
	}
	r = object_new(path, &added);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	r = object_read_interfaces(added, signal);
	if (r < 0 || added->interfaces == 0)
		return r;
	r = object_list_put(&m->objects, added);
	if (r < 0)
		return r;
	batch_flush(m, NULL);
	report_presence(&m->report, steal_pointer(&added), true);
	return 0;
}

static int on_interfaces_removed(Monitor *m, sd_bus_message *signal)
{
	const char *path, *interface;
	Object *o;
	int r;

	r = sd_bus_message_read_basic(signal, 'o', &path);
	if (r < 0)
		return r;
	o = object_list_find(&m->objects, path);
	if (!o)
		return 0;
	r = batch_add(m, o, 0);
	if (r >= 0)
		r = sd_bus_message_enter_container(signal, 'a', "s");
	while (r > 0 && (r = sd_bus_message_read_basic(signal, 's', &interface)) > 0)
		object_remove_interface(o, interface);
	if (r < 0 || o->interfaces != 0)
		return r;
	/* the object has lost its name with its properties: take the copy, which has it */
	report_presence(&m->report, m->before, false);
	object_list_remove(&m->objects, path);
	batch_flush(m, NULL);
	return 0;
}

static int on_state_changed(Monitor *m, sd_bus_message *signal)
{
	Object *o = object_list_find(&m->objects, sd_bus_message_get_path(signal));
	const Attribute *row = &port_attributes[PORT_ATTR_state];
	const char *is, *was, *reason;
	bool in_batch;
	int r;

	r = sd_bus_message_read(signal, "sss", &is, &was, &reason);
	if (r < 0 || !o || !o->is_port)
		return r;
	in_batch = m->before && streq(m->before->path, o->path);
	if (in_batch) {
		in_batch = streq(value_text(&m->before->values[PORT_ATTR_state]), was) &&
			   streq(value_text(&o->values[PORT_ATTR_state]), is);
		batch_flush(m, reason);
	}
	/* The properties do not show this transition, because it was over too soon. */
	if (!in_batch && report_is_watched(&m->report, o) && report_has_property(&m->report, row)) {
		Value old_value = {.type = VALUE_TEXT, .text = CONST_CAST(char *, was)};
		Value new_value = {.type = VALUE_TEXT, .text = CONST_CAST(char *, is)};

		report_news(&m->report, &(News){.name = "changed",
						.object = o,
						.row = row,
						.old_value = &old_value,
						.new_value = &new_value,
						.reason = reason});
	}
	return 0;
}

static int on_subnet_reconfigured(Monitor *m, sd_bus_message *signal)
{
	Object *o = object_list_find(&m->objects, sd_bus_message_get_path(signal));
	const char *reason;
	int r;

	r = sd_bus_message_read(signal, "s", &reason);
	if (r < 0 || !o)
		return r;
	batch_flush(m, m->before && streq(m->before->path, o->path) ? reason : NULL);
	if (report_is_watched(&m->report, o) && !m->report.properties)
		report_news(&m->report, &(News){.name = "subnet-reconfigured",
						.object = o,
						.text = "subnet reconfigured",
						.reason = reason});
	return 0;
}

static int on_signal(sd_bus_message *signal, void *userdata, _unused_ sd_bus_error *error)
{
	static const struct {
		const char *interface, *member;
		int (*handle)(Monitor *m, sd_bus_message *signal);
	} signals[] = {
		{"org.freedesktop.DBus.Properties", "PropertiesChanged", on_properties_changed},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesAdded", on_interfaces_added},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", on_interfaces_removed},
		{RDMAD_INTERFACE_PORT, "StateChanged", on_state_changed},
		{RDMAD_INTERFACE_PORT, "SubnetReconfigured", on_subnet_reconfigured},
	};
	Monitor *m = userdata;
	int r;

	if (!m->synced)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (!sd_bus_message_is_signal(signal, signals[i].interface, signals[i].member))
			continue;
		r = signals[i].handle(m, signal);
		if (r < 0)
			return give_up(m, bus_complain(signals[i].member, NULL, r));
	}
	return 0;
}

static int on_snapshot(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	_cleanup_objects_ ObjectList fresh = {};
	Monitor *m = userdata;
	bool first = !m->started;
	int r;

	/* rdmad has gone again: when it comes back, it is asked again */
	if (error && !first)
		return 0;
	if (error)
		return give_up(m, bus_complain("cannot read the ports", error, -EIO));
	r = object_list_read(&fresh, reply);
	if (r < 0)
		return give_up(m, bus_complain("cannot read the ports", NULL, r));
	if (!first)
		report_all(&m->report, &m->objects, &fresh);
	object_list_done(&m->objects);
	m->objects = fresh;
	fresh = (ObjectList){};
	m->started = true;
	m->synced = true;
	report_name_ports(&m->report, &m->objects);
	if (first)
		report_running(&m->report, &m->objects);
	return 0;
}

static int request_snapshot(Monitor *m)
{
	return sd_bus_call_method_async(m->c->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					"org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
					on_snapshot, m, NULL);
}

static int on_name_owner_changed(sd_bus_message *signal, void *userdata,
				 _unused_ sd_bus_error *error)
{
	const char *name, *was, *is;
	Monitor *m = userdata;
	int r;

	r = sd_bus_message_read(signal, "sss", &name, &was, &is);
	/* before the first answer: the bus has started rdmad for our call */
	if (r < 0 || !m->started)
		return 0;
	batch_flush(m, NULL);
	if (*was)
		report_daemon(&m->report, false);
	m->synced = false;
	if (!*is)
		return 0;
	report_daemon(&m->report, true);
	r = request_snapshot(m);
	return r < 0 ? give_up(m, bus_complain("cannot read the ports", NULL, r)) : 0;
}

static int on_output_closed(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
			    void *userdata)
{
	return give_up(userdata, STATUS_OK);
}

static int start(Monitor *m)
{
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	r = sd_event_new(&m->event);
	m->report.event = m->event;
	if (r >= 0 && arg_exec) {
		m->report.exec = exec_new(m->event, arg_exec);
		r = m->report.exec ? 0 : -ENOMEM;
	}
	if (r >= 0)
		r = sd_event_add_signal(m->event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(m->event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_time_relative(m->event, &m->batch_timer, CLOCK_MONOTONIC, 0, 1000,
					       on_batch_timer, m);
	if (r >= 0)
		r = sd_event_source_set_enabled(m->batch_timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	/* End when the reader of a pipe has gone. -EPERM: the output is a file, which cannot be
	 * watched and does not need it. */
	r = sd_event_add_io(m->event, NULL, STDOUT_FILENO, EPOLLERR, on_output_closed, m);
	if (r < 0 && r != -EPERM)
		return r;
	r = sd_bus_attach_event(m->c->bus, m->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return r;
	(void)sd_bus_set_exit_on_disconnect(m->c->bus, true);

	/* Subscribe first and read afterwards, so that no change is missed. */
	r = sd_bus_add_match(m->c->bus, NULL,
			     "type='signal',sender='org.freedesktop.DBus',"
			     "member='NameOwnerChanged',arg0='" RDMAD_BUS_NAME "'",
			     on_name_owner_changed, m);
	if (r >= 0)
		r = sd_bus_add_match(m->c->bus, NULL,
				     "type='signal',sender='" RDMAD_BUS_NAME
				     "',path_namespace='" RDMAD_ROOT_PATH "'",
				     on_signal, m);
	return r < 0 ? r : request_snapshot(m);
}

ExitStatus monitor_command(Context *c)
{
	_cleanup_(monitor_done) Monitor m = {
		.c = c,
		.report = {.c = c,
			   .properties = (const char *const *)arg_properties,
			   /* a program that reads JSON is told of each change */
			   .fold = !arg_every && !arg_properties && !c->json,
			   /* who reads a file later does not know which day it was */
			   .date.always = arg_date || !isatty(STDOUT_FILENO)},
	};
	ExitStatus status = report_choose_ports(&m.report);
	int r;

	if (status != STATUS_OK)
		return status;
	r = start(&m);
	if (r >= 0)
		r = sd_event_loop(m.event);
	sd_bus_detach_event(c->bus);
	if (r < 0)
		return bus_complain("cannot watch the ports", NULL, r);
	/* sd_bus_set_exit_on_disconnect() has ended the loop */
	if (r == EXIT_FAILURE) {
		complain("the connection to the bus is lost");
		return STATUS_FAILED;
	}
	return m.status;
}
