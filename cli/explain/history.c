/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl history: the last transitions of the state of each port, the oldest first; also of ports
 * that have gone. */

#include <inttypes.h>

#include "clock.h"
#include "commands.h"
#include "format.h"
#include "histories.h"
#include "json.h"
#include "no-ports.h"
#include "selection.h"
#include "terminal.h"

static char *time_text(uint64_t usec)
{
	const Value when = {.type = VALUE_UNSIGNED, .number = usec};

	return format_value(&port_attributes[PORT_ATTR_state_change], &when);
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

/* The columns keep their places from port to port: cells are filled with blanks. On a narrow
 * terminal FOR is left out first, and then FROM. */
enum { COLUMN_TIME, COLUMN_FROM, COLUMN_TO, COLUMN_FOR, COLUMN_REASON, _COLUMN_MAX };

static const struct {
	const char *heading;
	int width, flags;
} columns[_COLUMN_MAX] = {
	[COLUMN_TIME] = {"TIME", 23, 0},    [COLUMN_FROM] = {"FROM", 12, SCOLS_FL_TRUNC},
	[COLUMN_TO] = {"TO", 12, 0},	    [COLUMN_FOR] = {"FOR", 13, SCOLS_FL_TRUNC},
	[COLUMN_REASON] = {"REASON", 0, 0},
};

static int set_cell(struct libscols_line *line, unsigned int i, const char *text)
{
	char *filled;

	if (asprintf(&filled, "%-*s", columns[i].width, text) < 0)
		return -ENOMEM;
	return scols_line_refer_data(line, i, filled);
}

/* The reason of T, and who was on the link. */
static char *reason_text(const PastState *t)
{
	char *text = NULL;

	if (t->qps == 0)
		return strdup(t->reason);
	return asprintf(&text, "%s (%" PRIu64 " %s of %" PRIu64 " %s)", t->reason, t->qps,
			t->qps == 1 ? "QP" : "QPs", t->processes,
			t->processes == 1 ? "process" : "processes") < 0
		       ? NULL
		       : text;
}

static int add_line(const Context *c, struct libscols_table *table, const PastState *t,
		    const PastState *next)
{
	_cleanup_free_ char *text = time_text(t->realtime_usec);
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char duration[DURATION_MAX] = "";
	_cleanup_free_ char *reason = reason_text(t);
	const char *cells[_COLUMN_MAX] = {text, t->from, t->to, duration, reason};
	uint64_t usec;
	int r = line && text && reason ? 0 : -ENOMEM;

	if (duration_of(c, t, next, &usec))
		duration_format(usec, duration);
	for (unsigned int i = 0; r == 0 && i < _COLUMN_MAX; i++)
		r = set_cell(line, i, cells[i]);
	if (r == 0)
		r = scols_cell_set_color(scols_line_get_cell(line, COLUMN_TO),
					 terminal_color(c, terminal_state_color(t->to)));
	return r;
}

static ExitStatus print_transitions(const Context *c, const Value *entry)
{
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table =
		terminal_table(c, NULL, 0);
	PastState t, next;

	if (!table || scols_table_set_column_separator(table, "  ") < 0)
		return out_of_memory();
	for (size_t i = 0; i < _COLUMN_MAX; i++)
		if (!scols_table_new_column(table, columns[i].heading, 0, columns[i].flags))
			return out_of_memory();
	for (size_t i = 0; history_read_transition(entry, i, &t); i++)
		if (add_line(c, table, &t,
			     history_read_transition(entry, i + 1, &next) ? &next : NULL) < 0)
			return out_of_memory();
	return terminal_print_table(c, table, 0);
}

static ExitStatus print_entry(const Context *c, const Value *entry, size_t n, bool heading)
{
	_cleanup_free_ char *since = time_text(history_entry_number(entry, "Since"));
	uint64_t downs = history_entry_number(entry, "LinkDownCount");
	ExitStatus status = STATUS_OK;
	char text[128];

	if (heading)
		fprintf(c->out, "%s%s%s%s%s\n", n > 0 ? "\n" : "", terminal_color(c, "bold"),
			history_entry_name(entry), terminal_plain(c),
			history_entry_is_present(entry) ? "" : " (gone)");
	if (history_read_transition(entry, 0, &(PastState){}))
		status = print_transitions(c, entry);
	/* rdmad keeps only the last transitions */
	snprintf(text, sizeof(text), "The link went down %" PRIu64 " %s since %s.", downs,
		 downs == 1 ? "time" : "times", since ? since : "then");
	terminal_print_wrapped(c, text, 0);
	return status;
}

static void print_json(const Context *c, const Value *entry)
{
	bool is_present = history_entry_is_present(entry);
	FILE *f = c->out;
	PastState t;

	json_open_named(f, history_entry_name(entry),
			is_present ? history_entry_text(entry, "Port") : NULL);
	json_add_bool(f, "Present", is_present);
	json_add_number(f, "LinkDownCount", history_entry_number(entry, "LinkDownCount"));
	json_add_number(f, "Since", history_entry_number(entry, "Since"));
	json_open_list(f, "Transitions");
	for (size_t i = 0; history_read_transition(entry, i, &t); i++) {
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
	json_close(f);
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
	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < h.n; i++) {
		if (c->json) {
			json_next(c->out);
			print_json(c, h.chosen[i]);
		} else {
			status = print_entry(c, h.chosen[i], i,
					     h.n > 1 || !history_entry_is_present(h.chosen[i]));
			worst = MAX(worst, status);
		}
	}
	if (c->json)
		json_end(c->out);
	else if (c->n_arguments == 0 && h.n == 0)
		no_ports(c);
	return worst;
}
