/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl history: the last transitions of the state of each port, and what was found of it, the
 * oldest first; also of ports that have gone. */

#include <inttypes.h>

#include "clock.h"
#include "commands.h"
#include "format.h"
#include "histories.h"
#include "json.h"
#include "no-ports.h"
#include "selection.h"
#include "terminal.h"
#include "text-table.h"

static const char *arg_cable;

const Option history_options[] = {
	{"cable", 0, "SERIAL", "Print what happened where this module was", option_text, &arg_cable,
	 NULL, 0},
	{},
};

/* Whether something of ENTRY at USEC is to be printed: the module that is asked for was there. */
static bool is_asked_for(const Value *entry, uint64_t usec)
{
	FormerFinding f;

	for (size_t i = 0; arg_cable && history_read_cable(entry, i, &f); i++)
		if (streq(f.check, arg_cable) && usec >= f.since_usec &&
		    (!f.until_usec || usec < f.until_usec))
			return true;
	return !arg_cable;
}

/* The next module of ENTRY that is to be printed, from entry *I on. */
static bool next_cable(const Value *entry, size_t *i, FormerFinding *ret)
{
	while (history_read_cable(entry, (*i)++, ret))
		if (!arg_cable || streq(ret->check, arg_cable))
			return true;
	return false;
}

/* How long the state that T began has lasted: until NEXT, or if that is NULL until now. False: that
 * is not known, because the clock is that of another machine, or somebody has set it. */
static bool duration_of(const Context *c, const PastState *t, const PastState *next, uint64_t *ret)
{
	bool same_boot = t->monotonic_usec && (!next || next->monotonic_usec);
	uint64_t since = same_boot ? t->monotonic_usec : t->realtime_usec, until;

	if (!next && c->host)
		return false;
	if (next)
		until = same_boot ? next->monotonic_usec : next->realtime_usec;
	else
		until = same_boot ? monotonic_now_usec() : realtime_now_usec();
	*ret = until - since;
	return until >= since;
}

/* The columns keep their places from port to port. On a narrow terminal FOR is left out first, and
 * then FROM. */
enum { COLUMN_TIME, COLUMN_FROM, COLUMN_TO, COLUMN_FOR, COLUMN_REASON, _COLUMN_MAX };

static const TableColumn columns[_COLUMN_MAX] = {
	[COLUMN_TIME] = {"TIME", 0, 23},    [COLUMN_FROM] = {"FROM", TABLE_SPARE, 12},
	[COLUMN_TO] = {"TO", 0, 12},	    [COLUMN_FOR] = {"FOR", TABLE_SPARE, 13},
	[COLUMN_REASON] = {"REASON", 0, 0},
};

static void add_line(TextTable *table, uint64_t usec, const char *from, const char *to,
		     const char *color, const char *duration)
{
	text_table_add_line(table);
	text_table_take(table, COLUMN_TIME, format_time(usec));
	text_table_put(table, COLUMN_FROM, from);
	text_table_put(table, COLUMN_TO, to);
	text_table_color(table, COLUMN_TO, color);
	text_table_put(table, COLUMN_FOR, duration);
}

/* A change, its reason, and who was on the link. */
static void add_state(const Context *c, TextTable *table, const PastState *t, const PastState *next)
{
	char duration[DURATION_MAX] = "";
	uint64_t usec;

	if (duration_of(c, t, next, &usec))
		duration_format(usec, duration);
	add_line(table, t->realtime_usec, t->from, t->to, terminal_state_color(t->to), duration);
	if (t->qps == 0)
		text_table_put(table, COLUMN_REASON, t->reason);
	else
		text_table_format(table, COLUMN_REASON, "%s (%" PRIu64 " %s of %" PRIu64 " %s)",
				  t->reason, t->qps, t->qps == 1 ? "QP" : "QPs", t->processes,
				  t->processes == 1 ? "process" : "processes");
}

/* A finding has begun, or ended; or a module has come, or gone. */
typedef struct Turn {
	uint64_t usec;
	bool has_ended;
	FormerFinding finding;
} Turn;

static int compare_turns(const void *a, const void *b)
{
	const Turn *x = a, *y = b;

	return x->usec != y->usec ? (x->usec > y->usec) - (x->usec < y->usec)
				  : y->has_ended - x->has_ended;
}

static void add_turns(Turn *turns, size_t *n, const FormerFinding *f)
{
	turns[(*n)++] = (Turn){f->since_usec, false, *f};
	if (f->until_usec)
		turns[(*n)++] = (Turn){f->until_usec, true, *f};
}

