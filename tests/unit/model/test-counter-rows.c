/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the counters of a port are: counters.def over the numbers that sysfs has. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <inttypes.h>

#include "counters.h"
#include "util.h"

#define VALUE(file, value) entry_of(COUNTER_GROUP_PORT, file, value, 0)

static CounterEntry entry_of(CounterGroup group, const char *file, uint64_t value, int error)
{
	CounterEntry e = {.group = group, .value = value, .error = error};

	text_copy(e.file, sizeof(e.file), file);
	return e;
}

/* The counter NAME of the N ENTRIES. */
static Counter counter_of(const CounterEntry *entries, size_t n, const char *name)
{
	Table *t = n ? table_new(entries, n, sizeof(*entries)) : NULL;
	_cleanup_(counter_set_free_pointer) CounterSet *set = NULL;
	Counter found = {};

	assert_int_equal(counter_set_new(t, false, &set), 0);
	for (size_t i = 0; i < counter_set_size(set); i++)
		if (streq(counter_set_get(set, i, t).name, name))
			found = counter_set_get(set, i, t);
	if (!found.name)
		fail_msg("there is no %s", name);
	found.name = name; /* the other one is in the table */
	table_free(t);
	return found;
}

/* Each error of reading a file is another reason. */
static void test_reasons(_unused_ void **state)
{
	static const struct {
		int error;
		const char *reason;
	} cases[] = {
		{-ENOENT, "not-reported"},     {-EINVAL, "no-value"},
		{-ENODATA, "no-value"},	       {-ETIME, "firmware-timeout"},
		{-EIO, "query-failed"},	       {-ETIMEDOUT, "query-failed"},
		{-EACCES, "query-failed"},     {-ENOSYS, "not-reported"},
		{-EOPNOTSUPP, "not-reported"},
	};
	CounterEntry e;
	Counter c;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		e = entry_of(COUNTER_GROUP_PORT, "symbol_error", 7, cases[i].error);
		c = counter_of(&e, 1, "symbol_error");
		assert_int_equal(c.condition, COUNTER_MISSING);
		assert_int_equal(c.value, 0);
		assert_string_equal(c.reason, cases[i].reason);
		/* also of one that has no row */
		e = entry_of(COUNTER_GROUP_HARDWARE, "own", 7, cases[i].error);
		assert_string_equal(counter_of(&e, 1, "own").reason, cases[i].reason);
	}
	e = VALUE("symbol_error", 7);
	c = counter_of(&e, 1, "symbol_error");
	assert_int_equal(c.condition, COUNTER_VALID);
	assert_string_equal(c.reason, "");
	/* the file is not there, and the port has others of the group */
	assert_string_equal(counter_of(&e, 1, "link_downed").reason, "not-reported");
}

static void assert_condition(const CounterEntry *entries, size_t n, const char *name,
			     CounterCondition condition, uint64_t value)
{
	Counter c = counter_of(entries, n, name);

	if (c.condition != condition || c.value != value)
		fail_msg("%s: %i, %" PRIu64, name, (int)c.condition, c.value);
}

/* A counter of each width stops at its largest value. One that is larger is wider than that. */
static void test_saturation(_unused_ void **state)
{
	static const struct {
		const char *file;
		unsigned int bits;
	} cases[] = {{"local_link_integrity_errors", 4},
		     {"link_downed", 8},
		     {"symbol_error", 16},
		     {"port_xmit_wait", 32},
		     {"unicast_rcv_packets", 64}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint64_t most = UINT64_MAX >> (64 - cases[i].bits);
		CounterEntry e = VALUE(cases[i].file, most);

		assert_condition(&e, 1, cases[i].file, COUNTER_SATURATED, most);
		e.value = most - 1;
		assert_condition(&e, 1, cases[i].file, COUNTER_VALID, most - 1);
		e.value = most + 1;
		assert_condition(&e, 1, cases[i].file, COUNTER_VALID, most + 1);
	}
}

/* Some are 64 bits wide on ports with extended counters, and 32 on others; those of data count
 * words. */
static void test_extended(_unused_ void **state)
{
	CounterEntry e[] = {VALUE("port_rcv_packets", UINT32_MAX),
			    VALUE("port_rcv_data", UINT32_MAX), VALUE("unicast_xmit_packets", 0)};
	const uint64_t words = UINT32_MAX;

	assert_condition(e, 2, "port_rcv_packets", COUNTER_SATURATED, words);
	assert_condition(e, 2, "port_rcv_bytes", COUNTER_SATURATED, 4 * words);
	assert_condition(e, 3, "port_rcv_packets", COUNTER_VALID, words);
	assert_condition(e, 3, "port_rcv_bytes", COUNTER_VALID, 4 * words);
	e[0].value = UINT64_MAX;
	assert_condition(e, 2, "port_rcv_packets", COUNTER_VALID, UINT64_MAX);
	assert_condition(e, 3, "port_rcv_packets", COUNTER_SATURATED, UINT64_MAX);
	/* what has no room as bytes is as much as there is room for */
	e[1].value = UINT64_MAX / 4;
	assert_condition(e, 3, "port_rcv_bytes", COUNTER_VALID, 4 * (UINT64_MAX / 4));
	e[1].value = UINT64_MAX / 4 + 1;
	assert_condition(e, 3, "port_rcv_bytes", COUNTER_SATURATED, UINT64_MAX);
}

