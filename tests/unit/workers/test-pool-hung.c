/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of workers, when many devices hang at the same time beside some that do not. */

#include "pool-fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "log.h"

#define HEALTHY	  8U
#define HUNG_MAX  200U
#define TOTAL_MAX (HUNG_MAX + HEALTHY)
/* So long that no query ends with a time-out before all healthy devices have answered, also on a
 * busy machine: 1 s, and for each process that starts. */
#define LONG_USEC(n_hung) ((4 + (n_hung) / 16) * USEC_PER_SEC)

/* Which devices are healthy: the last to be asked, the first, or some among the others. */
typedef enum Position { HEALTHY_LAST, HEALTHY_FIRST, HEALTHY_MIXED } Position;

typedef struct World {
	unsigned int n;
	bool hung[TOTAL_MAX];
	uint64_t ids[TOTAL_MAX];
} World;

static void make_world(World *w, unsigned int n_hung, Position position)
{
	w->n = n_hung + HEALTHY;
	for (unsigned int i = 0; i < w->n; i++)
		switch (position) {
		case HEALTHY_LAST:
			w->hung[i] = i < n_hung;
			break;
		case HEALTHY_FIRST:
			w->hung[i] = i >= HEALTHY;
			break;
		case HEALTHY_MIXED:
			/* one in each eighth, at another place in each */
			w->hung[i] =
				i % (w->n / HEALTHY) != i * HEALTHY / w->n % (w->n / HEALTHY) ||
				i >= w->n / HEALTHY * HEALTHY;
			break;
		}
}

/* Asks all devices in this order. Those that hang do so until they are healed. */
static void ask_world(Test *t, World *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		w->ids[i] = w->hung[i] ? ask_until_healed(t, i, "stop") : ask(t, i, "ok");
}

/* The healthy devices are answered before the time-out of any other is over. */
static void expect_healthy(Test *t, const World *w)
{
	RUN_UNTIL(t, count_ends(t, 0) == HEALTHY);
	for (unsigned int i = 0; i < w->n; i++)
		if (!w->hung[i])
			expect_answer(t, w->ids[i]);
	assert_int_equal(count_ends(t, -ETIMEDOUT), 0);
	assert_true(count_children() <= w->n + 1);
}

/* From now on no device hangs, and those that do go on: until N queries have been answered. */
static void go_on(Test *t, unsigned int n)
{
	heal(t);
	while (count_ends(t, 0) < n) {
		continue_children();
		RUN_FOR(t, 50 * USEC_PER_MSEC, count_ends(t, 0) >= n);
	}
}

/* Asks all devices. Returns whether the same worker has answered for all. */
static bool ask_again(Test *t, const World *w)
{
	bool same = true;
	uint64_t pid = 0;

	for (unsigned int i = 0; i < w->n; i++) {
		uint64_t by;

		t->n = 0;
		by = expect_answer(t, ask(t, i, "ok"));
		same = same && (pid == 0 || pid == by);
		pid = by;
	}
	return same;
}

/* All devices take queries again, and one worker serves them when the crisis is over. */
static void expect_healed(Test *t, const World *w)
{
	uint64_t end = now_usec() + 2 * GUARD_USEC;

	/* The crisis is over after some time, which answers do not take: without time in between,
	 * all are asked some hundred times before it is. */
	while (!ask_again(t, w)) {
		assert_true(now_usec() < end);
		RUN_FOR(t, USEC_PER_SEC, false);
	}
	RUN_UNTIL(t, count_children() == 1);
	assert_true(ask_again(t, w));
}

/* The devices go on in time: their answers count, and none has been said to hang. */
static void check_in_time(Test *t, unsigned int n_hung, Position position)
{
	World w = {};

	make_world(&w, n_hung, position);
	start(t, FAKE_WORKER, LONG_USEC(n_hung), &quick);
	ask_world(t, &w);
	expect_healthy(t, &w);
	go_on(t, w.n);
	for (unsigned int i = 0; i < w.n; i++)
		expect_answer(t, w.ids[i]);
	/* Of more that would take long: all are asked again and again until the crisis is over. */
	if (n_hung <= 64)
		expect_healed(t, &w);
}

