/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl explain: the cause of the last trouble of ports, with what was seen of it. */

#include <inttypes.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "explain-infer.h"
#include "format.h"
#include "histories.h"
#include "json.h"
#include "names.h"
#include "parse.h"
#include "terminal.h"

/* What was seen longer ago is not asked for. */
#define SINCE_DEFAULT_USEC (UINT64_C(24) * 3600 * USEC_PER_SEC)
#define CLUES_SHOWN	   12U /* of an unknown cause the last */

static uint64_t arg_since = SINCE_DEFAULT_USEC;
static bool arg_list;

static ExitStatus parse_since(const Option *o, const char *argument)
{
	return parse_duration(argument, o->value) ? STATUS_OK : option_refuse(o, argument);
}

/* clang-format off */
const Option explain_options[] = {
	{"since", 0, "TIME", "Explain what has happened in TIME (default: 24h)", parse_since, &arg_since, "a time such as 10min or 12h", 0},
	{"list",  0, NULL,   "Print the causes that are known",                  option_set,  &arg_list,  NULL,                         RUN_OFFLINE},
	{},
};
/* clang-format on */

/* One port with what was seen of it. */
typedef struct Story {
	const Value *entry;   /* of the histories */
	const Object *port;   /* NULL: it has gone */
	const Object *device; /* NULL: it has gone */
	Value evidence;	      /* the reply of GetEvidence() */
	Clue *clues;
	size_t n_clues;
	Fact facts[8];
	size_t n_facts;
	char *texts[8]; /* what the facts point to */
	Explanation explanation;
} Story;

static void story_done(Story *s)
{
	value_done(&s->evidence);
	free(s->clues);
	for (size_t i = 0; i < ARRAY_SIZE(s->texts); i++)
		free(s->texts[i]);
}

/* Collecting */

static void add_clue(Story *s, const Clue *c, uint64_t oldest)
{
	if (c->realtime_usec >= oldest)
		s->clues[s->n_clues++] = *c;
}

/* The transitions of the state are in the history; the first look is none. */
static void add_states(Story *s, uint64_t oldest)
{
	PastState t;

	for (size_t i = 0; history_read_transition(s->entry, i, &t); i++) {
		Clue c = {
			t.realtime_usec, t.monotonic_usec, "State", t.from, t.to, t.reason, false};

		if (!streq(t.from, "unknown"))
			add_clue(s, &c, oldest);
	}
}

static void add_evidence(Story *s, uint64_t oldest)
{
	for (size_t i = 0; i < s->evidence.n; i++) {
		const Value *e = &s->evidence.items[i];
		Clue c;

		if (e->type != VALUE_STRUCT || e->n < 6 || e->items[0].type != VALUE_UNSIGNED ||
		    e->items[1].type != VALUE_UNSIGNED)
			continue;
		c = (Clue){e->items[0].number,
			   e->items[1].number,
			   value_text(&e->items[2]),
			   value_text(&e->items[3]),
			   value_text(&e->items[4]),
			   value_text(&e->items[5]),
			   false};
		add_clue(s, &c, oldest);
	}
}

static void add_fact(Story *s, const char *what, const char *value)
{
	char *text = value ? strdup(value) : NULL;

	if (!text || s->n_facts == ARRAY_SIZE(s->facts))
		return free(text);
	s->texts[s->n_facts] = text;
	s->facts[s->n_facts++] = (Fact){what, text, false};
}

/* Row I of O as a fact, if it has a value: a text or yes or no. */
static void add_row(Story *s, const Object *o, size_t i)
{
	const Value *v = o ? object_value(o, i) : NULL;

	if (v && v->type == VALUE_TEXT)
		add_fact(s, o->rows[i].name, value_text(v));
	else if (v && v->type == VALUE_BOOL)
		add_fact(s, o->rows[i].name, v->boolean ? "yes" : "no");
}

static void add_facts(Story *s)
{
	const Value *is = s->device ? object_value(s->device, DEVICE_ATTR_pcie_rate) : NULL;
	const Value *best = s->device ? object_value(s->device, DEVICE_ATTR_pcie_max_rate) : NULL;

	if (!s->port)
		return;
	add_row(s, s->port, PORT_ATTR_protocol);
	add_row(s, s->port, PORT_ATTR_state);
	add_row(s, s->port, PORT_ATTR_phys_state);
	add_row(s, s->port, PORT_ATTR_stale);
	add_row(s, s->port, PORT_ATTR_last_error_code);
	add_row(s, s->port, PORT_ATTR_netdev_up);
	add_row(s, s->port, PORT_ATTR_netdev_carrier);
	if (is && best)
		add_fact(s, "PcieSlow", is->number < best->number ? "yes" : "no");
}

