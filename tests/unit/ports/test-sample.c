/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between two readings of the counters, and their sums. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
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

#define SETS "a(asasasa{sv})"

/* A reply with five ports: of two sets, one that has no answer, and one that fails otherwise. */
static void read_reply(Samples *ret)
{
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(m, SETS, 2, 2, "counters", "hw", 2, "rx", "tx", 2,
					  "bytes", "packets", 0, 1, "counters", 1, "drops", 1,
					  "packets", 0) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "(ouattta{sv})") >= 0);
	assert_true(sd_bus_message_append(m, "(ouattta{sv})", "/a", 0, 2, UINT64_C(7), UINT64_C(8),
					  UINT64_C(100), UINT64_C(50), 2, "Missing", "a{us}", 2, 5,
					  "timeout", 0, "not-reported", "Saturated", "au", 1,
					  1) >= 0);
	assert_true(sd_bus_message_append(m, "(ouattta{sv})", "/b", 1, 1, UINT64_C(9),
					  UINT64_C(101), UINT64_C(51), 0) >= 0);
	assert_true(sd_bus_message_append(m, "(ouattta{sv})", "/c", 0, 0, UINT64_C(0), UINT64_C(0),
					  2, "Error", "s", "firmware-timeout", "ErrorMessage", "s",
					  "too late") >= 0);
	assert_true(sd_bus_message_append(m, "(ouattta{sv})", "/d", 0, 0, UINT64_C(0), UINT64_C(0),
					  2, "Error", "s", "query-failed", "ErrorMessage", "s",
					  "broken") >= 0);
	assert_true(sd_bus_message_append(m, "(ouattta{sv})", "/e", 0, 0, UINT64_C(0), UINT64_C(0),
					  0) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	message_seal(m);
	assert_int_equal(samples_from(m, ret), 0);
	sd_bus_message_unref(m);
}

static void assert_names(const Sample *s, size_t i, const char *group, const char *name,
			 const char *unit)
{
	assert_string_equal(counter_member(&s->counters.items[i], MEMBER_GROUP), group);
	assert_string_equal(counter_member(&s->counters.items[i], MEMBER_NAME), name);
	assert_string_equal(counter_member(&s->counters.items[i], MEMBER_UNIT), unit);
}

static void test_take(_unused_ void **state)
{
	_cleanup_(samples_done) Samples all = {};
	_cleanup_(sample_done) Sample a = {}, b = {}, none = {}, again = {};
	const char *why = NULL;

	read_reply(&all);
	assert_int_equal(sample_take(&all, "/a", &a, &why), 0);
	assert_int_equal(all.next, 1);
	assert_int_equal(a.realtime_usec, 100);
	assert_int_equal(a.monotonic_usec, 50);
	assert_int_equal(a.counters.n, 2);
	assert_counter(&a, 0, 7, "missing", "not-reported");
	assert_counter(&a, 1, 8, "saturated", "");
	assert_names(&a, 0, "counters", "rx", "bytes");
	assert_names(&a, 1, "hw", "tx", "packets");
	assert_int_equal(sample_take(&all, "/b", &b, &why), 0);
	assert_int_equal(b.counters.n, 1);
	assert_counter(&b, 0, 9, "valid", "");
	assert_names(&b, 0, "counters", "drops", "packets");
	assert_null(why);
	assert_int_equal(sample_take(&all, "/c", &none, &why), -ETIMEDOUT);
	assert_string_equal(why, "too late");
	assert_int_equal(sample_take(&all, "/d", &none, &why), -EIO);
	assert_string_equal(why, "broken");
	assert_int_equal(all.next, 4);
	assert_int_equal(sample_take(&all, "/f", &none, &why), -ENOENT);
	assert_int_equal(all.next, 4);
	/* one that is before the last that was taken */
	assert_int_equal(sample_take(&all, "/a", &again, &why), 0);
	assert_int_equal(again.realtime_usec, 100);
	assert_int_equal(none.counters.n, 0);
}

