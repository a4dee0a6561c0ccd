/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histories as text: what is written is read again, a line that is damaged says nothing, and the
 * other lines say what they said. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "history-text.h"

#define PORTS	   5
#define BOOT	   "000102030405060708090a0b0c0d0e0f"
#define OTHER_BOOT "ffff02030405060708090a0b0c0d0e0f"

/* The same numbers each time. */
static uint32_t seed;
static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Reads the whole lines of the SIZE bytes at TEXT, as a machine that has BOOT. Returns how many of
 * them are wrong. */
static unsigned int read_text(const char *text, size_t size, const char *boot, HistoryList *l)
{
	HistoryReader r = {.list = l, .boot = boot};
	const char *end;
	unsigned int n_lines = 0, n_wrong = 0;

	for (; (end = memchr(text, '\n', size)); text = end + 1) {
		size_t n = (size_t)(end - text);
		/* with nothing behind it: valgrind sees more */
		char *line = malloc(n + 1);

		assert_non_null(line);
		memcpy(line, text, n);
		line[n] = '\0';
		if (n_lines++ == 0)
			n_wrong += history_check_head(line) < 0;
		else
			n_wrong += history_read_line(&r, line, n) != NULL;
		free(line);
		size -= n + 1;
	}
	history_list_trim(l);
	return n_wrong;
}

/* Writes a transition of each of N steps, of a port that is chosen at random, as a manager would.
 */
static GString *write_steps(History h[PORTS], size_t n)
{
	GString *text = g_string_new(NULL);

	history_put_head(text, BOOT);
	for (size_t i = 0; i < n; i++) {
		uint32_t p = random_below(PORTS);
		const Transition *last = history_last(&h[p]);

		assert_true(history_note(&h[p], last && last->to == 4 ? 1 + random_below(3) : 4,
					 last ? REASON_PORT_ERROR : REASON_STARTUP, 1000 + i,
					 10 + i));
		(void)history_note_rate(&h[p], UINT64_C(1000000000) * random_below(5));
		history_put_change(text, "mlx5_0", p + 1, &h[p], history_last(&h[p]));
		/* who was on it is known later */
		last = history_note_users(&h[p], random_below(50), random_below(5));
		if (last)
			history_put_change(text, "mlx5_0", p + 1, &h[p], last);
	}
	return text;
}

static GString *write_list(const HistoryList *l)
{
	GString *text = g_string_new(NULL);

	history_put_head(text, BOOT);
	for (const KeptHistory *k = l->first; k; k = k->next)
		history_put_port(text, k->device, k->port, &k->history, HISTORY_PORT_BYTES(1));
	return text;
}

static void assert_same(const History *a, const History *b, bool same_boot)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->link_downs, b->link_downs);
	assert_int_equal(a->since_usec, b->since_usec);
	for (size_t i = 0; i < a->n; i++) {
		const Transition *x = history_entry(a, i), *y = history_entry(b, i);

		assert_int_equal(x->realtime_usec, y->realtime_usec);
		assert_int_equal(x->monotonic_usec, same_boot ? y->monotonic_usec : 0);
		assert_int_equal(x->from, y->from);
		assert_int_equal(x->to, y->to);
		assert_int_equal(x->reason, y->reason);
		assert_int_equal(x->rate_mbit, y->rate_mbit);
		assert_int_equal(x->qps, y->qps);
		assert_int_equal(x->processes, y->processes);
		assert_true(x->taken);
	}
	assert_int_equal(a->n_downs, b->n_downs);
	for (size_t i = 0; i < a->n_downs; i++)
		assert_int_equal(history_link_down(a, i), history_link_down(b, i));
}

static const History *kept(const HistoryList *l, uint32_t port)
{
	const KeptHistory *k;
	char name[32];

	snprintf(name, sizeof(name), "mlx5_0/%u", port);
	return history_find(l, name, &k) == 0 ? &k->history : NULL;
}

static void histories_done(History h[PORTS])
{
	for (size_t i = 0; i < PORTS; i++)
		history_done(&h[i]);
}

