/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl history: the last transitions of the state of each port, the oldest first; also of ports
 * that have gone. */

#include <fnmatch.h>
#include <inttypes.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "port-name.h"
#include "selection.h"
#include "suggestion.h"
#include "terminal.h"

/* The histories that rdmad has, as ListHistories() returns them, and those that the arguments
 * choose. */
typedef struct Histories {
	ObjectList objects;
	Value all;
	const Value **chosen; /* entries of ALL, each once */
	size_t n;
} Histories;

static void histories_done(Histories *h)
{
	object_list_done(&h->objects);
	value_done(&h->all);
	free(h->chosen);
}

/* Members of the answer. What is not there, or has another type, reads as empty. */

static const char *entry_name(const Value *entry)
{
	return value_text(&entry->items[0]);
}

static const Value *entry_member(const Value *entry, const char *key)
{
	return value_lookup(&entry->items[1], key);
}

static const char *entry_text(const Value *entry, const char *key)
{
	const Value *v = entry_member(entry, key);

	return v ? value_text(v) : "";
}

static uint64_t entry_number(const Value *entry, const char *key)
{
	const Value *v = entry_member(entry, key);

	return v && v->type == VALUE_UNSIGNED ? v->number : 0;
}

/* Whether the port is there. */
static bool entry_is_present(const Value *entry)
{
	const Value *v = entry_member(entry, "Present");

	return v && v->type == VALUE_BOOL && v->boolean;
}

static const Object *entry_object(const Histories *h, const Value *entry)
{
	return object_list_find(&h->objects, entry_text(entry, "Port"));
}

typedef struct Transition {
	uint64_t realtime_usec, monotonic_usec; /* the latter is 0 if that was before the boot */
	const char *from, *to, *reason;
	uint64_t rate; /* bit/s, 0: unknown */
} Transition;

/* False: there is no transition I. */
static bool read_transition(const Value *entry, size_t i, Transition *ret)
{
	const Value *all = entry_member(entry, "Transitions"), *t, *rate;

	if (!all || all->type != VALUE_ARRAY || i >= all->n)
		return false;
	t = &all->items[i];
	if (t->type != VALUE_STRUCT || t->n < 5 || t->items[0].type != VALUE_UNSIGNED ||
	    t->items[1].type != VALUE_UNSIGNED)
		return false;
	rate = t->n > 5 ? value_lookup(&t->items[5], "Rate") : NULL;
	*ret = (Transition){
		t->items[0].number,	  t->items[1].number,
		value_text(&t->items[2]), value_text(&t->items[3]),
		value_text(&t->items[4]), rate && rate->type == VALUE_UNSIGNED ? rate->number : 0};
	return true;
}

/* Choosing */

static void choose_entry(Histories *h, const Value *entry)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->chosen[i] == entry)
			return;
	h->chosen[h->n++] = entry;
}

/* Whether PATTERN matches a name of the port: mlx5_0/1, mlx5_0:1, mlx5_0, and for a port that is
 * there its network interfaces. */
static bool entry_matches(const Histories *h, const Value *entry, const char *pattern)
{
	const Object *o = entry_object(h, entry);
	char device[80], colon[80];
	char *slash;

	if (o)
		return object_matches(o, pattern);
	text_copy(device, sizeof(device), entry_name(entry));
	text_copy(colon, sizeof(colon), entry_name(entry));
	slash = strrchr(device, '/');
	if (slash) {
		colon[slash - device] = ':';
		*slash = '\0';
	}
	return fnmatch(pattern, entry_name(entry), 0) == 0 || fnmatch(pattern, colon, 0) == 0 ||
	       fnmatch(pattern, device, 0) == 0;
}

/* Chooses what ARGUMENT, a pattern or the name of a port that has gone, matches. Returns how many
 * these are; of a name that several match none is chosen. */
static size_t choose_matching(Histories *h, const char *argument)
{
	bool pattern = selection_is_pattern(argument);
	const Value *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->all.n; i++) {
		const Value *entry = &h->all.items[i];

		if ((!pattern && entry_is_present(entry)) || !entry_matches(h, entry, argument))
			continue;
		found = entry;
		n++;
		if (pattern)
			choose_entry(h, entry);
	}
	if (!pattern && n == 1)
		choose_entry(h, found);
	return n;
}

