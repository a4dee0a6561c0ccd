/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl history: the last transitions of the state of a port, the oldest first. */

#include <inttypes.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "selection.h"
#include "terminal.h"

typedef struct Transition {
	uint64_t realtime_usec, monotonic_usec;
	const char *from, *to, *reason;
} Transition;

static int read_transition(sd_bus_message *m, Transition *ret)
{
	return sd_bus_message_read(m, "(ttsss)", &ret->realtime_usec, &ret->monotonic_usec,
				   &ret->from, &ret->to, &ret->reason);
}

static void print_line(Context *c, const Transition *t, uint64_t until_usec)
{
	const Value when = {.type = VALUE_UNSIGNED, .number = t->realtime_usec};
	_cleanup_free_ char *text = format_value(&port_attributes[PORT_ATTR_state_change], &when);
	const char *color = terminal_state_color(t->to);
	char duration[DURATION_MAX] = "";

	if (until_usec >= t->monotonic_usec)
		duration_format(until_usec - t->monotonic_usec, duration);
	fprintf(c->out, "%-23s  %-12s  %s%-12s%s  %-13s  %s\n", text ? text : "", t->from,
		terminal_color(c, color), t->to, color ? terminal_plain(c) : "", duration,
		t->reason);
}

/* The time until which the last state has lasted, on the clock of the transitions; 0 if that is the
 * clock of another machine. */
static uint64_t now_usec(const Context *c)
{
	return c->host ? 0 : monotonic_now_usec();
}

static int print_lines(Context *c, sd_bus_message *m)
{
	Transition t, next;
	int r = read_transition(m, &t);

	if (r > 0)
		fprintf(c->out, "%-23s  %-12s  %-12s  %-13s  %s\n", "TIME", "FROM", "TO", "FOR",
			"REASON");
	while (r > 0) {
		r = read_transition(m, &next);
		if (r < 0)
			break;
		print_line(c, &t, r > 0 ? next.monotonic_usec : now_usec(c));
		t = next;
	}
	return r;
}

static int print_json(Context *c, const Object *port, sd_bus_message *m)
{
	Transition t;
	size_t n = 0;
	int r;

	json_begin_port(c->out, port);
	json_key(c->out, "Transitions", false);
	fputc('[', c->out);
	while ((r = read_transition(m, &t)) > 0) {
		fprintf(c->out, "%s\n    {\"Timestamp\": %" PRIu64 ", \"Monotonic\": %" PRIu64,
			n++ > 0 ? "," : "", t.realtime_usec, t.monotonic_usec);
		json_key(c->out, "From", false);
		json_text(c->out, t.from);
		json_key(c->out, "To", false);
		json_text(c->out, t.to);
		json_key(c->out, "Reason", false);
		json_text(c->out, t.reason);
		fputc('}', c->out);
	}
	fputs("\n  ]}", c->out);
	return r;
}

/* Printed beside the transitions, because rdmad keeps only the last of them. */
static void print_link_downs(Context *c, const Object *port)
{
	const Value *n = object_value(port, PORT_ATTR_link_downs);

	if (n && n->type == VALUE_UNSIGNED)
		fprintf(c->out, "The link went down %" PRIu64 " %s since rdmad started.\n",
			n->number, n->number == 1 ? "time" : "times");
}

static ExitStatus print_port(Context *c, _unused_ const Selection *s, const Object *port, size_t n,
			     bool heading)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	char name[96];
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, port->path, RDMAD_INTERFACE_PORT,
				   "GetHistory", &error, &reply, "a{sv}", 0);

	object_name(port, name);
	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', "(ttsss)");
	if (r < 0)
		return bus_complain(name, &error, r);
	if (c->json) {
		json_next(c->out, n);
		r = print_json(c, port, reply);
	} else {
		if (heading)
			fprintf(c->out, "%s%s%s%s\n", n > 0 ? "\n" : "", terminal_color(c, "bold"),
				name, terminal_plain(c));
		r = print_lines(c, reply);
		print_link_downs(c, port);
	}
	return r < 0 ? bus_complain(name, &error, r) : STATUS_OK;
}

ExitStatus history_command(Context *c)
{
	return selection_print(c, print_port);
}
