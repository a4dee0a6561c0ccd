/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl counters: the counters of ports, their changes since a sample in a file, and their
 * totals. */

#include <inttypes.h>

#include "bus.h"
#include "commands.h"
#include "counters-file.h"
#include "counters-watch.h"
#include "format.h"
#include "json.h"
#include "no-ports.h"
#include "parse.h"
#include "sample.h"
#include "selection.h"
#include "terminal.h"
#include "text-table.h"

static uint64_t arg_watch_usec; /* 0: once */
static const char *arg_save, *arg_since;
static bool arg_total;
static SampleEnd arg_end;

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

static ExitStatus parse_file(const Option *o, const char *argument)
{
	return *argument ? option_text(o, argument) : option_refuse(o, argument);
}

static ExitStatus parse_end(const Option *o, const char *argument)
{
	if (!streq(argument, "local") && !streq(argument, "remote"))
		return option_refuse(o, argument);
	*(SampleEnd *)o->value = streq(argument, "remote") ? SAMPLE_REMOTE : SAMPLE_LOCAL;
	return STATUS_OK;
}

/* clang-format off */
const Option counters_options[] = {
	{"end",   0, "END",  "remote: of the port at the other end of the link", parse_end, &arg_end, "local or remote", 0},
	{"save",  0, "FILE", "Save the counters in a file, for --since", parse_file, &arg_save, "the name of a file", 0},
	{"since", 0, "FILE", "Print the changes since a file was saved", parse_file, &arg_since, "the name of a file", 0},
	{"total", 0, NULL, "Print the sums over all of the ports", option_set, &arg_total, NULL, 0},
	{"watch", 0, "SEC", "Print changes per second, at this interval", parse_watch, &arg_watch_usec, "seconds from 1 to 86400", RUN_ENDLESS},
	{},
};
/* clang-format on */

/* The note behind the value: "(missing: REASON)"; "" if there is nothing. */
static char *counter_note(const Value *counter)
{
	const char *condition = counter_member(counter, MEMBER_CONDITION);
	const char *reason = counter_reason(counter);
	bool valid = counter_is(counter, "valid");
	char *text;

	if (valid && !*reason)
		return strdup("");
	return asprintf(&text, "(%s%s%s)", valid ? "" : condition, !valid && *reason ? ": " : "",
			reason) < 0
		       ? NULL
		       : text;
}

static void add_line(TextTable *table, const Value *counter)
{
	bool missing = counter_is(counter, "missing"), valid = counter_is(counter, "valid");

	text_table_add_line(table);
	text_table_put(table, 0, counter_member(counter, MEMBER_NAME));
	if (missing)
		text_table_put(table, 1, "-");
	else
		text_table_format(table, 1, "%" PRIu64, counter_value(counter));
	text_table_put(table, 2, counter_member(counter, MEMBER_UNIT));
	text_table_take(table, 3, counter_note(counter));
	for (size_t i = 0; i < 4; i++)
		text_table_color(table, i, valid ? NULL : missing ? "dim" : "yellow");
}

/* Whether there is anything to say about the counter: of changes, only those that are none are left
 * out. */
static bool is_worth_a_line(const Value *counter)
{
	return !arg_since || counter_value(counter) > 0 || counter_is(counter, "missing");
}

static ExitStatus print_group(const Context *c, const Sample *s, size_t first, size_t *ret_n)
{
	const TableColumn columns[] = {{"NAME", 0, 0},
				       {arg_since ? "CHANGE" : "VALUE", TABLE_RIGHT, 0},
				       {"UNIT", TABLE_SPARE, 0},
				       {"", 0, 0}};
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, ARRAY_SIZE(columns));
	size_t i = first;

	*ret_n = 0;
	do {
		const Value *counter = &s->counters.items[i];

		if (!is_worth_a_line(counter))
			continue;
		++*ret_n;
		add_line(&table, counter);
	} while (++i < s->counters.n && !sample_starts_group(s, i));
	if (*ret_n == 0)
		return STATUS_OK;
	fprintf(c->out, "\n%s%s%s\n", terminal_color(c, "bold"),
		counter_member(&s->counters.items[first], MEMBER_GROUP), terminal_plain(c));
	return text_table_print(&table, 2);
}