static size_t size_with(const CounterEntry *entries, size_t n, bool complete)
{
	Table *t = n ? table_new(entries, n, sizeof(*entries)) : NULL;
	_cleanup_(counter_set_free_pointer) CounterSet *s = NULL;
	size_t size;

	assert_int_equal(counter_set_new(t, complete, &s), 0);
	size = counter_set_size(s);
	table_free(t);
	return size;
}

/* A port that has any counter of counters/, or answers performance management, has them all. */
static void test_complete(_unused_ void **state)
{
	CounterEntry e[] = {
		VALUE("symbol_error", 1), entry_of(COUNTER_GROUP_HARDWARE, "out_of_buffer", 2, 0),
		entry_of(COUNTER_GROUP_HARDWARE, "own", 3, 0),
		/* of another group than the row with this file, and once more */
		entry_of(COUNTER_GROUP_HARDWARE, "symbol_error", 4, 0), VALUE("symbol_error", 5)};
	size_t n_port = 0;

	for (size_t i = 0; i < n_counter_rows; i++) {
		const CounterRow *row = &counter_rows[i];

		n_port += row->group == COUNTER_GROUP_PORT;
		/* the arrays have room for the ends of the names */
		assert_int_equal(row->file[sizeof(row->file) - 1], '\0');
		assert_int_equal(row->name[sizeof(row->name) - 1], '\0');
		assert_int_equal(row->node_exporter[sizeof(row->node_exporter) - 1], '\0');
	}
	assert_int_equal(size_with(NULL, 0, false), 0);
	assert_int_equal(size_with(NULL, 0, true), n_port);
	assert_int_equal(size_with(e, 1, false), n_port);
	assert_int_equal(size_with(e + 1, 2, false), 2);
	assert_int_equal(size_with(e + 1, 2, true), n_port + 2);
	assert_int_equal(size_with(e, 5, false), n_port + 3);
}

static bool fits(const CounterEntry *a, size_t n_a, bool complete_a, const CounterEntry *b,
		 size_t n_b, bool complete_b)
{
	Table *t = table_new(a, n_a, sizeof(*a)), *u = table_new(b, n_b, sizeof(*b));
	_cleanup_(counter_set_free_pointer) CounterSet *s = NULL;
	bool result;

	assert_int_equal(counter_set_new(t, complete_a, &s), 0);
	result = counter_set_fits(s, u, complete_b);
	table_free(t);
	table_free(u);
	return result;
}

/* A set is that of another table if only numbers differ. */
static void test_fits(_unused_ void **state)
{
	const CounterEntry a[] = {VALUE("symbol_error", 1), VALUE("link_downed", 2)};
	const CounterEntry same[] = {VALUE("symbol_error", 3),
				     entry_of(COUNTER_GROUP_PORT, "link_downed", 0, -EIO)};
	const CounterEntry swapped[] = {a[1], a[0]};
	const CounterEntry first[] = {VALUE("link_error_recovery", 1), a[1]};
	const CounterEntry group[] = {a[0], entry_of(COUNTER_GROUP_HARDWARE, "link_downed", 2, 0)};

	assert_true(fits(a, 2, true, same, 2, true));
	assert_false(fits(a, 2, true, same, 2, false));
	assert_false(fits(a, 2, false, a, 1, false));
	assert_false(fits(a, 1, false, a, 2, false));
	assert_false(fits(a, 2, false, swapped, 2, false));
	assert_false(fits(a, 2, false, first, 2, false));
	assert_false(fits(a, 2, false, group, 2, false));
}

/* The numbers may be those of a later table. */
static void test_later_table(_unused_ void **state)
{
	const CounterEntry a[] = {VALUE("symbol_error", 1),
				  entry_of(COUNTER_GROUP_HARDWARE, "own", 2, 0)};
	const CounterEntry b[] = {VALUE("symbol_error", 11),
				  entry_of(COUNTER_GROUP_HARDWARE, "own", 12, 0)};
	Table *t = table_new(a, 2, sizeof(a[0])), *u = table_new(b, 2, sizeof(b[0]));
	_cleanup_(counter_set_free_pointer) CounterSet *s = NULL;
	size_t last;

	assert_int_equal(counter_set_new(t, false, &s), 0);
	last = counter_set_size(s) - 1;
	assert_string_equal(counter_set_get(s, last, NULL).name, "own");
	assert_int_equal(counter_set_get(s, last, NULL).unit, COUNTER_UNKNOWN);
	assert_int_equal(counter_set_get(s, last, NULL).value, 2);
	assert_int_equal(counter_set_get(s, last, u).value, 12);
	table_free(t);
	table_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),	 cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_extended), cmocka_unit_test(test_complete),
		cmocka_unit_test(test_fits),	 cmocka_unit_test(test_later_table),
	};

	return cmocka_run_group_tests_name("counter-rows", tests, NULL, NULL);
}
