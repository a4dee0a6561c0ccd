/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transitions of a port, and the message about one in the journal. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <sys/uio.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "history.h"
#include "log.h"

enum { NOP, DOWN, INIT, ARMED, ACTIVE, ACTIVE_DEFER };

/* What has gone to the journal, in place of which this is. */
static char sent[32][600];
static int n_sent;

int sd_journal_sendv(const struct iovec *iov, int n)
{
	assert_in_range(n, 1, ARRAY_SIZE(sent));
	n_sent = n;
	for (int i = 0; i < n; i++) {
		assert_in_range(iov[i].iov_len, 1, sizeof(sent[i]) - 1);
		memcpy(sent[i], iov[i].iov_base, iov[i].iov_len);
		sent[i][iov[i].iov_len] = '\0';
	}
	return 0;
}

static void assert_sent(const char *line)
{
	for (int i = 0; i < n_sent; i++)
		if (streq(sent[i], line))
			return;
	fail_msg("\"%s\" was not sent", line);
}

static void test_journal(void **state)
{
	char longest[600];
	const LogField fields[] = {{"MESSAGE_ID", "0123"}, {"RDMA_PORT", "1"}, {"LONG", longest}};

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	setenv("JOURNAL_STREAM", "1:2", 1);
	log_with_fields(LOG_NOTICE, fields, ARRAY_SIZE(fields), "%s: %d", "text", 5);
	assert_int_equal(n_sent, 5);
	assert_sent("MESSAGE=text: 5");
	assert_sent("PRIORITY=5");
	assert_sent("MESSAGE_ID=0123");
	assert_sent("RDMA_PORT=1");
	/* what is too long is cut */
	assert_int_equal(strlen(sent[4]), 511);
	log_with_fields(LOG_NOTICE, fields, 0, "%s", longest);
	assert_int_equal(strlen(sent[0]), 511);
	/* a level that is not wanted */
	n_sent = 0;
	log_with_fields(LOG_DEBUG, fields, ARRAY_SIZE(fields), "text");
	assert_int_equal(n_sent, 0);
	/* the console has the text alone */
	unsetenv("JOURNAL_STREAM");
	log_with_fields(LOG_NOTICE, fields, ARRAY_SIZE(fields), "text");
	assert_int_equal(n_sent, 0);
}

static void assert_entry(const History *h, size_t i, uint32_t from, uint32_t to, EventReason reason,
			 uint64_t usec)
{
	const Transition *t = history_entry(h, i);

	assert_int_equal(t->from, from);
	assert_int_equal(t->to, to);
	assert_int_equal(t->reason, reason);
	assert_int_equal(t->realtime_usec, usec);
	assert_int_equal(t->monotonic_usec, usec + 1);
}

static bool note(History *h, uint32_t state, EventReason reason, uint64_t usec)
{
	return history_note(h, state, reason, usec, usec + 1);
}

static void test_transitions(void **state)
{
	History h = {}, hotplugged = {};

	(void)state;
	assert_null(history_last(&h));
	assert_true(note(&h, ACTIVE, REASON_STARTUP, 10));
	assert_false(note(&h, ACTIVE, REASON_RECONCILE, 20));
	assert_true(note(&h, DOWN, REASON_PORT_ERROR, 30));
	assert_true(note(&h, STATE_ABSENT, REASON_DEVICE, 40));
	assert_true(note(&h, INIT, REASON_DEVICE, 50));
	assert_int_equal(h.n, 4);
	assert_entry(&h, 0, STATE_UNKNOWN, ACTIVE, REASON_STARTUP, 10);
	assert_entry(&h, 1, ACTIVE, DOWN, REASON_PORT_ERROR, 30);
	assert_entry(&h, 2, DOWN, STATE_ABSENT, REASON_DEVICE, 40);
	assert_entry(&h, 3, STATE_ABSENT, INIT, REASON_DEVICE, 50);
	assert_ptr_equal(history_last(&h), history_entry(&h, 3));
	/* it was there without rdmad, or it was not */
	assert_true(note(&hotplugged, DOWN, REASON_DEVICE, 10));
	assert_entry(&hotplugged, 0, STATE_ABSENT, DOWN, REASON_DEVICE, 10);
	history_done(&h);
	history_done(&hotplugged);
}