/* What is read is what was, in this boot and after another one; also when it was written anew. */
static void test_all(void **state)
{
	(void)state;
	for (int of_other_boot = 0; of_other_boot < 2; of_other_boot++) {
		g_autoptr(GString) text = NULL, again = NULL;
		HistoryList l = {}, twice = {};
		History h[PORTS] = {};

		seed = 1;
		text = write_steps(h, 2000);
		assert_int_equal(
			read_text(text->str, text->len, of_other_boot ? OTHER_BOOT : BOOT, &l), 0);
		assert_int_equal(l.n, PORTS);
		for (uint32_t p = 0; p < PORTS; p++)
			assert_same(kept(&l, p + 1), &h[p], !of_other_boot);
		again = write_list(&l);
		assert_true(again->len < text->len);
		assert_int_equal(read_text(again->str, again->len, BOOT, &twice), 0);
		for (uint32_t p = 0; p < PORTS; p++)
			assert_same(kept(&twice, p + 1), kept(&l, p + 1), true);
		histories_done(h);
		history_list_done(&l);
		history_list_done(&twice);
	}
}

/* The histories are written while a port has transitions that nobody has been told of. They are
 * written once more when somebody is told, and count once. */
static void test_told_later(void **state)
{
	g_autoptr(GString) text = g_string_new(NULL);
	HistoryList l = {};
	History h = {};
	const Transition *t;

	(void)state;
	history_put_head(text, BOOT);
	history_note(&h, 4, REASON_STARTUP, 10, 11);
	history_note(&h, 1, REASON_PORT_ERROR, 20, 21);
	history_note(&h, 4, REASON_PORT_ACTIVE, 30, 31);
	history_note(&h, 1, REASON_PORT_ERROR, 40, 41);
	history_put_port(text, "mlx5_0", 1, &h, HISTORY_PORT_BYTES(1));
	while ((t = history_take(&h)))
		history_put_change(text, "mlx5_0", 1, &h, t);
	assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
	assert_same(kept(&l, 1), &h, true);
	assert_int_equal(kept(&l, 1)->n_downs, 2);
	history_done(&h);
	history_list_done(&l);
}

/* Many ports with all that is kept of each. */
static void test_many_ports(void **state)
{
	g_autoptr(GString) text = NULL;
	HistoryList l = {}, again = {};
	char device[64];
	size_t longest = 0;

	(void)state;
	for (uint32_t i = 0; i < 1024; i++) {
		KeptHistory *k;

		snprintf(device, sizeof(device), "%063u", i);
		k = history_list_put(&l, device, 1);
		assert_non_null(k);
		for (uint32_t t = 0; t < 2 * HISTORY_LINK_DOWNS + 1; t++)
			assert_true(history_note(&k->history, t % 2 ? 1 : 4, REASON_SPEED_CHANGE,
						 UINT64_MAX - t - 1, UINT64_MAX - t - 1));
	}
	text = write_list(&l);
	for (const char *at = text->str, *end; (end = strchr(at, '\n')); at = end + 1)
		longest = MAX(longest, (size_t)(end - at));
	assert_in_range(longest, 1, HISTORY_LINE_MAX);
	assert_int_equal(read_text(text->str, text->len, BOOT, &again), 0);
	assert_int_equal(again.n, 1024);
	for (const KeptHistory *k = again.first, *was = l.first; k; k = k->next, was = was->next)
		assert_same(&k->history, &was->history, true);
	print_message("1024 ports with full histories: %zu bytes\n", text->len);
	history_list_done(&l);
	history_list_done(&again);
}

/* With so many ports that there is not room for all of each, the latest is there, and the counts
 * are right. */
