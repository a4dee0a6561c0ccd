/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl monitor: follows all objects (see follow.h), and reports how each differs from before.
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
#include "follow.h"
#include "monitor-report.h"
#include "names.h"
#include "suggestion.h"

/* How long a batch waits for the other signals of its burst. rdmad has sent them already, so this
 * is only the time that they may need on the bus. */
#define BATCH_USEC (20 * USEC_PER_MSEC)
/* How long one does whose port has another state. StateChanged is still to come, but whoever sends
 * it, or hands it on, may wait for a processor. */
#define STATE_USEC (2 * USEC_PER_SEC)

static char **arg_properties; /* names, with NULL at the end; NULL: all */
static char **arg_exec;	      /* the words of the command; NULL: none */
static bool arg_date, arg_every;

static ExitStatus refuse_property(const char *name)
{
	Suggestion suggestion = suggestion_for(name);

	suggestion_offer_attributes(&suggestion);
	return usage_error("--property: unknown attribute \"%s\"%s", name,
			   suggestion_text(&suggestion));
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
		if (!attr_is_in_signals(row))
			return usage_error("--property: %s changes without a signal", row->name);
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
	Follow follow;

	Object *before; /* the object of the batch as it was before; NULL: there is no batch */
	unsigned int batch_interfaces;
	bool batch_waits; /* for StateChanged */
	sd_event_source *batch_timer;

	Report report;
	ExitStatus status;
} Monitor;

static void monitor_done(Monitor *m)
{
	object_free(m->before);
	follow_done(&m->follow);
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
	m->batch_waits = false;
	sd_event_source_set_enabled(m->batch_timer, SD_EVENT_OFF);
	if (!before)
		return;
	now = object_list_find(&m->follow.objects, before->path);
	if (now)
		report_difference(&m->report, before, now, reason);
}

static int batch_start_timer(Monitor *m, uint64_t usec)
{
	sd_event_source_set_time_relative(m->batch_timer, usec);
	return sd_event_source_set_enabled(m->batch_timer, SD_EVENT_ONESHOT);
}

static bool batch_has_state(const Monitor *m)
{
	const Object *now = object_list_find(&m->follow.objects, m->before->path);

	return now && now->is_port &&
	       !streq(value_text(&m->before->values[PORT_ATTR_state]),
		      value_text(&now->values[PORT_ATTR_state]));
}

static int on_batch_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Monitor *m = userdata;

	if (m->before && !m->batch_waits && batch_has_state(m)) {
		m->batch_waits = true;
		return batch_start_timer(m, STATE_USEC);
	}
	batch_flush(m, NULL);
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
		batch_start_timer(m, BATCH_USEC);
	}
	m->batch_interfaces |= interfaces;
	return 0;
}

static int on_before(void *userdata, const Object *o, unsigned int interfaces)
{
	return batch_add(userdata, o, interfaces);
}

static void on_added(void *userdata, const Object *o)
{
	Monitor *m = userdata;

	batch_flush(m, NULL);
	report_presence(&m->report, o, true);
}

static void on_removed(void *userdata, _unused_ const Object *o)
{
	Monitor *m = userdata;
	/* the object has lost its name with its properties: take the copy, which has it */
	_cleanup_(object_free_pointer) Object *before = steal_pointer(&m->before);

	report_presence(&m->report, before, false);
	batch_flush(m, NULL);
}

static int on_state_changed(Monitor *m, sd_bus_message *signal)
{
	Object *o = object_list_find(&m->follow.objects, sd_bus_message_get_path(signal));
	const Attribute *row = &port_attributes[PORT_ATTR_state];
	const char *is, *was, *reason;
	bool in_batch;
	int r = sd_bus_message_read(signal, "sss", &is, &was, &reason);

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
	Object *o = object_list_find(&m->follow.objects, sd_bus_message_get_path(signal));
	const char *reason;
	int r = sd_bus_message_read(signal, "s", &reason);

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

static int on_signal(void *userdata, sd_bus_message *signal)
{
	if (sd_bus_message_is_signal(signal, RDMAD_INTERFACE_PORT, "StateChanged"))
		return on_state_changed(userdata, signal);
	if (sd_bus_message_is_signal(signal, RDMAD_INTERFACE_PORT, "SubnetReconfigured"))
		return on_subnet_reconfigured(userdata, signal);
	return 0;
}

static void on_read(void *userdata, const ObjectList *was, const ObjectList *is)
{
	Monitor *m = userdata;

	if (was)
		report_all(&m->report, was, is);
	report_name_ports(&m->report, is);
	if (!was)
		report_running(&m->report, is);
}

static void on_daemon(void *userdata, bool runs)
{
	Monitor *m = userdata;

	batch_flush(m, NULL);
	report_daemon(&m->report, runs);
}

static void on_failed(void *userdata, const char *what, const sd_bus_error *error, int r)
{
	(void)give_up(userdata, bus_complain(what, error, r));
}

static const FollowHandlers handlers = {
	.before = on_before,
	.added = on_added,
	.removed = on_removed,
	.signal = on_signal,
	.read = on_read,
	.daemon = on_daemon,
	.failed = on_failed,
};

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
	if (r < 0)
		return r;
	/* End when the reader of a pipe has gone. A file cannot be watched, and does not need it.
	 */
	(void)sd_event_add_io(m->event, NULL, STDOUT_FILENO, EPOLLERR, on_output_closed, m);
	r = sd_bus_attach_event(m->c->bus, m->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return r;
	(void)sd_bus_set_exit_on_disconnect(m->c->bus, true);
	m->follow = (Follow){.bus = m->c->bus, .handlers = &handlers, .userdata = m};
	return follow_start(&m->follow);
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
	return bus_end_loop(c, "cannot watch the ports", r, m.status);
}