/* Each transition is taken once, the oldest first; those that the ring has lost are not. */
static void test_taken(void **state)
{
	History h = {};

	(void)state;
	assert_null(history_take(&h));
	note(&h, ACTIVE, REASON_STARTUP, 10);
	note(&h, DOWN, REASON_PORT_ERROR, 20);
	assert_int_equal(history_take(&h)->to, ACTIVE);
	assert_int_equal(history_take(&h)->to, DOWN);
	assert_null(history_take(&h));
	note(&h, ACTIVE, REASON_PORT_ACTIVE, 30);
	assert_int_equal(history_take(&h)->realtime_usec, 30);
	assert_null(history_take(&h));
	for (unsigned int i = 0; i <= HISTORY_ENTRIES; i++)
		note(&h, i % 2 ? ACTIVE : DOWN, REASON_LINK, 100 + i);
	for (unsigned int i = 1; i <= HISTORY_ENTRIES; i++)
		assert_int_equal(history_take(&h)->realtime_usec, 100 + i);
	assert_null(history_take(&h));
	history_done(&h);
}

static void test_link_downs(void **state)
{
	static const struct {
		uint32_t from, to;
		bool down;
	} cases[] = {
		{ACTIVE, DOWN, true},
		{ACTIVE, INIT, true}, /* down and up again, between two looks */
		{ACTIVE_DEFER, DOWN, true},
		{ARMED, INIT, true},
		{INIT, DOWN, true},
		{DOWN, INIT, false},
		{INIT, ARMED, false},
		{ARMED, ACTIVE, false},
		{ACTIVE, ACTIVE_DEFER, false},
		{ACTIVE_DEFER, ACTIVE, false},
		{DOWN, NOP, false},
		{STATE_UNKNOWN, DOWN, false},
		{STATE_ABSENT, DOWN, false},
		{ACTIVE, STATE_ABSENT, false},
		{ACTIVE, STATE_NOT_ACTIVE, true},
		{ACTIVE_DEFER, STATE_NOT_ACTIVE, true},
		{INIT, STATE_NOT_ACTIVE, false},
		{STATE_UNKNOWN, STATE_NOT_ACTIVE, false},
		{STATE_NOT_ACTIVE, ACTIVE, false},
		{STATE_NOT_ACTIVE, STATE_ABSENT, false},
	};
	History h = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (history_is_link_down(cases[i].from, cases[i].to) != cases[i].down)
			fail_msg("%u -> %u", cases[i].from, cases[i].to);
	for (int i = 0; i < 100; i++) {
		note(&h, ACTIVE, REASON_PORT_ACTIVE, 2);
		note(&h, DOWN, REASON_PORT_ERROR, 1);
	}
	assert_int_equal(h.link_downs, 100);
	history_done(&h);
}

/* The times at which the link went down are kept longer than the transitions, and move with the
 * history of a port that goes and comes back. */
static void test_link_down_times(void **state)
{
	HistoryList list = {};
	History h = {}, later = {};

	(void)state;
	assert_int_equal(history_link_downs_since(&h, 0), 0);
	for (unsigned int i = 1; i <= HISTORY_LINK_DOWNS + 10; i++) {
		note(&h, ACTIVE, REASON_PORT_ACTIVE, 2UL * i);
		note(&h, DOWN, REASON_PORT_ERROR, 2UL * i + 1);
		assert_int_equal(h.n_downs, MIN(i, HISTORY_LINK_DOWNS));
		for (size_t k = 0; k < h.n_downs; k++)
			assert_int_equal(history_link_down(&h, k), 2 * (i - h.n_downs + k + 1) + 1);
	}
	assert_int_equal(h.since_usec, 2);
	assert_int_equal(history_link_downs_since(&h, 0), 0);
	assert_int_equal(history_link_downs_since(&h, 23), 0);
	assert_int_equal(history_link_downs_since(&h, 24), 1);
	assert_int_equal(history_link_downs_since(&h, 1000000), h.n_downs);
	history_keep(&list, "mlx5_0", 1, &h);
	note(&later, ACTIVE, REASON_DEVICE, 5000);
	note(&later, INIT, REASON_PORT_ERROR, 5001);
	history_recall(&list, "mlx5_0", 1, &later);
	assert_int_equal(later.n_downs, HISTORY_LINK_DOWNS);
	assert_int_equal(history_link_down(&later, 0), 25);
	assert_int_equal(history_link_down(&later, HISTORY_LINK_DOWNS - 1), 5001);
	assert_int_equal(later.since_usec, 2);
	history_done(&later);
	history_list_done(&list);
}

