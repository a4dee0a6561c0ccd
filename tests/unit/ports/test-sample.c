/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between two readings of the counters, and their sums. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "sample.h"

static void put(Sample *s, const char *name, uint64_t value, const char *condition)
{
	const char *const texts[_COUNTER_MEMBER_MAX] = {"counters", name,      "",
							"packets",  condition, ""};

	assert_int_equal(sample_append(s, texts, value), 0);
}

static void test_rate(_unused_ void **state)
{
	_cleanup_(sample_done) Sample before = {.monotonic_usec = 1000000};
	_cleanup_(sample_done) Sample now = {.monotonic_usec = 3000000};
	static const char *const names[] = {"grows", "stays", "reset", "was_missing", "missing"};
	double rate;

	put(&before, "grows", 10, "valid");
	put(&before, "stays", 10, "valid");
	put(&before, "reset", 10, "valid");
	put(&before, "was_missing", 0, "missing");
	put(&before, "missing", 0, "valid");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put(&now, names[i], i == 0 ? 15 : i == 2 ? 9 : 10, i == 4 ? "missing" : "valid");
	put(&now, "new", 10, "valid");
	assert_true(sample_rate(&now, &before, &now.counters.items[0], &rate));
	assert_true(rate == 2.5);
	assert_true(sample_rate(&now, &before, &now.counters.items[1], &rate));
	assert_true(rate == 0);
	for (size_t i = 2; i < now.counters.n; i++)
		assert_false(sample_rate(&now, &before, &now.counters.items[i], &rate));
	before.monotonic_usec = now.monotonic_usec;
	assert_false(sample_rate(&now, &before, &now.counters.items[0], &rate));
	before.monotonic_usec--;
	assert_true(sample_rate(&now, &before, &now.counters.items[0], &rate));
	assert_true(rate == 5e6);
}

static void assert_counter(const Sample *s, size_t i, uint64_t value, const char *condition,
			   const char *reason)
{
	const Value *counter = &s->counters.items[i];

	assert_int_equal(counter_value(counter), value);
	assert_string_equal(counter_member(counter, MEMBER_CONDITION), condition);
	assert_string_equal(counter_member(counter, MEMBER_REASON), reason);
}

static void test_subtract(_unused_ void **state)
{
	_cleanup_(sample_done) Sample before = {}, now = {.realtime_usec = 5}, change = {};

	put(&before, "grows", 10, "valid");
	put(&before, "stays", 10, "valid");
	put(&before, "reset", 10, "valid");
	put(&before, "was_missing", 0, "missing");
	put(&now, "grows", 15, "saturated");
	put(&now, "stays", 10, "valid");
	put(&now, "reset", 9, "valid");
	put(&now, "was_missing", 3, "valid");
	put(&now, "new", 3, "valid");
	assert_int_equal(sample_subtract(&now, &before, &change), 0);
	assert_int_equal(change.realtime_usec, 5);
	assert_int_equal(change.counters.n, 5);
	assert_counter(&change, 0, 5, "saturated", "");
	assert_counter(&change, 1, 0, "valid", "");
	assert_counter(&change, 2, 0, "missing", "it was reset");
	assert_counter(&change, 3, 0, "missing", "it had no value before");
	assert_counter(&change, 4, 0, "missing", "it had no value before");
}

static void test_total(_unused_ void **state)
{
	_cleanup_samples_ SampleList list = {};
	_cleanup_(sample_done) Sample total = {};

	for (uint64_t i = 0; i < 3; i++) {
		Sample *s =
			&sample_list_add(&list, "mlx5_0/1", "/org/rdma/device/3/port/1")->sample;

		s->realtime_usec = 7 - i;
		s->monotonic_usec = i == 1 ? 5 : 3;
		put(s, "all", 10 + i, "valid");
		put(s, "some", i > 0 ? 0 : 3, i > 0 ? "missing" : "valid");
		put(s, "most", i > 0 ? 2 : 0, i > 0 ? "valid" : "missing");
		put(s, "none", 0, "missing");
		put(s, "huge", UINT64_MAX / 2, "valid");
		put(s, "stopped", 15, i == 1 ? "saturated" : "valid");
		if (i == 2)
			put(s, "one", 4, "valid");
	}
	assert_int_equal(sample_total(&list, &total), 0);
	assert_int_equal(total.realtime_usec, 7);
	assert_int_equal(total.monotonic_usec, 5);
	assert_int_equal(total.counters.n, 7);
	assert_counter(&total, 0, 33, "valid", "");
	assert_counter(&total, 1, 3, "valid", "without 2 ports");
	assert_counter(&total, 2, 4, "valid", "without 1 port");
	assert_counter(&total, 3, 0, "missing", "without 3 ports");
	assert_counter(&total, 4, UINT64_MAX, "saturated", "");
	assert_counter(&total, 5, 45, "saturated", "");
	assert_counter(&total, 6, 4, "valid", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_subtract),
		cmocka_unit_test(test_total),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