static size_t count_states(const Value *entry)
{
	size_t n = 0;

	while (history_read_transition(entry, n, &(PastState){}))
		n++;
	return n;
}

/* Asks what the port of S has shown. Of one that has gone it may be forgotten. */
static ExitStatus read_evidence(Context *c, Story *s)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	const char *name = history_entry_name(s->entry);
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				   "GetEvidence", &error, &reply, "sa{sv}", name, 0);

	if (r >= 0)
		r = value_read(reply, &s->evidence);
	else if (error_is_no_port(&error))
		return STATUS_OK;
	if (r >= 0 && s->evidence.type != VALUE_ARRAY)
		r = -EBADMSG;
	return r < 0 ? bus_complain(name, &error, r) : STATUS_OK;
}

static ExitStatus read_story(Context *c, const Histories *h, Story *s)
{
	ExitStatus status = read_evidence(c, s);
	const Value *path;
	uint64_t now = realtime_now_usec(), oldest = now > arg_since ? now - arg_since : 0;

	if (status != STATUS_OK)
		return status;
	s->port = object_list_find(&h->objects, history_entry_text(s->entry, "Port"));
	path = s->port ? object_value(s->port, PORT_ATTR_device_index) : NULL;
	s->device = path ? object_list_find(&h->objects, value_text(path)) : NULL;
	s->clues = calloc(count_states(s->entry) + s->evidence.n + 1, sizeof(Clue));
	if (!s->clues)
		return out_of_memory();
	add_states(s, oldest);
	add_evidence(s, oldest);
	add_facts(s);
	explain_sort(s->clues, s->n_clues);
	s->explanation = explain_infer(s->clues, s->n_clues, s->facts, s->n_facts);
	return STATUS_OK;
}

/* Printing */

static Confidence confidence_of(const Story *s)
{
	return s->explanation.cause ? s->explanation.cause->confidence : UNKNOWN;
}

/* Whether clue I is printed: what the explanation is made of, or if there is none, what was seen
 * last. */
static bool is_shown(const Story *s, size_t i)
{
	return s->clues[i].used || (!s->explanation.cause && i + CLUES_SHOWN >= s->n_clues);
}

static void print_clue(const Context *c, const Clue *clue)
{
	const Value when = {.type = VALUE_UNSIGNED, .number = clue->realtime_usec};
	_cleanup_free_ char *time = format_value(&port_attributes[PORT_ATTR_state_change], &when);

	fprintf(c->out, "  %s  %s: %s%s%s  (%s)\n", time ? time : "", clue->what,
		*clue->from ? clue->from : "", *clue->from ? " -> " : "",
		*clue->to ? clue->to : "none", clue->reason);
}

static void print_story(const Context *c, const Story *s)
{
	const Explanation *e = &s->explanation;
	const char *id = e->cause ? e->cause->id : NULL;

	fprintf(c->out, "%s%s%s: ", terminal_color(c, "bold"), history_entry_name(s->entry),
		terminal_plain(c));
	if (e->trouble == TROUBLE_NONE) {
		fputs("nothing to explain\n", c->out);
		return;
	}
	fprintf(c->out, "%s%s: %s [%s%s%s]\n", trouble_words(e->trouble),
		e->over ? ", which is over" : "",
		e->cause ? e->cause->says : "what was seen fits no known cause", id ? id : "",
		id ? ", " : "", confidence_name(confidence_of(s)));
	for (size_t i = 0; i < s->n_clues; i++)
		if (is_shown(s, i))
			print_clue(c, &s->clues[i]);
	for (size_t i = 0; i < s->n_facts; i++)
		if (s->facts[i].used)
			fprintf(c->out, "  now  %s: %s\n", s->facts[i].what, s->facts[i].value);
	if (e->cause && !e->over) {
		fputs("  ", c->out);
		terminal_print_wrapped(c, e->cause->advice, 2);
	}
}

static void json_text_or_null(const Context *c, const char *key, const char *text)
{
	json_key(c->out, key, false);
	if (text)
		json_text(c->out, text);
	else
		fputs("null", c->out);
}