static void assert_found(const HistoryList *l, const char *name, int error, const char *device,
			 uint32_t port)
{
	const KeptHistory *k;

	assert_int_equal(history_find(l, name, &k), error);
	if (error == 0) {
		assert_string_equal(k->device, device);
		assert_int_equal(k->port, port);
	}
}

static void test_found(void **state)
{
	static const char *const devices[] = {"a", "b", "b"};
	HistoryList list = {};

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(devices); i++) {
		History h = {};

		note(&h, ACTIVE, REASON_STARTUP, 10);
		history_keep(&list, devices[i], i + 1, &h);
	}
	assert_found(&list, "a/1", 0, "a", 1);
	assert_found(&list, "a:1", 0, "a", 1);
	assert_found(&list, "a", 0, "a", 1);
	assert_found(&list, "b:3", 0, "b", 3);
	assert_found(&list, "b", -EEXIST, NULL, 0);
	assert_found(&list, "a/2", -ENOENT, NULL, 0);
	assert_found(&list, "c", -ENOENT, NULL, 0);
	assert_found(&list, "c:x", -ENOENT, NULL, 0);
	assert_found(&list, "a/x", -EINVAL, NULL, 0);
	assert_found(&list, "", -EINVAL, NULL, 0);
	history_list_done(&list);
}

/* The last ones stay, in order. */
static void test_bounded(void **state)
{
	History h = {};

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		assert_true(note(&h, i % 2 ? ACTIVE : DOWN, REASON_RECONCILE, i));
	assert_int_equal(h.n, HISTORY_ENTRIES);
	for (uint32_t i = 0; i < HISTORY_ENTRIES; i++)
		assert_int_equal(history_entry(&h, i)->realtime_usec, 100 - HISTORY_ENTRIES + i);
	history_done(&h);
}

static void test_since(void **state)
{
	History h = {};
	uint64_t since;
	bool exact;

	(void)state;
	assert_false(history_since_not(&h, ACTIVE, &since, &exact));
	note(&h, INIT, REASON_STARTUP, 10);
	note(&h, ARMED, REASON_LID_CHANGE, 20);
	/* it may have been so for longer than rdmad runs */
	assert_true(history_since_not(&h, ACTIVE, &since, &exact));
	assert_int_equal(since, 11);
	assert_false(exact);
	note(&h, ACTIVE, REASON_PORT_ACTIVE, 30);
	assert_false(history_since_not(&h, ACTIVE, &since, &exact));
	note(&h, DOWN, REASON_PORT_ERROR, 40);
	note(&h, INIT, REASON_LID_CHANGE, 50);
	assert_true(history_since_not(&h, ACTIVE, &since, &exact));
	assert_int_equal(since, 41);
	assert_true(exact);
	/* an active port was armed too, but not down */
	assert_true(history_since_not(&h, ARMED, &since, &exact));
	assert_int_equal(since, 41);
	assert_true(exact);
	assert_true(history_since_not(&h, DOWN, &since, &exact));
	assert_int_equal(since, 51);
	assert_true(exact);
	/* what the ring has lost is not known */
	for (uint32_t i = 0; i < 2 * HISTORY_ENTRIES; i++)
		note(&h, i % 2 ? INIT : DOWN, REASON_RECONCILE, 100 + i);
	assert_true(history_since_not(&h, ACTIVE, &since, &exact));
	assert_int_equal(since, history_entry(&h, 0)->monotonic_usec);
	assert_false(exact);
	history_done(&h);
}

