/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of workers, when one hangs. */

#include "pool-fixture.h"

#include <signal.h>

#include "log.h"

/* While a device hangs the others are answered. When it answers after all, it takes queries again.
 */
static void test_stuck(void **state)
{
	Test *t = *state;
	uint64_t old, new, second, stuck, waiting[30];

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	ask(t, 1, "ok");
	ask(t, 2, "ok");
	old = expect_answer(t, ask(t, 3, "ok"));
	stuck = ask(t, 1, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(waiting); i++)
		waiting[i] = ask(t, 3 + i, "ok");
	expect_error(t, stuck, -ETIMEDOUT, "no answer for 1000 ms while reading stop");
	expect_refused(t, 1, -ETIMEDOUT);
	/* Two new workers have half of them each. */
	new = expect_answer(t, waiting[0]);
	second = expect_answer(t, waiting[1]);
	assert_int_not_equal(old, new);
	assert_int_not_equal(old, second);
	assert_int_not_equal(new, second);
	for (uint32_t i = 2; i < ARRAY_SIZE(waiting); i++)
		assert_int_equal(expect_answer(t, waiting[i]), i % 2 ? second : new);
	expect_event(t, 2, REASON_OVERRUN); /* it was not asked again, so events may be lost */
	expect_event(t, 3, REASON_OVERRUN);
	assert_int_equal(count_events(t, 1, REASON_OVERRUN), 0);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 0);
	expect_refused(t, 1, -ETIMEDOUT);

	kill((pid_t)old, SIGCONT);
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 1);
	assert_int_equal(count_kind(t, CALL_END, stuck), 1);
	assert_int_equal(count_kind(t, CALL_DEVICE, stuck), 0);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), new);
	RUN_UNTIL(t, count_children() == 1); /* the old one has ended by itself */
}

/* When it is over the second worker goes, and those that it had are asked by the first one. */
static void test_second_worker_ends(void **state)
{
	Test *t = *state;
	uint64_t waiting[10], stuck, new, second;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	stuck = ask(t, 50, "stop");
	/* the device with the lowest index is one of the second worker's */
	for (uint32_t i = 0; i < ARRAY_SIZE(waiting); i++)
		waiting[i] = ask(t, (uint32_t)ARRAY_SIZE(waiting) - i, "ok");
	new = expect_answer(t, waiting[0]);
	second = expect_answer(t, waiting[1]);
	assert_int_not_equal(new, second);
	assert_int_equal(expect_answer(t, waiting[9]), second);
	wait_end(t, stuck);
	continue_children();
	expect_event(t, 50, REASON_RECOVERED);
	RUN_UNTIL(t, process_state(second) == 0);
	for (uint32_t i = 1; i <= ARRAY_SIZE(waiting); i++)
		assert_int_equal(expect_answer(t, ask(t, i, "ok")), new);
	assert_int_equal(expect_answer(t, ask(t, 50, "ok")), new);
	RUN_UNTIL(t, count_children() == 1);
}

static void test_stuck_says_where(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	id = ask(t, 1, "stop-in-port-2");
	expect_error(t, id, -ETIMEDOUT,
		     "no answer for 1000 ms while reading port 2 of stop-in-port-2");
	assert_int_equal(count_kind(t, CALL_DEVICE, id), 1);
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
}

/* A worker that sends one part after the other, each in time, does not keep its lane for ever. */
static void test_never_ends(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, 400 * USEC_PER_MSEC, &slow);
	id = ask(t, 1, "drip");
	other = ask(t, 2, "ok");
	expect_error(t, id, -ETIMEDOUT,
		     "no end of the answer after 6400 ms while reading port 2 of drip");
	expect_refused(t, 1, -ETIMEDOUT);
	expect_answer(t, other);
}

/* The time that a worker takes to start does not count. If it did, each new worker on a busy
 * machine would be taken for stuck in another healthy device. */
