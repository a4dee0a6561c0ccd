/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What calls of users may cost: times are numbers of the test. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "budget.h"

#define BUSY   (50 * 1000000U) /* 50 ms in ns */
#define OWN    7777U
#define ALICE  1000U
#define BOB    1001U
#define ROOT   0U
#define SYSTEM 33U

static int setup(void **state)
{
	Budget *b;

	assert_int_equal(budget_new(BUSY, OWN, &b), 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	budget_free(*state);
	return 0;
}

/* How many calls of NSEC each USER gets answered at the time NOW before one is refused. */
static unsigned int count_served(Budget *b, uid_t user, uint64_t nsec, uint64_t now)
{
	unsigned int n = 0;

	while (budget_judge(b, user, now) == BUDGET_SERVE) {
		budget_charge(b, user, nsec);
		assert_true(++n < 1000000);
	}
	return n;
}

/* Somebody who goes on is refused, and then dropped; when nobody waits he begins anew. */
static void test_one_user(void **state)
{
	Budget *b = *state;
	unsigned int refused = 0;

	assert_int_equal(count_served(b, ALICE, 10000, 1), BUSY / 10000);
	assert_int_equal(budget_used(b), BUSY);
	for (; budget_judge(b, ALICE, 1) == BUDGET_REFUSE; refused++) {
		assert_true(refused < BUSY / 10000);
		budget_charge_refusal(b, ALICE, 10000);
	}
	assert_int_equal(refused, BUSY / 20000);
	assert_int_equal(budget_judge(b, ALICE, 1), BUDGET_DROP);
	assert_int_equal(budget_judge(b, BOB, 1), BUDGET_SERVE);
	budget_idle(b);
	assert_int_equal(budget_used(b), 0);
	assert_int_equal(count_served(b, ALICE, 10000, 1), BUSY / 10000);
	/* one call that takes however long is no reason to drop the next: that is told first */
	budget_idle(b);
	budget_charge(b, ALICE, 3 * BUSY);
	assert_int_equal(budget_judge(b, ALICE, 1), BUDGET_REFUSE);
}

/* What was used is forgotten at a quarter of a processor, also if somebody always waits. */
static void test_time_passes(void **state)
{
	Budget *b = *state;

	count_served(b, ALICE, 10000, 1);
	assert_int_equal(budget_judge(b, ALICE, 1), BUDGET_REFUSE);
	assert_int_equal(count_served(b, ALICE, 10000, 1 + 40 * USEC_PER_MSEC), 1001);
	/* however much is charged, he is not refused for long */
	budget_charge(b, ALICE, UINT64_C(1) << 40);
	assert_int_equal(budget_judge(b, ALICE, 2 * USEC_PER_SEC), BUDGET_SERVE);
	/* a clock that stands for hours */
	assert_int_equal(budget_judge(b, ALICE, UINT64_C(1) << 40), BUDGET_SERVE);
}

/* Eight users who want all leave a ninth what he needs, and each of them gets as much as the
 * others.
 */
static void test_many_users(void **state)
{
	uint64_t all = 0, most = 0, least = UINT64_MAX, each[8] = {};
	Budget *b = *state;

	/* the first second in which somebody always waits */
	for (uint64_t now = 1; now < USEC_PER_SEC; now += 1000) {
		for (uid_t u = 0; u < 8; u++)
			each[u] += count_served(b, ALICE + u, 20000, now) * 20000;
		if (now == 1)
			for (uid_t u = 0; u < 8; u++)
				all += each[u];
		if (now % 10000 == 1) {
			assert_int_equal(budget_judge(b, 2000, now), BUDGET_SERVE);
			budget_charge(b, 2000, 60000);
		}
	}
	print_message("at once: %.0f ms\n", (double)all / 1e6);
	assert_true(all <= 2 * BUSY + 8 * (BUSY / 32 + 20000));
	all = 0;
	for (uid_t u = 2; u < 8; u++) { /* the first two got what there was at once */
		most = MAX(most, each[u]);
		least = MIN(least, each[u]);
	}
	for (uid_t u = 0; u < 8; u++)
		all += each[u];
	print_message("in a second: %.0f ms, %.1f to %.1f for each\n", (double)all / 1e6,
		      (double)least / 1e6, (double)most / 1e6);
	assert_true(all <= 2 * BUSY + 250 * UINT64_C(1000000) + 8 * (BUSY / 32 + 20000));
	assert_true(least >= most * 9 / 10);
}

/* Users with more uids than anybody should have do not take the time of root and of the system. */
static void test_classes(void **state)
{
	Budget *b = *state;
	uint64_t all = 0;

	for (uid_t u = 100000; u < 101000; u++)
		all += count_served(b, u, 100000, 1) * UINT64_C(100000);
	print_message("1000 users got %.0f ms\n", (double)all / 1e6);
	assert_true(all <= BUSY * 2 + 1000 * (UINT64_C(100000) + BUSY / 32));
	assert_int_equal(count_served(b, ROOT, 10000, 1), BUSY / 10000);
	assert_int_equal(count_served(b, SYSTEM, 10000, 1), BUSY / 10000);
	/* the two have used what there is at once */
	assert_int_equal(count_served(b, OWN, 10000, 1), BUSY / 32 / 10000 + 1);
	assert_int_equal(count_served(b, BUDGET_UNKNOWN, 10000, 1), BUSY / 10000);
}

/* A table that is full does not stay full. */
static void test_table(void **state)
{
	Budget *b = *state;

	for (uid_t u = 1000; u < 1000 + 3 * BUDGET_USERS_MAX; u++)
		budget_charge(b, u, BUSY);
	assert_int_not_equal(budget_judge(b, 999999, 1), BUDGET_SERVE);
	assert_int_equal(count_served(b, ROOT, 10000, 1), BUSY / 10000);
	assert_int_equal(budget_judge(b, 999999, 3600 * USEC_PER_SEC), BUDGET_SERVE);
	assert_int_equal(count_served(b, 999999, 10000, 3600 * USEC_PER_SEC), BUSY / 10000);
}

static void test_no_limit(_unused_ void **state)
{
	_cleanup_(budget_free_pointer) Budget *b = NULL;

	assert_int_equal(budget_new(0, OWN, &b), 0);
	budget_charge(b, ALICE, UINT64_C(1) << 40);
	assert_int_equal(budget_judge(b, ALICE, 1), BUDGET_SERVE);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_user), TEST(test_time_passes), TEST(test_many_users),
		TEST(test_classes),  TEST(test_table),	     cmocka_unit_test(test_no_limit),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