static void test_kept(void **state)
{
	HistoryList l = {};
	History h = {}, other = {};
	char name[16];

	(void)state;
	note(&h, ACTIVE, REASON_STARTUP, 10);
	note(&h, DOWN, REASON_PORT_ERROR, 20);
	note(&h, STATE_ABSENT, REASON_DEVICE, 30);
	history_keep(&l, "mlx5_0", 1, &h);
	assert_int_equal(h.n, 0);
	assert_int_equal(l.n, 1);
	/* of others nothing is known, and of a port that was never read nothing is kept */
	history_recall(&l, "mlx5_0", 2, &other);
	history_recall(&l, "mlx5_1", 1, &other);
	assert_int_equal(other.n, 0);
	history_keep(&l, "mlx5_1", 1, &other);
	assert_int_equal(l.n, 1);

	/* it comes back under another name, and is renamed after it has been read */
	note(&h, INIT, REASON_DEVICE, 40);
	note(&h, DOWN, REASON_PORT_ERROR, 50);
	history_recall(&l, "mlx5_0", 1, &h);
	assert_int_equal(l.n, 0);
	assert_int_equal(h.n, 5);
	assert_int_equal(h.link_downs, 2);
	assert_entry(&h, 2, DOWN, STATE_ABSENT, REASON_DEVICE, 30);
	assert_entry(&h, 3, STATE_ABSENT, INIT, REASON_DEVICE, 40);
	assert_entry(&h, 4, INIT, DOWN, REASON_PORT_ERROR, 50);
	/* nothing was kept this time */
	history_recall(&l, "mlx5_0", 1, &h);
	assert_int_equal(h.n, 5);
	history_done(&h);

	/* a port that takes over a name continues from where the last one was */
	note(&h, DOWN, REASON_STARTUP, 10);
	history_keep(&l, "mlx5_0", 1, &h);
	note(&h, ACTIVE, REASON_STARTUP, 20);
	assert_entry(&h, 0, STATE_UNKNOWN, ACTIVE, REASON_STARTUP, 20);
	history_recall(&l, "mlx5_0", 1, &h);
	assert_int_equal(h.n, 2);
	assert_entry(&h, 1, DOWN, ACTIVE, REASON_STARTUP, 20);
	history_done(&h);

	/* the oldest go */
	for (uint32_t i = 0; i < HISTORY_KEPT + 2; i++) {
		snprintf(name, sizeof(name), "mlx5_%u", i);
		note(&h, ACTIVE, REASON_DEVICE, i);
		note(&h, STATE_ABSENT, REASON_DEVICE, i);
		history_keep(&l, name, 1, &h);
	}
	assert_int_equal(l.n, HISTORY_KEPT);
	history_recall(&l, "mlx5_1", 1, &h);
	assert_int_equal(h.n, 0);
	history_recall(&l, "mlx5_2", 1, &h);
	assert_int_equal(h.n, 2);
	history_done(&h);
	/* but not those that were not seen to go: they are from a file, and may come yet */
	for (uint32_t i = 0; i < HISTORY_KEPT + 2; i++) {
		snprintf(name, sizeof(name), "rocep%u", i);
		note(&h, ACTIVE, REASON_STARTUP, i);
		history_keep(&l, name, 1, &h);
	}
	assert_int_equal(l.n, 2 * HISTORY_KEPT + 1);
	history_list_done(&l);
	assert_null(l.first);
	assert_null(l.last);
}