/* The turns of ENTRY in the order of time, without those of findings that are parts of others; NULL
 * without memory. */
static Turn *find_turns(const Value *entry, size_t *ret_n)
{
	FormerFinding f;
	Turn *turns;
	size_t n = 0;

	while (history_read_finding(entry, n, &f))
		n++;
	for (size_t i = 0; history_read_cable(entry, i, &f); i++)
		n++;
	turns = calloc(2 * n + 1, sizeof(*turns));
	*ret_n = 0;
	for (size_t i = 0; turns && history_read_finding(entry, i, &f); i++)
		if (!*f.cause && is_asked_for(entry, f.since_usec))
			add_turns(turns, ret_n, &f);
	for (size_t i = 0; turns && next_cable(entry, &i, &f);)
		add_turns(turns, ret_n, &f);
	if (turns)
		sort(turns, *ret_n, sizeof(*turns), compare_turns);
	return turns;
}

static void add_turn(const Context *c, TextTable *table, const Turn *t)
{
	const FormerFinding *f = &t->finding;
	bool is_known = f->acknowledged_usec > 0, is_cable = streq(f->severity, HISTORY_CABLE);
	const char *said = is_cable ? f->attribute : f->acknowledged_text;
	uint64_t until = f->until_usec || c->host ? f->until_usec : realtime_now_usec();
	char duration[DURATION_MAX] = "";

	if (t->has_ended) {
		add_line(table, t->usec, f->severity, is_cable ? "removed" : "ended",
			 is_cable ? NULL : "green", "");
		text_table_put(table, COLUMN_REASON, f->check);
		return;
	}
	if (until >= f->since_usec)
		duration_format(until - f->since_usec, duration);
	add_line(table, t->usec, "", f->severity,
		 is_cable			  ? NULL
		 : streq(f->severity, "critical") ? "red"
						  : "yellow",
		 duration);
	text_table_format(table, COLUMN_REASON, "%s%s%s%s%s", f->check,
			  is_known	      ? " (acknowledged"
			  : is_cable && *said ? " ("
					      : "",
			  is_known && *said ? ": " : "", said,
			  is_known || (is_cable && *said) ? ")" : "");
}

/* What was found stands where it was found: behind the change that it comes from. */
static ExitStatus print_lines(const Context *c, const Value *entry)
{
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, _COLUMN_MAX);
	size_t n, i = 0, k = 0;
	_cleanup_free_ Turn *turns = find_turns(entry, &n);
	PastState t, next;

	if (!turns)
		return out_of_memory();
	table.gap = 2;
	while (true) {
		bool is_state = history_read_transition(entry, i, &t);

		if (k < n && (!is_state || turns[k].usec < t.realtime_usec))
			add_turn(c, &table, &turns[k++]);
		else if (!is_state)
			break;
		else {
			bool has_next = history_read_transition(entry, ++i, &next);

			if (is_asked_for(entry, t.realtime_usec))
				add_state(c, &table, &t, has_next ? &next : NULL);
		}
	}
	return text_table_print(&table, 0);
}

static ExitStatus print_entry(const Context *c, const Value *entry, size_t n, bool heading)
{
	_cleanup_free_ char *since = format_time(history_entry_number(entry, "Since"));
	uint64_t downs = history_entry_number(entry, "LinkDownCount");
	ExitStatus status = STATUS_OK;
	char text[128];

	if (heading)
		fprintf(c->out, "%s%s%s%s%s\n", n > 0 ? "\n" : "", terminal_color(c, "bold"),
			history_entry_name(entry), terminal_plain(c),
			history_entry_is_present(entry) ? "" : " (gone)");
	if (history_read_transition(entry, 0, &(PastState){}) ||
	    history_read_finding(entry, 0, &(FormerFinding){}))
		status = print_lines(c, entry);
	/* of a device without ports nothing is counted */
	if (arg_cable || !history_entry_member(entry, "Since"))
		return status;
	if (!since)
		return out_of_memory();
	/* rdmad keeps only the last transitions */
	snprintf(text, sizeof(text), "The link went down %" PRIu64 " %s since %s.", downs,
		 downs == 1 ? "time" : "times", since);
	terminal_print_wrapped(c, text, 0);
	return status;
}

