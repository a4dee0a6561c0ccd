/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl explain: the cause of the last trouble of ports, with what was seen of it. */

#include <inttypes.h>

#include "bus.h"
#include "checks.h"
#include "clock.h"
#include "commands.h"
#include "explain-infer.h"
#include "falls.h"
#include "flaps.h"
#include "format.h"
#include "histories.h"
#include "json.h"
#include "names.h"
#include "parse.h"
#include "seen.h"
#include "selection.h"
#include "terminal.h"

/* Older evidence is not asked for. */
#define SINCE_DEFAULT_USEC (UINT64_C(24) * 3600 * USEC_PER_SEC)
#define CLUES_SHOWN	   12U /* of an unknown cause the last */
#define NAMES_SHOWN	   8U  /* of ports with the same trouble the first */

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

/* Of findings more than this are left out. */
#define FACTS_MAX 40U

/* One port with what was seen of it. */
typedef struct Story {
	const Value *entry;   /* of the histories */
	const Object *port;   /* NULL: it has gone */
	const Object *device; /* NULL: it has gone */
	Value evidence;	      /* the reply of GetEvidence() */
	Clue *clues;
	size_t n_clues;
	char (*together)[FALLS_TEXT_SIZE]; /* what clues point to */
	Fact facts[FACTS_MAX];
	size_t n_facts;
	char *texts[FACTS_MAX]; /* what the facts point to */
	Explanation explanation;
	const char *flap; /* what rdmad says of how often the link went down; NULL: that is well */
	size_t n_members; /* so many stories are told with this one; 0: it is told with another */
	const struct Story *first; /* that other */
} Story;

typedef struct Stories {
	Histories histories;
	ObjectList named; /* the ports that are named, with their devices */
	Falls falls;
	Story *items;
	size_t n;
} Stories;

static void story_done(Story *s)
{
	value_done(&s->evidence);
	free(s->clues);
	free(s->together);
	for (size_t i = 0; i < ARRAY_SIZE(s->texts); i++)
		free(s->texts[i]);
}

static void stories_done(Stories *s)
{
	for (size_t i = 0; i < s->n; i++)
		story_done(&s->items[i]);
	free(s->items);
	falls_done(&s->falls);
	object_list_done(&s->named);
	histories_done(&s->histories);
}

/* Collecting */

static void add_clue(Story *s, const Clue *c, uint64_t oldest)
{
	if (c->realtime_usec >= oldest)
		s->clues[s->n_clues++] = *c;
}

/* The transitions of the state are in the history; the first look is none. Beside one that others
 * had at the same time is the clue which ones. */
static void add_states(Stories *all, Story *s, uint64_t oldest)
{
	PastState t;

	for (size_t i = 0; history_read_transition(s->entry, i, &t); i++) {
		Clue c = {
			t.realtime_usec, t.monotonic_usec, "State", t.from, t.to, t.reason, false};

		if (streq(t.from, "unknown"))
			continue;
		add_clue(s, &c, oldest);
		if (!startswith(t.from, "active") || startswith(t.to, "active") ||
		    !falls_together(&all->falls, s->entry, t.realtime_usec, s->together[i]))
			continue;
		c.what = "Together";
		c.from = "";
		c.to = s->together[i];
		add_clue(s, &c, oldest);
	}
}

static void add_evidence(Story *s, uint64_t oldest)
{
	SeenSource evidence = seen_in(&s->evidence);
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++)
		add_clue(s,
			 &(Clue){e.realtime_usec, e.monotonic_usec, e.what, e.from, e.to, e.reason,
				 false},
			 oldest);
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
	const Value *v = object_value(o, i);

	if (v && v->type == VALUE_TEXT)
		add_fact(s, o->rows[i].name, value_text(v));
	else if (v && v->type == VALUE_BOOL)
		add_fact(s, o->rows[i].name, v->boolean ? "yes" : "no");
}

/* The check of each finding of O as a fact: what is wrong with O is judged in one place. */
static void add_findings(Story *s, const Object *o, size_t row)
{
	const Value *findings = object_value(o, row);

	VALUE_FOREACH(f, findings)
		if (f->n > 0)
			add_fact(s, "Finding", value_text(&f->items[0]));
}

