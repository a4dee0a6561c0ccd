/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-text.h"

#include <ctype.h>

#include "decode.h"
#include "port-name.h"
#include "row-text.h"

#define HEAD	  "# rdmad history "
#define HEAD_BOOT "# boot "

/* Writing */

void history_put_head(GString *to, const char *boot)
{
	g_string_append_printf(to, HEAD "%u\n" HEAD_BOOT "%s\n", HISTORY_TEXT_VERSION, boot);
}

static void put_name(GString *to, const char *verb, const char *device, uint32_t port)
{
	g_string_append(to, verb);
	g_string_append_c(to, ' ');
	word_put(to, device);
	if (port == PORT_NUMBER_NONE)
		return;
	g_string_append_c(to, '/');
	number_put(to, port, 1);
}

static void put_number(GString *to, const char *key, uint64_t value)
{
	if (value == 0)
		return;
	g_string_append(to, key);
	number_put(to, value, 1);
}

/* A state without a name is a number. */
static void put_state(GString *to, const char *key, uint8_t state)
{
	AttrText text;
	const char *name = history_state_name(state, text);

	g_string_append(to, key);
	if (startswith(name, "unknown("))
		number_put(to, state, 1);
	else
		word_put(to, name);
}

static void put_change(GString *to, const char *device, uint32_t port, const Transition *t,
		       uint64_t link_downs)
{
	put_name(to, "change", device, port);
	put_state(to, " from=", t->from);
	put_state(to, " to=", t->to);
	/* by its name: the numbers of reasons change from version to version */
	g_string_append(to, " reason=");
	word_put(to, event_reason_name(t->reason));
	put_number(to, " time=", t->realtime_usec);
	put_number(to, " monotonic=", t->monotonic_usec);
	put_number(to, " link_downs=", link_downs);
	put_number(to, " rate_mbit=", t->rate_mbit);
	put_number(to, " qps=", t->qps);
	put_number(to, " processes=", t->processes);
	g_string_append(to, " .\n");
}

void history_put_change(GString *to, const char *device, uint32_t port, const History *h,
			const Transition *t)
{
	put_change(to, device, port, t, history_is_link_down(t->from, t->to) ? h->link_downs : 0);
}

static void put_word(GString *to, const char *key, const char *word)
{
	if (!*word)
		return;
	g_string_append(to, key);
	word_put(to, word);
}

void history_put_finding(GString *to, const char *device, uint32_t port, const PastFinding *f)
{
	put_name(to, "finding", device, port);
	put_word(to, " check=", f->check);
	put_word(to, " attribute=", f->attribute);
	put_word(to, " severity=", decode_name(ATTR_VERDICT, f->severity) ?: "");
	put_word(to, " cause=", f->cause);
	put_number(to, " since=", f->since);
	put_number(to, " until=", f->until);
	put_number(to, " acknowledged=", f->acknowledged);
	put_word(to, " text=", f->acknowledged_text);
	g_string_append(to, " .\n");
}

/* The last N. */
static void put_cables(GString *to, const char *device, uint32_t port, const History *h, size_t n)
{
	for (size_t i = h->cables.n - n; i < h->cables.n; i++) {
		const PastCable *c = &h->cables.items[i];

		put_name(to, "cable", device, port);
		put_word(to, " serial=", c->serial);
		put_word(to, " part=", c->part);
		put_number(to, " since=", c->since);
		put_number(to, " until=", c->until);
		g_string_append(to, " .\n");
	}
}

void history_put_cables(GString *to, const char *device, uint32_t port, const History *h)
{
	put_cables(to, device, port, h, h->cables.n);
}

/* How many bytes a transition, a finding, a module and a time have at most, with a usual name. */
#define CHANGE_BYTES  256U
#define FINDING_BYTES 512U
#define CABLE_BYTES   256U
#define TIME_BYTES    21U

void history_put_port(GString *to, const char *device, uint32_t port, const History *h,
		      size_t bytes)
{
	/* two thirds are for the transitions; what these do not need is for the other times */
	size_t n = MIN((size_t)h->n, MAX(bytes * 2 / 3 / CHANGE_BYTES, (size_t)1));
	size_t left = bytes - MIN(bytes, n * CHANGE_BYTES);
	size_t n_cables = MIN(h->cables.n, left / 4 / CABLE_BYTES);
	size_t n_findings = MIN(h->findings.n, left / 2 / FINDING_BYTES);
	size_t n_downs =
		MIN((size_t)h->n_downs,
		    (left - n_findings * FINDING_BYTES - n_cables * CABLE_BYTES) / TIME_BYTES);

	put_name(to, "port", device, port);
	put_number(to, " since=", h->since_usec);
	put_number(to, " link_downs=", h->link_downs);
	for (size_t i = h->n_downs - n_downs; i < h->n_downs; i++) {
		g_string_append(to, i > h->n_downs - n_downs ? "," : " downs=");
		number_put(to, history_link_down(h, i), 1);
	}
	g_string_append(to, " .\n");
	for (size_t i = h->n - n; i < h->n; i++)
		put_change(to, device, port, history_entry(h, i), 0);
	for (size_t i = h->findings.n - n_findings; i < h->findings.n; i++)
		history_put_finding(to, device, port, &h->findings.items[i]);
	put_cables(to, device, port, h, n_cables);
}

