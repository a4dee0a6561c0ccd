/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples of counters that the judge keeps: how old they are, and when they begin again. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "counter-ladder.h"

static bool is_used(const void *userdata, const char *name)
{
	return strstr(userdata, name) != NULL;
}

/* Reads at SECONDS that symbol_error is ERRORS and port_rcv_data is DATA, UINT64_MAX: it cannot be
 * read. */
static void take(CounterLadder *l, uint64_t seconds, uint64_t errors, uint64_t data)
{
	const CounterEntry entries[] = {
		{.group = COUNTER_GROUP_HARDWARE, .file = "other"},
		{.group = COUNTER_GROUP_PORT,
		 .file = "port_rcv_data",
		 .value = data,
		 .error = data == UINT64_MAX ? -EIO : 0},
		{.group = COUNTER_GROUP_PORT, .file = "symbol_error", .value = errors},
	};
	_cleanup_(table_free_pointer) Table *t = table_new(entries, ARRAY_SIZE(entries), 64);

	assert_int_equal(sizeof(CounterEntry), 64);
	assert_int_equal(ladder_take(l, t, 1000 * seconds, USEC_PER_SEC * seconds, is_used,
				     "symbol_error port_rcv_bytes"),
			 0);
}

static uint64_t age(const CounterLadder *l, uint64_t most)
{
	size_t i = ladder_find(l, most * USEC_PER_SEC);

	return i > 0 ? (l->monotonic_usec[0] - l->monotonic_usec[i]) / USEC_PER_SEC : 0;
}

/* For any time there is a sample that is not older, and older than half of it. */
static void test_ages(_unused_ void **state)
{
	CounterLadder l = {};

	for (uint64_t n = 1; n <= 300; n++) {
		take(&l, 300 * n, n, n);
		if (n == 1)
			assert_int_equal(age(&l, 86400), 0);
		for (uint64_t most = 300; n > 1 && most <= 300 * (n - 1); most += 100) {
			assert_true(age(&l, most) <= most);
			assert_true(2 * age(&l, most) >= most - 200);
		}
		assert_int_equal(age(&l, 0), n > 1 ? 300 : 0);
		assert_in_range(l.n, 1, LADDER_SAMPLES);
	}
	assert_true(age(&l, UINT32_MAX) >= 300 * 299 / 2);
	ladder_done(&l);
}

static uint64_t value(const Sample *s, const char *name)
{
	const Value *c = sample_find_name(s, name);

	assert_non_null(c);
	assert_true(counter_is(c, "valid"));
	return counter_value(c);
}

/* A sample has what is used, in the names and units that are published. */
static void test_samples(_unused_ void **state)
{
	CounterLadder l = {};
	Sample s;

	take(&l, 1, 10, 100);
	take(&l, 2, 12, UINT64_MAX);
	take(&l, 3, 15, 150);
	assert_int_equal(ladder_sample(&l, 0, &s), 0);
	assert_int_equal(s.counters.n, 2);
	assert_int_equal(value(&s, "symbol_error"), 15);
	assert_int_equal(value(&s, "port_rcv_bytes"), 600);
	assert_int_equal(s.realtime_usec, 3000);
	sample_done(&s);
	assert_int_equal(ladder_sample(&l, 1, &s), 0);
	assert_int_equal(value(&s, "symbol_error"), 12);
	assert_true(counter_is(sample_find_name(&s, "port_rcv_bytes"), "missing"));
	sample_done(&s);
	assert_int_equal(ladder_sample(&l, 2, &s), 0);
	assert_int_equal(value(&s, "symbol_error"), 10);
	assert_int_equal(s.monotonic_usec, USEC_PER_SEC);
	sample_done(&s);
	ladder_done(&l);
}

/* What was reset, or is another set of counters, says nothing of what was before. */
static void test_restart(_unused_ void **state)
{
	const CounterEntry other = {.file = "symbol_error"};
	_cleanup_(table_free_pointer) Table *t = table_new(&other, 1, sizeof(other));
	CounterLadder l = {};

	take(&l, 1, 10, 100);
	take(&l, 2, 10, UINT64_MAX);
	take(&l, 3, 10, 100);
	assert_int_equal(l.n, 3);
	take(&l, 4, 9, 200);
	assert_int_equal(l.n, 1);
	take(&l, 5, 9, 200);
	assert_int_equal(l.n, 2);
	take(&l, 6, 9, 199);
	assert_int_equal(l.n, 1);
	assert_int_equal(ladder_take(&l, t, 1, 6 * USEC_PER_SEC, is_used, "symbol_error"), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(ladder_take(&l, NULL, 1, 7 * USEC_PER_SEC, is_used, "symbol_error"), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(ladder_take(&l, t, 1, 8 * USEC_PER_SEC, is_used, "none"), 0);
	assert_int_equal(l.n, 0);
	ladder_done(&l);
}

/* As many counters, of which one has another name or is of another directory, are others. */
static void test_others(_unused_ void **state)
{
	static const CounterEntry entries[][2] = {
		{{.file = "symbol_error"}, {.file = "link_downed"}},
		{{.file = "symbol_error"}, {.file = "port_rcv_data"}},
		{{.file = "link_downed"}, {.file = "port_rcv_data"}},
		{{.file = "link_downed", .group = COUNTER_GROUP_HARDWARE},
		 {.file = "port_rcv_data"}},
	};
	CounterLadder l = {};

	for (uint64_t i = 0; i < ARRAY_SIZE(entries); i++)
		for (uint64_t k = 1; k <= 2; k++) {
			_cleanup_(table_free_pointer) Table *t =
				table_new(entries[i], 2, sizeof(entries[i][0]));
			Sample s;

			assert_int_equal(ladder_take(&l, t, 1, (2 * i + k) * USEC_PER_SEC, is_used,
						     "symbol_error link_downed port_rcv_bytes"),
					 0);
			assert_int_equal(l.n, k);
			assert_int_equal(ladder_sample(&l, 0, &s), 0);
			assert_int_equal(s.counters.n, 2);
			sample_done(&s);
		}
	ladder_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name("counter-ladder", tests, NULL, NULL);
}
