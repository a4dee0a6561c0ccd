/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl monitor: keeps a copy of every object from the signals, and prints in what it differs
 * from before.
 *
 * rdmad signals one change of a port as a burst: PropertiesChanged for each interface, then
 * StateChanged or SubnetReconfigured, which know the reason. The burst is collected as a batch and
 * compared as a whole, because the reason why a value is unavailable comes with another interface
 * than the value. After a restart of rdmad the difference is that of two snapshots, printed in the
 * same way.
 *
 * One state machine, hence one file.
 */

#include <inttypes.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

#include <systemd/sd-event.h>

#include "bus.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

/* How long a batch waits for the rest of its burst, which is on its way already. */
#define BATCH_USEC (20 * USEC_PER_MSEC)

typedef struct Monitor {
	Context *c;
	sd_event *event;
	ObjectList objects;
	bool started; /* has had its first snapshot */
	bool synced;  /* objects are those of the rdmad that runs; until then its signals are of the
			 past */

	Object *before; /* the object of the batch as it was; NULL: no batch */
	unsigned int batch_interfaces;
	sd_event_source *batch_timer;

	char **paths; /* the ports to watch, all if NULL; by path and by name, as a device may come
			 back with another index */
	char (*names)[96];
	ExitStatus status;
} Monitor;

/* A request for all properties of INTERFACE of PATH. */
typedef struct Refetch {
	Monitor *m;
	char *path;
	const char *interface;
} Refetch;

static void refetch_free(void *p)
{
	Refetch *r = p;

	free(r->path);
	free(r);
}
DEFINE_CLEANUP(Refetch, refetch_free);

static void monitor_done(Monitor *m)
{
	object_free(m->before);
	object_list_done(&m->objects);
	sd_event_source_disable_unref(m->batch_timer);
	if (m->event)
		sd_event_unref(m->event);
	for (unsigned int i = 0; m->paths && i < m->c->n_arguments; i++)
		free(m->paths[i]);
	free(m->paths);
	free(m->names);
}

static int give_up(Monitor *m, ExitStatus status)
{
	m->status = status;
	return sd_event_exit(m->event, 0);
}

static bool is_watched(const Monitor *m, const Object *o)
{
	char name[96];

	if (!m->paths)
		return true;
	if (!o->is_port)
		return false;
	object_name(o, name);
	for (unsigned int i = 0; i < m->c->n_arguments; i++)
		if (streq(m->paths[i], o->path) || streq(m->names[i], name))
			return true;
	return false;
}

/* What happened to an object; what does not apply is NULL. */
typedef struct Event {
	const char *name; /* "changed", ... */
	const Object *object;
	const Attribute *row;
	const Value *old_value, *new_value; /* of ROW, NULL if unavailable */
	const char *absence;		    /* why NEW_VALUE is */
	const char *text;		    /* for people instead of the values */
	const char *reason;
} Event;

static void json_member(FILE *f, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(f, ", \"%s\": ", key);
	json_text(f, text);
}

static void print_json(FILE *f, const Event *e, uint64_t usec)
{
	char name[96];

	fprintf(f, "{\"timestamp\": %" PRIu64, usec);
	json_member(f, "event", e->name);
	if (e->object) {
		json_member(f, e->object->is_port ? "port" : "device",
			    object_name(e->object, name));
		json_member(f, "path", e->object->path);
	}
	if (e->row) {
		json_member(f, "property", e->row->name);
		fputs(", \"old\": ", f);
		json_value(f, e->row->type, e->old_value ? e->old_value : &(Value){});
		fputs(", \"new\": ", f);
		json_value(f, e->row->type, e->new_value ? e->new_value : &(Value){});
		json_member(f, "unavailable", e->absence);
	}
	json_member(f, "reason", e->reason);
	fputs("}\n", f);
}

