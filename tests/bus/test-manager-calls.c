/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Callers that want something of the hardware: Query() and GetCounters(). */

#include <sys/syscall.h>

#include "fake-source.h"

static bool no_memory;

int __real_schedule_mark(Schedule *w, uint32_t port, EventReason reason);
int __wrap_schedule_mark(Schedule *w, uint32_t port, EventReason reason);
int __wrap_schedule_mark(Schedule *w, uint32_t port, EventReason reason)
{
	return no_memory ? -ENOMEM : __real_schedule_mark(w, port, reason);
}

/* There is no memory for the question: the caller does not wait for its answer. */
static void test_no_memory(void **state)
{
	Test *t = *state;
	Call c = {};

	no_memory = true;
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	no_memory = false;
	assert_int_equal(fake.n_queries, 1);
	assert_false(port(t, 1, 1)->stale);
}

static void test_cannot_ask(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.query_error = -ENOMEM;
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_true(port(t, 1, 1)->stale);
	call_refresh(t, &c);
	wait_call(t, &c, "");
	fake.query_error = 0;
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_false(device(t, 1)->now.values.stale);
}

/* Counters are asked for when nothing else is, and changes wait for their answer. */
static void test_counters_in_turn(void **state)
{
	Test *t = *state;
	Call counters = {}, again = {}, other = {};
	size_t n = fake.n_queries;
	Query q;

	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == n + 1);
	call_counters(t, &counters, PORT_1);
	barrier(t);
	assert_int_equal(fake.n_queries, n + 1);
	assert_int_equal(last_query()->kind, QUERY_ATTRIBUTES);
	answer(4);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	q = *last_query();
	assert_true(q.kind == QUERY_COUNTERS && port_set_has(&q.ports, 1) &&
		    !port_set_has(&q.ports, 2));
	assert_false(q.attributes || q.parts);

	/* the same port shares the question, another gets the next; an event waits */
	call_counters(t, &again, PORT_1);
	call_counters(t, &other, PORT_2);
	tell(1, 2, REASON_PORT_ERROR);
	barrier(t);
	assert_int_equal(fake.n_queries, n + 2);
	answer_counters(q.id, 2, 1); /* was not asked for */
	answer_counters(q.id, 1, 5);
	answer_counters(q.id, 1, 6); /* twice */
	wait_call(t, &counters, "");
	wait_call(t, &again, "");
	assert_int_equal(port(t, 1, 1)->state, 4);
	answer_end(q.id, 0, "");
	RUN_UNTIL(t, fake.n_queries == n + 3);
	assert_true(last_query()->kind == QUERY_ATTRIBUTES &&
		    port_set_has(&last_query()->ports, 2));
	answer(1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	q = *last_query();
	assert_true(q.kind == QUERY_COUNTERS && port_set_has(&q.ports, 2) &&
		    !port_set_has(&q.ports, 1));
	/* an end without the answer */
	answer_end(q.id, 0, "");
	wait_call(t, &other, "query-failed");
	assert_false(port(t, 1, 2)->stale);
}

/* A question for counters can fail in every way that others can. */
static void test_counters_fail(void **state)
{
	Test *t = *state;
	Call c = {}, d = {};
	size_t n = fake.n_queries;

	/* the port alone */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 1);
	fake.handler->port(fake.userdata, last_query()->id, 1, -EIO, &(PortSnapshot){});
	wait_call(t, &c, "query-failed");
	answer_end(last_query()->id, 0, "");
	assert_false(port(t, 1, 1)->stale);

	/* the worker */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	answer_end(last_query()->id, -EPIPE, "the worker died");
	wait_call(t, &c, "query-failed");
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == n + 3); /* the device is looked at again */
	assert_int_equal(last_query()->kind, QUERY_ATTRIBUTES);
	answer(4);

	/* the source */
	fake.query_error = -ENOMEM;
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, "query-failed");
	fake.query_error = 0;

	/* the device: all who wait hear of it, and those who come */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	call_counters(t, &d, PORT_2);
	barrier(t);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	wait_call(t, &c, "firmware-timeout");
	wait_call(t, &d, "firmware-timeout");
	assert_true(port(t, 1, 1)->stale);
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, "firmware-timeout");
	assert_int_equal(fake.n_queries, n + 4);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == n + 5);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

/* The cache answers who takes old values; but not with those that are stale. */
static void test_stale_is_not_fresh(void **state)
{
	Test *t = *state;
	Call c = {};

	call_query_cached(t, &c, PORT_1, UINT64_MAX);
	wait_call(t, &c, "");
	assert_int_equal(fake.n_queries, 1);
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_port(last_query()->id, 1, -EIO, 0);
	answer_end(last_query()->id, 0, "");
	assert_true(port(t, 1, 1)->stale);
	call_query_cached(t, &c, PORT_1, UINT64_MAX);
	RUN_UNTIL(t, c.done || fake.n_queries == 3);
	assert_false(c.done);
	answer(4);
	wait_call(t, &c, "");
}