/* What was before the machine was booted stays, and nothing continues from there. */
/* Who was on a link belongs to the transition that took it down last. */
static void test_users(void **state)
{
	History h = {};

	(void)state;
	assert_null(history_note_users(&h, 3, 1));
	history_note(&h, ACTIVE, REASON_STARTUP, 10, 10);
	assert_null(history_note_users(&h, 3, 1));
	history_note(&h, DOWN, REASON_PORT_ERROR, 11, 11);
	assert_ptr_equal(history_note_users(&h, 3, 1), history_last(&h));
	history_note(&h, ACTIVE, REASON_PORT_ACTIVE, 12, 12);
	/* the answer came when the link was up again */
	assert_ptr_equal(history_note_users(&h, 12, 4), history_entry(&h, 1));
	assert_int_equal(history_entry(&h, 1)->qps, 12);
	assert_int_equal(history_entry(&h, 1)->processes, 4);
	assert_int_equal(history_last(&h)->qps, 0);
	history_done(&h);
}

/* A transition to active has the highest rate since then, and no other has one. */
static void test_rate(void **state)
{
	History h = {};

	(void)state;
	assert_false(history_note_rate(&h, 100000000));
	note(&h, ACTIVE, REASON_STARTUP, 10);
	assert_true(history_note_rate(&h, UINT64_C(100000000000)));
	assert_false(history_note_rate(&h, UINT64_C(100000000000)));
	assert_false(history_note_rate(&h, UINT64_C(50000000000)));
	assert_true(history_note_rate(&h, UINT64_C(200000000000)));
	note(&h, DOWN, REASON_PORT_ERROR, 20);
	assert_false(history_note_rate(&h, UINT64_C(100000000000)));
	note(&h, ACTIVE_DEFER, REASON_PORT_ACTIVE, 30);
	assert_true(history_note_rate(&h, UINT64_MAX));
	assert_int_equal(history_entry(&h, 0)->rate_mbit, 200000);
	assert_int_equal(history_entry(&h, 1)->rate_mbit, 0);
	assert_int_equal(history_entry(&h, 2)->rate_mbit, UINT32_MAX);
	history_done(&h);
	/* what was before a boot was another link */
	assert_true(history_restore(
		&h, &(Transition){.realtime_usec = 10, .from = DOWN, .to = ACTIVE}));
	assert_false(history_note_rate(&h, 100000000));
	assert_true(history_restore(
		&h, &(Transition){.realtime_usec = 20, .from = ACTIVE, .to = DOWN}));
	/* the same transition, with its rate; another state at that time, and another time */
	assert_false(history_restore(
		&h,
		&(Transition){.realtime_usec = 10, .from = DOWN, .to = ACTIVE, .rate_mbit = 7}));
	assert_int_equal(h.n, 2);
	assert_int_equal(history_entry(&h, 0)->rate_mbit, 7);
	assert_true(history_restore(
		&h, &(Transition){.realtime_usec = 20, .from = DOWN, .to = ACTIVE}));
	assert_true(history_restore(
		&h, &(Transition){.realtime_usec = 30, .from = ACTIVE, .to = DOWN}));
	assert_int_equal(h.n, 4);
	history_done(&h);
}

static void test_earlier_boot(void **state)
{
	HistoryList l = {};
	History h = {}, later = {};
	uint64_t usec;
	bool exact;

	(void)state;
	history_restore(&h, &(Transition){.realtime_usec = 10, .from = ACTIVE, .to = DOWN});
	assert_int_equal(h.n_downs, 0);
	history_restore_link_down(&h, 10);
	assert_false(history_since_not(&h, ACTIVE, &usec, &exact));
	assert_false(history_note_event(&h, REASON_PORT_ACTIVE, 20, 1));
	assert_true(history_note(&h, DOWN, REASON_STARTUP, 20, 5));
	assert_int_equal(history_entry(&h, 1)->from, STATE_UNKNOWN);
	assert_true(history_since_not(&h, ACTIVE, &usec, &exact));
	assert_int_equal(usec, 5);
	assert_false(exact);
	assert_int_equal(h.n_downs, 1);
	history_done(&h);

	history_restore(&h, &(Transition){.realtime_usec = 10, .from = DOWN, .to = ACTIVE});
	history_keep(&l, "mlx5_0", 1, &h);
	assert_true(history_note(&later, DOWN, REASON_STARTUP, 20, 5));
	history_recall(&l, "mlx5_0", 1, &later);
	assert_int_equal(later.n, 2);
	assert_int_equal(history_entry(&later, 1)->from, STATE_UNKNOWN);
	history_done(&later);
	history_list_done(&l);
}