static void test_slow_start(void **state)
{
	Test *t = *state;
	uint64_t first, second;

	setenv("FAKE_WORKER_STOP_AT_START", "1", 1);
	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	first = ask(t, 1, "ok");
	second = ask(t, 2, "stop");
	unsetenv("FAKE_WORKER_STOP_AT_START");
	RUN_UNTIL(t, child_stopped());
	RUN_FOR(t, 5 * SHORT_USEC / 2, false);
	assert_int_equal(count_kind(t, CALL_END, first), 0);
	continue_children();
	expect_answer(t, first);
	/* It has started: the time counts. */
	expect_error(t, second, -ETIMEDOUT, "no answer for 1000 ms while reading stop");
	continue_children();
	expect_event(t, 2, REASON_RECOVERED);
}

/* Events of a worker that was set aside do not count. */
static void test_stuck_is_not_heard(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop-then-event"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_events(t, 1, REASON_LID_CHANGE), 0);
}

/* A worker that does not answer for long is killed. The device is tried again in a worker of its
 * own until it answers. */
static void test_stuck_for_long(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	shared = ask(t, 2, "ok");
	wait_end(t, ask_once(t, 1, "stop"));
	expect_refused(t, 1, -ETIMEDOUT);
	shared = expect_answer(t, ask(t, 2, "ok"));
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_kind(t, CALL_DEVICE, 2),
			 0); /* the answer to the probe is not for the core */
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	RUN_UNTIL(t, count_children() == 1);
}

/* Three probes hang, which ask all that the query did, and no other device is touched by that. */
static void test_stuck_again_and_again(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	uint64_t shared, id;

	timing.answer_usec = 10 * USEC_PER_MSEC;
	start(t, FAKE_WORKER, SHORT_USEC, &timing);
	id = ask(t, 1, "stop-in-all");
	wait_end(t, id);
	shared = expect_answer(t, ask(t, 2, "ok"));
	for (unsigned int i = 0; i < 3; i++) {
		/* The worker of the probe runs, hangs, and is killed. */
		RUN_UNTIL(t, count_children() == 2 && child_stopped());
		RUN_UNTIL(t, count_children() == 1);
	}
	assert_int_equal(expect_answer(t, ask(t, 2, "ok")), shared);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
	expect_refused(t, 1, -ETIMEDOUT);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 0);
	forget(t, 1);
	expect_answer(t, ask(t, 1, "ok"));
}

/* A device that answers again is tried again soon when it hangs the next time. Here its first pause
 * is longer than the test waits, and the pause after it has answered is short. */
static void test_pause_begins_anew(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop"));
	pool_set_timing(t->pool, &quick);
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	wait_end(t, ask_once(t, 1, "stop"));
	RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == 2);
}

/* The same for a device that is slow: it is asked again soon. */
static void test_pause_of_slow_begins_anew(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, 4 * SHORT_USEC, &slow);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t id = ask(t, 1, "stop");

		/* The first time nothing asks it again by itself for longer than the test waits. */
		t->n = 0;
		expect_answer(t, ask(t, 2, "ok"));
		continue_children();
		expect_answer(t, id);
		if (i == 1)
			break;
		pool_set_timing(t->pool, &quick);
		expect_answer(t, ask(t, 1, "ok"));
		/* It goes back to its home when the crisis is over. */
		expect_event(t, 1, REASON_RECOVERED);
		expect_answer(t, ask(t, 1, "ok"));
		RUN_UNTIL(t, count_children() == 1);
	}
	expect_event(t, 1, REASON_RECOVERED);
}

/* And for one that hung and is slow now: it keeps its own worker, and is asked again soon. */
static void test_pause_of_late_begins_anew(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	for (unsigned int i = 0; i < 2; i++) {
		PoolTiming timing = slow;

		t->n = 0;
		wait_end(t, ask(t, 1, "stop"));
		timing.retry_usec = quick.retry_usec;
		if (i == 1)
			pool_set_timing(t->pool, &timing);
		continue_children();
		expect_event(t, 1, REASON_RECOVERED);
	}
	RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == 2);
}

/* Only workers that it spoils in a row count: in between it has answered well. */
static void test_stuck_then_well(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	for (unsigned int i = 0; i < 3; i++) {
		wait_end(t, ask(t, 1, "stop"));
		continue_children();
		RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == i + 1);
		shared = expect_answer(t, ask(t, 2, "ok"));
		assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	}
}