static void test_little_room(void **state)
{
	const size_t n_ports = 2 * HISTORY_LIST_MAX;

	(void)state;
	for (size_t bytes = HISTORY_PORT_BYTES(n_ports); bytes < 16000; bytes += 1000) {
		g_autoptr(GString) text = g_string_new(NULL);
		HistoryList l = {};
		History h = {};

		history_put_head(text, BOOT);
		for (uint32_t t = 0; t < 2 * HISTORY_LINK_DOWNS + 1; t++)
			assert_true(history_note(&h, t % 2 ? 1 : 4, REASON_SPEED_CHANGE,
						 UINT64_MAX - 1000 + t, UINT64_MAX - 1000 + t));
		history_put_port(text, "mlx5_0", 1, &h, bytes);
		assert_in_range(text->len, 1, bytes + 100);
		assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
		assert_int_equal(history_last(kept(&l, 1))->realtime_usec,
				 history_last(&h)->realtime_usec);
		assert_int_equal(kept(&l, 1)->link_downs, h.link_downs);
		assert_int_equal(kept(&l, 1)->since_usec, h.since_usec);
		if (bytes >= HISTORY_PORT_BYTES((size_t)4096))
			assert_same(kept(&l, 1), &h, true);
		history_list_done(&l);
		history_done(&h);
	}
}

/* However many ports a file has, only so many are in memory. */
static void test_too_many_ports(void **state)
{
	g_autoptr(GString) text = g_string_new(NULL);
	HistoryReader r = {.boot = BOOT};
	HistoryList l = {};

	(void)state;
	if (getenv("RDMAD_TEST_VALGRIND"))
		return; /* the same line, thousands of times */
	r.list = &l;
	for (uint32_t i = 0; i < 3 * HISTORY_LIST_MAX; i++) {
		g_string_printf(text, "change mlx5_%u/1 from=down to=active time=5 .", i);
		assert_null(history_read_line(&r, text->str, text->len));
		assert_true(l.n <= 2 * HISTORY_LIST_MAX);
	}
	history_list_trim(&l);
	assert_int_equal(l.n, HISTORY_LIST_MAX);
	history_list_done(&l);
}

/* How many of the first N steps are in L: all of them, and no other. */
static size_t count_steps(const HistoryList *l)
{
	size_t found = 0, last = 0;

	for (uint32_t p = 1; p <= PORTS; p++) {
		const History *h = kept(l, p);

		for (size_t i = 0; h && i < h->n; i++, found++)
			last = MAX(last, (size_t)history_entry(h, i)->realtime_usec - 999);
	}
	assert_int_equal(found, last);
	return found;
}

/* The text is cut at each byte, and a line may seem to end there: what is read is what was whole.
 */
static void test_cut(void **state)
{
	g_autoptr(GString) text = NULL;
	History h[PORTS] = {};
	size_t most = 0, steps = getenv("RDMAD_TEST_VALGRIND") ? 12 : 40;

	(void)state;
	seed = 2;
	text = write_steps(h, steps);
	for (size_t size = strlen("# rdmad history 1\n"); size <= text->len; size++) {
		g_autoptr(GString) cut = g_string_new_len(text->str, (gssize)size);
		bool is_whole = text->str[size - 1] == '\n' || text->str[size] == '\n';
		HistoryList l = {}, ended = {};
		size_t n;

		assert_int_equal(read_text(cut->str, cut->len, BOOT, &l), 0);
		n = count_steps(&l);
		assert_in_range(n, most, most + 1);
		most = n;
		/* the second line is a comment, which may be anything */
		g_string_append_c(cut, '\n');
		if (size > strlen("# rdmad history 1\n# boot \n") + strlen(BOOT))
			assert_int_equal(read_text(cut->str, cut->len, BOOT, &ended), !is_whole);
		history_list_done(&l);
		history_list_done(&ended);
	}
	assert_int_equal(most, steps);
	histories_done(h);
}

/* Each bit of the changes is flipped: no other line is lost. */
static void test_flipped(void **state)
{
	g_autoptr(GString) text = g_string_new(NULL);
	size_t begin;

	(void)state;
	history_put_head(text, BOOT);
	begin = text->len;
	for (unsigned int p = 1; p <= PORTS; p++)
		g_string_append_printf(text,
				       "change mlx5_0/%u from=down to=active reason=link "
				       "time=1%u .\n",
				       p, p);
	for (size_t bit = begin * 8; bit < text->len * 8; bit++) {
		size_t whole = 0;
		HistoryList l = {};

		text->str[bit / 8] ^= (char)(1 << bit % 8);
		(void)read_text(text->str, text->len, BOOT, &l);
		for (uint32_t p = 1; p <= PORTS; p++) {
			const History *h = kept(&l, p);

			for (size_t i = 0; h && i < h->n; i++)
				whole += history_entry(h, i)->realtime_usec == 10 + p;
		}
		/* without its end a line spoils the one that follows */
		assert_true(whole + (text->str[bit / 8] == (char)('\n' ^ 1 << bit % 8)) >=
			    PORTS - 1);
		text->str[bit / 8] ^= (char)(1 << bit % 8);
		history_list_done(&l);
	}
}