static void add_facts(Story *s)
{
	if (!s->port)
		return;
	add_row(s, s->port, PORT_ATTR_protocol);
	add_row(s, s->port, PORT_ATTR_state);
	add_row(s, s->port, PORT_ATTR_phys_state);
	add_row(s, s->port, PORT_ATTR_stale);
	add_row(s, s->port, PORT_ATTR_last_error_code);
	add_row(s, s->port, PORT_ATTR_netdev_up);
	add_row(s, s->port, PORT_ATTR_netdev_carrier);
	add_row(s, s->port, PORT_ATTR_link_down_reason);
	add_row(s, s->port, PORT_ATTR_link_down_detail);
	add_row(s, s->device, DEVICE_ATTR_function);
	add_fact(s, "Flapping", s->flap ? "yes" : "no");
	add_findings(s, s->port, PORT_ATTR_findings);
	add_findings(s, s->device, DEVICE_ATTR_findings);
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

/* Reads the port of S, if it is there and was named, and its device. */
static ExitStatus read_named(Context *c, Stories *all, const Story *s)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *path = history_entry_text(s->entry, "Port");
	bool is_there = c->n_arguments > 0 && *path;
	int r = is_there ? ports_read_one(c->bus, path, &all->named, &error) : 0;

	if (is_there && r >= 0)
		r = ports_read_device(c->bus, object_list_find(&all->named, path), &all->named,
				      &error);
	return r < 0 && !error_is_no_port(&error) ? bus_complain("explain", &error, r) : STATUS_OK;
}

static ExitStatus read_story(Context *c, Stories *all, Story *s)
{
	const ObjectList *objects = c->n_arguments == 0 ? &all->histories.objects : &all->named;
	ExitStatus status = read_evidence(c, s);
	uint64_t now = realtime_now_usec(), oldest = now > arg_since ? now - arg_since : 0;

	if (status == STATUS_OK)
		status = read_named(c, all, s);
	if (status != STATUS_OK)
		return status;
	s->port = object_list_find(objects, history_entry_text(s->entry, "Port"));
	s->device = s->port ? object_list_device(objects, s->port) : NULL;
	s->clues = calloc(2 * count_states(s->entry) + s->evidence.n + 1, sizeof(Clue));
	s->together = calloc(count_states(s->entry) + 1, sizeof(*s->together));
	if (!s->clues || !s->together)
		return out_of_memory();
	s->flap = checks_published(s->port, "flap");
	add_states(all, s, oldest);
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
	_cleanup_free_ char *time = format_time(clue->realtime_usec);

	fprintf(c->out, "  %s  %s: %s%s%s  (%s)\n", time ? time : "", clue->what,
		*clue->from ? clue->from : "", *clue->from ? " -> " : "",
		*clue->to ? clue->to : "none", clue->reason);
}

/* The number or the text of WHAT, with the unit that it has as a property. */
static char *format_clue_value(const char *what, const char *text)
{
	const Attribute *row = object_find_row(what, &(bool){false});
	Value v = {.type = VALUE_UNSIGNED};

	if (!row || text_to_u64(text, UINT64_MAX, &v.number) < 0)
		return strdup(text);
	return format_value(row, &v);
}

/* Returns how many differences there are. */
static size_t print_differences(const Context *c, const Story *s, bool is_member)
{
	_cleanup_free_ Difference *d = calloc(s->n_clues + 1, sizeof(*d));
	size_t n = d ? explain_differences(s->clues, s->n_clues, &s->explanation, is_member, d) : 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *from = format_clue_value(d[i].what, d[i].from);
		_cleanup_free_ char *to = format_clue_value(d[i].what, d[i].to);

		fprintf(c->out, "  still  %s%s%s: %s before, %s now\n",
			s->first ? history_entry_name(s->entry) : "", s->first ? " " : "",
			d[i].what, from ? from : "", to && *to ? to : "gone");
	}
	return n;
}

