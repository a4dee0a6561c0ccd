/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked, when, and why: without a clock of its own. */

#include "test-schedule.h"

static void test_what_is_asked(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	assert_false(schedule_is_dirty(w));
	schedule_mark(w, 2, REASON_PORT_ERROR);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	q = ask(w);
	assert_int_equal(q.device, 3);
	assert_string_equal(q.name, "mlx5_0");
	assert_int_equal(q.adapter, 0x1234);
	assert_false(port_set_has(&q.ports, 1));
	assert_true(port_set_has(&q.ports, 2));
	assert_false(q.attributes);
	assert_false(q.parts & READ_PKEYS);
	assert_false(schedule_is_dirty(w));
	assert_int_equal(event_reason_to_publish(w->asked.ports[2].reasons), REASON_LID_CHANGE);

	/* an event for a port that does not exist, and one for all */
	schedule_mark(w, 77, REASON_PORT_ACTIVE);
	q = ask(w);
	assert_true(port_set_has(&q.ports, 1) && port_set_has(&q.ports, 2));
	assert_false(port_set_has(&q.ports, 77));
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	q = ask(w);
	assert_true(q.attributes && port_set_has(&q.ports, 1) && port_set_has(&q.ports, 2));
	assert_int_equal(q.ports.bits[0], 6);
}

/* Which reasons are those of a look at everything, and no others. */
static void test_whole(void **state)
{
	const uint32_t whole = REASON_BIT(REASON_STARTUP) | REASON_BIT(REASON_RECONCILE) |
			       REASON_BIT(REASON_REFRESH) | REASON_BIT(REASON_RESUME) |
			       REASON_BIT(REASON_OVERRUN);
	Schedule *w = work_of(state);

	for (EventReason reason = 0; reason < _REASON_MAX; reason++) {
		assert_int_equal(schedule_mark(w, 1, reason), 0);
		assert_int_equal(schedule_is_whole(w), (REASON_BIT(reason) & whole) != 0);
		schedule_end_whole(w);
	}
}

/* P_Keys cost a firmware command each: what cannot have changed them does not read them. */
static void test_pkeys(void **state)
{
	static const EventReason without[] = {
		REASON_QUERY,	   REASON_SETTLE,     REASON_LINK,	 REASON_NETDEV,
		REASON_GID_CHANGE, REASON_PORT_ERROR, REASON_LID_CHANGE, REASON_SM_CHANGE};
	Schedule *w = work_of(state);

	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		schedule_mark(w, 1, without[i]);
		assert_false(ask(w).parts & READ_PKEYS);
	}
	schedule_mark(w, 1, REASON_LINK);
	schedule_mark(w, 2, REASON_PKEY_CHANGE);
	assert_true(ask(w).parts & READ_PKEYS);
	assert_false(schedule_is_dirty(w));
	/* a device that appears has them then, and not once more at each look while it settles */
	schedule_mark(w, EVENT_ALL_PORTS, REASON_DEVICE);
	assert_true(ask(w).parts & READ_PKEYS);
	schedule_settle(w);
	assert_true(schedule_is_dirty(w));
	assert_false(ask(w).parts & READ_PKEYS);
	schedule_settle(w);
	schedule_mark(w, 2, REASON_CHARDEV);
	assert_true(ask(w).parts & READ_PKEYS);
}

/* Which parts each event has read at once, and which a little later. */
static void test_parts(void **state)
{
	static const struct {
		EventReason reason;
		unsigned int at_once, later;
	} expected[] = {
		{REASON_PORT_ACTIVE, READ_VERBS,
		 READ_LINKS | READ_GIDS | READ_DIRECT | READ_PKEYS | READ_DCB | READ_VFS},
		{REASON_PORT_ERROR, READ_VERBS, READ_LINKS | READ_GIDS | READ_DIRECT},
		{REASON_LID_CHANGE, READ_VERBS, READ_LINKS | READ_GIDS | READ_DIRECT},
		{REASON_SM_CHANGE, READ_VERBS, READ_LINKS | READ_GIDS | READ_DIRECT},
		{REASON_CLIENT_REREGISTER, READ_VERBS | READ_LINKS,
		 READ_GIDS | READ_DIRECT | READ_PKEYS | READ_DCB | READ_VFS},
		{REASON_PKEY_CHANGE, READ_PKEYS, READ_USUAL},
		{REASON_GID_CHANGE, READ_LINKS | READ_GIDS, READ_VERBS | READ_DIRECT},
		{REASON_SPEED_CHANGE, READ_VERBS, READ_LINKS | READ_GIDS | READ_DIRECT},
		{REASON_DEVICE_FATAL, READ_NEWS, READ_SIGNAL},
		/* these have looks of their own, which follow when the kernel is done */
		{REASON_LINK, READ_LINKS, 0},
		{REASON_DCB, READ_DCB, READ_USUAL},
		{REASON_NETDEV, READ_USUAL | READ_DCB | READ_VFS, 0},
	};
	Schedule *w = work_of(state);

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		schedule_mark(w, 2, expected[i].reason);
		assert_int_equal(ask(w).parts, expected[i].at_once);
		assert_int_equal(schedule_has_left(w), expected[i].later != 0);
		if (!expected[i].later)
			continue;
		assert_false(schedule_is_dirty(w));
		schedule_later(w);
		assert_int_equal(ask(w).parts, expected[i].later);
		assert_false(schedule_has_left(w));
	}
}