/* What an event left open, the next line says; a name is forgotten; what a later version adds is
 * passed over. */
static void test_special(void **state)
{
	g_autoptr(GString) text = g_string_new(NULL);
	static const History none = {};
	HistoryList l = {};
	History h = {};

	(void)state;
	history_put_head(text, BOOT);
	history_note(&h, 4, REASON_STARTUP, 10, 11);
	history_put_change(text, "mlx5_0", 1, &h, history_last(&h));
	history_note_event(&h, REASON_PORT_ERROR, 20, 21);
	history_put_change(text, "mlx5_0", 1, &h, history_last(&h));
	assert_false(history_note(&h, 1, REASON_PORT_ERROR, 30, 31));
	history_put_change(text, "mlx5_0", 1, &h, history_last(&h));
	history_put_change(text, "old", 1, &h, history_last(&h));
	history_put_port(text, "old", 1, &none, HISTORY_PORT_BYTES(1));
	/* a name with anything in it */
	history_put_change(text, "a b/#\"%=", 7, &h, history_last(&h));
	g_string_append(text, "# of a later version\n\n");
	g_string_append(text, "change mlx5_1/1 from=77 to=not-active reason=later color=red time=5 "
			      "pets= .\n");
	assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
	assert_int_equal(l.n, 3);
	assert_same(kept(&l, 1), &h, true);
	assert_int_equal(kept(&l, 1)->n, 2);
	assert_string_equal(l.first->next->device, "a b/#\"%=");
	assert_int_equal(l.first->next->port, 7);
	history_done(&h);
	assert_string_equal(l.last->device, "mlx5_1");
	assert_int_equal(history_last(&l.last->history)->from, 77);
	assert_int_equal(history_last(&l.last->history)->to, STATE_NOT_ACTIVE);
	assert_string_equal(event_reason_name(history_last(&l.last->history)->reason), "unknown");
	history_list_done(&l);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *line, *wrong;
	} lines[] = {
		{"chance mlx5_0/1 from=down to=active time=5 .",
		 "\"port\", \"change\", \"finding\" or \"cable\" is expected"},
		{"change", "no port has such a name"},
		{"change .", "no port has such a name"},
		{"change mlx5_0 from=down to=active time=5 .", "no port has such a name"},
		{"change /1 from=down to=active time=5 .", "no port has such a name"},
		{"change mlx5_0/4294967296 from=down to=active time=5 .", "no port has such a"},
		{"change mlx5_0/1%0 from=down to=active time=5 .", "no port has such a name"},
		{"change mlx5_0/1 from=down to=active time=5", "does not end with a point"},
		{"change mlx5_0/1 from=down to=active time=5 . .", "does not end with a point"},
		{"change mlx5_0/1 from=down to=active time=5 .x", "has no '='"},
		{"change mlx5_0/1 from=down to=active time .", "has no '='"},
		{"change mlx5_0/1 from=down to=active .", "has no time"},
		{"change mlx5_0/1 from=down to=active time=-5 .", "a number is expected"},
		{"change mlx5_0/1 from=down to=active time=5 qps=4294967296 .", "a number is"},
		{"change mlx5_0/1 from=down to=active time=18446744073709551616 .", "a number is"},
		{"change mlx5_0/1 from=down time=5 .", "no state of a port"},
		{"change mlx5_0/1 from=256 to=down time=5 .", "no state of a port"},
		{"change mlx5_0/1 from=sleepy to=down time=5 .", "no state of a port"},
		{"change mlx5_0/1 from=down to=active\ttime=5 .", "that is no text"},
		{"port mlx5_0/1 downs=1,,2 .", "expected in downs"},
		{"finding mlx5_0/1 severity=warning since=5 .", "is none"},
		{"finding mlx5_0/1 check=a-name-that-is-too-long severity=warning since=5 .",
		 "is none"},
		{"finding mlx5_0/1 check=a-name-of-20-letters severity=warning since=5 .",
		 "is none"},
		{"finding mlx5_0/1 check=flap%0 severity=warning since=5 .", "is none"},
		{"finding mlx5_0/1 check=flap severity=purple since=5 .", "severity"},
		{"finding mlx5_0/1 check=flap since=5 .", "severity"},
		{"finding mlx5_0/1 check=flap severity=warning .", "has no time"},
		{"port mlx5_0/1 downs=1,2x .", "expected in downs"},
		{"cable mlx5_0/1 since=5 .", "serial or part is none"},
		{"cable mlx5_0/1 serial=a-number-that-is-too-long since=5 .", "is none"},
		{"cable mlx5_0/1 serial=MT1 part=%0 since=5 .", "is none"},
		{"cable mlx5_0/1 serial=MT1 .", "has no time"},
		{"cables mlx5_0/1 serial=MT1 since=5 .", "is expected"},
		{"change mlx5_0 from=down to=active time=5 .", "no port has such a name"},
		{"cable * serial=MT1 since=5 .", "no port has such a name"},
	};
	HistoryReader r = {.boot = BOOT};
	HistoryList l = {};

	(void)state;
	r.list = &l;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_free_ char *line = strdup(lines[i].line);
		const char *wrong = history_read_line(&r, line, strlen(line));

		if (!wrong || !strstr(wrong, lines[i].wrong))
			fail_msg("%s: %s, and not: %s", lines[i].line, wrong ? wrong : "is right",
				 lines[i].wrong);
		assert_int_equal(l.n, 0);
	}
	assert_string_equal(history_read_line(&r, (char[]){"port a\0"}, 7),
			    "there is a byte in it that is no text");
}