/* The name of the port, or those of all that have the same trouble. */
static void print_names(const Context *c, const Stories *all, const Story *s)
{
	size_t n = 0;

	if (s->n_members > 1)
		fprintf(c->out, "%zu ports at the same time (", s->n_members);
	for (size_t i = 0; i < all->n && n < NAMES_SHOWN; i++)
		if (&all->items[i] == s || all->items[i].first == s)
			fprintf(c->out, "%s%s%s%s", n++ > 0 ? ", " : "", terminal_color(c, "bold"),
				history_entry_name(all->items[i].entry), terminal_plain(c));
	if (s->n_members > n)
		fprintf(c->out, " and %zu more", s->n_members - n);
	fputs(s->n_members > 1 ? "): " : ": ", c->out);
}

static void print_seen(const Context *c, const Story *s)
{
	if (s->n_members > 1)
		fprintf(c->out, "  of %s was seen:\n", history_entry_name(s->entry));
	for (size_t i = 0; i < s->n_clues; i++)
		if (is_shown(s, i))
			print_clue(c, &s->clues[i]);
	for (size_t i = 0; i < s->n_facts; i++)
		if (s->facts[i].used)
			fprintf(c->out, "  now  %s: %s\n", s->facts[i].what, s->facts[i].value);
}

/* Whether S says nothing of it that the link goes down again and again. */
static bool hides_flaps(const Story *s)
{
	const Cause *cause = s->explanation.cause;

	return s->flap && !(cause && strstr(cause->id, "flap"));
}

/* Whether rdmad finds something wrong with the port of S. */
static bool has_findings(const Story *s)
{
	const char *check;

	return checks_next_published(s->port, &(size_t){0}, &check);
}

/* What is wrong with the port of S, if no trouble of now says it. */
static void print_findings(const Context *c, const Story *s)
{
	const char *check, *text;

	for (size_t i = 0; (text = checks_next_published(s->port, &i, &check));)
		fprintf(c->out, "  now  %s [%s]\n", text, check);
}

static void print_story(const Context *c, const Stories *all, const Story *s)
{
	const Explanation *e = &s->explanation;
	const char *id = e->cause ? e->cause->id : NULL;
	size_t n_differences = 0;

	print_names(c, all, s);
	if (e->trouble == TROUBLE_NONE) {
		fputs(has_findings(s) ? "nothing was seen that explains what is wrong\n"
				      : "nothing to explain\n",
		      c->out);
		print_findings(c, s);
		return;
	}
	fprintf(c->out, "%s%s: %s [%s%s%s]\n", trouble_words(e->trouble),
		e->over ? ", which is over" : "",
		e->cause ? e->cause->says : "what was seen fits no known cause", id ? id : "",
		id ? ", " : "", confidence_name(confidence_of(s)));
	print_seen(c, s);
	for (size_t i = 0; i < all->n; i++)
		if (&all->items[i] == s || all->items[i].first == s)
			n_differences += print_differences(c, &all->items[i], s->n_members > 1);
	if (e->over || e->trouble == TROUBLE_CHANGED)
		print_findings(c, s);
	else if (hides_flaps(s))
		fprintf(c->out, "  also  %s [flapping]\n", s->flap);
	if (n_differences > 0)
		fputs("  Programs that ran all the time may hold what was before: restart them.\n",
		      c->out);
	if (e->cause && !e->over) {
		fputs("  ", c->out);
		terminal_print_wrapped(c, e->cause->advice, 2);
	}
}

static void print_json_clues(const Context *c, const Story *s)
{
	FILE *f = c->out;

	json_open_list(f, "Evidence");
	for (size_t i = 0; i < s->n_clues; i++) {
		const Clue *clue = &s->clues[i];

		if (s->explanation.trouble == TROUBLE_NONE || !is_shown(s, i))
			continue;
		json_entry_line(f);
		json_open(f);
		json_add_number(f, "Timestamp", clue->realtime_usec);
		json_add_known(f, "Monotonic", clue->monotonic_usec);
		json_add_text(f, "What", clue->what);
		json_add_text(f, "From", clue->from);
		json_add_text(f, "To", clue->to);
		json_add_text(f, "Reason", clue->reason);
		json_close(f);
	}
	json_close_list(f);
	json_open_list(f, "Now");
	for (size_t i = 0; i < s->n_facts; i++) {
		if (!s->facts[i].used)
			continue;
		json_entry(f);
		json_open(f);
		json_add_text(f, "What", s->facts[i].what);
		json_add_text(f, "Value", s->facts[i].value);
		json_close(f);
	}
	json_close_list(f);
}

