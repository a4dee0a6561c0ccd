/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters that feed the judge, with a source that the test plays: when rdmad reads them by
 * itself, and what it finds in those that a program had read.
 */

#include "fake-source.h"
#include "health-private.h"

static const Config by_itself = {.query_timeout_usec = USEC_PER_SEC,
				 .settle_usec = 77 * USEC_PER_SEC,
				 .counter_usec = 300 * USEC_PER_SEC};

static int setup_by_itself(void **state)
{
	Test *t;

	setup_with(state, &by_itself);
	t = *state;
	set_device(1, 2, "mlx5_1", 1);
	fake.n_devices = 2;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 2);
	/* port 2 of the first device is down */
	for (size_t i = 0; i < 2; i++) {
		const Query *q = &fake.queries[i];

		answer_device(q->id, NULL);
		answer_port(q->id, 1, 0, 4);
		if (q->device == 1)
			answer_port(q->id, 2, 0, 1);
		answer_end(q->id, 0, "");
	}
	barrier(t);
	return 0;
}

/* The time of the next step has come. */
static void step(Test *t)
{
	assert_true(sd_event_source_set_time(t->manager->counter_timer, 0) >= 0);
	barrier(t);
}

/* How many questions for counters there were. */
static size_t asked(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.n_queries; i++)
		n += fake.queries[i].kind == QUERY_COUNTERS;
	return n;
}

static const Query *last_asked(void)
{
	const Query *q = NULL;

	for (size_t i = 0; i < fake.n_queries; i++)
		if (fake.queries[i].kind == QUERY_COUNTERS)
			q = &fake.queries[i];
	assert_non_null(q);
	return q;
}

static void answer_last(uint32_t number, uint64_t value)
{
	const uint64_t id = last_asked()->id;

	answer_counters(id, number, value);
	answer_end(id, 0, "");
}

/* One device is read after the other, those ports that are active, and nothing is kept of it for
 * programs. */
static void test_one_by_one(void **state)
{
	Test *t = *state;
	const Reading *r;

	assert_int_equal(t->manager->health->settle_usec, by_itself.settle_usec);
	assert_int_equal(t->manager->health->counter_usec, by_itself.counter_usec);
	assert_int_equal(asked(), 0);
	step(t);
	assert_int_equal(asked(), 1);
	assert_int_equal(last_asked()->device, 1);
	assert_true(port_set_has(&last_asked()->ports, 1));
	assert_false(port_set_has(&last_asked()->ports, 2));
	/* no other one before that has answered */
	step(t);
	assert_int_equal(asked(), 1);
	answer_last(1, 0);
	r = reading_of(device_port(device(t, 1), 1), QUERY_COUNTERS);
	assert_null(r->table);
	assert_true(health_counters_usec(device_port(device(t, 1), 1)) > 0);
	step(t);
	assert_int_equal(asked(), 2);
	assert_int_equal(last_asked()->device, 2);
	answer_last(1, 0);
	step(t);
	/* in the next round they have been read lately */
	step(t);
	assert_int_equal(asked(), 2);
}

/* Who calls while rdmad reads for itself gets what is read. */
static void test_shared(void **state)
{
	Test *t = *state;
	Call c = {};

	step(t);
	call_counters(t, &c, PORT_1);
	barrier(t);
	answer_last(1, 7);
	wait_call(t, &c, "");
	assert_non_null(reading_of(device_port(device(t, 1), 1), QUERY_COUNTERS)->table);
}

/* What a program has read is the program's, also if it is time that rdmad reads for itself. */
static void test_read_already(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t id;

	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, asked() == 1);
	id = last_asked()->id;
	/* another device is read meanwhile */
	step(t);
	assert_int_equal(last_asked()->device, 2);
	answer_counters(id, 1, 7);
	answer_end(id, 0, "");
	wait_call(t, &c, "");
	assert_non_null(reading_of(device_port(device(t, 1), 1), QUERY_COUNTERS)->table);
	assert_true(health_counters_usec(device_port(device(t, 1), 1)) > 0);
}

/* By how much the clock of the counters is ahead. The past is not moved, because the machine may
 * have started a minute ago. */
static uint64_t ahead_usec;

bool __real_health_take_counters(Health *h, Port *p, SampleEnd end, const Table *read,
				 uint64_t realtime_usec, uint64_t monotonic_usec);
bool __wrap_health_take_counters(Health *h, Port *p, SampleEnd end, const Table *read,
				 uint64_t realtime_usec, uint64_t monotonic_usec);

bool __wrap_health_take_counters(Health *h, Port *p, SampleEnd end, const Table *read,
				 uint64_t realtime_usec, uint64_t monotonic_usec)
{
	return __real_health_take_counters(h, p, end, read, realtime_usec,
					   monotonic_usec + ahead_usec);
}

/* Has a program read VALUE, SECONDS after the last time. */
static void read_again(Test *t, uint64_t seconds, uint64_t value)
{
	Reading *r = reading_of(device_port(device(t, 1), 1), QUERY_COUNTERS);
	size_t n = asked();
	Call c = {};

	ahead_usec += seconds * USEC_PER_SEC;
	/* what was read is too old to be handed out again */
	if (r)
		r->monotonic_usec = 0;
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, asked() == n + 1);
	answer_last(1, value);
	wait_call(t, &c, "");
	RUN_UNTIL(t, !t->manager->health_soon);
}

/* Whether the expectation of port 1 does not hold. */
static bool is_found(Test *t)
{
	const Table *findings = device_port(device(t, 1), 1)->now.tables[PORT_TABLE_FINDINGS];

	TABLE_FOREACH(FindingEntry, f, findings)
		if (streq(f->check, "counter"))
			return true;
	return false;
}

/* rdmad reads nothing by itself, and judges what programs have read. */
static void test_read_by_programs(void **state)
{
	Test *t = *state;

	assert_null(t->manager->counter_timer);
	assert_int_equal(expect_add(&t->manager->health->expect, "symbol_error<10/1h"), 0);
	device_port(device(t, 1), 1)->health->mark.whole = true;
	read_again(t, 0, 100);
	assert_false(is_found(t));
	/* in less than ten seconds nothing is known */
	read_again(t, 9, 120);
	assert_false(is_found(t));
	read_again(t, 2, 109);
	assert_false(is_found(t));
	read_again(t, 60, 119);
	assert_true(is_found(t));
	/* it was reset: nobody knows by how much it has grown */
	read_again(t, 60, 50);
	assert_false(is_found(t));
	read_again(t, 60, 60);
	assert_true(is_found(t));
	/* for an hour they are too many */
	read_again(t, 3000, 60);
	assert_true(is_found(t));
	read_again(t, 3600, 60);
	read_again(t, 3600, 60);
	assert_false(is_found(t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_by_one, setup_by_itself, teardown),
		cmocka_unit_test_setup_teardown(test_shared, setup_by_itself, teardown),
		cmocka_unit_test_setup_teardown(test_read_already, setup_by_itself, teardown),
		ANSWERED(test_read_by_programs),
	};

	return cmocka_run_group_tests_name("manager-counters", tests, NULL, NULL);
}
