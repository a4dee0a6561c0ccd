/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of P_Key tables that stay open. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-pkeys.h"

#include "query-sysfs.h"
#include "tree.h"

static uint32_t read_one(DeviceFiles *k, uint32_t port)
{
	Table *table = NULL;
	uint32_t pkey;

	assert_int_equal(pkeys_read(k, port, &table), 0);
	assert_int_equal(table->n, 1);
	pkey = ((const PkeyEntry *)(const void *)table->entries)->pkey;
	table_free(table);
	return pkey;
}

static void test_files_stay_open(void **state)
{
	const Tree *t = *state;
	DeviceFiles k = {};
	Table *table = NULL;

	/* nothing is open */
	assert_int_equal(pkeys_read(&k, 1, &table), -ENOENT);
	pkeys_keep(&k, t->fd, 1);
	assert_int_equal(pkeys_read(&k, 1, &table), -ENOENT);

	tree_put(t, "ports/1/pkeys/0", "0xffff\n");
	tree_put(t, "ports/1/pkeys/1", "0x0000\n");
	pkeys_keep(&k, t->fd, 1);
	assert_int_equal(read_one(&k, 1), 0xffff);
	/* each read sees what the file has then, whatever the directory is called meanwhile */
	tree_put(t, "ports/1/pkeys/0", "0x8001\n");
	assert_int_equal(renameat(t->fd, "ports", t->fd, "gone"), 0);
	assert_int_equal(read_one(&k, 1), 0x8001);
	assert_int_equal(read_one(&k, 1), 0x8001);
	/* half a table is none, and then the files are closed */
	tree_put(t, "gone/1/pkeys/1", "nothing\n");
	assert_int_equal(pkeys_read(&k, 1, &table), -EINVAL);
	assert_null(table);
	assert_int_equal(pkeys_read(&k, 1, &table), -ENOENT);
	pkeys_done(&k);
}

/* Tables for which there is no room stay closed, until there is. */
static void test_limit(void **state)
{
	const Tree *t = *state;
	DeviceFiles k = {}, other = {};
	Table *table = NULL;

	for (unsigned int i = 0; i < PKEY_FILES_MAX; i++) {
		char file[64];

		snprintf(file, sizeof(file), "ports/1/pkeys/%u", i);
		tree_put(t, file, i ? "0x0000\n" : "0xffff\n");
	}
	tree_put(t, "ports/2/pkeys/0", "0x8002\n");
	/* the last one, of which it is not known that it is the last, does not fit */
	pkeys_keep(&k, t->fd, 1);
	assert_int_equal(pkeys_read(&k, 1, &table), -ENOENT);
	assert_int_equal(unlinkat(t->fd, "ports/1/pkeys/511", 0), 0);
	pkeys_keep(&k, t->fd, 1);
	assert_int_equal(read_one(&k, 1), 0xffff);
	pkeys_keep(&other, t->fd, 2);
	assert_int_equal(pkeys_read(&other, 2, &table), -ENOENT);
	pkeys_done(&k);
	pkeys_keep(&other, t->fd, 2);
	assert_int_equal(read_one(&other, 2), 0x8002);
	pkeys_done(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files_stay_open, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_limit, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