/* Nothing is asked at once because of an address: the first look of the series has its GID. It does
 * not make a query that is due later come sooner, or read more. */
static void test_address(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	schedule_mark(w, 1, REASON_LID_CHANGE);
	ask(w);
	schedule_mark(w, 1, REASON_ADDRESS);
	assert_false(schedule_is_dirty(w));
	assert_true(schedule_has_left(w));
	assert_true(w->later_ports[1].is_settling);
	assert_true(schedule_next_settle(w) > 0);
	schedule_settle(w);
	q = ask(w);
	assert_int_equal(q.parts, READ_USUAL | READ_VFS);
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons), REASON_ADDRESS);
}

/* What two events have read at once is not left for later. */
static void test_parts_of_two(void **state)
{
	Schedule *w = work_of(state);

	schedule_mark(w, 1, REASON_LID_CHANGE);
	schedule_mark(w, 1, REASON_GID_CHANGE);
	assert_int_equal(ask(w).parts, READ_VERBS | READ_LINKS | READ_GIDS);
	assert_int_equal(left(w), READ_DIRECT);
	/* what a query of other reasons reads is not left any more */
	schedule_mark(w, 1, REASON_QUERY);
	assert_int_equal(ask(w).parts, READ_USUAL | READ_DCB | READ_VFS | READ_SIGNAL);
	assert_int_equal(left(w), 0);
}

/* A source may read more than it was asked for: that is not read again. */
static void test_parts_of_answer(void **state)
{
	Schedule *w = work_of(state);

	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_int_equal(ask(w).parts, READ_VERBS);
	schedule_set_read(w, 1, READ_VERBS | READ_LINKS | READ_GIDS);
	assert_int_equal(left(w), READ_DIRECT);
}

/* A port that is stale, or was never read in full, is. */
static void test_parts_due(void **state)
{
	Schedule *w = work_of(state);
	PortSnapshot *now = &w->device->ports[0]->now;

	now->values.stale = true;
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_int_equal(ask(w).parts, READ_USUAL);
	assert_int_equal(left(w), 0);
	now->values.stale = false;
	now->parts = READ_USUAL;
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_int_equal(ask(w).parts, READ_VERBS | READ_PKEYS | READ_DCB | READ_VFS);
	now->parts = 0;
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_int_equal(ask(w).parts, READ_NEWS);
}

/* What an event has left for later does not delay the next event. */
static void test_later_takes_no_token(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;
	unsigned int n = 0;

	for (;; n++) {
		schedule_mark(w, 1, REASON_LID_CHANGE);
		if (!schedule_may_ask(w, now, &when))
			break;
		begin_and_end(w, now);
		schedule_later(w);
		begin_and_end(w, now);
	}
	assert_int_equal(n, 10);
	/* but with an event it waits as the event has to */
	begin_and_end(w, when);
	schedule_later(w);
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_false(schedule_may_ask(w, when, &when));
}

static void set_events(Schedule *w, uint32_t events)
{
	DEVICE_SUPPLY(&w->device->now, events, events);
}

/* Of 100 periodic looks, how many read PART. *RET_FIRST: the first of them, from 0. */
static unsigned int count_looks(Schedule *w, unsigned int part, unsigned int *ret_first)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++) {
		Query q;

		schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
		q = ask(w);
		assert_true(q.attributes);
		assert_int_equal(q.ports.bits[0], 6);
		if (q.parts & part && n++ == 0)
			*ret_first = i;
	}
	return n;
}