/* Prints the differences that last, the ports with the same trouble, and the other troubles. */
static void print_json_beside(const Context *c, const Stories *all, const Story *s)
{
	_cleanup_free_ Difference *d = calloc(s->n_clues + 1, sizeof(*d));
	size_t n = d ? explain_differences(s->clues, s->n_clues, &s->explanation, true, d) : 0;
	const Story *first = s->first ?: s;
	FILE *f = c->out;

	json_open_list(f, "Differences");
	for (size_t i = 0; i < n; i++) {
		json_entry(f);
		json_open(f);
		json_add_text(f, "What", d[i].what);
		json_add_text(f, "From", d[i].from);
		json_add_text(f, "To", d[i].to);
		json_close(f);
	}
	json_close_list(f);
	json_open_list(f, "Together");
	for (size_t i = 0; i < all->n; i++) {
		const Story *other = &all->items[i];

		if (other == s || (other != first && other->first != first))
			continue;
		json_entry(f);
		json_text(f, history_entry_name(other->entry));
	}
	json_close_list(f);
	json_key(f, "Also");
	fputs(hides_flaps(s) ? "[\"flapping\"]" : "[]", f);
}

static void print_json(const Context *c, const Stories *all, const Story *s)
{
	const Explanation *e = &s->explanation;
	bool any = e->trouble != TROUBLE_NONE;
	FILE *f = c->out;

	json_open(f);
	json_add_text(f, "Port", history_entry_name(s->entry));
	json_add_text(f, "ObjectPath", s->port ? s->port->path : NULL);
	json_add_text(f, "Trouble", any ? trouble_words(e->trouble) : NULL);
	json_add_bool(f, "Over", e->over);
	json_add_text(f, "Cause", e->cause ? e->cause->id : NULL);
	json_add_text(f, "Confidence", any ? confidence_name(confidence_of(s)) : NULL);
	json_add_text(f, "Explanation", e->cause ? e->cause->says : NULL);
	json_add_text(f, "Advice", e->cause ? e->cause->advice : NULL);
	print_json_clues(c, s);
	print_json_beside(c, all, s);
	fputs("\n  ", f);
	json_close(f);
}