/* Findings are written and read again; one that had not ended is recalled, and the last line about
 * one counts. */
static void test_findings(void **state)
{
	const PastFinding ended = {
		.check = "flap", .severity = VERDICT_WARNING, .since = 5, .until = 9};
	PastFinding holds = {.check = "expectation",
			     .severity = VERDICT_CRITICAL,
			     .since = 7,
			     .attribute = "SmLid",
			     .cause = "no-sm",
			     .acknowledged = 8};
	g_autoptr(GString) text = NULL, again = NULL;
	HistoryList l = {}, twice = {};
	History h[PORTS] = {};
	const PastFindings *f;

	(void)state;
	text = write_steps(h, 50);
	history_put_finding(text, "mlx5_0", 1, &ended);
	history_put_finding(text, "mlx5_0", 1, &holds);
	text_copy(holds.acknowledged_text, sizeof(holds.acknowledged_text), "50% of = \"ports\"");
	history_put_finding(text, "mlx5_0", 1, &holds);
	assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
	again = write_list(&l);
	assert_int_equal(read_text(again->str, again->len, BOOT, &twice), 0);
	f = &kept(&twice, 1)->findings;
	assert_int_equal(f->n, 2);
	assert_string_equal(f->items[0].check, "flap");
	assert_int_equal(f->items[0].severity, VERDICT_WARNING);
	assert_int_equal(f->items[0].since, 5);
	assert_int_equal(f->items[0].until, 9);
	assert_false(f->items[0].recalled);
	assert_string_equal(f->items[1].check, "expectation");
	assert_string_equal(f->items[1].attribute, "SmLid");
	assert_string_equal(f->items[1].cause, "no-sm");
	assert_int_equal(f->items[1].until, 0);
	assert_int_equal(f->items[1].acknowledged, 8);
	assert_string_equal(f->items[1].acknowledged_text, "50% of = \"ports\"");
	assert_true(f->items[1].recalled);
	assert_int_equal(kept(&twice, 2)->findings.n, 0);
	history_list_done(&l);
	history_list_done(&twice);
	histories_done(h);
}