/* Where the kernel says when P_Keys change, the periodic look reads them rarely. */
static void test_pkeys_of_looks(void **state)
{
	Schedule *w = work_of(state);
	unsigned int first, mine, others = 0;

	/* nothing is known of its events */
	assert_int_equal(count_looks(w, READ_PKEYS, &first), 100);
	set_events(w, EVENTS_POLLED);
	assert_int_equal(count_looks(w, READ_PKEYS, &first), 100);
	set_events(w, EVENTS_VERBS);
	assert_int_equal(count_looks(w, READ_PKEYS, &mine), 10);
	assert_int_equal(count_looks(w, READ_PKEYS, &first), 10);
	assert_int_equal(first, mine);
	/* another device does it in another look */
	w->device->index++;
	schedule_free(w);
	w = schedule_new(((Cache *)*state)->devices[0], NULL);
	assert_non_null(w);
	assert_int_equal(count_looks(w, READ_PKEYS, &others), 10);
	assert_int_not_equal(others, mine);
}

/* The PHY and the sensors are not part of any news: what reads everything leaves them for later,
 * the periodic look reads them rarely, and a look at a port that settles only while it is down. */
static void test_signal(void **state)
{
	Schedule *w = work_of(state);
	PortSnapshot *now = &w->device->ports[0]->now;
	unsigned int first;

	schedule_mark(w, EVENT_ALL_PORTS, REASON_STARTUP);
	assert_int_equal(ask(w).parts, READ_NEWS);
	assert_int_equal(left(w), READ_SIGNAL);
	schedule_later(w);
	assert_int_equal(ask(w).parts, READ_SIGNAL);
	assert_int_equal(count_looks(w, READ_SIGNAL, &first), 10);
	set_events(w, EVENTS_VERBS);
	assert_int_equal(count_looks(w, READ_SIGNAL, &first), 10);

	now->values.state = 4;
	schedule_mark(w, 1, REASON_LINK);
	assert_int_equal(ask(w).parts, READ_LINKS);
	schedule_settle(w);
	assert_int_equal(ask(w).parts & READ_SIGNAL, 0);
	now->values.state = 1;
	schedule_settle(w);
	assert_int_equal(ask(w).parts & READ_SIGNAL, READ_SIGNAL);
}

/* Whoever does not rely on events reads them always. */
static void test_pkeys_without_event(void **state)
{
	static const EventReason always[] = {
		REASON_STARTUP, REASON_DEVICE,	    REASON_REFRESH,
		REASON_RESUME,	REASON_OVERRUN,	    REASON_RECOVERED,
		REASON_CHARDEV, REASON_PKEY_CHANGE, REASON_DEVICE_FATAL};
	Schedule *w = work_of(state);

	set_events(w, EVENTS_VERBS);
	for (size_t i = 0; i < ARRAY_SIZE(always); i++) {
		schedule_mark(w, EVENT_ALL_PORTS, always[i]);
		assert_true(ask(w).parts & READ_PKEYS);
	}
	schedule_mark(w, EVENT_ALL_PORTS, REASON_PORT_ACTIVE);
	assert_false(ask(w).parts & READ_PKEYS);
	assert_true(left(w) & READ_PKEYS);
}

/* A look found something that no event has told of: P_Keys may have changed too. */
static void test_pkeys_in_doubt(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	set_events(w, EVENTS_VERBS);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	assert_false(ask(w).parts & READ_PKEYS);
	schedule_doubt(w, 2, READ_PKEYS);
	assert_true(left(w) & READ_PKEYS);
	schedule_later(w);
	q = ask(w);
	assert_true(q.parts & READ_PKEYS);
	assert_int_equal(q.ports.bits[0], 1 << 2);
	assert_false(schedule_is_dirty(w));
	/* the next query of the port reads them, if it comes sooner */
	schedule_doubt(w, EVENT_ALL_PORTS, READ_PKEYS);
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_true(ask(w).parts & READ_PKEYS);
	assert_true(w->later_ports[2].left & READ_PKEYS && !(w->later_ports[1].left & READ_PKEYS));
	schedule_later(w);
	q = ask(w);
	assert_true(q.parts & READ_PKEYS);
	assert_true(port_set_has(&q.ports, 2));
}