/* The heading, and a table for each group. SINCE_USEC is 0 without --since. */
static ExitStatus print_sample(const Context *c, const char *name, const Sample *s,
			       uint64_t since_usec)
{
	_cleanup_free_ char *when = format_time(since_usec ? since_usec : s->realtime_usec);
	ExitStatus status = STATUS_OK;
	size_t n_lines = 0, n;

	if (!when)
		return out_of_memory();
	fprintf(c->out, "%s%s%s%s %s %s\n", terminal_color(c, "bold"), name, terminal_plain(c),
		arg_end == SAMPLE_REMOTE ? ", other end," : "", since_usec ? "since" : "at", when);
	for (size_t i = 0; status == STATUS_OK && i < s->counters.n; i++)
		if (sample_starts_group(s, i)) {
			status = print_group(c, s, i, &n);
			n_lines += n;
		}
	if (n_lines == 0)
		fputs(s->counters.n == 0 ? "No counters.\n" : "No counter has changed.\n", c->out);
	return status;
}

static void print_counters_json(FILE *f, const Sample *s)
{
	const char *const keys[] = {"Group", "Name",	  arg_since ? "Change" : "Value",
				    "Unit",  "Condition", "Reason"};

	for (size_t i = 0; i < s->counters.n; i++) {
		const Value *counter = &s->counters.items[i];
		bool missing = counter_is(counter, "missing");
		bool reason = missing || *counter_member(counter, MEMBER_REASON);

		json_entry_line(f);
		json_open(f);
		for (unsigned int m = 0; m <= (reason ? MEMBER_REASON : MEMBER_CONDITION); m++)
			json_add_value(f, keys[m], ATTR_U64,
				       missing && m == MEMBER_VALUE ? NULL : &counter->items[m]);
		json_close(f);
	}
}

static void print_ports_json(FILE *f, const SampleList *list, const SampleList *since)
{
	json_begin(f, "Ports");
	for (size_t i = 0; i < list->n; i++) {
		const PortSample *p = &list->items[i];
		const PortSample *was = sample_list_find(since, i, p->name);

		json_next(f);
		json_open_named(f, p->name, p->path);
		json_add_number(f, "Timestamp", p->sample.realtime_usec);
		if (was && was->sample.realtime_usec)
			json_add_number(f, "Since", was->sample.realtime_usec);
		if (!arg_total) {
			json_open_list(f, "Counters");
			print_counters_json(f, &p->sample);
			fputs("\n  ", f);
			json_close_list(f);
		}
		json_close(f);
	}
}

static ExitStatus print_json(FILE *f, const SampleList *list, const SampleList *since,
			     const Sample *total)
{
	print_ports_json(f, list, since);
	if (arg_total) {
		json_next_list(f, "Totals");
		print_counters_json(f, total);
	}
	json_end(f);
	return STATUS_OK;
}

/* When the first of the samples that are compared with was saved; 0 if there is none. */
static uint64_t first_time(const SampleList *since)
{
	uint64_t usec = 0;

	for (size_t i = 0; i < since->n; i++)
		if (usec == 0 || since->items[i].sample.realtime_usec < usec)
			usec = since->items[i].sample.realtime_usec;
	return usec;
}

static ExitStatus print_list(const Context *c, const SampleList *list, const SampleList *since)
{
	_cleanup_(sample_done) Sample total = {};
	ExitStatus status = STATUS_OK;
	char name[64];

	if (arg_total && sample_total(list, &total) < 0)
		return out_of_memory();
	if (c->json)
		return print_json(c->out, list, since, &total);
	if (arg_total) {
		snprintf(name, sizeof(name), "%zu %s", list->n, list->n == 1 ? "port" : "ports");
		return print_sample(c, name, &total, first_time(since));
	}
	for (size_t i = 0; i < list->n && status == STATUS_OK; i++) {
		const PortSample *p = &list->items[i];
		const PortSample *was = sample_list_find(since, i, p->name);

		fputs(i > 0 ? "\n" : "", c->out);
		status = print_sample(c, p->name, &p->sample, was ? was->sample.realtime_usec : 0);
	}
	return status;
}