/* What was found of a device and of a machine without ports is written and read again. Who asks for
 * the only port of a device is not told of it. */
static void test_without_ports(void **state)
{
	const PastFinding holds = {.check = "no-port", .severity = VERDICT_CRITICAL, .since = 7};
	const PastFinding ended = {
		.check = "pcie-errors", .severity = VERDICT_WARNING, .since = 5, .until = 9};
	g_autoptr(GString) text = g_string_new(NULL), again = NULL;
	HistoryList l = {}, twice = {};
	const KeptHistory *k;

	(void)state;
	history_put_head(text, BOOT);
	history_put_finding(text, HISTORY_MACHINE, PORT_NUMBER_NONE, &holds);
	history_put_finding(text, "mlx5_0", PORT_NUMBER_NONE, &ended);
	assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
	again = write_list(&l);
	assert_int_equal(read_text(again->str, again->len, BOOT, &twice), 0);
	assert_int_equal(twice.n, 2);
	k = history_list_find(&twice, HISTORY_MACHINE, PORT_NUMBER_NONE);
	assert_int_equal(k->history.findings.n, 1);
	assert_true(k->history.findings.items[0].recalled);
	assert_false(past_findings_have_ended(&k->history.findings));
	k = history_list_find(&twice, "mlx5_0", PORT_NUMBER_NONE);
	assert_int_equal(k->history.findings.items[0].until, 9);
	assert_true(past_findings_have_ended(&k->history.findings));
	assert_int_equal(history_find(&twice, "mlx5_0", &k), -ENOENT);
	history_list_done(&l);
	history_list_done(&twice);
}

/* The modules in cages are written and read again, and the last line about one counts. */
static void test_cables(void **state)
{
	g_autoptr(GString) text = NULL, again = NULL;
	HistoryList l = {}, twice = {};
	const PastCables *c;
	History h[PORTS] = {};

	(void)state;
	text = write_steps(h, 50);
	history_note_cable(&h[0], "MT = 1", "P%", 1000);
	history_put_cables(text, "mlx5_0", 1, &h[0]);
	history_note_cable(&h[0], "MT2", "", 2000);
	history_put_cables(text, "mlx5_0", 1, &h[0]);
	assert_int_equal(read_text(text->str, text->len, BOOT, &l), 0);
	again = write_list(&l);
	assert_int_equal(read_text(again->str, again->len, BOOT, &twice), 0);
	c = &kept(&twice, 1)->cables;
	assert_int_equal(c->n, 2);
	assert_string_equal(c->items[0].serial, "MT = 1");
	assert_string_equal(c->items[0].part, "P%");
	assert_int_equal(c->items[0].since, 1000);
	assert_int_equal(c->items[0].until, c->items[1].since);
	assert_string_equal(c->items[1].serial, "MT2");
	assert_string_equal(c->items[1].part, "");
	assert_int_equal(c->items[1].until, 0);
	assert_int_equal(kept(&twice, 2)->cables.n, 0);
	history_list_done(&l);
	history_list_done(&twice);
	histories_done(h);
}

static void test_head(void **state)
{
	(void)state;
	assert_int_equal(history_check_head("# rdmad history 1"), 0);
	assert_int_equal(history_check_head("# rdmad history 2"), -EPROTONOSUPPORT);
	assert_int_equal(history_check_head("# rdmad history 1x"), -EBADMSG);
	assert_int_equal(history_check_head("# rdmad history "), -EBADMSG);
	assert_int_equal(history_check_head("# rdmad record 1"), -EBADMSG);
	assert_int_equal(history_check_head(""), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),	   cmocka_unit_test(test_told_later),
		cmocka_unit_test(test_many_ports), cmocka_unit_test(test_too_many_ports),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_special),	   cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_head),	   cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_findings),   cmocka_unit_test(test_without_ports),
		cmocka_unit_test(test_cables),
	};

	return cmocka_run_group_tests_name("history-text", tests, NULL, NULL);
}