/* A table of N findings that began at SINCE and so on. */
static Table *found(const char *check, uint64_t since, size_t n)
{
	FindingEntry *e = calloc(n, sizeof(*e));

	assert_non_null(e);
	for (size_t i = 0; i < n; i++) {
		text_copy(e[i].check, sizeof(e[i].check), check);
		e[i].severity = VERDICT_WARNING;
		e[i].since = since + i;
	}
	Table *t = table_new(e, (uint32_t)n, sizeof(*e));

	free(e);
	return t;
}

/* A finding begins, becomes another one and ends, and each of these is taken once. */
static void test_findings(void **state)
{
	Table *port = found("flap", 10, 1), *device = found("device-stale", 11, 1);
	PastFindings l = {};
	const PastFinding *f;

	(void)state;
	past_findings_note(&l, port, device, NULL, 20, false);
	assert_string_equal(past_findings_take(&l)->check, "flap");
	assert_string_equal(past_findings_take(&l)->check, "device-stale");
	assert_null(past_findings_take(&l));
	past_findings_note(&l, port, device, NULL, 21, false);
	assert_null(past_findings_take(&l));
	((FindingEntry *)(void *)port->entries)->acknowledged = 22;
	past_findings_note(&l, port, device, NULL, 23, false);
	assert_int_equal(past_findings_take(&l)->acknowledged, 22);
	past_findings_note(&l, NULL, device, NULL, 24, false);
	f = past_findings_take(&l);
	assert_string_equal(f->check, "flap");
	assert_int_equal(f->until, 24);
	assert_null(past_findings_take(&l));
	/* it begins again */
	((FindingEntry *)(void *)port->entries)->since = 30;
	past_findings_note(&l, port, device, NULL, 31, false);
	f = past_findings_take(&l);
	assert_int_equal(f->since, 30);
	assert_int_equal(f->until, 0);
	assert_int_equal(l.n, 3);
	past_findings_done(&l);
	table_free(port);
	table_free(device);
}

static void assert_cable(const PastCables *l, size_t i, const char *serial, uint64_t since,
			 uint64_t until)
{
	assert_in_range(i, 0, l->n - 1);
	assert_string_equal(l->items[i].serial, serial);
	assert_int_equal(l->items[i].since, since);
	assert_int_equal(l->items[i].until, until);
}

/* Modules come and go. One that is found when the link is up is there since it came up, if the cage
 * was looked at before. */