static void test_stuck_then_crash(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	wait_end(t, ask_once(t, 1, "stop-then-crash"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED); /* from the probe */
	expect_answer(t, ask(t, 1, "ok"));
}

/* After it has hung twice in a row it gets a worker of its own: the third time no other is touched.
 */
static void test_stuck_twice(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	for (unsigned int i = 0; i < 3; i++) {
		wait_end(t, ask(t, 1, "stop"));
		continue_children();
		RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == i + 1);
		if (i == 1)
			expect_answer(t, ask(t, 2, "ok"));
	}
	assert_int_equal(count_events(t, 2, REASON_OVERRUN), 0);
	shared = expect_answer(t, ask(t, 2, "ok"));
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	/* It has answered in time: it must be asked again through the shared worker, which listens
	 * to its events from then on. */
	RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == 4);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
}

static void test_forget_stuck(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop"));
	assert_true(forget(t, 1)); /* it was wedged */
	RUN_UNTIL(t, count_children() == 0);
	expect_answer(t, ask(t, 1, "ok"));
}

/* A worker hangs in a device that has gone: no query ends, but the other devices are answered. */
static void test_forget_then_stuck(void **state)
{
	Test *t = *state;
	uint64_t forgotten, id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	forgotten = ask(t, 1, "stop");
	id = ask(t, 2, "ok");
	forget(t, 1);
	expect_answer(t, id);
	assert_int_equal(count_kind(t, CALL_END, forgotten), 0);
	RUN_UNTIL(t, count_children() == 1);
}

/* A worker that does not exit when its connection is closed is killed. */
static void test_lingers(void **state)
{
	Test *t = *state;

	setenv("FAKE_WORKER_LINGER", "1", 1);
	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	wait_end(t, ask_once(t, 1, "stop"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	RUN_UNTIL(t, count_children() == 0);
	unsetenv("FAKE_WORKER_LINGER");
}

/* There are never more processes than allowed, however many devices hang. The last places are only
 * for devices that have answered. */
static void test_process_limit(void **state)
{
	Test *t = *state;
	uint64_t ids[POOL_PROCESSES_MAX + 4];
	PoolTiming timing = slow;
	unsigned int n_not_asked = 0;

	timing.exit_usec = quick.exit_usec;
	timing.retry_usec = timing.retry_max_usec = quick.retry_usec;
	start(t, FAKE_WORKER, 4 * SHORT_USEC, &timing);
	expect_answer(t, ask(t, 1000, "ok"));
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask_until_healed(t, i, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const Call *end = wait_end(t, ids[i]);

		assert_int_equal(end->error, -ETIMEDOUT);
		n_not_asked += streq(end->text, "not asked, as too many other devices hang");
		assert_true(count_children() <= POOL_PROCESSES_MAX - POOL_PROCESSES_KEPT);
	}
	assert_in_range(n_not_asked, 4 + POOL_PROCESSES_KEPT, ARRAY_SIZE(ids) - 1);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		expect_refused(t, i, -ETIMEDOUT);
	expect_answer(t, ask(t, 1000, "ok"));
	/* When others have ended, the rest is asked. */
	heal(t);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		continue_children();
		expect_event(t, i, REASON_RECOVERED);
	}
	RUN_UNTIL(t, count_children() == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOCK(test_stuck),
		CLOCK(test_second_worker_ends),
		CLOCK(test_stuck_says_where),
		TEST(test_never_ends),
		CLOCK(test_slow_start),
		CLOCK(test_stuck_is_not_heard),
		CLOCK(test_stuck_for_long),
		CLOCK(test_stuck_again_and_again),
		CLOCK(test_pause_begins_anew),
		CLOCK(test_pause_of_slow_begins_anew),
		CLOCK(test_pause_of_late_begins_anew),
		CLOCK(test_stuck_then_well),
		CLOCK(test_stuck_then_crash),
		CLOCK(test_stuck_twice),
		CLOCK(test_forget_stuck),
		CLOCK(test_forget_then_stuck),
		CLOCK(test_lingers),
		CLOCK(test_process_limit),
	};

	/* The warnings are expected here. */
	cmocka_set_test_filter(getenv("FILTER"));
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	return cmocka_run_group_tests_name("pool-stuck", tests, NULL, NULL);
}
