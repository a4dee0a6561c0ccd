/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the judge makes of the counters of ports: how often they are taken, which of the readings
 * are compared, and how long they say anything. */

#include "judged.h"

/* Reads the counters of P, one of which no check looks at: symbol_error is SYMBOLS, out_of_sequence
 * LOST, and "own" OWN. Returns whether the judge takes that. */
static bool take(Judged *j, Port *p, uint64_t symbols, uint64_t lost, uint64_t own)
{
	const CounterEntry entries[] = {
		{.group = COUNTER_GROUP_PORT, .file = "symbol_error", .value = symbols},
		{.group = COUNTER_GROUP_HARDWARE, .file = "rx_write_requests", .value = lost},
		{.group = COUNTER_GROUP_HARDWARE, .file = "out_of_sequence", .value = lost},
		{.group = COUNTER_GROUP_HARDWARE, .file = "own", .value = own},
	};
	_cleanup_(table_free_pointer) Table *t =
		table_new(entries, ARRAY_SIZE(entries), sizeof(entries[0]));

	return health_take_counters(j->health, p, SAMPLE_LOCAL, t, judged_usec(j), judged_usec(j));
}

static Port *begin(Judged *j, uint64_t interval)
{
	Port *p;

	judged_begin(j, 10, interval);
	p = device_port(judged_add(j, "mlx5_0", 1), 1);
	judge_at(j, 0);
	return p;
}

/* How long it takes at least until counters are taken again, in milliseconds. */
static uint64_t least(uint64_t interval)
{
	_cleanup_judged_ Judged j;
	const CounterEntry entry = {.file = "out_of_sequence"};
	_cleanup_(table_free_pointer) Table *t = table_new(&entry, 1, sizeof(entry));
	Port *p = begin(&j, interval);
	uint64_t msec = 0, begin_usec = judged_usec(&j);

	assert_int_equal(health_counters_usec(p), 0);
	assert_true(health_take_counters(j.health, p, SAMPLE_LOCAL, t, begin_usec, begin_usec));
	assert_true(health_counters_usec(p) == begin_usec);
	while (!health_take_counters(j.health, p, SAMPLE_LOCAL, t, begin_usec,
				     begin_usec + ++msec * USEC_PER_MSEC))
		assert_true(health_counters_usec(p) == begin_usec);
	assert_true(health_counters_usec(p) == begin_usec + msec * USEC_PER_MSEC);
	return msec;
}

static void test_least(_unused_ void **state)
{
	assert_int_equal(least(0), 10000);
	assert_int_equal(least(300), 10000);
	assert_int_equal(least(20), 10000);
	assert_int_equal(least(19), 9500);
	assert_int_equal(least(4), 2000);
}

static void test_not_judged_yet(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 1);
	assert_int_equal(health_counters_usec(d->ports[0]), 0);
	assert_false(take(&j, d->ports[0], 0, 0, 0));
}

/* Loss is the rate of the last interval, and says which that is. */
static void test_loss(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin(&j, 0);

	assert_true(take(&j, p, 0, 1000, 0));
	assert_int_equal(judge_at(&j, 1), 0);
	assert_port(p, "ok");
	j.seconds = 10;
	assert_true(take(&j, p, 0, 1099, 0));
	assert_int_equal(judge_at(&j, 10), 0);
	j.seconds = 30;
	assert_true(take(&j, p, 0, 1299, 0));
	assert_int_equal(judge_at(&j, 31), 1);
	assert_port(p, "warning loss@31");
	assert_says(p, 0,
		    "10 packets sent again or out of order (out_of_sequence) in a second, "
		    "over 20 s");
	/* another value is said, and it is the same finding */
	j.seconds = 40;
	assert_true(take(&j, p, 0, 1699, 0));
	assert_int_equal(judge_at(&j, 41), 1);
	assert_port(p, "warning loss@31");
	assert_says(p, 0,
		    "40 packets sent again or out of order (out_of_sequence) in a second, "
		    "over 10 s");
	/* it ends ten minutes after it has stopped */
	j.seconds = 60;
	assert_true(take(&j, p, 0, 1699, 0));
	assert_true(judge_at(&j, 60) > 0);
	assert_port(p, "warning loss@31");
	assert_true(judge_at(&j, 659) > 0);
	assert_port(p, "warning loss@31");
	assert_true(judge_at(&j, 720) > 0);
	assert_port(p, "ok");
	/* of counters that were reset nothing is known */
	j.seconds = 730;
	assert_true(take(&j, p, 0, 0, 0));
	judge_at(&j, 730);
	j.seconds = 740;
	assert_true(take(&j, p, 0, 99, 0));
	judge_at(&j, 740);
	assert_port(p, "ok");
	j.seconds = 750;
	assert_true(take(&j, p, 0, 199, 0));
	judge_at(&j, 750);
	assert_port(p, "warning loss@750");
}