/* A port that has failed while they were to be read: the next look reads them, whatever it is for.
 */
static void test_pkeys_failed(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	schedule_mark(w, 2, REASON_PKEY_CHANGE);
	schedule_begin(w, 7, 1, &q);
	assert_true(q.parts & READ_PKEYS);
	schedule_keep_reasons(w, 2);
	(void)schedule_take_answer(w, 2);
	schedule_end(w, 1);
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_false(ask(w).parts & READ_PKEYS);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_true(ask(w).parts & READ_PKEYS);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_false(ask(w).parts & READ_PKEYS);
}

/* The news that a port is active does not wait for the P_Keys, which are read after it. */
static void test_pkeys_later(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	assert_int_equal(left(w) & READ_PKEYS, 0);
	schedule_mark(w, 1, REASON_LINK);
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	assert_false(ask(w).parts & READ_PKEYS);
	assert_false(schedule_is_dirty(w));
	assert_true(left(w) & READ_PKEYS);
	/* more news does not wait either */
	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_false(ask(w).parts & READ_PKEYS);
	assert_true(left(w) & READ_PKEYS);
	schedule_later(w);
	assert_int_equal(left(w) & READ_PKEYS, 0);
	q = ask(w);
	assert_true(q.parts & READ_PKEYS);
	assert_int_equal(q.ports.bits[0], 1 << 2);
	assert_false(schedule_is_dirty(w));
	assert_int_equal(left(w) & READ_PKEYS, 0);
	/* what reads them anyway reads them once */
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	ask(w);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	assert_true(ask(w).parts & READ_PKEYS);
	assert_int_equal(left(w) & READ_PKEYS, 0);
	/* a port that has failed is tried again when its time has come, and not sooner for this */
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	schedule_begin(w, 7, 1, &q);
	(void)schedule_take_answer(w, 2);
	schedule_keep_reasons(w, 2);
	schedule_end(w, 1);
	assert_int_equal(left(w) & READ_PKEYS, 0);
	/* but then its P_Keys are read, also if an earlier answer has left them for later */
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	assert_false(ask(w).parts & READ_PKEYS);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	schedule_begin(w, 8, 1, &q);
	assert_false(q.parts & READ_PKEYS);
	schedule_keep_reasons(w, 2);
	(void)schedule_take_answer(w, 2);
	schedule_end(w, 1);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_true(ask(w).parts & READ_PKEYS);
	/* neither is one that has gone */
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	schedule_begin(w, 7, 1, &q);
	schedule_drop_port(w, 2);
	schedule_end(w, 1);
	assert_int_equal(left(w) & READ_PKEYS, 0);
}

static void test_pacing(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;
	unsigned int n = 0;

	/* a burst goes through, then it is ten a second */
	for (;;) {
		schedule_mark(w, 1, REASON_PORT_ACTIVE);
		if (!schedule_may_ask(w, now, &when))
			break;
		begin_and_end(w, now);
		n++;
	}
	assert_int_equal(n, 10);
	assert_true(when > now && when <= now + 100 * MSEC);
	assert_false(schedule_may_ask(w, when - 1, &when));
	assert_true(schedule_may_ask(w, when, &when));
	begin_and_end(w, when);
	schedule_mark(w, 1, REASON_PORT_ACTIVE);
	assert_false(schedule_may_ask(w, when, &when));
	/* and after a pause it is a burst again */
	now = when + 10000 * MSEC;
	for (n = 0; n < 10; n++) {
		schedule_mark(w, 1, REASON_PORT_ACTIVE);
		assert_true(schedule_may_ask(w, now, &when));
		begin_and_end(w, now);
	}
	schedule_mark(w, 1, REASON_PORT_ACTIVE);
	assert_false(schedule_may_ask(w, now, &when));
}

/* However often something changes, no second has more than 20 queries. */
static void test_storm(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0, asked[40];
	unsigned int n = 0;

	while (n < ARRAY_SIZE(asked)) {
		schedule_mark(w, 1, REASON_PORT_ACTIVE);
		if (schedule_may_ask(w, now, &when)) {
			begin_and_end(w, now);
			asked[n++] = now;
		} else {
			now = when;
		}
	}
	for (unsigned int i = 20; i < n; i++)
		assert_true(asked[i] - asked[i - 20] >= USEC_PER_SEC);
}