/* The sample of PORT, from ALL, the answer for all ports, or if that is NULL read now. */
static ExitStatus read_port(Context *c, const Object *port, Samples *all, Sample *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *why = NULL;
	char name[96];
	int r;

	object_name(port, name);
	r = all ? sample_take(all, port->path, ret, &why)
		: sample_read(c->bus, port->path, arg_end, ret, &error);
	if (r >= 0)
		return STATUS_OK;
	if (!why)
		return bus_complain(name, &error, r);
	return failure("%s: %s", name, why);
}

/* Reads the counters of the ports that were chosen, with one call if these are all. Ports that
 * cannot be read are left out. */
static ExitStatus read_list(Context *c, const Selection *s, SampleList *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	ExitStatus worst = STATUS_OK, status;
	_cleanup_(samples_done) Samples all = {};
	bool is_all = c->n_arguments == 0 && s->n > 0;
	int r = is_all ? sample_read_all(c->bus, arg_end, &all, &error) : 0;

	if (r < 0)
		return bus_complain("counters", &error, r);
	for (size_t i = 0; i < s->n; i++) {
		_cleanup_(sample_done) Sample sample = {};
		char name[96];
		PortSample *p;

		status = read_port(c, s->ports[i], is_all ? &all : NULL, &sample);
		worst = MAX(worst, status);
		if (status != STATUS_OK)
			continue;
		object_name(s->ports[i], name);
		p = sample_list_add(ret, name, s->ports[i]->path);
		if (!p)
			return out_of_memory();
		p->sample = sample;
		sample = (Sample){};
	}
	return worst;
}

/* Why nothing is known of the changes of a port; NULL if they are known. */
static const char *find_gap(const PortSample *now, const PortSample *was)
{
	if (!was)
		return "it is not in the file";
	if (now->sample.monotonic_usec < was->sample.monotonic_usec)
		return "the machine was started again since the file was saved";
	if (!streq(now->path, was->path))
		return "its device was added again since the file was saved";
	return NULL;
}

/* Makes LIST the changes since the samples SINCE. Ports whose changes are not known are left out.
 */
static ExitStatus subtract(const SampleList *list, const SampleList *since, SampleList *ret)
{
	ExitStatus status = STATUS_OK;

	for (size_t i = 0; i < list->n; i++) {
		const PortSample *now = &list->items[i];
		const PortSample *was = sample_list_find(since, i, now->name);
		const char *gap = find_gap(now, was);
		PortSample *p;

		if (gap) {
			status = failure("%s: %s: %s", arg_since, now->name, gap);
			continue;
		}
		p = sample_list_add(ret, now->name, now->path);
		if (!p || sample_subtract(&now->sample, &was->sample, &p->sample) < 0)
			return out_of_memory();
	}
	return status;
}

static ExitStatus print_or_save(Context *c, const Selection *s)
{
	_cleanup_samples_ SampleList list = {}, since = {}, changes = {};
	ExitStatus status = STATUS_OK, worst;

	if (arg_since)
		status = samples_load(arg_since, &since);
	if (status != STATUS_OK)
		return status;
	worst = read_list(c, s, &list);
	if (arg_since)
		status = subtract(&list, &since, &changes);
	worst = MAX(worst, status);
	status = arg_save ? samples_save(arg_save, &list) : STATUS_OK;
	if (status == STATUS_OK && (arg_since || !arg_save))
		status = print_list(c, arg_since ? &changes : &list, &since);
	return MAX(status, worst);
}

ExitStatus counters_command(Context *c)
{
	_cleanup_selection_ Selection s = {};
	ExitStatus status, missing;

	if (arg_watch_usec > 0 && (arg_save || arg_since || arg_total))
		return usage_error(
			"counters: --watch cannot be used together with --save, --since or "
			"--total");
	if (arg_end == SAMPLE_REMOTE && (arg_save || arg_since))
		return usage_error(
			"counters: --end=remote cannot be used together with --save or --since");
	status = selection_read(c, 0, selection_names, &s);
	if (status != STATUS_OK)
		return status;
	missing = selection_complain(&s);
	if (s.n + s.n_missing == 0 && !c->json && !arg_save)
		no_ports(c);
	else if (arg_watch_usec > 0)
		status = counters_watch(c, &s, arg_end, arg_watch_usec);
	else
		status = print_or_save(c, &s);
	return MAX(status, missing);
}