static void print_side(Context *c, const Attribute *row, const Value *v)
{
	_cleanup_free_ char *text = v ? format_value(row, v) : NULL;
	const char *color =
		v && row->type == ATTR_PORT_STATE ? terminal_state_color(value_text(v)) : NULL;

	if (v && v->type == VALUE_ARRAY)
		fprintf(c->out, "%zu %s", v->n, v->n == 1 ? "entry" : "entries");
	else if (v)
		fprintf(c->out, "%s%s%s", terminal_color(c, color), text ? text : "",
			color ? terminal_plain(c) : "");
	else
		fputs("unavailable", c->out);
}

static void print_text(Context *c, const Event *e, uint64_t usec)
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	char clock[16] = "", name[96];
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(c->out, "%s.%03u %s%s%s", clock,
		(unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC), terminal_color(c, "bold"),
		e->object ? object_name(e->object, name) : "rdmad", terminal_plain(c));
	if (e->row)
		fprintf(c->out, " %s", e->row->name);
	if (e->text) {
		fprintf(c->out, " %s", e->text);
	} else {
		fputc(' ', c->out);
		print_side(c, e->row, e->old_value);
		fputs(" -> ", c->out);
		print_side(c, e->row, e->new_value);
	}
	if (e->reason)
		fprintf(c->out, " (%s)", e->reason);
	fputc('\n', c->out);
}

static void print_event(Monitor *m, const Event *e)
{
	struct timespec now;
	uint64_t usec;

	clock_gettime(CLOCK_REALTIME, &now);
	usec = (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / 1000;
	if (m->c->json)
		print_json(m->c->out, e, usec);
	else
		print_text(m->c, e, usec);
	/* The reader waits for this line; and when it has gone there is nothing left to do. */
	if (fflush(m->c->out) < 0)
		(void)give_up(m, STATUS_OK);
}

static bool array_has(const Value *array, const Value *item)
{
	for (size_t i = 0; i < array->n; i++)
		if (value_equal(&array->items[i], item))
			return true;
	return false;
}

/* An entry as text. Where it has an IP address, that says all that its GID does, in less. */
static char *format_short_entry(AttrType type, const Value *entry)
{
	const char *const *columns = format_table_columns(type);
	_cleanup_value_ Value copy = {};
	bool has_address = false;

	if (entry->type != VALUE_STRUCT || type != ATTR_GIDS || value_copy(entry, &copy) < 0)
		return format_entry(entry);
	for (size_t i = 0; columns[i] && i < copy.n; i++)
		has_address |= streq(columns[i], "address") && *value_text(&copy.items[i]);
	for (size_t i = 0; has_address && columns[i] && i < copy.n; i++)
		if (streq(columns[i], "gid") && copy.items[i].type == VALUE_TEXT)
			copy.items[i].text[0] = '\0';
	return format_entry(&copy);
}

/* A line for each entry of A that is not in B, with SIGN. */
static void print_entries(Monitor *m, const Event *e, const Value *a, const Value *b, char sign)
{
	for (size_t i = 0; i < a->n; i++) {
		_cleanup_free_ char *entry = NULL, *text = NULL;
		Event line = *e;

		if (array_has(b, &a->items[i]))
			continue;
		entry = format_short_entry(e->row->type, &a->items[i]);
		if (!entry || asprintf(&text, "%c %s", sign, entry) < 0)
			continue;
		line.text = text;
		print_event(m, &line);
	}
}

static void print_change(Monitor *m, const Event *e)
{
	const Value *was = e->old_value, *is = e->new_value;

	/* Nobody can compare two GID tables by eye. */
	if (!m->c->json && was && is && was->type == VALUE_ARRAY && is->type == VALUE_ARRAY) {
		print_entries(m, e, was, is, '-');
		print_entries(m, e, is, was, '+');
	} else {
		print_event(m, e);
	}
}

/* Rows that change with every change, and say nothing beside it: the generations and the time of
 * the last query. */
static bool is_bookkeeping(const Attribute *a)
{
	return a->class == CLASS_COUNTER || a->type == ATTR_UNAVAILABLE ||
	       (a->source == SOURCE_CORE && a->type == ATTR_U64);
}

static void print_difference(Monitor *m, const Object *was, const Object *is, const char *reason)
{
	if (!is_watched(m, is) && !is_watched(m, was))
		return;
	for (size_t i = 0; i < is->n_rows; i++) {
		Event e = {
			.name = "changed",
			.object = is,
			.row = &is->rows[i],
			.old_value = object_value(was, i),
			.new_value = object_value(is, i),
			.absence = object_has(is, i) ? object_unavailable(is, i) : NULL,
			.reason = reason,
		};

		if (is_bookkeeping(e.row) || (!e.old_value && !e.new_value) ||
		    (e.old_value && e.new_value && value_equal(e.old_value, e.new_value)))
			continue;
		print_change(m, &e);
	}
}

static void print_presence(Monitor *m, const Object *o, bool added)
{
	const Value *state = o->is_port && added ? object_value(o, PORT_ATTR_state) : NULL;
	_cleanup_free_ char *text = NULL;
	const char *name = added ? "added" : "removed";

	if (!is_watched(m, o))
		return;
	if (state && asprintf(&text, "added, %s", value_text(state)) < 0)
		return;
	print_event(m, &(Event){.name = name, .object = o, .text = text ? text : name});
}

/* Whoever started monitor may make changes from here on and will see them. */
static void print_running(Monitor *m)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < m->objects.n; i++)
		n += m->objects.items[i]->is_port && is_watched(m, m->objects.items[i]);
	if (asprintf(&text, "running, %zu %s watched", n, n == 1 ? "port" : "ports") >= 0)
		print_event(m, &(Event){.name = "daemon-running", .text = text});
}