static void test_cables(void **state)
{
	HistoryList list = {};
	History h = {}, renamed = {};
	const PastCables *l = &h.cables;

	(void)state;
	note(&h, ACTIVE, REASON_STARTUP, 10);
	assert_false(history_note_cable(&h, "", "", 15));
	assert_true(history_note_cable(&h, "A", "P", 20));
	assert_false(history_note_cable(&h, "A", "P", 30));
	assert_string_equal(l->items[0].part, "P");
	note(&h, DOWN, REASON_PORT_ERROR, 40);
	assert_true(history_note_cable(&h, "", "", 50));
	assert_false(history_note_cable(&h, "", "", 60));
	note(&h, ACTIVE, REASON_PORT_ACTIVE, 70);
	assert_true(history_note_cable(&h, "B", "", 80));
	assert_cable(l, 0, "A", 20, 50);
	assert_cable(l, 1, "B", 70, 0);
	/* it was in the cage after the link came up, and while the link is down nothing is known */
	assert_true(history_note_cable(&h, "A", "", 90));
	note(&h, DOWN, REASON_PORT_ERROR, 100);
	assert_true(history_note_cable(&h, "B", "", 110));
	assert_cable(l, 1, "B", 70, 90);
	assert_cable(l, 2, "A", 90, 110);
	assert_cable(l, 3, "B", 110, 0);
	/* a file does not say how long it was seen */
	h.cables.items[3].seen = 0;
	note(&h, ACTIVE, REASON_PORT_ACTIVE, 120);
	assert_true(history_note_cable(&h, "C", "", 130));
	assert_cable(l, 4, "C", 130, 0);
	/* they follow the name of the port */
	history_keep(&list, "mlx5_0", 1, &h);
	note(&renamed, ACTIVE, REASON_DEVICE, 200);
	assert_true(history_note_cable(&renamed, "D", "", 210));
	history_recall(&list, "mlx5_0", 1, &renamed);
	assert_int_equal(renamed.cables.n, 6);
	assert_cable(&renamed.cables, 4, "C", 130, 210);
	assert_cable(&renamed.cables, 5, "D", 210, 0);
	/* the oldest are forgotten */
	for (uint64_t i = 0; i < 2 * PAST_CABLES_MAX; i++)
		history_note_cable(&renamed, i % 2 ? "E" : "F", "", 300 + i);
	assert_int_equal(renamed.cables.n, PAST_CABLES_MAX);
	assert_cable(&renamed.cables, PAST_CABLES_MAX - 1, "E", 299 + 2 * PAST_CABLES_MAX, 0);
	history_done(&renamed);
	history_list_done(&list);
}

/* What is over is forgotten first. */
static void test_many_findings(void **state)
{
	Table *first = found("flap", 1, 1);
	PastFindings l = {};

	(void)state;
	past_findings_note(&l, first, NULL, NULL, 5, false);
	for (uint64_t i = 0; i < 3 * PAST_FINDINGS_MAX; i++) {
		Table *t = found("loss", 10 + i, 1);

		past_findings_note(&l, first, t, NULL, 10 + i, false);
		table_free(t);
	}
	assert_int_equal(l.n, PAST_FINDINGS_MAX);
	assert_string_equal(l.items[0].check, "flap");
	assert_int_equal(l.items[0].until, 0);
	assert_int_equal(l.items[PAST_FINDINGS_MAX - 1].since, 10 + 3 * PAST_FINDINGS_MAX - 1);
	past_findings_done(&l);
	table_free(first);
}

/* What was read from a file ends only when nobody waits for it any more, and is found again once.
 */
static void test_recalled(void **state)
{
	const PastFinding was = {.check = "flap",
				 .since = 5,
				 .attribute = "LinkDowns",
				 .taken = true,
				 .recalled = true};
	PastFindings l = {};

	(void)state;
	past_findings_restore(&l, &was);
	past_findings_note(&l, NULL, NULL, NULL, 10, true);
	assert_int_equal(l.items[0].until, 0);
	assert_null(past_findings_recall(&l, "flap", ""));
	assert_int_equal(past_findings_recall(&l, "flap", "LinkDowns")->since, 5);
	assert_null(past_findings_recall(&l, "flap", "LinkDowns"));
	past_findings_note(&l, NULL, NULL, NULL, 11, true);
	assert_int_equal(l.items[0].until, 11);
	l.n = 0;
	past_findings_restore(&l, &was);
	past_findings_note(&l, NULL, NULL, NULL, 12, false);
	assert_int_equal(l.items[0].until, 12);
	past_findings_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal),	      cmocka_unit_test(test_transitions),
		cmocka_unit_test(test_taken),	      cmocka_unit_test(test_link_downs),
		cmocka_unit_test(test_bounded),	      cmocka_unit_test(test_since),
		cmocka_unit_test(test_kept),	      cmocka_unit_test(test_link_down_times),
		cmocka_unit_test(test_found),	      cmocka_unit_test(test_earlier_boot),
		cmocka_unit_test(test_rate),	      cmocka_unit_test(test_users),
		cmocka_unit_test(test_cables),	      cmocka_unit_test(test_findings),
		cmocka_unit_test(test_many_findings), cmocka_unit_test(test_recalled),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