/* The table of causes, for --list and docs/guide/explain.md. */
static ExitStatus print_causes(const Context *c)
{
	if (c->json)
		json_begin(c->out, "Causes");
	for (size_t i = 0; i < n_causes; i++) {
		const Cause *cause = &causes[i];

		if (c->json) {
			json_next(c->out);
			json_open(c->out);
			json_add_text(c->out, "Cause", cause->id);
			json_add_text(c->out, "Confidence", confidence_name(cause->confidence));
			json_add_text(c->out, "Steps", cause->steps);
			json_add_text(c->out, "Explanation", cause->says);
			json_add_text(c->out, "Advice", cause->advice);
			json_close(c->out);
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

/* Telling */

static bool is_same_trouble(const Story *a, const Story *b)
{
	const Explanation *x = &a->explanation, *y = &b->explanation;
	if (x->trouble == TROUBLE_NONE || x->trouble != y->trouble || x->over != y->over ||
	    !x->cause != !y->cause || (x->cause && !streq(x->cause->id, y->cause->id)) ||
	    x->begin == a->n_clues || y->begin == b->n_clues)
		return false;
	return flaps_are_at_once(a->clues[x->begin].realtime_usec,
				 b->clues[y->begin].realtime_usec);
}

/* Whether B may be told with A, if MANY have the same trouble at the same time. */
static bool may_join(const Stories *all, const Story *a, const Story *b, bool many)
{
	return !b->first && b->n_members == 0 && is_same_trouble(a, b) &&
	       (many || (a->port && b->port &&
			 streq(falls_adapter(&all->histories, a->port),
			       falls_adapter(&all->histories, b->port))));
}

/* Ports that have the same trouble at the same time have one cause, which is told once. */
static void join_stories(Stories *all)
{
	for (size_t i = 0; i < all->n; i++) {
		Story *a = &all->items[i];
		size_t n = 1;
		bool many;

		if (a->first)
			continue;
		for (size_t k = i + 1; k < all->n; k++)
			n += may_join(all, a, &all->items[k], true);
		many = falls_are_many(&all->falls, a->port, n);
		a->n_members = 1;
		for (size_t k = i + 1; n > 1 && k < all->n; k++)
			if (may_join(all, a, &all->items[k], many)) {
				all->items[k].first = a;
				a->n_members++;
			}
	}
}

static ExitStatus read_stories(Context *c, Stories *s)
{
	const Histories *h = &s->histories;
	ExitStatus status = c->n_arguments > 0 && h->n > SELECTION_FEW
				    ? bus_read_objects(c->bus, &s->named)
				    : STATUS_OK;

	if (status != STATUS_OK)
		return status;
	s->items = calloc(h->n + 1, sizeof(*s->items));
	if (!s->items || !falls_gather(h, &s->falls))
		return out_of_memory();
	for (size_t i = 0; i < h->n; i++) {
		s->items[s->n].entry = h->chosen[i];
		status = read_story(c, s, &s->items[s->n++]);
		if (status != STATUS_OK)
			return status;
	}
	join_stories(s);
	return STATUS_OK;
}

/* Whether there is something to say of S: of ports that were named there is. A port that is not
 * active can be well: nobody uses it, it is expected to be so, or somebody knows of it. */
static bool is_told(const Context *c, const Story *s)
{
	const Explanation *e = &s->explanation;
	bool is_meant = e->trouble == TROUBLE_DOWN && !e->over && s->port &&
			streq(object_text(s->port, PORT_ATTR_health), "ok");

	return c->n_arguments > 0 || (e->trouble == TROUBLE_NONE ? has_findings(s) : !is_meant);
}

static void tell(const Context *c, const Stories *all, const Story *s, size_t *n_printed)
{
	if (!is_told(c, s))
		return;
	if (c->json) {
		json_next(c->out);
		print_json(c, all, s);
	} else if (!s->first) {
		print_story(c, all, s);
	}
	(*n_printed)++;
}

/* STATUS_FAILED: something is wrong now, and nobody knows why. */
static ExitStatus tell_all(Context *c, const Stories *all)
{
	ExitStatus worst = STATUS_OK;
	size_t n_printed = 0;

	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < all->n; i++) {
		const Explanation *e = &all->items[i].explanation;

		tell(c, all, &all->items[i], &n_printed);
		if (e->trouble != TROUBLE_NONE && !e->cause && !e->over &&
		    is_told(c, &all->items[i]))
			worst = STATUS_FAILED;
	}
	if (c->json)
		json_end(c->out);
	else if (n_printed == 0 && c->n_arguments == 0)
		fputs("Nothing to explain.\n", c->out);
	return worst;
}

ExitStatus explain_command(Context *c)
{
	/* with which the ports that are named are compared */
	static const char *const others[] = {"SystemImageGuid", "PciAddress", "Function",
					     "Driver",		"Neighbor",   NULL};
	_cleanup_(stories_done) Stories s = {};
	ExitStatus status, chosen;

	if (arg_list)
		return print_causes(c);
	status = histories_read(c, c->n_arguments == 0 ? NULL : others, &s.histories);
	if (status != STATUS_OK)
		return status;
	chosen = histories_choose(c, &s.histories);
	if (chosen != STATUS_OK && chosen != STATUS_NO_PORT)
		return chosen;
	status = read_stories(c, &s);
	if (status != STATUS_OK)
		return status;
	status = tell_all(c, &s);
	return MAX(status, chosen);
}
