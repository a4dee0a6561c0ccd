/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time now is that of the clock which is asked for. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <time.h>

#include "clock.h"
#include "util.h"

static uint64_t from_timespec(clockid_t clock)
{
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static void test_monotonic(void **state)
{
	uint64_t before = from_timespec(CLOCK_MONOTONIC), now = monotonic_now_usec();

	(void)state;
	assert_in_range(now, before, from_timespec(CLOCK_MONOTONIC));
}

/* An administrator may set this clock during the test: within a minute will do. */
static void test_realtime(void **state)
{
	uint64_t now = from_timespec(CLOCK_REALTIME);

	(void)state;
	assert_in_range(realtime_now_usec(), now - 60 * USEC_PER_SEC, now + 60 * USEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_realtime),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