static const Value *find_path(const Histories *h, const char *path)
{
	for (size_t i = 0; i < h->all.n; i++)
		if (streq(entry_text(&h->all.items[i], "Port"), path))
			return &h->all.items[i];
	return NULL;
}

static void complain_missing(const Histories *h, const char *argument)
{
	Suggestion suggestion = suggestion_for(argument);

	for (size_t i = 0; i < h->all.n; i++)
		suggestion_offer(&suggestion, entry_name(&h->all.items[i]));
	complain("%s: no port has %s, and none that has gone had it%s", argument,
		 selection_is_pattern(argument) ? "such a name" : "this name",
		 suggestion_text(&suggestion));
}

/* Chooses the histories of the ports that are there. Returns how many these are. */
static size_t choose_found(Histories *h, const FoundPaths *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		const Value *entry = find_path(h, found->paths[i]);

		if (entry)
			choose_entry(h, entry);
		n += entry != NULL;
	}
	return n;
}

static ExitStatus choose(Context *c, Histories *h, const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(bus_found_done) FoundPaths found = {};
	size_t n;
	int r = selection_is_pattern(argument)
			? 0
			: bus_find_ports(c->bus, argument, NULL, &found, &error);

	if (r < 0)
		return bus_complain(argument, &error, r);
	if (found.n > 0) {
		n = choose_found(h, &found);
		if (n == 0)
			complain("%s: the port has not been read yet", argument);
		return n > 0 ? STATUS_OK : STATUS_NO_PORT;
	}
	n = choose_matching(h, argument);
	if (n == 1 || (n > 1 && selection_is_pattern(argument)))
		return STATUS_OK;
	if (n > 1)
		complain("%s: several ports that have gone had this name; say which", argument);
	else
		complain_missing(h, argument);
	return STATUS_NO_PORT;
}

static void choose_all(Histories *h)
{
	for (size_t i = 0; i < h->all.n; i++) {
		const Object *o = entry_object(h, &h->all.items[i]);

		if (!o || !object_list_is_plane(&h->objects, o))
			choose_entry(h, &h->all.items[i]);
	}
}

static ExitStatus read_all(Context *c, Histories *h)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	ExitStatus status = bus_read_objects(c->bus, &h->objects);
	int r;

	if (status != STATUS_OK)
		return status;
	r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "ListHistories", &error, &reply, "a{sv}", 1, "transitions", "b", 1);
	if (r >= 0)
		r = value_read(reply, &h->all);
	for (size_t i = 0; r >= 0 && i < h->all.n; i++)
		if (h->all.items[i].type != VALUE_STRUCT || h->all.items[i].n < 2)
			r = -EBADMSG;
	if (r < 0)
		return bus_complain("history", &error, r);
	h->chosen = calloc(h->all.n + 1, sizeof(*h->chosen));
	return h->chosen ? STATUS_OK : out_of_memory();
}

/* Printing */

static char *time_text(uint64_t usec)
{
	const Value when = {.type = VALUE_UNSIGNED, .number = usec};

	return format_value(&port_attributes[PORT_ATTR_state_change], &when);
}

/* How long the state that T began has lasted: until NEXT, or if that is NULL until now. False: that
 * is not known, because the clock is that of another machine, or somebody has set it. */
static bool duration_of(const Context *c, const Transition *t, const Transition *next,
			uint64_t *ret)
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

static int add_line(const Context *c, struct libscols_table *table, const Transition *t,
		    const Transition *next)
{
	_cleanup_free_ char *text = time_text(t->realtime_usec);
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char duration[DURATION_MAX] = "";
	const char *cells[_COLUMN_MAX] = {text, t->from, t->to, duration, t->reason};
	uint64_t usec;
	int r = line && text ? 0 : -ENOMEM;

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
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table = terminal_table(c);
	Transition t, next;

	if (!table || scols_table_set_column_separator(table, "  ") < 0)
		return out_of_memory();
	for (size_t i = 0; i < _COLUMN_MAX; i++)
		if (!scols_table_new_column(table, columns[i].heading, 0, columns[i].flags))
			return out_of_memory();
	for (size_t i = 0; read_transition(entry, i, &t); i++)
		if (add_line(c, table, &t, read_transition(entry, i + 1, &next) ? &next : NULL) < 0)
			return out_of_memory();
	return terminal_print_table(c, table, 0);
}

