/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bounds of what is to be expected where events were counted: known ones, and how often they
 * are right. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <math.h>

#include "poisson.h"
#include "util.h"

/* From tables of the quantiles of chi-square */
static void test_known(_unused_ void **state)
{
	static const struct {
		uint64_t n;
		double lower, upper;
	} cases[] = {
		{0, 0, 3.6889},		  {1, 0.0253, 5.5716},	  {2, 0.2422, 7.2247},
		{10, 4.7954, 18.3904},	  {20, 12.2165, 30.8884}, {50, 37.1110, 65.9188},
		{100, 81.3640, 121.6272},
	};
	double lower, upper, next_lower, next_upper;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		poisson_bounds(cases[i].n, &lower, &upper);
		if (fabs(lower - cases[i].lower) > 1e-3 || fabs(upper - cases[i].upper) > 1e-3)
			fail_msg("%zu: %.4f to %.4f", (size_t)cases[i].n, lower, upper);
	}
	/* from here on they are not summed up, and wider */
	poisson_bounds(1000000, &lower, &upper);
	poisson_bounds(1000001, &next_lower, &next_upper);
	assert_true(next_lower < lower && next_lower > lower - 50);
	assert_true(next_upper > upper && next_upper < upper + 50);
}

/* Numbers from 0 to 1, the same ones each time (splitmix64) */
static double draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#define DRAWS 125000U
#define MOST  22000U

/* How often MEAN is below the lower bound of what is drawn, and above the upper one. */
static void draw_all(double mean, uint64_t *random, size_t *ret_below, size_t *ret_above)
{
	static double up_to[MOST], lower[MOST], upper[MOST];
	double sum = 0;

	*ret_below = *ret_above = 0;
	for (size_t k = 0; k < MOST; k++) {
		sum += exp((double)k * log(mean) - mean - lgamma((double)k + 1));
		up_to[k] = sum;
	}
	memset(upper, 0, sizeof(upper));
	for (size_t i = 0; i < DRAWS; i++) {
		double x = draw(random);
		size_t low = 0, high = MOST - 1;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (up_to[middle] < x)
				low = middle + 1;
			else
				high = middle;
		}
		if (upper[low] == 0)
			poisson_bounds(low, &lower[low], &upper[low]);
		*ret_below += mean < lower[low];
		*ret_above += mean > upper[low];
	}
}

/* Of a million draws 95 % are right, and each bound is wrong for 2.5 % of each mean at most. */
static void test_coverage(_unused_ void **state)
{
	static const double means[] = {0.05, 0.5, 1, 3, 10, 47, 300, 20000};
	/* by chance: five standard deviations of so many draws */
	const double most = 0.025 * DRAWS + 5 * sqrt(0.025 * 0.975 * DRAWS);
	uint64_t random = 1;
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(means); i++) {
		size_t below, above;

		draw_all(means[i], &random, &below, &above);
		if ((double)below > most || (double)above > most)
			fail_msg("%g: %zu below, %zu above", means[i], below, above);
		wrong += below + above;
	}
	print_message("%zu of %zu are wrong\n", wrong, ARRAY_SIZE(means) * DRAWS);
	assert_true(wrong * 20 <= ARRAY_SIZE(means) * DRAWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests_name("poisson", tests, NULL, NULL);
}