/* Reading */

/* The words of a line; 0 or NULL: the line does not have the word. */
typedef struct Line {
	AttrText device;
	uint32_t port;
	char *from, *to, *reason, *downs, *check, *attribute, *severity, *cause, *text, *serial,
		*part;
	uint64_t since, link_downs, time, monotonic, rate_mbit, qps, processes, until, acknowledged;
} Line;

static const struct {
	const char *name;
	size_t offset;
	uint64_t max; /* 0: it is text */
} keys[] = {
	{"from", offsetof(Line, from), 0},
	{"to", offsetof(Line, to), 0},
	{"reason", offsetof(Line, reason), 0},
	{"downs", offsetof(Line, downs), 0},
	{"check", offsetof(Line, check), 0},
	{"attribute", offsetof(Line, attribute), 0},
	{"severity", offsetof(Line, severity), 0},
	{"cause", offsetof(Line, cause), 0},
	{"text", offsetof(Line, text), 0},
	{"serial", offsetof(Line, serial), 0},
	{"part", offsetof(Line, part), 0},
	{"since", offsetof(Line, since), UINT64_MAX},
	{"link_downs", offsetof(Line, link_downs), UINT64_MAX},
	{"time", offsetof(Line, time), UINT64_MAX},
	{"monotonic", offsetof(Line, monotonic), UINT64_MAX},
	{"rate_mbit", offsetof(Line, rate_mbit), UINT32_MAX},
	{"qps", offsetof(Line, qps), UINT32_MAX},
	{"processes", offsetof(Line, processes), UINT32_MAX},
	{"until", offsetof(Line, until), UINT64_MAX},
	{"acknowledged", offsetof(Line, acknowledged), UINT64_MAX},
};

static const char *read_setting(Line *l, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return "a word has no '='";
	*value++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		void *to = (char *)l + keys[i].offset;

		if (!streq(keys[i].name, word))
			continue;
		if (keys[i].max == 0)
			*(char **)to = value;
		else if (text_to_u64(value, keys[i].max, to) < 0)
			return "a number is expected";
	}
	return NULL;
}

static const char no_port[] = "no port has such a name";

static int read_name(const char *word, Line *l)
{
	char name[PORT_NAME_MAX];

	if (!word || word_parse(word, name, sizeof(name)) < 0 ||
	    port_name_split(name, l->device, &l->port) < 0)
		return -EINVAL;
	if (l->port == PORT_NUMBER_NONE)
		text_copy(l->device, sizeof(l->device), streq(name, ".") ? "" : name);
	return *l->device ? 0 : -EINVAL;
}

static const char *read_settings(Line *l, char **rest)
{
	char *name = strtok_r(NULL, " ", rest), *word;
	const char *wrong = NULL;

	if (read_name(name, l) < 0)
		return no_port;
	while (!wrong && (word = strtok_r(NULL, " ", rest)) && !streq(word, "."))
		wrong = read_setting(l, word);
	return !wrong && (!word || **rest) ? "it does not end with a point" : wrong;
}

static int read_state(const char *text, uint8_t *ret)
{
	static const uint8_t others[] = {STATE_NOT_ACTIVE, STATE_UNKNOWN, STATE_ABSENT};
	uint32_t state = 0;
	uint64_t number;
	AttrText name;

	if (!text)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (streq(text, history_state_name(others[i], name))) {
			*ret = others[i];
			return 0;
		}
	if (text_to_u64(text, STATE_ABSENT, &number) == 0)
		state = (uint32_t)number;
	else if (decode_value(ATTR_PORT_STATE, text, &state) < 0)
		return -EINVAL;
	*ret = (uint8_t)state;
	return 0;
}

static const char *read_change(HistoryReader *r, const Line *l)
{
	Transition t = {.realtime_usec = l->time,
			.monotonic_usec = r->is_this_boot ? l->monotonic : 0,
			/* of a later version: its name is "unknown" */
			.reason = (uint8_t)event_reason_from_name(l->reason ? l->reason : ""),
			.taken = true,
			.rate_mbit = (uint32_t)l->rate_mbit,
			.qps = (uint32_t)l->qps,
			.processes = (uint32_t)l->processes};
	KeptHistory *k;
	History *h;

	if (read_state(l->from, &t.from) < 0 || read_state(l->to, &t.to) < 0)
		return "from or to is no state of a port";
	if (l->time == 0)
		return "it has no time";
	k = history_list_put(r->list, l->device, l->port);
	if (!k)
		return "there is no memory for it";
	h = &k->history;
	if (history_restore(h, &t) && l->link_downs > 0)
		history_restore_link_down(h, l->time);
	if (l->link_downs > 0)
		h->link_downs = l->link_downs;
	if (h->since_usec == 0)
		h->since_usec = l->time;
	return NULL;
}