/* What only callers want keeps a distance; what an event wants does not wait for it. */
static void test_callers(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;

	schedule_mark(w, 1, REASON_QUERY);
	assert_true(schedule_may_ask(w, now, &when));
	begin_and_end(w, now);
	schedule_mark(w, 1, REASON_QUERY);
	assert_false(schedule_may_ask(w, now + 1, &when));
	assert_int_equal(when, now + 100 * MSEC);
	schedule_mark(w, 1, REASON_PORT_ERROR);
	assert_true(schedule_may_ask(w, now + 1, &when));
}

/* However often callers ask, a burst of events goes through as if there were none. */
static void test_callers_take_no_token(void **state)
{
	static const EventReason reasons[] = {REASON_QUERY, REASON_REFRESH};
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;

	for (unsigned int i = 0; i < 100; i++) {
		schedule_mark(w, EVENT_ALL_PORTS, reasons[i % 2]);
		if (!schedule_may_ask(w, now, &when))
			now = when;
		assert_true(schedule_may_ask(w, now, &when));
		begin_and_end(w, now);
	}
	for (unsigned int i = 0; i < 10; i++) {
		schedule_mark(w, EVENT_ALL_PORTS, reasons[i % 2]);
		schedule_mark(w, 1, REASON_PORT_ERROR);
		assert_true(schedule_may_ask(w, now, &when));
		begin_and_end(w, now);
	}
	/* those of the events are used up; the callers' time comes all the same */
	schedule_mark(w, 1, REASON_PORT_ERROR);
	assert_false(schedule_may_ask(w, now, &when));
	assert_true(schedule_may_ask(w, when, &when));
}

/* The query for an event asks what the event wants, and not also what callers want a little later:
 * that may be much. */
static void test_callers_wait_by_themselves(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;
	Query q;

	schedule_mark(w, 1, REASON_QUERY);
	begin_and_end(w, now);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_REFRESH);
	schedule_mark(w, 2, REASON_PORT_ERROR);
	q = begin_and_end(w, now);
	assert_int_equal(q.ports.bits[0], 1 << 2);
	assert_false(q.attributes || q.parts & READ_PKEYS);
	assert_true(schedule_is_dirty(w) && schedule_is_whole(w));
	assert_false(schedule_may_ask(w, now, &when));
	/* when their time has come, one query is for both */
	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_true(schedule_may_ask(w, when, &when));
	q = begin_and_end(w, when);
	assert_true(q.attributes && q.parts & READ_PKEYS);
	assert_int_equal(q.ports.bits[0], 1 << 1 | 1 << 2);
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons), REASON_REFRESH);
	assert_int_equal(event_reason_to_publish(w->asked.ports[2].reasons), REASON_LID_CHANGE);
	assert_false(schedule_is_dirty(w) || schedule_is_whole(w));
}

/* A query for callers does not take an event's reason away from the query that the event gets. */
static void test_callers_take_no_reason(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 1000000, when = 0;

	for (unsigned int i = 0; i < 10; i++) {
		schedule_mark(w, 1, REASON_LID_CHANGE);
		begin_and_end(w, now);
	}
	schedule_mark(w, 1, REASON_CLIENT_REREGISTER);
	assert_false(schedule_may_ask(w, now, &when));
	schedule_mark(w, 1, REASON_QUERY);
	assert_true(schedule_may_ask(w, now, &when));
	begin_and_end(w, now);
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons), REASON_QUERY);
	assert_false(schedule_may_ask(w, now, &when));
	begin_and_end(w, when);
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons),
			 REASON_CLIENT_REREGISTER);
	assert_false(schedule_is_dirty(w));
}

static void test_settling(void **state)
{
	Schedule *w = work_of(state);
	uint64_t first = 0, last = 0, delay;
	unsigned int n = 0;

	schedule_mark(w, 1, REASON_PORT_ACTIVE);
	assert_int_equal(w->n_settling, 0);
	schedule_mark(w, 1, REASON_LINK);
	ask(w);
	while ((delay = schedule_next_settle(w))) {
		Query q;

		assert_true(delay > last);
		last = delay;
		first = first ? first : delay;
		schedule_settle(w);
		q = ask(w);
		assert_true(port_set_has(&q.ports, 1));
		assert_false(port_set_has(&q.ports, 2));
		assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons), REASON_LINK);
		n++;
	}
	assert_true(n >= 3);
	assert_int_equal(w->n_settling, 0);
	schedule_settle(w);
	assert_false(schedule_is_dirty(w));
	/* an event begins the series anew, after its end and in the middle of it */
	schedule_mark(w, 2, REASON_ADDRESS);
	assert_int_equal(schedule_next_settle(w), first);
	assert_true(schedule_next_settle(w) > first);
	schedule_mark(w, 2, REASON_ADDRESS);
	assert_int_equal(schedule_next_settle(w), first);
}

