/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl counters: the counters of a port. */

#include <inttypes.h>

#include "bus.h"
#include "commands.h"
#include "counters-sample.h"
#include "counters-watch.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "parse.h"
#include "selection.h"
#include "terminal.h"

static uint64_t arg_watch_usec; /* 0: once */

static ExitStatus parse_watch(const Option *o, const char *argument)
{
	uint64_t usec;

	/* rdmad reads counters once a second at most; for less than once a day there is cron(8) */
	if (!parse_seconds(argument, &usec) || usec < USEC_PER_SEC ||
	    usec > UINT64_C(86400) * USEC_PER_SEC)
		return option_refuse(o, argument);
	*(uint64_t *)o->value = usec;
	return STATUS_OK;
}

/* clang-format off */
const Option counters_options[] = {
	{"watch", 0, "SEC", "Print changes per second, at this interval", parse_watch, &arg_watch_usec, "seconds from 1 to 86400", RUN_ENDLESS},
	{},
};
/* clang-format on */

static int add_line(const Context *c, struct libscols_table *table, const Value *counter)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	bool missing = counter_is(counter, "missing");
	_cleanup_free_ char *value = NULL, *note = NULL;
	int r;

	if (!line || asprintf(&value, "%" PRIu64, counter_value(counter)) < 0 ||
	    asprintf(&note, "%s%s%s%s", counter_is(counter, "valid") ? "" : "(",
		     counter_is(counter, "valid") ? "" : counter_member(counter, MEMBER_CONDITION),
		     missing ? ": " : "", counter_member(counter, MEMBER_REASON)) < 0)
		return -ENOMEM;
	r = scols_line_set_data(line, 0, counter_member(counter, MEMBER_NAME));
	if (r == 0)
		r = scols_line_set_data(line, 1, missing ? "-" : value);
	if (r == 0)
		r = scols_line_set_data(line, 2, counter_member(counter, MEMBER_UNIT));
	if (r == 0 && *note) {
		size_t n = strlen(note);

		value = realloc(value, n + 2);
		if (!value)
			return -ENOMEM;
		snprintf(value, n + 2, "%s)", note);
		r = scols_line_set_data(line, 3, value);
	}
	if (r == 0 && !counter_is(counter, "valid"))
		r = scols_line_set_color(line, terminal_color(c, missing ? "dim" : "yellow"));
	return r;
}

static struct libscols_table *new_table(const Context *c)
{
	static const struct {
		const char *heading;
		int flags;
	} columns[] = {{"NAME", 0}, {"VALUE", SCOLS_FL_RIGHT}, {"UNIT", SCOLS_FL_TRUNC}, {"", 0}};
	struct libscols_table *table = terminal_table(c);

	for (size_t i = 0; table && i < ARRAY_SIZE(columns); i++)
		if (!scols_table_new_column(table, columns[i].heading, 0, columns[i].flags)) {
			scols_unref_table(table);
			return NULL;
		}
	return table;
}

static ExitStatus print_group(const Context *c, const Sample *s, size_t first)
{
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table = new_table(c);
	size_t i = first;

	if (!table)
		return out_of_memory();
	do
		if (add_line(c, table, &s->counters.items[i]) < 0)
			return out_of_memory();
	while (++i < s->counters.n && !sample_starts_group(s, i));
	fprintf(c->out, "\n%s%s%s\n", terminal_color(c, "bold"),
		counter_member(&s->counters.items[first], MEMBER_GROUP), terminal_plain(c));
	return terminal_print_table(c, table, 2);
}

static ExitStatus print_sample(const Context *c, const char *name, const Sample *s)
{
	const Attribute timestamp = {.unit = UNIT_TIMESTAMP};
	const Value usec = {.type = VALUE_UNSIGNED, .number = s->realtime_usec};
	_cleanup_free_ char *when = format_value(&timestamp, &usec);
	ExitStatus status = STATUS_OK;

	if (!when)
		return out_of_memory();
	fprintf(c->out, "%s%s%s at %s\n", terminal_color(c, "bold"), name, terminal_plain(c), when);
	if (s->counters.n == 0)
		fputs("No counters.\n", c->out);
	for (size_t i = 0; status == STATUS_OK && i < s->counters.n; i++)
		if (sample_starts_group(s, i))
			status = print_group(c, s, i);
	return status;
}

static void print_sample_json(const Context *c, const Object *port, const Sample *s)
{
	static const char *const keys[] = {"Group", "Name", "Value", "Unit", "Condition", "Reason"};
	FILE *f = c->out;

	json_begin_port(f, port);
	json_key(f, "Timestamp", false);
	fprintf(f, "%" PRIu64, s->realtime_usec);
	json_key(f, "Counters", false);
	fputc('[', f);
	for (size_t i = 0; i < s->counters.n; i++) {
		const Value *counter = &s->counters.items[i];
		bool missing = counter_is(counter, "missing");

		fprintf(f, "%s\n    {", i > 0 ? "," : "");
		for (unsigned int m = 0; m <= (missing ? MEMBER_REASON : MEMBER_CONDITION); m++) {
			json_key(f, keys[m], m == 0);
			json_value(f, ATTR_U64,
				   missing && m == MEMBER_VALUE ? &(Value){} : &counter->items[m]);
		}
		fputc('}', f);
	}
	fputs("\n  ]}", f);
}

static ExitStatus print_port(Context *c, _unused_ const Selection *s, const Object *port, size_t n,
			     _unused_ bool heading)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sample_done) Sample sample = {};
	char name[96];
	int r = sample_read(c, port->path, &sample, &error);

	object_name(port, name);
	if (r < 0)
		return bus_complain(name, &error, r);
	if (!c->json) {
		fputs(n > 0 ? "\n" : "", c->out);
		return print_sample(c, name, &sample);
	}
	json_next(c->out, n);
	print_sample_json(c, port, &sample);
	return STATUS_OK;
}

static ExitStatus watch(Context *c)
{
	_cleanup_selection_ Selection s = {};
	ExitStatus status = selection_read(c, false, &s);
	char name[96];

	if (status == STATUS_OK)
		status = selection_complain(&s);
	if (status != STATUS_OK)
		return status;
	if (s.n != 1) {
		complain("counters --watch: expected one port, not %zu", s.n);
		return STATUS_USAGE;
	}
	return counters_watch(c, object_name(s.ports[0], name), s.ports[0]->path, arg_watch_usec);
}

ExitStatus counters_command(Context *c)
{
	return arg_watch_usec > 0 ? watch(c) : selection_print(c, print_port);
}