static bool clock_stands;

/* In the place of the C library's: the time of day stands still when the test says so. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock == CLOCK_REALTIME && clock_stands) {
		*ret = (struct timespec){.tv_sec = 1700000000};
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

/* An administrator may set the time of day back. Values do not become younger by that. */
static void test_age_when_clock_is_set_back(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t answered;

	clock_stands = true;
	call_query(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	wait_call(t, &c, "");
	answered = monotonic_usec(t->manager);
	RUN_UNTIL(t, monotonic_usec(t->manager) > answered + 1);
	/* by the time of day they have no age at all */
	call_query_cached(t, &c, PORT_1, 1);
	RUN_UNTIL(t, c.done || fake.n_queries == 3);
	assert_false(c.done);
	answer(4);
	wait_call(t, &c, "");
	clock_stands = false;
}

/* A port that comes in the place of one that has gone has counters of its own. */
static void test_counters_of_successor(void **state)
{
	Test *t = *state;
	Call c = {};

	call_counters(t, &c, PORT_2);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_counters(last_query()->id, 2, 5);
	answer_end(last_query()->id, 0, "");
	wait_call(t, &c, "");
	for (uint32_t ports = 1; ports <= 2; ports++) {
		set_device(0, 1, "mlx5_0", ports);
		tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
		RUN_UNTIL(t, device(t, 1)->n_ports == ports && fake.n_queries == 2 + ports);
		answer(4);
	}
	call_counters(t, &c, PORT_2);
	RUN_UNTIL(t, c.done || last_query()->kind == QUERY_COUNTERS);
	assert_false(c.done);
	answer_counters(last_query()->id, 2, 0);
	answer_end(last_query()->id, 0, "");
	wait_call(t, &c, "");
}

/* Who waits for the counters of a port that goes is told; who waits for another one is not. */
static void test_counters_of_port_that_goes(void **state)
{
	Call first = {}, second = {};
	Test *t = *state;

	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	call_counters(t, &first, PORT_1);
	call_counters(t, &second, PORT_2);
	barrier(t);
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	wait_call(t, &second, ""); /* without that port */
	assert_false(first.done);
	answer(4);
	for (size_t n = 3; last_query()->kind != QUERY_COUNTERS; n++) {
		RUN_UNTIL(t, fake.n_queries >= n);
		if (last_query()->kind != QUERY_COUNTERS)
			answer(4);
	}
	answer_counters(last_query()->id, 1, 5);
	answer_end(last_query()->id, 0, "");
	wait_call(t, &first, "");
}

/* All counters: of each device one question, which has the ports that GetCounters() wants too. A
 * device that does not answer is waited for until the deadline, and its answer after that is still
 * good. */
static void test_all_counters(void **state)
{
	Test *t = *state;
	Call all = {}, later = {}, one = {};
	Query q;

	call_all_counters(t, &all);
	call_counters(t, &one, PORT_1);
	RUN_UNTIL(t, fake.n_queries == 2);
	q = *last_query();
	assert_true(q.kind == QUERY_COUNTERS && port_set_has(&q.ports, 1) &&
		    port_set_has(&q.ports, 2));
	answer_counters(q.id, 1, 5);
	wait_call(t, &one, "");
	call_all_counters(t, &later);
	barrier(t);
	assert_false(all.done || later.done);
	wait_call(t, &all, "");
	/* the next reading: the question about port 2 is still open, and port 1 has been read */
	assert_false(later.done);
	answer_counters(q.id, 2, 5);
	answer_end(q.id, 0, "");
	RUN_UNTIL(t, later.done || fake.n_queries == 3);
	if (!later.done) { /* port 2 was wanted before it answered */
		assert_true(!port_set_has(&last_query()->ports, 1));
		answer_counters(last_query()->id, 2, 6);
		answer_end(last_query()->id, 0, "");
	}
	wait_call(t, &later, "");
	/* both have been read */
	call_all_counters(t, &all);
	wait_call(t, &all, "");
}

/* The question cannot be asked, or ends badly: the answer comes, with errors in it. */
static void test_all_counters_fail(void **state)
{
	Test *t = *state;
	Call all = {};

	fake.query_error = -ENOMEM;
	call_all_counters(t, &all);
	wait_call(t, &all, "");
	fake.query_error = 0;
	call_all_counters(t, &all);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_end(last_query()->id, -EPIPE, "the worker died");
	wait_call(t, &all, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_cannot_ask),
		ANSWERED(test_no_memory),
		ANSWERED(test_counters_in_turn),
		ANSWERED(test_counters_fail),
		ANSWERED(test_stale_is_not_fresh),
		ANSWERED(test_age_when_clock_is_set_back),
		ANSWERED(test_counters_of_successor),
		ANSWERED(test_counters_of_port_that_goes),
		ANSWERED(test_all_counters),
		ANSWERED(test_all_counters_fail),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-calls", tests, NULL, NULL);
}