static void print_json_findings(FILE *f, const Value *entry)
{
	FormerFinding is;

	json_open_list(f, "Findings");
	for (size_t i = 0; history_read_finding(entry, i, &is); i++) {
		if (!is_asked_for(entry, is.since_usec))
			continue;
		json_entry_line(f);
		json_open(f);
		json_add_text(f, "Check", is.check);
		json_add_text(f, "Severity", is.severity);
		json_add_number(f, "Since", is.since_usec);
		json_add_known(f, "Until", is.until_usec);
		json_add_text(f, "Attribute", *is.attribute ? is.attribute : NULL);
		json_add_text(f, "Cause", *is.cause ? is.cause : NULL);
		json_add_known(f, "Acknowledged", is.acknowledged_usec);
		json_add_text(f, "AcknowledgedText",
			      is.acknowledged_usec ? is.acknowledged_text : NULL);
		json_close(f);
	}
	fputs("\n  ", f);
	json_close_list(f);
}

static void print_json_cables(FILE *f, const Value *entry)
{
	FormerFinding is;

	json_open_list(f, "Cables");
	for (size_t i = 0; next_cable(entry, &i, &is);) {
		json_entry_line(f);
		json_open(f);
		json_add_text(f, "SerialNumber", is.check);
		json_add_text(f, "PartNumber", *is.attribute ? is.attribute : NULL);
		json_add_number(f, "Since", is.since_usec);
		json_add_known(f, "Until", is.until_usec);
		json_close(f);
	}
	fputs("\n  ", f);
	json_close_list(f);
}

static void print_json(const Context *c, const Value *entry)
{
	const char *path = history_entry_text(entry, "Port");
	FILE *f = c->out;
	PastState t;

	json_open_named(f, history_entry_name(entry), *path ? path : NULL);
	json_add_bool(f, "Present", history_entry_is_present(entry));
	json_add_number(f, "LinkDownCount", history_entry_number(entry, "LinkDownCount"));
	json_add_number(f, "Since", history_entry_number(entry, "Since"));
	json_open_list(f, "Transitions");
	for (size_t i = 0; history_read_transition(entry, i, &t); i++) {
		if (!is_asked_for(entry, t.realtime_usec))
			continue;
		json_entry_line(f);
		json_open(f);
		json_add_number(f, "Timestamp", t.realtime_usec);
		json_add_known(f, "Monotonic", t.monotonic_usec);
		json_add_text(f, "From", t.from);
		json_add_text(f, "To", t.to);
		json_add_text(f, "Reason", t.reason);
		json_add_known(f, "Rate", t.rate);
		json_add_known(f, "Qps", t.qps);
		json_add_known(f, "Processes", t.processes);
		json_close(f);
	}
	fputs("\n  ", f);
	json_close_list(f);
	print_json_findings(f, entry);
	print_json_cables(f, entry);
	json_close(f);
}

/* Since when the module that is asked for is known to have been in the cage of ENTRY; 0: it was
 * not. */
static uint64_t first_seen(const Value *entry)
{
	FormerFinding f;

	return next_cable(entry, &(size_t){0}, &f) ? f.since_usec : 0;
}

static int compare_first_seen(const void *a, const void *b)
{
	uint64_t x = first_seen(*(const Value *const *)a), y = first_seen(*(const Value *const *)b);

	return (x > y) - (x < y);
}

/* Leaves the ports in whose cages the module was, the first one first. */
static ExitStatus choose_cages(Histories *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (first_seen(h->chosen[i]))
			h->chosen[n++] = h->chosen[i];
	h->n = n;
	sort(h->chosen, n, sizeof(*h->chosen), compare_first_seen);
	if (n == 0)
		complain("%s: no module with this serial number was seen", arg_cable);
	return n == 0 ? STATUS_NO_PORT : STATUS_OK;
}

ExitStatus history_command(Context *c)
{
	_cleanup_(histories_done) Histories h = {};
	ExitStatus status = histories_read(c, selection_names, &h), worst;

	if (status != STATUS_OK)
		return status;
	worst = histories_choose(c, &h);
	if (worst != STATUS_OK && worst != STATUS_NO_PORT)
		return worst;
	if (arg_cable && choose_cages(&h) != STATUS_OK)
		return STATUS_NO_PORT;
	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < h.n; i++) {
		if (c->json) {
			json_next(c->out);
			print_json(c, h.chosen[i]);
		} else {
			status = print_entry(c, h.chosen[i], i,
					     h.n > 1 || arg_cable ||
						     !history_entry_is_present(h.chosen[i]));
			worst = MAX(worst, status);
		}
	}
	if (c->json)
		json_end(c->out);
	else if (c->n_arguments == 0 && h.n == 0)
		no_ports(c);
	return worst;
}