static void print_json_clues(const Context *c, const Story *s)
{
	FILE *f = c->out;
	size_t n = 0;

	json_key(f, "Evidence", false);
	fputc('[', f);
	for (size_t i = 0; i < s->n_clues; i++) {
		const Clue *clue = &s->clues[i];

		if (s->explanation.trouble == TROUBLE_NONE || !is_shown(s, i))
			continue;
		fprintf(f, "%s\n    {\"Timestamp\": %" PRIu64, n++ > 0 ? "," : "",
			clue->realtime_usec);
		json_key(f, "Monotonic", false);
		if (clue->monotonic_usec)
			fprintf(f, "%" PRIu64, clue->monotonic_usec);
		else
			fputs("null", f);
		json_text_or_null(c, "What", clue->what);
		json_text_or_null(c, "From", clue->from);
		json_text_or_null(c, "To", clue->to);
		json_text_or_null(c, "Reason", clue->reason);
		fputc('}', f);
	}
	fputs("]", f);
	json_key(f, "Now", false);
	fputc('[', f);
	n = 0;
	for (size_t i = 0; i < s->n_facts; i++) {
		if (!s->facts[i].used)
			continue;
		fputs(n++ > 0 ? ", {\"What\": " : "{\"What\": ", f);
		json_text(f, s->facts[i].what);
		json_text_or_null(c, "Value", s->facts[i].value);
		fputc('}', f);
	}
	fputs("]", f);
}

static void print_json(const Context *c, const Story *s)
{
	const Explanation *e = &s->explanation;
	bool any = e->trouble != TROUBLE_NONE;

	fputs("{\"Port\": ", c->out);
	json_text(c->out, history_entry_name(s->entry));
	json_text_or_null(c, "ObjectPath", s->port ? s->port->path : NULL);
	json_text_or_null(c, "Trouble", any ? trouble_words(e->trouble) : NULL);
	json_key(c->out, "Over", false);
	fputs(e->over ? "true" : "false", c->out);
	json_text_or_null(c, "Cause", e->cause ? e->cause->id : NULL);
	json_text_or_null(c, "Confidence", any ? confidence_name(confidence_of(s)) : NULL);
	json_text_or_null(c, "Explanation", e->cause ? e->cause->says : NULL);
	json_text_or_null(c, "Advice", e->cause ? e->cause->advice : NULL);
	print_json_clues(c, s);
	fputs("\n  }", c->out);
}

/* The table of causes, for --list and docs/explain.md. */
static ExitStatus print_causes(const Context *c)
{
	if (c->json)
		json_begin(c->out, "Causes");
	for (size_t i = 0; i < n_causes; i++) {
		const Cause *cause = &causes[i];

		if (c->json) {
			json_next(c->out, i);
			fputs("{\"Cause\": ", c->out);
			json_text(c->out, cause->id);
			json_text_or_null(c, "Confidence", confidence_name(cause->confidence));
			json_text_or_null(c, "Steps", cause->steps);
			json_text_or_null(c, "Explanation", cause->says);
			json_text_or_null(c, "Advice", cause->advice);
			fputs("}", c->out);
		} else {
			fprintf(c->out, "%s%s%s (%s): %s\n  %s\n  %s\n", terminal_color(c, "bold"),
				cause->id, terminal_plain(c), confidence_name(cause->confidence),
				cause->says, cause->steps, cause->advice);
		}
	}
	if (c->json)
		json_end(c->out);
	return STATUS_OK;
}

/* STATUS_FAILED: something is wrong now, and nobody knows why. */
static ExitStatus explain_entry(Context *c, const Histories *h, size_t i, size_t *n_printed)
{
	_cleanup_(story_done) Story s = {.entry = h->chosen[i]};
	ExitStatus status = read_story(c, h, &s);

	if (status != STATUS_OK)
		return status;
	/* of ports that nobody named only those are printed that there is something to say of */
	if (c->n_arguments > 0 || s.explanation.trouble != TROUBLE_NONE) {
		if (c->json) {
			json_next(c->out, *n_printed);
			print_json(c, &s);
		} else {
			print_story(c, &s);
		}
		(*n_printed)++;
	}
	return s.explanation.cause || s.explanation.over ? STATUS_OK : STATUS_FAILED;
}

ExitStatus explain_command(Context *c)
{
	_cleanup_(histories_done) Histories h = {};
	ExitStatus status, worst;
	size_t n_printed = 0;

	if (arg_list)
		return print_causes(c);
	status = histories_read(c, &h);
	if (status != STATUS_OK)
		return status;
	worst = histories_choose(c, &h);
	if (worst != STATUS_OK && worst != STATUS_NO_PORT)
		return worst;
	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < h.n; i++) {
		status = explain_entry(c, &h, i, &n_printed);
		worst = MAX(worst, status);
	}
	if (c->json)
		json_end(c->out);
	else if (n_printed == 0 && worst == STATUS_OK)
		fputs("Nothing to explain.\n", c->out);
	return worst;
}
