/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of counters on trees of files made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/resource.h>
#include <sys/stat.h>

#include "../descriptors.h"
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
	assert_int_equal(counters_read(t->fd, 2, 60 * USEC_PER_SEC, &table), 1);
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

/* The counters of the device are read with its first port, also from the files that stay open. */
static void test_device(void **state)
{
	Tree *t = *state;
	DeviceFiles k = {};
	Table *table = NULL;

	tree_put(t, "hw_counters/lifespan", "10\n");
	tree_put(t, "hw_counters/cmds_err", "4\n");
	tree_put(t, "ports/1/hw_counters/cmds_err", "1\n");
	tree_put(t, "ports/2/hw_counters/cmds_err", "2\n");
	for (uint32_t port = 1; port <= 2; port++) {
		assert_int_equal(counters_read(t->fd, port, 60 * USEC_PER_SEC, &table), 0);
		assert_int_equal(table->n, port == 1 ? 2 : 1);
		assert_entry(table, 0, COUNTER_GROUP_HARDWARE, "cmds_err", port, 0);
		counters_keep(&k, t->fd, port, table);
		table_free(table);
	}
	tree_put(t, "hw_counters/cmds_err", "5\n");
	assert_int_equal(counters_read_kept(&k, 1, 60 * USEC_PER_SEC, &table), 0);
	assert_int_equal(table->n, 2);
	assert_entry(table, 1, COUNTER_GROUP_DEVICE, "cmds_err", 5, 0);
	table_free(table);
	counters_done(&k);
}

/* Those that there is no room for are counted, whatever their order. */
static void test_many(void **state)
{
	Tree *t = *state;
	Table *table = NULL;
	char file[64];

	for (unsigned int i = 0; i < COUNTERS_MAX + 2; i++) {
		snprintf(file, sizeof(file), "ports/1/hw_counters/c%u", i);
		tree_put(t, file, "1\n");
	}
	assert_int_equal(counters_read(t->fd, 1, 60 * USEC_PER_SEC, &table), 2);
	assert_int_equal(table->n, COUNTERS_MAX);
	table_free(table);
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

/* Reads the counters of PORT, and keeps their files. */
static void keep(Tree *t, DeviceFiles *files, uint32_t port)
{
	_cleanup_(table_free_pointer) Table *table = NULL;

	assert_int_equal(counters_read(t->fd, port, 60 * USEC_PER_SEC, &table), 0);
	counters_keep(files, t->fd, port, table);
}

static void test_files_stay_open(void **state)
{
	Tree *t = *state;
	DeviceFiles k = {};
	Table *table = NULL;

	assert_int_equal(counters_read_kept(&k, 1, USEC_PER_SEC, &table), -ENOENT);
	counters_keep(&k, t->fd, 1, NULL); /* nothing was read */
	assert_int_equal(counters_read_kept(&k, 1, USEC_PER_SEC, &table), -ENOENT);

	tree_put(t, "ports/1/counters/symbol_error", "5\n");
	tree_put(t, "ports/1/counters/link_downed", "N/A (no PMA)\n");
	tree_put(t, "ports/1/hw_counters/lifespan", "10\n");
	tree_put(t, "ports/1/hw_counters/rnr", "7\n");
	keep(t, &k, 1);
	/* each read sees what the file has then, whatever the directory is called meanwhile */
	tree_put(t, "ports/1/counters/symbol_error", "6\n");
	assert_int_equal(renameat(t->fd, "ports", t->fd, "gone"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(counters_read_kept(&k, 1, 60 * USEC_PER_SEC, &table), 0);
		assert_int_equal(table->n, 3);
		assert_entry(table, 0, COUNTER_GROUP_PORT, "link_downed", 0, -EINVAL);
		assert_entry(table, 1, COUNTER_GROUP_PORT, "symbol_error", 6, 0);
		assert_entry(table, 2, COUNTER_GROUP_HARDWARE, "rnr", 7, 0);
		table_free(table);
	}
	/* after the deadline no file is read */
	assert_int_equal(counters_read_kept(&k, 1, 0, &table), 0);
	assert_entry(table, 0, COUNTER_GROUP_PORT, "link_downed", 0, -ETIME);
	table_free(table);
	counters_done(&k);
	table = NULL;
	assert_int_equal(counters_read_kept(&k, 1, USEC_PER_SEC, &table), -ENOENT);
	assert_null(table);
}

/* The counters of a port for whose files there is no room stay closed, until there is room. */
static void test_limit(void **state)
{
	Tree *t = *state;
	DeviceFiles full = {}, other = {};
	Table *table = NULL;
	size_t before = count_descriptors(), ports = COUNTER_FILES_OPEN_MAX / 512;

	for (unsigned int i = 0; i < 512; i++) {
		char file[64];

		snprintf(file, sizeof(file), "ports/1/counters/c%u", i);
		tree_put(t, file, "1\n");
	}
	tree_put(t, "ports/2/hw_counters/rnr", "7\n");
	/* the same files for many ports */
	for (unsigned int i = 3; i < ports + 2; i++) {
		char name[32];

		snprintf(name, sizeof(name), "ports/%u", i);
		assert_int_equal(symlinkat("1", t->fd, name), 0);
		keep(t, &full, i);
	}
	keep(t, &full, 1);
	assert_int_equal(count_descriptors(), before + COUNTER_FILES_OPEN_MAX);
	keep(t, &other, 2);
	assert_int_equal(counters_read_kept(&other, 2, USEC_PER_SEC, &table), -ENOENT);
	assert_int_equal(count_descriptors(), before + COUNTER_FILES_OPEN_MAX);
	counters_done(&full);
	keep(t, &other, 2);
	assert_int_equal(counters_read_kept(&other, 2, 60 * USEC_PER_SEC, &table), 0);
	assert_entry(table, 0, COUNTER_GROUP_HARDWARE, "rnr", 7, 0);
	table_free(table);
	counters_done(&other);
	assert_int_equal(count_descriptors(), before);
}

int main(void)
{
	/* as many as the service may have */
	const struct rlimit files = {2 * COUNTER_FILES_OPEN_MAX, 2 * COUNTER_FILES_OPEN_MAX};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_device, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_many, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_none, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_late, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_files_stay_open, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_limit, tree_setup, tree_teardown),
	};

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		perror("RLIMIT_NOFILE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
