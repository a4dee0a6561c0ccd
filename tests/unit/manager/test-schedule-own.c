/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the source asks by itself, because of an event: the schedule adopts it. And what happens to
 * a port that goes, to a device that hangs, and without memory. */

#include "test-schedule.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return no_memory ? NULL : __real_reallocarray(p, n, size);
}

/* What the source asks by itself. */
static Query own_query(uint32_t port, unsigned int parts)
{
	Query q = {.id = 7, .device = 3, .parts = parts};

	port_set_add(&q.ports, port);
	return q;
}

/* The source asks by itself at NOW, and the answer comes. */
static bool adopt_and_end(Schedule *w, uint64_t now, const Query *q)
{
	if (!schedule_adopt(w, now, q))
		return false;
	assert_int_equal(w->asked_id, q->id);
	take_answers(w);
	schedule_end(w, now);
	return true;
}

/* It answers the events that have come, and nothing else. */
static void test_adopted(void **state)
{
	Schedule *w = work_of(state);
	Query q = own_query(2, READ_VERBS);

	schedule_mark(w, 1, REASON_PORT_ERROR);
	schedule_mark(w, 2, REASON_LID_CHANGE);
	schedule_mark(w, 2, REASON_PORT_ACTIVE);
	port_set_add(&q.ports, 77); /* which does not exist */
	assert_true(schedule_adopt(w, USEC_PER_SEC, &q));
	assert_int_equal(schedule_asked_ports(w).bits[0], 1 << 2);
	assert_true(schedule_is_asked(w, 2) && !schedule_is_asked(w, 77));
	assert_int_equal(w->asked.ports[2].reasons,
			 REASON_BIT(REASON_LID_CHANGE) | REASON_BIT(REASON_PORT_ACTIVE));
	/* an event that comes now is for the next query */
	schedule_mark(w, 2, REASON_PORT_ERROR);
	assert_true(schedule_has_reason(w, 2, REASON_BIT(REASON_PORT_ERROR)));
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_PORT_ERROR)));
	assert_int_equal(w->asked_parts, READ_VERBS);
	assert_false(w->asked.attributes || w->asked_callers);
	/* the port has not answered: it keeps its reasons */
	schedule_end(w, USEC_PER_SEC);
	assert_int_equal(w->asked_id, 0);
	assert_true(schedule_has_reason(w, 2, REASON_BIT(REASON_LID_CHANGE)));
	q = ask(w);
	assert_int_equal(q.ports.bits[0], 6);
}

/* One query of a device at a time, and none of one that hangs; such a one takes a token too. */
static void test_not_adopted(void **state)
{
	Schedule *w = work_of(state);
	Query q = own_query(1, READ_VERBS), asked;
	uint64_t now = 100 * USEC_PER_SEC, when;

	schedule_mark(w, 2, REASON_LID_CHANGE);
	assert_true(schedule_may_ask(w, now, &when));
	schedule_begin(w, 1, now, &asked);
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_false(schedule_adopt(w, now, &q));
	assert_int_equal(w->asked_id, 1);
	assert_true(schedule_is_asked(w, 2) && !schedule_is_asked(w, 1));
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_LID_CHANGE)));
	schedule_end(w, now);
	w->wedged = true;
	assert_false(schedule_adopt(w, now, &q));
	assert_int_equal(schedule_leave(w).tokens.n, 10 - 3);
}

/* It has the tokens of the queries because of events, and the leave says how many. */
static void test_adopted_pacing(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 100 * USEC_PER_SEC, when;
	Query q = own_query(1, READ_VERBS);
	Leave leave;

	schedule_mark(w, 1, REASON_LID_CHANGE);
	begin_and_end(w, now);
	leave = schedule_leave(w);
	assert_int_equal(leave.ports, 2);
	assert_int_equal(leave.tokens.n, 9);
	for (unsigned int i = 0; i < 9; i++) {
		/* who has the leave counts as the core does */
		assert_true(token_bucket_take(&leave.tokens, now));
		assert_true(adopt_and_end(w, now, &q));
	}
	assert_false(token_bucket_take(&leave.tokens, now));
	assert_false(schedule_adopt(w, now, &q));
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_false(schedule_may_ask(w, now, &when));
	now += 100 * MSEC;
	assert_int_equal(when, now);
	assert_true(token_bucket_take(&leave.tokens, now));
	assert_true(adopt_and_end(w, now, &q));
	assert_false(schedule_may_ask(w, now, &when));
}