static ExitStatus print_entry(const Context *c, const Value *entry, size_t n, bool heading)
{
	_cleanup_free_ char *since = time_text(entry_number(entry, "Since"));
	uint64_t downs = entry_number(entry, "LinkDownCount");
	ExitStatus status = STATUS_OK;
	char text[128];

	if (heading)
		fprintf(c->out, "%s%s%s%s%s\n", n > 0 ? "\n" : "", terminal_color(c, "bold"),
			entry_name(entry), terminal_plain(c),
			entry_is_present(entry) ? "" : " (gone)");
	if (read_transition(entry, 0, &(Transition){}))
		status = print_transitions(c, entry);
	/* rdmad keeps only the last transitions */
	snprintf(text, sizeof(text), "The link went down %" PRIu64 " %s since %s.", downs,
		 downs == 1 ? "time" : "times", since ? since : "then");
	terminal_print_wrapped(c, text, 0);
	return status;
}

/* A number that is 0 if it is not known. */
static void print_json_number(const Context *c, const char *key, uint64_t value)
{
	json_key(c->out, key, false);
	if (value)
		fprintf(c->out, "%" PRIu64, value);
	else
		fputs("null", c->out);
}

static void print_json(const Context *c, const Value *entry)
{
	bool is_present = entry_is_present(entry);
	FILE *f = c->out;
	Transition t;

	fputs("{\"Port\": ", f);
	json_text(f, entry_name(entry));
	json_key(f, "ObjectPath", false);
	if (is_present)
		json_text(f, entry_text(entry, "Port"));
	else
		fputs("null", f);
	json_key(f, "Present", false);
	fputs(is_present ? "true" : "false", f);
	json_key(f, "LinkDownCount", false);
	fprintf(f, "%" PRIu64, entry_number(entry, "LinkDownCount"));
	json_key(f, "Since", false);
	fprintf(f, "%" PRIu64, entry_number(entry, "Since"));
	json_key(f, "Transitions", false);
	fputc('[', f);
	for (size_t i = 0; read_transition(entry, i, &t); i++) {
		fprintf(f, "%s\n    {\"Timestamp\": %" PRIu64, i > 0 ? "," : "", t.realtime_usec);
		print_json_number(c, "Monotonic", t.monotonic_usec);
		json_key(f, "From", false);
		json_text(f, t.from);
		json_key(f, "To", false);
		json_text(f, t.to);
		json_key(f, "Reason", false);
		json_text(f, t.reason);
		print_json_number(c, "Rate", t.rate);
		fputc('}', f);
	}
	fputs("\n  ]}", f);
}

ExitStatus history_command(Context *c)
{
	_cleanup_(histories_done) Histories h = {};
	ExitStatus status = read_all(c, &h), worst = STATUS_OK;

	if (status != STATUS_OK)
		return status;
	if (c->n_arguments == 0)
		choose_all(&h);
	for (unsigned int i = 0; i < c->n_arguments; i++) {
		status = choose(c, &h, c->arguments[i]);
		if (status != STATUS_OK && status != STATUS_NO_PORT)
			return status;
		worst = MAX(worst, status);
	}
	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < h.n; i++) {
		if (c->json) {
			json_next(c->out, i);
			print_json(c, h.chosen[i]);
		} else {
			status = print_entry(c, h.chosen[i], i,
					     h.n > 1 || !entry_is_present(h.chosen[i]));
			worst = MAX(worst, status);
		}
	}
	if (c->json)
		json_end(c->out);
	else if (c->n_arguments == 0 && h.n == 0)
		fputs("No RDMA ports.\n", c->out);
	return worst;
}