/* How long, in minutes, a port is known to lose packets after the last of two readings. */
static uint64_t minutes_known(uint64_t interval)
{
	_cleanup_judged_ Judged j;
	Port *p = begin(&j, interval);
	uint64_t minutes = 0;

	assert_true(take(&j, p, 0, 0, 0));
	j.seconds = 60;
	assert_true(take(&j, p, 0, 6000, 0));
	judge_at(&j, 60);
	for (; p->now.values.health == VERDICT_WARNING; minutes++)
		judge_at(&j, 60 + 60 * minutes);
	/* that was in the loop before, and ten of them are those after the end */
	return minutes - 2 - 10;
}

/* From readings that are too old no verdict follows. */
static void test_old(_unused_ void **state)
{
	assert_int_equal(minutes_known(0), 15);
	assert_int_equal(minutes_known(60), 15);
	assert_int_equal(minutes_known(450), 15);
	assert_int_equal(minutes_known(600), 20);
}

/* A ratio of symbol errors is known when the link has carried as many bits as it needs: at 800 Gb/s
 * ten in 2500 s are 5e-15. */
static void test_symbols(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin(&j, 0);

	for (uint64_t i = 0; i <= 4; i++) {
		j.seconds = 300 * i;
		assert_true(take(&j, p, 2 * i, 0, 0));
		judge_at(&j, j.seconds);
		assert_port(p, "ok");
	}
	j.seconds = 1500;
	assert_true(take(&j, p, 10, 0, 0));
	judge_at(&j, 1500);
	assert_port(p, "warning symbol-errors@1500");
	assert_says(p, 0, "over 1500 s");
	/* 14 in 900 s are more than 1e-14, 36 in 3900 s less than 1.2e-14 */
	j.seconds = 1800;
	assert_true(take(&j, p, 30, 0, 0));
	judge_at(&j, 1800);
	assert_port(p, "critical symbol-errors@1500 bad-signal@1800");
}

/* What only an expectation asks for is kept too, until others are expected. */
static void test_expected(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin(&j, 0);

	judged_expect(&j, "hw_counter.own<10\0");
	assert_true(take(&j, p, 0, 0, 10));
	judge_at(&j, 1);
	assert_port(p, "critical counter@1");
	assert_says(p, 0, "own is 10, expected less than 10");
	judged_expect(&j, "hw_counter.own<11\0");
	judge_at(&j, 2);
	assert_port(p, "ok");
	assert_int_equal(health_counters_usec(p), 0);
	assert_true(take(&j, p, 0, 0, 11));
	judge_at(&j, 2);
	assert_port(p, "critical counter@2");
	/* a counter that is there, and is not the first in the table; one that is not there */
	judged_expect(&j, "hw_counter.rx_write_requests<10\0hw_counter.none<1\0");
	assert_true(take(&j, p, 0, 10, 11));
	judge_at(&j, 3);
	assert_port(p, "critical counter@2 counter@3");
	assert_says(p, 0, "rx_write_requests is 10");
	assert_says(p, 1, "the port has no counter none");
	/* nobody has read any since */
	judged_expect(&j, "symbol_error<1\0");
	judge_at(&j, 4);
	assert_port(p, "ok");
}

