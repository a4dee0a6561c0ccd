/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl history: the last transitions of the state of a port, the oldest first. */

#include <inttypes.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
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

static int print_json(Context *c, sd_bus_message *m)
{
	const char *separator = "\n";
	Transition t;
	int r;

	fputc('[', c->out);
	while ((r = read_transition(m, &t)) > 0) {
		fprintf(c->out, "%s  {\"Timestamp\": %" PRIu64 ", \"Monotonic\": %" PRIu64,
			separator, t.realtime_usec, t.monotonic_usec);
		fputs(", \"From\": ", c->out);
		json_text(c->out, t.from);
		fputs(", \"To\": ", c->out);
		json_text(c->out, t.to);
		fputs(", \"Reason\": ", c->out);
		json_text(c->out, t.reason);
		fputc('}', c->out);
		separator = ",\n";
	}
	fputs("\n]\n", c->out);
	return r;
}

/* Printed beside the transitions, because rdmad keeps only the last of them. */
static int print_link_downs(Context *c, const char *path, sd_bus_error *error)
{
	uint64_t n;
	int r = sd_bus_get_property_trivial(c->bus, RDMAD_BUS_NAME, path, RDMAD_INTERFACE_PORT,
					    port_attributes[PORT_ATTR_link_downs].name, error, 't',
					    &n);

	if (r >= 0)
		fprintf(c->out, "The link went down %" PRIu64 " %s since rdmad started.\n", n,
			n == 1 ? "time" : "times");
	return r;
}

ExitStatus history_command(Context *c)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_free_ char *path = NULL;
	ExitStatus status = bus_find_port(c->bus, c->arguments[0], &path);
	int r;

	if (status != STATUS_OK)
		return status;
	r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, path, RDMAD_INTERFACE_PORT, "GetHistory",
			       &error, &reply, "a{sv}", 0);
	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', "(ttsss)");
	if (r >= 0)
		r = c->json ? print_json(c, reply) : print_lines(c, reply);
	if (r >= 0 && !c->json)
		r = print_link_downs(c, path, &error);
	return r < 0 ? bus_complain(c->arguments[0], &error, r) : STATUS_OK;
}
