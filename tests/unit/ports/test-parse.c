/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people write for times and rates, at both sides of each limit. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "parse.h"

#include <stdlib.h>

#define NOW UINT64_C(1795601478000000)
#define BAD UINT64_MAX

typedef struct Case {
	const char *text;
	uint64_t expected; /* BAD: it is refused */
} Case;

typedef bool (*Parse)(const char *text, uint64_t *ret);

static void assert_cases(Parse parse, const Case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = BAD;
		bool is_good = parse(cases[i].text, &value);

		if (is_good != (cases[i].expected != BAD) || value != cases[i].expected)
			fail_msg("\"%s\" is %s, %ju", cases[i].text, is_good ? "taken" : "refused",
				 (uintmax_t)value);
	}
}

static void test_seconds(_unused_ void **state)
{
	static const Case cases[] = {{"0", 0},
				     {"1.5", 1500000},
				     {".25", 250000},
				     {"1000000000000", UINT64_C(1000000000000000000)},
				     {"1000000000001", BAD},
				     {"1e999", BAD},
				     {"-1", BAD},
				     {"", BAD},
				     {".", BAD},
				     {"inf", BAD},
				     {" 1", BAD},
				     {"+1", BAD},
				     {"9", 9000000},
				     {"1s", BAD}};

	assert_cases(parse_seconds, cases, ARRAY_SIZE(cases));
}

static void test_duration(_unused_ void **state)
{
	static const Case cases[] = {{"1s", 1000000},
				     {"2min", 120000000},
				     {"3h", UINT64_C(10800000000)},
				     {"4d", UINT64_C(345600000000)},
				     {"4294967295s", UINT64_C(4294967295000000)},
				     {"4294967296s", BAD},
				     {"000000000000001s", 1000000},
				     {"0000000000000001s", BAD},
				     {"0s", BAD},
				     {"s", BAD},
				     {"1", BAD},
				     {"1 s", BAD},
				     {"-1s", BAD},
				     {"", BAD}};

	assert_cases(parse_duration, cases, ARRAY_SIZE(cases));
}

static bool when(const char *text, uint64_t *ret)
{
	return parse_when(text, NOW, ret);
}

static bool when_early(const char *text, uint64_t *ret)
{
	return parse_when(text, 5000000, ret);
}

static void test_when(_unused_ void **state)
{
	static const Case cases[] = {{"10s", NOW - 10000000},
				     {"@1.5", 1500000},
				     {"@x", BAD},
				     {"2026-11-25 10:11", NOW - 18000000},
				     {"2026-11-25 10:11:18", NOW},
				     {"2026-11-25 10:11:18.5", NOW + 500000},
				     {"2026-11-25 10:11:18.0000019", NOW + 1},
				     {"2026-11-25 10:11:18.", BAD},
				     {"2026-11-25 10:11:18.5x", BAD},
				     {"2026-11-25 10:11:18 ", BAD},
				     {"2026-11-25", BAD},
				     {" 2026-11-25 10:11", BAD},
				     {"1970-01-01 00:00", 0},
				     {"1969-12-31 00:00", BAD},
				     {"", BAD}};
	/* nothing is from before 1970 */
	static const Case early[] = {{"4s", 1000000}, {"5s", 0}, {"6s", 0}};

	assert_cases(when, cases, ARRAY_SIZE(cases));
	assert_cases(when_early, early, ARRAY_SIZE(early));
}

static void test_rate(_unused_ void **state)
{
	static const Case cases[] = {{"400G", UINT64_C(400000000000)},
				     {"2.5 Gb/s", UINT64_C(2500000000)},
				     {"1Mbit/s", 1000000},
				     {"1000kbps", 1000000},
				     {"1000000", 1000000},
				     {"0.5G", 500000000},
				     {"9G", UINT64_C(9000000000)},
				     {"+1G", BAD},
				     {" 1G", BAD},
				     {"999999", BAD},
				     {"999kb/s", BAD},
				     {"999999T", UINT64_C(999999000000000000)},
				     {"1000000T", BAD},
				     {"400g", BAD},
				     {"400GG", BAD},
				     {"400 G b/s", BAD},
				     {"G", BAD},
				     {"-1G", BAD},
				     {"", BAD}};

	assert_cases(parse_rate, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_rate),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
