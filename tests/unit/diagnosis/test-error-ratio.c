/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <inttypes.h>

#include "error-ratio.h"
#include "util.h"

#define DAY  (24 * 3600 * USEC_PER_SEC)
#define GBIT UINT64_C(1000000000)

static void assert_near(uint64_t is, double wanted)
{
	if ((double)is < wanted * 0.999 || (double)is > wanted * 1.001)
		fail_msg("%" PRIu64 " is not near %g", is, wanted);
}

/* From ten errors on there is a ratio; the bounds are those of tables of chi-square. */
static void test_ratio(_unused_ void **state)
{
	ErrorRatio e = error_ratio(0, 1e15);

	assert_int_equal(e.ratio, 0);
	assert_int_equal(e.lower, 0);
	assert_near(e.upper, 3688.9);
	e = error_ratio(9, 1e15);
	assert_int_equal(e.ratio, 0);
	assert_true(e.lower > 0);
	e = error_ratio(10, 1e15);
	assert_near(e.ratio, 10000);
	assert_near(e.lower, 4795.4);
	assert_near(e.upper, 18390.4);
	/* not more than all bits, and not less than one in the unit */
	assert_int_equal(error_ratio(2000, 1000).upper, 1000000000000000000);
	assert_int_equal(error_ratio(0, 1e20).upper, 1);
}

static void test_limit(_unused_ void **state)
{
	assert_near(error_limit("rs", 200 * GBIT), 2.4e14);
	assert_near(error_limit("rs", 100 * GBIT), 5e13);
	assert_near(error_limit("baser", 25 * GBIT), 1e10);
	assert_int_equal(error_limit("off", 25 * GBIT), 0);
	assert_int_equal(error_limit("llrs", 25 * GBIT), 0);
	assert_int_equal(error_limit("", 25 * GBIT), 0);
}

static void test_margin(_unused_ void **state)
{
	assert_int_equal(error_margin(1000, 100000), 2000);
	assert_int_equal(error_margin(50000, 100000), 301);
	assert_int_equal(error_margin(100000, 100000), 0);
	assert_int_equal(error_margin(200000, 100000), 0);
}

/* SECONDS of a link of 100 Gb/s later its counter has N. */
static uint64_t take(ErrorMeter *m, uint64_t seconds, uint64_t n)
{
	static uint64_t usec = 1;

	usec += seconds * USEC_PER_SEC;
	return error_meter_take(m, (ErrorCount){n, usec, false}, 100 * GBIT);
}

static void test_meter(_unused_ void **state)
{
	ErrorMeter m = {};
	ErrorCount now;

	assert_int_equal(take(&m, 0, 1000), 0);
	assert_int_equal(take(&m, 100, 1100), 100 * USEC_PER_SEC);
	/* a hundred errors in 10^13 bits */
	assert_near(error_meter_ratio(&m).ratio, 1e7);
	/* it goes on from the first time */
	assert_int_equal(take(&m, 900, 1100), 1000 * USEC_PER_SEC);
	assert_near(error_meter_ratio(&m).ratio, 1e6);
	/* the counter was reset */
	assert_int_equal(take(&m, 10, 5), 0);
	assert_int_equal(take(&m, 10, 5), 10 * USEC_PER_SEC);
	/* the link has another rate */
	now = (ErrorCount){5, m.last.usec + USEC_PER_SEC, false};
	assert_int_equal(error_meter_take(&m, now, 50 * GBIT), 0);
	assert_int_equal(take(&m, 10, 5), 0);
	/* it is another counter, which goes on by itself */
	now = (ErrorCount){5, m.last.usec + USEC_PER_SEC, true};
	assert_int_equal(error_meter_take(&m, now, 100 * GBIT), 0);
	now.usec += USEC_PER_SEC;
	assert_int_equal(error_meter_take(&m, now, 100 * GBIT), USEC_PER_SEC);
}

/* What is more than two days ago does not count any more. */
static void test_days(_unused_ void **state)
{
	ErrorMeter m = {};

	assert_int_equal(take(&m, 0, 0), 0);
	assert_int_equal(take(&m, 3600, 1000000), 3600 * USEC_PER_SEC);
	for (unsigned int hour = 2; hour <= 96; hour++) {
		uint64_t interval = take(&m, 3600, 1000000);

		assert_int_equal(interval, hour < 48 ? hour * 3600 * USEC_PER_SEC
						     : DAY + hour % 24 * 3600 * USEC_PER_SEC);
		assert_true(hour < 48 ? error_meter_ratio(&m).ratio > 0
				      : error_meter_ratio(&m).ratio == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ratio),  cmocka_unit_test(test_limit),
		cmocka_unit_test(test_margin), cmocka_unit_test(test_meter),
		cmocka_unit_test(test_days),
	};

	return cmocka_run_group_tests_name("error-ratio", tests, NULL, NULL);
}