/* The health of a function is read because of an event, or if it is not known: a look at everything
 * does not wait for somebody who writes firmware. */
static void test_health(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	q = ask(w);
	assert_true(q.attributes && q.health);
	mask_set(&w->device->now.supplied, DEVICE_ATTR_health_reporters, true);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	q = ask(w);
	assert_true(q.attributes && !q.health);
	/* not either because of an event about a port that comes with it */
	schedule_mark(w, 1, REASON_LID_CHANGE);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	q = ask(w);
	assert_true(q.attributes && !q.health);
	schedule_mark(w, 1, REASON_LINK);
	q = ask(w);
	assert_false(q.attributes || q.health);
	schedule_settle(w);
	q = ask(w);
	assert_false(q.attributes || q.health);

	schedule_mark(w, EVENT_ALL_PORTS, REASON_DEVLINK);
	q = ask(w);
	assert_true(q.attributes && q.health);
	assert_int_equal(q.parts, READ_VERBS);
	/* the kernel makes the dump after the event */
	while (schedule_next_settle(w)) {
		schedule_settle(w);
		q = ask(w);
		assert_true(q.attributes && q.health);
	}
	schedule_settle(w);
	assert_false(schedule_is_dirty(w));
	schedule_mark(w, EVENT_ALL_PORTS, REASON_REFRESH);
	assert_true(ask(w).health);
}

static void test_retry(void **state)
{
	Schedule *w = work_of(state);
	uint64_t last = 0, delay;

	for (unsigned int i = 0; i < 20; i++) {
		delay = schedule_next_retry(w);
		assert_true(delay >= last && delay <= 30 * USEC_PER_SEC);
		last = delay;
	}
	assert_int_equal(last, 30 * USEC_PER_SEC);
}

/* Why a port was asked about is not forgotten before it has answered: that may be all there is to
 * tell of an event. */
static void test_unanswered(void **state)
{
	Schedule *w = work_of(state);
	Query q;

	schedule_mark(w, 1, REASON_CLIENT_REREGISTER);
	schedule_mark(w, 2, REASON_PKEY_CHANGE);
	schedule_begin(w, 1, 1, &q);
	/* one has failed by itself, the other with the device */
	(void)schedule_take_answer(w, 1);
	schedule_keep_reasons(w, 1);
	schedule_end(w, 1);
	assert_false(schedule_is_dirty(w));

	schedule_mark(w, 1, REASON_LINK);
	q = ask(w);
	assert_false(port_set_has(&q.ports, 2));
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons),
			 REASON_CLIENT_REREGISTER);
	schedule_mark(w, 2, REASON_LINK);
	q = ask(w);
	assert_true(q.parts & READ_PKEYS);
	assert_int_equal(event_reason_to_publish(w->asked.ports[2].reasons), REASON_PKEY_CHANGE);
	/* answered: that is the end of it */
	schedule_mark(w, EVENT_ALL_PORTS, REASON_LINK);
	q = ask(w);
	assert_false(q.parts & READ_PKEYS);
	assert_int_equal(event_reason_to_publish(w->asked.ports[1].reasons), REASON_LINK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_asked),
		TEST(test_whole),
		TEST(test_pkeys),
		TEST(test_parts),
		TEST(test_address),
		TEST(test_parts_of_two),
		TEST(test_parts_of_answer),
		TEST(test_parts_due),
		TEST(test_later_takes_no_token),
		TEST(test_pkeys_of_looks),
		TEST(test_signal),
		TEST(test_pkeys_without_event),
		TEST(test_pkeys_in_doubt),
		TEST(test_pkeys_later),
		TEST(test_pkeys_failed),
		TEST(test_pacing),
		TEST(test_callers),
		TEST(test_callers_take_no_token),
		TEST(test_callers_wait_by_themselves),
		TEST(test_callers_take_no_reason),
		TEST(test_settling),
		TEST(test_health),
		TEST(test_storm),
		TEST(test_retry),
		TEST(test_unanswered),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