/* Each port has its own, and the one that was looked at last is not taken for another. */
static void test_ports(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p[3] = {begin(&j, 0)};

	p[1] = device_port(judged_add(&j, "mlx5_1", 1), 1);
	p[2] = device_port(judged_add(&j, "mlx5_2", 1), 1);
	judge_at(&j, 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(take(&j, p[i], 0, 0, 0));
	judge_at(&j, 1);
	j.seconds = 10;
	for (uint64_t i = 0; i < 3; i++)
		assert_true(take(&j, p[i], 0, 100 * i, 0));
	assert_int_equal(judge_at(&j, 10), 2);
	assert_port(p[0], "ok");
	assert_port(p[1], "warning loss@10");
	assert_port(p[2], "warning loss@10");
	assert_says(p[1], 0, "lost: 10 packets");
	assert_says(p[2], 0, "lost: 20 packets");
	/* a reading without counters */
	j.seconds = 20;
	assert_true(health_take_counters(j.health, p[1], SAMPLE_LOCAL, NULL, judged_usec(&j),
					 judged_usec(&j)));
	assert_int_equal(health_counters_usec(p[1]), 0);
	judge_at(&j, 20);
	judge_at(&j, 900);
	assert_port(p[1], "ok");
	assert_port(p[2], "warning loss@10");
	/* a port that goes takes its readings along */
	judged_remove(&j, p[2]->device);
	j.seconds = 910;
	assert_true(take(&j, p[0], 0, 100, 0));
	judge_at(&j, 910);
	j.seconds = 920;
	assert_true(take(&j, p[0], 0, 200, 0));
	judge_at(&j, 920);
	assert_port(p[0], "warning loss@920");
}

/* Reads that P had SYMBOLS errors at END of its link. */
static bool take_end(Judged *j, Port *p, SampleEnd end, uint64_t symbols)
{
	const CounterEntry entry = {
		.group = COUNTER_GROUP_PORT, .file = "symbol_error", .value = symbols};
	_cleanup_(table_free_pointer) Table *t = table_new(&entry, 1, sizeof(entry));

	return health_take_counters(j->health, p, end, t, judged_usec(j), judged_usec(j));
}

/* What the other end counts is kept beside what this end does, and said of the same port. */
static void test_other_end(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin(&j, 0);

	/* nobody has read it, then once, and then how this end counts is not known */
	assert_true(take_end(&j, p, SAMPLE_LOCAL, 0));
	judge_at(&j, 0);
	assert_true(take_end(&j, p, SAMPLE_REMOTE, 60000));
	judge_at(&j, 1);
	assert_port(p, "ok");
	j.seconds = 10;
	assert_false(health_counters_usec(p) == judged_usec(&j));
	assert_true(take_end(&j, p, SAMPLE_REMOTE, 61000));
	judge_at(&j, 10);
	assert_port(p, "ok");
	j.seconds = 11;
	assert_false(take_end(&j, p, SAMPLE_REMOTE, 62000));
	assert_true(take_end(&j, p, SAMPLE_LOCAL, 0));
	judge_at(&j, 11);
	assert_port(p, "warning far-errors@11");
	assert_says(p, 0, "errors are at the other end only: symbol_error by 1000, in ");
	/* this end has them too */
	j.seconds = 30;
	assert_true(take_end(&j, p, SAMPLE_REMOTE, 64000));
	assert_true(take_end(&j, p, SAMPLE_LOCAL, 1000));
	judge_at(&j, 30);
	judge_at(&j, 631);
	assert_port(p, "critical bad-signal@30");
	/* it goes with the port */
	judged_remove(&j, p->device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least),	cmocka_unit_test(test_not_judged_yet),
		cmocka_unit_test(test_loss),	cmocka_unit_test(test_old),
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_expected),
		cmocka_unit_test(test_ports),	cmocka_unit_test(test_other_end),
	};

	return cmocka_run_group_tests_name("judge-counters", tests, NULL, NULL);
}