/* What its event leaves is read a little later; a reason for which it reads too little stays. */
static void test_adopted_parts(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 100 * USEC_PER_SEC;
	Query q = own_query(1, READ_VERBS);

	schedule_mark(w, 1, REASON_PORT_ACTIVE);
	assert_true(adopt_and_end(w, now, &q));
	assert_false(schedule_is_dirty(w));
	schedule_later(w);
	assert_true(schedule_is_dirty(w));
	assert_int_equal(ask(w).parts, READ_NEWS & ~READ_VERBS);
	assert_false(schedule_is_dirty(w));

	schedule_mark(w, 1, REASON_LID_CHANGE);
	schedule_mark(w, 1, REASON_PKEY_CHANGE);
	assert_true(schedule_adopt(w, now, &q));
	assert_int_equal(w->asked.ports[1].reasons, REASON_BIT(REASON_LID_CHANGE));
	take_answers(w);
	schedule_end(w, now);
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_PKEY_CHANGE)));
	assert_int_equal(ask(w).parts, READ_PKEYS);
	assert_int_equal(w->asked.ports[1].reasons, REASON_BIT(REASON_PKEY_CHANGE));

	q = own_query(1, READ_VERBS | READ_PKEYS);
	schedule_mark(w, 1, REASON_PKEY_CHANGE);
	schedule_mark(w, 1, REASON_PORT_ACTIVE);
	assert_true(adopt_and_end(w, 2 * now, &q));
	assert_false(schedule_is_dirty(w));
}

/* The source may have read before another one told of a change, in whatever order the core hears of
 * both. */
static void test_adopted_others(void **state)
{
	Schedule *w = work_of(state);
	uint64_t now = 100 * USEC_PER_SEC;
	Query q = own_query(1, READ_LINKS | READ_GIDS);

	schedule_mark(w, 1, REASON_GID_CHANGE);
	schedule_mark(w, 1, REASON_LINK);
	assert_true(adopt_and_end(w, now, &q));
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_LINK)));
	assert_false(schedule_has_reason(w, 1, REASON_BIT(REASON_GID_CHANGE)));
	assert_int_equal(ask(w).parts, READ_LINKS);

	q.parts = READ_VERBS;
	schedule_mark(w, 1, REASON_LID_CHANGE);
	schedule_mark(w, 1, REASON_OVERRUN);
	assert_true(adopt_and_end(w, now, &q));
	assert_int_equal(ask(w).parts & READ_NEWS, READ_NEWS);
	assert_int_equal(w->asked.ports[1].reasons, REASON_BIT(REASON_OVERRUN));
}

/* A port of which not everything is known, or is fresh, is read in full afterwards. */
static void test_adopted_stale(void **state)
{
	Schedule *w = work_of(state);
	Query q = own_query(1, READ_VERBS);

	w->device->ports[0]->now.values.stale = true;
	schedule_mark(w, 1, REASON_LID_CHANGE);
	assert_true(schedule_adopt(w, USEC_PER_SEC, &q));
	w->device->ports[0]->now.values.stale = false;
	take_answers(w);
	schedule_end(w, USEC_PER_SEC);
	schedule_later(w);
	assert_int_equal(ask(w).parts & READ_USUAL, READ_USUAL & ~READ_VERBS);
}

/* A look at everything goes on until the rest of it has been asked. */
static void test_adopted_whole(void **state)
{
	Schedule *w = work_of(state);
	Query q = own_query(1, READ_VERBS);

	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	assert_true(adopt_and_end(w, USEC_PER_SEC, &q));
	assert_true(schedule_is_whole(w));
	q = ask(w);
	assert_true(q.attributes && port_set_has(&q.ports, 1) && port_set_has(&q.ports, 2));
	assert_false(schedule_is_whole(w));
}

/* A source that has the answer already says why, and needs no token. The query under way, if it has
 * the same id, asks that, and later what it asked before. */