static void test_1_in_time(void **state)
{
	check_in_time(*state, 1, HEALTHY_LAST);
}

static void test_5_in_time(void **state)
{
	check_in_time(*state, 5, HEALTHY_FIRST);
}

static void test_10_in_time(void **state)
{
	check_in_time(*state, 10, HEALTHY_LAST);
}

static void test_64_in_time(void **state)
{
	check_in_time(*state, 64, HEALTHY_MIXED);
}

static void test_200_in_time(void **state)
{
	check_in_time(*state, 200, HEALTHY_LAST);
}

/* All that hang are found wedged, each takes part in no other's fate, and they heal: those that go
 * on by themselves, or, with KILLED, those whose workers were killed. */
static void check_wedged(Test *t, unsigned int n_hung, Position position, bool killed)
{
	PoolTiming timing = killed ? quick : slow;
	World w = {};

	timing.exit_usec = quick.exit_usec;
	make_world(&w, n_hung, position);
	start(t, FAKE_WORKER, 4 * SHORT_USEC, &timing);
	ask_world(t, &w);
	RUN_UNTIL(t, count_ends(t, -ETIMEDOUT) == n_hung);
	RUN_UNTIL(t, count_ends(t, 0) == HEALTHY);
	for (unsigned int i = 0; i < w.n; i++) {
		assert_int_equal(find_end(t, w.ids[i])->error, w.hung[i] ? -ETIMEDOUT : 0);
		if (w.hung[i])
			expect_refused(t, i, -ETIMEDOUT);
	}
	assert_true(count_children() <= w.n + 1);
	heal(t);
	for (unsigned int i = 0; i < w.n; i++) {
		if (!w.hung[i])
			continue;
		while (!killed && count_events(t, i, REASON_RECOVERED) == 0) {
			continue_children();
			RUN_FOR(t, 10 * USEC_PER_MSEC, count_events(t, i, REASON_RECOVERED) > 0);
		}
		expect_event(t, i, REASON_RECOVERED);
	}
	expect_healed(t, &w);
}

static void test_1_wedged(void **state)
{
	check_wedged(*state, 1, HEALTHY_LAST, false);
}

static void test_10_wedged(void **state)
{
	check_wedged(*state, 10, HEALTHY_MIXED, true);
}

static void test_64_wedged(void **state)
{
	check_wedged(*state, 64, HEALTHY_LAST, false);
}

static void test_200_wedged(void **state)
{
	check_wedged(*state, 200, HEALTHY_MIXED, false);
}

static void test_200_killed(void **state)
{
	check_wedged(*state, 200, HEALTHY_LAST, true);
}

/* All devices have answered before. Then most hang, and the others are asked last. */
static void test_hang_later(void **state)
{
	Test *t = *state;
	World w = {};

	make_world(&w, 100, HEALTHY_LAST);
	start(t, FAKE_WORKER, LONG_USEC(100), &quick);
	for (unsigned int i = 0; i < w.n; i++)
		ask(t, i, "ok");
	RUN_UNTIL(t, count_ends(t, 0) == w.n);
	t->n = 0;
	ask_world(t, &w);
	expect_healthy(t, &w);
	go_on(t, w.n);
}

/* Devices that have answered come before those that have not. Only one worker starts beside the one
 * that hangs if all the others are healthy, and it gets them in this order. */
static void test_order(void **state)
{
	Test *t = *state;
	uint64_t new[10], old[10];

	start(t, FAKE_WORKER, LONG_USEC(40), &quick);
	for (uint32_t i = 0; i < ARRAY_SIZE(old); i++)
		expect_answer(t, ask(t, 100 + i, "ok"));
	ask_until_healed(t, 1, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(new); i++)
		new[i] = ask_until_healed(t, 10 + i, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(old); i++)
		old[i] = ask(t, 100 + i, "ok");
	for (uint32_t i = 0; i < ARRAY_SIZE(old); i++)
		expect_answer(t, old[i]);
	assert_null(find_end(t, new[0]));
	/* The one that was set aside, and two for the others: none has hung in a second one yet. */
	assert_int_equal(count_children(), 3);
	go_on(t, 31);
}

