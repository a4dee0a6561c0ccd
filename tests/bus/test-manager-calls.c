/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Callers that want something of the hardware: Query() and GetCounters(). */

#include "fake-source.h"

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
	assert_false(last_query()->counters);
	answer(4);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	q = *last_query();
	assert_true(q.counters && port_set_has(&q.ports, 1) && !port_set_has(&q.ports, 2));
	assert_false(q.attributes || q.pkeys);

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
	assert_true(!last_query()->counters && port_set_has(&last_query()->ports, 2));
	answer(1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	q = *last_query();
	assert_true(q.counters && port_set_has(&q.ports, 2) && !port_set_has(&q.ports, 1));
	/* an end without the answer */
	answer_end(q.id, 0, "");
	wait_call(t, &other, RDMAD_ERROR_QUERY_FAILED);
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
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	answer_end(last_query()->id, 0, "");
	assert_false(port(t, 1, 1)->stale);

	/* the worker */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	answer_end(last_query()->id, -EPIPE, "the worker died");
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	RUN_UNTIL(t, fake.n_queries == n + 3); /* the device is looked at again */
	assert_false(last_query()->counters);
	answer(4);

	/* the source */
	fake.query_error = -ENOMEM;
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	fake.query_error = 0;

	/* the device: all who wait hear of it, and those who come */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	call_counters(t, &d, PORT_2);
	barrier(t);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	wait_call(t, &d, RDMAD_ERROR_TIMEOUT);
	assert_true(port(t, 1, 1)->stale);
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	assert_int_equal(fake.n_queries, n + 4);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == n + 5);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_cannot_ask),
		ANSWERED(test_counters_in_turn),
		ANSWERED(test_counters_fail),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-calls", tests, NULL, NULL);
}
