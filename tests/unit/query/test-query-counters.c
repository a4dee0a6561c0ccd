/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of counters on trees of files made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/stat.h>

#include "query-counters.h"
#include "query-sysfs.h"
#include "tree.h"

/* Entry I of T is FILE of GROUP with this value or error. */
static void assert_entry(const Table *t, uint32_t i, CounterGroup group, const char *file,
			 uint64_t value, int error)
{
	const CounterEntry *e = (const CounterEntry *)(const void *)t->entries + i;

	assert_true(i < t->n);
	assert_string_equal(e->file, file);
	assert_int_equal(e->group, group);
	assert_int_equal(e->value, value);
	assert_int_equal(e->error, error);
}

static void test_read(void **state)
{
	Tree *t = *state;
	_cleanup_(table_free_pointer) Table *table = NULL;

	tree_put(t, "ports/2/counters/symbol_error", "65535\n");
	tree_put(t, "ports/2/counters/port_xmit_data", "18446744073709551615\n");
	tree_put(t, "ports/2/counters/link_downed", "N/A (no PMA)\n");
	tree_put(t, "ports/2/counters/VL15_dropped", "");
	tree_put(t, "ports/2/counters/too_long_a_name_for_any_counter_that_there_is_now", "1\n");
	tree_put(t, "ports/2/hw_counters/lifespan", "10\n");
	tree_put(t, "ports/2/hw_counters/link_downed", "3\n");
	tree_put(t, "ports/2/hw_counters/negative", "-1\n");
	tree_put(t, "ports/2/hw_counters/too_large", "18446744073709551616\n");
	assert_int_equal(counters_read(t->fd, 2, 60 * USEC_PER_SEC, &table), 0);
	assert_non_null(table);
	assert_int_equal(table->n, 7);
	assert_entry(table, 0, COUNTER_GROUP_PORT, "VL15_dropped", 0, -ENODATA);
	assert_entry(table, 1, COUNTER_GROUP_PORT, "link_downed", 0, -EINVAL);
	assert_entry(table, 2, COUNTER_GROUP_PORT, "port_xmit_data", UINT64_MAX, 0);
	assert_entry(table, 3, COUNTER_GROUP_PORT, "symbol_error", 65535, 0);
	assert_entry(table, 4, COUNTER_GROUP_HARDWARE, "link_downed", 3, 0);
	assert_entry(table, 5, COUNTER_GROUP_HARDWARE, "negative", 0, -EINVAL);
	assert_entry(table, 6, COUNTER_GROUP_HARDWARE, "too_large", 0, -EINVAL);
}

static void test_none(void **state)
{
	Tree *t = *state;
	Table *table = NULL;

	assert_int_equal(counters_read(t->fd, 1, 0, &table), -ENOENT);
	tree_put(t, "ports/1/state", "4: ACTIVE\n");
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_null(table);
	tree_put(t, "ports/1/hw_counters/lifespan", "10\n");
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_null(table);
}

/* After the deadline no file is read. This one is a pipe that nobody writes to: to open it would
 * block. */
static void test_late(void **state)
{
	Tree *t = *state;
	_cleanup_(table_free_pointer) Table *table = NULL;

	tree_put(t, "ports/1/counters/symbol_error", "5\n");
	assert_int_equal(mkfifoat(t->fd, "ports/1/counters/aaa", 0600), 0);
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_int_equal(table->n, 2);
	assert_entry(table, 0, COUNTER_GROUP_PORT, "aaa", 0, -ETIME);
	assert_entry(table, 1, COUNTER_GROUP_PORT, "symbol_error", 0, -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_none, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_late, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