/* Adds PID to PIDS, unless it is there. */
static void note_pid(uint64_t *pids, size_t *n, uint64_t pid)
{
	size_t k = 0;

	while (k < *n && pids[k] != pid)
		k++;
	if (k == *n)
		pids[(*n)++] = pid;
}

/* All functions of one adapter hang. When the first does, the others get a worker without any more
 * of them, and keep it: none of them has to be asked again, however many hang. */
static void test_adapter(void **state)
{
	Test *t = *state;
	uint64_t ids[HEALTHY], shared;

	start(t, FAKE_WORKER, LONG_USEC(60), &quick);
	t->adapter = 0x1111;
	for (uint32_t i = 0; i < 60; i++)
		ask_until_healed(t, i, "stop");
	for (uint32_t i = 0; i < HEALTHY; i++) {
		t->adapter = i % 2 ? 0x2222 : 0; /* an adapter may be not known */
		ids[i] = ask(t, 100 + i, "ok");
	}
	shared = expect_answer(t, ids[0]);
	for (uint32_t i = 1; i < HEALTHY; i++)
		assert_int_equal(expect_answer(t, ids[i]), shared);
	RUN_UNTIL(t, count_children() == 61);
	for (uint32_t i = 0; i < HEALTHY; i++) {
		assert_int_equal(count_events(t, 100 + i, REASON_OVERRUN), 0);
		assert_int_equal(expect_answer(t, ask(t, 100 + i, "ok")), shared);
	}
	go_on(t, 60 + 2 * HEALTHY);
}

/* A device that is slow, but answers in time, keeps its own worker only as long as it is slow. */
static void test_slow(void **state)
{
	Test *t = *state;
	uint64_t slow_id, other, pid, shared;

	start(t, FAKE_WORKER, 4 * SHORT_USEC, &quick);
	slow_id = ask(t, 1, "stop");
	other = ask(t, 2, "ok");
	shared = expect_answer(t, other);
	assert_null(find_end(t, slow_id));
	/* It is not asked a second thing meanwhile. */
	expect_refused(t, 1, -EBUSY);
	continue_children();
	pid = expect_answer(t, slow_id);
	assert_int_not_equal(pid, shared);
	/* Its worker was sent the query of the other device too, and must not answer that. */
	RUN_UNTIL(t, process_state(pid) == 0);
	expect_event(t, 1, REASON_OVERRUN);
	assert_int_equal(count_events(t, 2, REASON_OVERRUN), 0);
	/* Also without a change it is to be asked again. */
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 1);
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	/* That was without delay: back to the others, when the crisis is over. */
	RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == 2);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	RUN_UNTIL(t, count_children() == 1);
	assert_int_equal(count_ends(t, -ETIMEDOUT), 0);
}

/* On a slow machine a query usually takes longer than the patience in a crisis, which is 375 ms
 * here. Not every device gets a worker because of that. */
static void test_slow_machine(void **state)
{
	Test *t = *state;
	uint64_t pids[10], ids[10];
	size_t n = 0;

	start(t, FAKE_WORKER, 12 * USEC_PER_SEC, &quick);
	for (uint32_t i = 1; i <= 10; i++)
		ask(t, i, "dawdle");
	RUN_UNTIL(t, count_ends(t, 0) == 10);
	ask_until_healed(t, 11, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i + 1, "dawdle");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		note_pid(pids, &n, expect_answer(t, ids[i]));
	assert_in_range(n, 2, 5);
	go_on(t, 21);
}