static void test_has_answer(void **state)
{
	Schedule *w = work_of(state);
	Query q = own_query(2, READ_ALL), asked;
	uint64_t now = 100 * USEC_PER_SEC, when;

	q.has_answer = q.is_open = true;
	q.reasons = REASON_BIT(REASON_LID_CHANGE);
	port_set_add(&q.ports, 77); /* which does not exist */
	schedule_mark(w, 1, REASON_PORT_ERROR);
	assert_true(schedule_may_ask(w, now, &when));
	schedule_begin(w, 1, now, &asked);
	assert_false(schedule_adopt(w, now, &q));
	assert_true(schedule_is_asked(w, 1));
	q.id = 1;
	assert_true(schedule_adopt(w, now, &q));
	assert_int_equal(schedule_asked_ports(w).bits[0], 1 << 2);
	assert_false(schedule_is_asked(w, 77));
	assert_int_equal(w->asked.ports[2].reasons, q.reasons);
	assert_true(w->asked_open);
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_PORT_ERROR)));
	schedule_end(w, now);
	assert_false(w->asked_open);
	for (unsigned int i = 0; i < 100; i++)
		assert_true(adopt_and_end(w, now, &q));
	assert_int_equal(schedule_leave(w).tokens.n, 10 - 1);
}

/* Of port N everything that there may be is waited for. */
static void want(Schedule *w, uint32_t n)
{
	schedule_mark(w, n, REASON_LID_CHANGE);
	schedule_mark(w, n, REASON_QUERY);
	w->asked.ports[n].is_in = true;
	w->asked.n++;
	w->later_ports[n].is_settling = true;
	w->n_settling++;
	w->later_ports[n].left = READ_VERBS;
}

static void assert_wanted(const Schedule *w, uint32_t n, bool wanted)
{
	assert_int_equal(w->next.ports[n].is_in, wanted);
	assert_int_equal(w->callers.ports[n].is_in, wanted);
	assert_int_equal(schedule_is_asked(w, n), wanted);
	assert_int_equal(w->later_ports[n].is_settling, wanted);
	assert_int_equal(w->next.ports[n].reasons != 0 && w->next.ports[n].parts != 0, wanted);
	assert_int_equal(w->next.ports[n].reasons != 0 || w->next.ports[n].parts != 0, wanted);
	assert_int_equal(w->callers.ports[n].reasons != 0 && w->callers.ports[n].parts != 0,
			 wanted);
	assert_int_equal(w->callers.ports[n].reasons != 0 || w->callers.ports[n].parts != 0,
			 wanted);
	assert_int_equal(w->later_ports[n].left, wanted ? READ_VERBS : 0);
}

/* A port that has gone is not asked about, and the others are. */
static void test_dropped(void **state)
{
	Schedule *w = work_of(state);

	schedule_drop_port(w, 1); /* there is nothing yet */
	want(w, 1);
	want(w, 2);
	assert_wanted(w, 1, true);
	schedule_drop_port(w, 77); /* which does not exist */
	schedule_drop_port(w, 1);
	assert_wanted(w, 1, false);
	assert_wanted(w, 2, true);
	schedule_drop_port(w, 2);
	assert_wanted(w, 2, false);
}

/* A device that hangs is not looked at as a whole. */
static void test_wedged(void **state)
{
	Schedule *w = work_of(state);

	w->wedged = true;
	schedule_begin_whole(w);
	schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE);
	assert_false(schedule_is_whole(w));
	w->wedged = false;
	schedule_begin_whole(w);
	assert_true(w->next.whole);
	schedule_end_whole(w);
	assert_false(schedule_is_whole(w));
}

/* Without memory nothing is marked, and with it the next time everything is. */
static void test_no_memory(void **state)
{
	Schedule *w = work_of(state);

	no_memory = true;
	assert_null(schedule_new(w->device, NULL));
	assert_ptr_equal(w->device->schedule, w);
	schedule_free(NULL);
	assert_int_equal(schedule_mark(w, 1, REASON_LID_CHANGE), -ENOMEM);
	assert_false(schedule_is_dirty(w) || w->marked);
	no_memory = false;
	assert_int_equal(schedule_mark(w, 1, REASON_LID_CHANGE), 0);
	assert_true(schedule_has_reason(w, 1, REASON_BIT(REASON_LID_CHANGE)));
	assert_true(w->marked);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_adopted),	   TEST(test_not_adopted),   TEST(test_adopted_pacing),
		TEST(test_adopted_others), TEST(test_adopted_parts), TEST(test_adopted_stale),
		TEST(test_adopted_whole),  TEST(test_has_answer),    TEST(test_dropped),
		TEST(test_wedged),	   TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