/* What a later rdmad may send is refused, and read by nobody. */
static void test_take_refused(_unused_ void **state)
{
	for (unsigned int odd = 0; odd < 9; odd++) {
		_cleanup_(samples_done) Samples all = {};
		_cleanup_(sample_done) Sample s = {};
		const char *why = NULL;
		Value *port, *set;

		read_reply(&all);
		port = &all.ports.items[0];
		set = &all.sets.items[0];
		if (odd < 6)
			value_done(&port->items[odd]); /* a member of a port */
		else if (odd == 6)
			port->items[1].number = all.sets.n; /* there is no such set */
		else if (odd == 7)
			value_done(&set->items[2].items[1]); /* a counter without a unit */
		else
			port->items[2].items[1].type = VALUE_SIGNED; /* no counter */
		assert_int_equal(sample_take(&all, "/a", &s, &why), -EBADMSG);
		assert_int_equal(s.counters.n, 0);
		if (odd < 6)
			continue;
		/* the others are as they were, wherever the search begins */
		all.next = 0;
		assert_int_equal(sample_take(&all, "/b", &s, &why), 0);
		assert_int_equal(s.counters.n, 1);
	}
}

/* The same name may be in two groups, and a counter that is new comes behind its group. */
static void test_groups(_unused_ void **state)
{
	static const char *const rows[][2] = {
		{"hw", "rx"}, {"port", "rx"}, {"hw", "tx"}, {"port", "tx"}, {"own", "rx"}};
	static const struct {
		const char *group, *name;
		bool starts;
	} wanted[] = {{"hw", "rx", true},
		      {"hw", "tx", false},
		      {"port", "rx", true},
		      {"port", "tx", false},
		      {"own", "rx", true}};
	_cleanup_(sample_done) Sample s = {}, fewer = {};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const texts[_COUNTER_MEMBER_MAX] = {rows[i][0], rows[i][1], "",
								"packets",  "valid",	""};

		assert_int_equal(sample_append(&s, texts, i), 0);
		if (i > 0)
			assert_int_equal(sample_append(&fewer, texts, 10 + i), 0);
	}
	assert_int_equal(s.counters.n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		assert_names(&s, i, wanted[i].group, wanted[i].name, "packets");
		assert_true(sample_starts_group(&s, i) == wanted[i].starts);
	}
	assert_null(sample_find(&fewer, &s.counters.items[0]));
	assert_null(sample_find_earlier(&s, &fewer, &s.counters.items[0]));
	assert_int_equal(counter_value(sample_find(&fewer, &s.counters.items[2])), 11);
	assert_int_equal(counter_value(sample_find_earlier(&s, &fewer, &s.counters.items[4])), 14);
	assert_ptr_equal(sample_find_earlier(&fewer, &s, &fewer.counters.items[0]),
			 sample_find(&s, &fewer.counters.items[0]));
	assert_int_equal(s.counters.type, VALUE_ARRAY);
	assert_ptr_equal(sample_find_name(&s, "rx"), &s.counters.items[0]);
	assert_ptr_equal(sample_find_name(&s, "tx"), &s.counters.items[1]);
	assert_null(sample_find_name(&s, "r"));
}

static void test_list(_unused_ void **state)
{
	_cleanup_samples_ SampleList list = {};
	static const char *const names[] = {"mlx5_0/1", "mlx5_1/1", "mlx5_1/2"};

	assert_null(sample_list_find(&list, 0, names[0]));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(sample_list_add(&list, names[i], "/a")->name, names[i]);
	for (size_t place = 0; place < 3; place++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			assert_ptr_equal(sample_list_find(&list, place, names[i]), &list.items[i]);
	assert_null(sample_list_find(&list, 2, "mlx5_2/1"));
	sample_list_done(&list);
	assert_int_equal(list.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),	     cmocka_unit_test(test_subtract),
		cmocka_unit_test(test_total),	     cmocka_unit_test(test_take),
		cmocka_unit_test(test_take_refused), cmocka_unit_test(test_groups),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