/* While many hang, events of the others arrive, a device crashes, and devices go. */
static void test_meanwhile(void **state)
{
	Test *t = *state;
	uint64_t crash, forgotten[3];
	World w = {};

	make_world(&w, 40, HEALTHY_LAST);
	start(t, FAKE_WORKER, LONG_USEC(40), &quick);
	ask_world(t, &w);
	crash = ask(t, 500, "crash");
	forgotten[0] = w.ids[0];  /* the process works on it */
	forgotten[1] = w.ids[20]; /* it waits */
	forgotten[2] = ask(t, 501, "ok");
	forget(t, 20);
	forget(t, 501);
	w.ids[20] = w.ids[1];
	RUN_UNTIL(t, count_children() > 4);
	forget(t, 0); /* set aside by now */
	w.ids[0] = w.ids[1];
	expect_healthy(t, &w);
	expect_error(t, crash, -EPIPE, "worker died: signal 11");
	expect_answer(t, ask(t, w.n - 1, "events"));
	assert_int_equal(count_events(t, w.n - 1, REASON_PORT_ACTIVE), 1);
	go_on(t, w.n - 2 + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(forgotten); i++)
		assert_int_equal(count_kind(t, CALL_END, forgotten[i]), 0);
	expect_healed(t, &w);
}

/* Devices that hung at the same time are not all tried again at the same time. */
static void test_turns(void **state)
{
	Test *t = *state;
	PoolTiming timing = slow;
	unsigned int pids[8], n, n_recovered = 0;

	timing.retry_usec = quick.retry_usec;
	timing.turn_usec = 2 * GUARD_USEC;
	start(t, FAKE_WORKER, SHORT_USEC, &timing);
	for (uint32_t i = 1; i <= 5; i++)
		ask_until_healed(t, i, "stop");
	RUN_UNTIL(t, count_ends(t, -ETIMEDOUT) == 5);
	heal(t);
	assert_int_equal(count_children(), 5);
	n = children(pids, ARRAY_SIZE(pids));
	for (unsigned int i = 0; i < n; i++)
		kill((pid_t)pids[i], SIGKILL);
	RUN_FOR(t, 50 * quick.retry_usec, false);
	RUN_UNTIL(t, count_kind(t, CALL_EVENT, 0) > 0);
	for (uint32_t i = 1; i <= 5; i++)
		n_recovered += count_events(t, i, REASON_RECOVERED);
	assert_int_equal(n_recovered, 1);
}

/* The pool is freed in the middle of it. */
static void test_end_in_crisis(void **state)
{
	Test *t = *state;
	World w = {};
	unsigned int pids[64], n;

	make_world(&w, 40, HEALTHY_MIXED);
	start(t, FAKE_WORKER, LONG_USEC(40), &quick);
	ask_world(t, &w);
	RUN_UNTIL(t, count_children() > 8);
	t->pool = pool_free(t->pool);
	/* The nursery may have forked one of which the pool had not heard. It dies with the core.
	 */
	while ((n = children(pids, ARRAY_SIZE(pids))) > 0) {
		for (unsigned int i = 0; i < n; i++)
			kill((pid_t)pids[i], SIGKILL);
		waitpid(-1, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOCK(test_1_in_time),	CLOCK(test_5_in_time),	 CLOCK(test_10_in_time),
		CLOCK(test_64_in_time), CLOCK(test_200_in_time), CLOCK(test_1_wedged),
		CLOCK(test_10_wedged),	CLOCK(test_64_wedged),	 CLOCK(test_200_wedged),
		CLOCK(test_200_killed), CLOCK(test_hang_later),	 CLOCK(test_order),
		CLOCK(test_adapter),	CLOCK(test_slow),	 TEST(test_slow_machine),
		CLOCK(test_meanwhile),	CLOCK(test_turns),	 CLOCK(test_end_in_crisis),
	};

	/* The warnings are expected here. */
	cmocka_set_test_filter(getenv("FILTER"));
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	return cmocka_run_group_tests_name("pool-hung", tests, NULL, NULL);
}