static void print_daemon(Monitor *m, bool started)
{
	print_event(m, &(Event){.name = started ? "daemon-started" : "daemon-stopped",
				.text = started ? "started" : "stopped"});
}

/* Prints what the batch changed, for REASON if one is known, and ends it. */
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
		print_difference(m, before, now, reason);
}

static int on_batch_timer(sd_event_source *s _unused_, uint64_t usec _unused_, void *userdata)
{
	batch_flush(userdata, NULL);
	return 0;
}

/* To be called before O is changed by news about INTERFACES. The same interface a second time is
 * the next burst. */
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

static int on_refetched(sd_bus_message *reply, void *userdata, sd_bus_error *error _unused_)
{
	Refetch *refetch = userdata;
	Object *o = object_list_find(&refetch->m->objects, refetch->path);
	AttrInterface interface;
	int r;

	/* Both happen when the object goes away in between; its signal says so. */
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
	print_presence(m, steal_pointer(&added), true);
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
	/* the name is gone with the properties, but not from the copy */
	print_presence(m, m->before, false);
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
	/* A transition that was over before the properties could show it. */
	if (!in_batch && is_watched(m, o)) {
		Value old_value = {.type = VALUE_TEXT, .text = CONST_CAST(char *, was)};
		Value new_value = {.type = VALUE_TEXT, .text = CONST_CAST(char *, is)};

		print_event(m, &(Event){.name = "changed",
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
	if (is_watched(m, o))
		print_event(m, &(Event){.name = "subnet-reconfigured",
					.object = o,
					.text = "subnet reconfigured",
					.reason = reason});
	return 0;
}

static int on_signal(sd_bus_message *signal, void *userdata, sd_bus_error *error _unused_)
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

/* The difference between what was known and a fresh snapshot. */
static void print_news(Monitor *m, const ObjectList *fresh)
{
	for (size_t i = 0; i < m->objects.n; i++)
		if (!object_list_find(fresh, m->objects.items[i]->path))
			print_presence(m, m->objects.items[i], false);
	for (size_t i = 0; i < fresh->n; i++) {
		const Object *was = object_list_find(&m->objects, fresh->items[i]->path);

		if (was)
			print_difference(m, was, fresh->items[i], NULL);
		else
			print_presence(m, fresh->items[i], true);
	}
}

static int name_watched_ports(Monitor *m)
{
	m->names = calloc(m->c->n_arguments, sizeof(*m->names));
	if (!m->names)
		return -ENOMEM;
	for (unsigned int i = 0; i < m->c->n_arguments; i++) {
		const Object *o = object_list_find(&m->objects, m->paths[i]);

		if (o)
			object_name(o, m->names[i]);
	}
	return 0;
}

static int on_snapshot(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error _unused_)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	_cleanup_objects_ ObjectList fresh = {};
	Monitor *m = userdata;
	bool first = !m->started;
	int r;

	/* rdmad went away again: its return starts another */
	if (error && !first)
		return 0;
	if (error)
		return give_up(m, bus_complain("cannot read the ports", error, -EIO));
	r = object_list_read(&fresh, reply);
	if (r < 0)
		return give_up(m, bus_complain("cannot read the ports", NULL, r));
	if (!first)
		print_news(m, &fresh);
	object_list_done(&m->objects);
	m->objects = fresh;
	fresh = (ObjectList){};
	m->started = true;
	m->synced = true;
	if (m->paths && !m->names && name_watched_ports(m) < 0)
		return give_up(m, out_of_memory());
	if (first)
		print_running(m);
	return 0;
}

static int request_snapshot(Monitor *m)
{
	return sd_bus_call_method_async(m->c->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					"org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
					on_snapshot, m, NULL);
}

static int on_name_owner_changed(sd_bus_message *signal, void *userdata,
				 sd_bus_error *error _unused_)
{
	const char *name, *was, *is;
	Monitor *m = userdata;
	int r;

	r = sd_bus_message_read(signal, "sss", &name, &was, &is);
	/* before the first snapshot: rdmad being started for us */
	if (r < 0 || !m->started)
		return 0;
	batch_flush(m, NULL);
	if (*was)
		print_daemon(m, false);
	m->synced = false;
	if (!*is)
		return 0;
	print_daemon(m, true);
	r = request_snapshot(m);
	return r < 0 ? give_up(m, bus_complain("cannot read the ports", NULL, r)) : 0;
}

static int on_output_closed(sd_event_source *s _unused_, int fd _unused_, uint32_t events _unused_,
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
	sigprocmask(SIG_BLOCK, &signals, NULL);
	r = sd_event_new(&m->event);
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
	/* A pipe whose reader has gone reports an error without being asked; a file cannot be
	 * watched and needs not. */
	r = sd_event_add_io(m->event, NULL, STDOUT_FILENO, EPOLLERR, on_output_closed, m);
	if (r < 0 && r != -EPERM)
		return r;
	r = sd_bus_attach_event(m->c->bus, m->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return r;
	(void)sd_bus_set_exit_on_disconnect(m->c->bus, true);

	/* Listen first, then look. */
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
	_cleanup_(monitor_done) Monitor m = {.c = c};
	ExitStatus status;
	int r;

	if (c->n_arguments > 0) {
		m.paths = calloc(c->n_arguments, sizeof(*m.paths));
		if (!m.paths)
			return out_of_memory();
	}
	for (unsigned int i = 0; i < c->n_arguments; i++) {
		status = bus_find_port(c->bus, c->arguments[i], &m.paths[i]);
		if (status != STATUS_OK)
			return status;
	}
	r = start(&m);
	if (r >= 0)
		r = sd_event_loop(m.event);
	sd_bus_detach_event(c->bus);
	if (r < 0)
		return bus_complain("cannot watch the ports", NULL, r);
	/* what exit_on_disconnect ends the loop with */
	if (r == EXIT_FAILURE) {
		complain("the connection to the bus is lost");
		return STATUS_FAILED;
	}
	return m.status;
}