static const char *read_port(HistoryReader *r, const Line *l)
{
	History h = {.since_usec = l->since, .link_downs = l->link_downs};
	char *rest = l->downs, *time;
	const char *wrong = NULL;
	KeptHistory *k;
	uint64_t usec;

	while (!wrong && rest && (time = strsep(&rest, ",")))
		if (text_to_u64(time, UINT64_MAX, &usec) < 0)
			wrong = "a number is expected in downs";
		else
			history_restore_link_down(&h, usec);
	k = wrong ? NULL : history_list_put(r->list, l->device, l->port);
	if (!k) {
		history_done(&h);
		return wrong ? wrong : "there is no memory for it";
	}
	history_done(&k->history);
	k->history = h;
	return NULL;
}

/* Puts WORD, NULL: there is none, as text into the SIZE bytes at RET. False: it is none, or too
 * long. */
static bool read_text(const char *word, char *ret, size_t size)
{
	char text[HISTORY_LINE_MAX];

	if (!word)
		return true;
	if (word_parse(word, text, sizeof(text)) < 0 || strlen(text) >= size)
		return false;
	text_copy_clean(ret, size, text);
	return true;
}

static const char *read_finding(HistoryReader *r, const Line *l)
{
	PastFinding f = {.since = l->since,
			 .until = l->until,
			 .acknowledged = l->acknowledged,
			 .taken = true,
			 .recalled = l->until == 0};
	KeptHistory *k;

	if (!l->check || !read_text(l->check, f.check, sizeof(f.check)) ||
	    !read_text(l->attribute, f.attribute, sizeof(f.attribute)) ||
	    !read_text(l->cause, f.cause, sizeof(f.cause)) ||
	    !read_text(l->text, f.acknowledged_text, sizeof(f.acknowledged_text)))
		return "check, attribute, cause or text is none";
	if (!l->severity || decode_value(ATTR_VERDICT, l->severity, &f.severity) < 0)
		return "severity is none of a finding";
	if (l->since == 0)
		return "it has no time";
	k = history_list_put(r->list, l->device, l->port);
	if (!k)
		return "there is no memory for it";
	past_findings_restore(&k->history.findings, &f);
	return NULL;
}

static const char *read_cable(HistoryReader *r, const Line *l)
{
	PastCable c = {.since = l->since, .until = l->until};
	KeptHistory *k;

	if (!l->serial || !read_text(l->serial, c.serial, sizeof(c.serial)) ||
	    !read_text(l->part, c.part, sizeof(c.part)))
		return "serial or part is none";
	if (l->since == 0)
		return "it has no time";
	k = history_list_put(r->list, l->device, l->port);
	if (!k)
		return "there is no memory for it";
	past_cables_restore(&k->history.cables, &c);
	return NULL;
}

static const struct {
	const char *verb;
	const char *(*read)(HistoryReader *r, const Line *l);
	bool of_device; /* it need not be about a port */
} verbs[] = {
	{"port", read_port, true},
	{"change", read_change, false},
	{"finding", read_finding, true},
	{"cable", read_cable, false},
};

int history_check_head(const char *line)
{
	const char *version = startswith(line, HEAD);
	uint64_t number;

	if (!version || text_to_u64(version, UINT32_MAX, &number) < 0)
		return -EBADMSG;
	return number == HISTORY_TEXT_VERSION ? 0 : -EPROTONOSUPPORT;
}

const char *history_read_line(HistoryReader *r, char *line, size_t size)
{
	const char *boot = startswith(line, HEAD_BOOT), *wrong;
	char *rest, *verb;
	Line l = {};
	size_t k = 0;

	for (size_t i = 0; i < size; i++)
		if (iscntrl((unsigned char)line[i]))
			return "there is a byte in it that is no text";
	if (boot)
		r->is_this_boot = streq(boot, r->boot);
	verb = *line == '#' ? NULL : strtok_r(line, " ", &rest);
	if (!verb)
		return NULL;
	while (k < ARRAY_SIZE(verbs) && !streq(verb, verbs[k].verb))
		k++;
	if (k == ARRAY_SIZE(verbs))
		return "\"port\", \"change\", \"finding\" or \"cable\" is expected";
	wrong = read_settings(&l, &rest);
	if (!wrong && l.port == PORT_NUMBER_NONE && !verbs[k].of_device)
		wrong = no_port;
	return wrong ? wrong : verbs[k].read(r, &l);
}
