/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of counters on trees of files made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "query-counters.h"
#include "query-sysfs.h"

typedef struct Tree {
	char path[64];
	int fd;
} Tree;

static void make_directories(int fd, const char *file)
{
	char path[256];

	text_copy(path, sizeof(path), file);
	for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(fd, path, 0700) < 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
}

static void put_bytes(const Tree *t, const char *file, const void *bytes, size_t n)
{
	int fd;

	make_directories(t->fd, file);
	fd = openat(t->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void put(const Tree *t, const char *file, const char *text)
{
	put_bytes(t, file, text, strlen(text));
}

static int setup(void **state)
{
	Tree *t = calloc(1, sizeof(*t));

	strcpy(t->path, "/tmp/test-query-counters-XXXXXX");
	if (!mkdtemp(t->path))
		return -1;
	t->fd = sysfs_open_directory(AT_FDCWD, t->path);
	*state = t;
	return t->fd < 0 ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *st _unused_, int type _unused_,
		      struct FTW *ftw _unused_)
{
	return remove(path);
}

static int teardown(void **state)
{
	Tree *t = *state;

	close(t->fd);
	nftw(t->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(t);
	return 0;
}

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

	put(t, "ports/2/counters/symbol_error", "65535\n");
	put(t, "ports/2/counters/port_xmit_data", "18446744073709551615\n");
	put(t, "ports/2/counters/link_downed", "N/A (no PMA)\n");
	put(t, "ports/2/counters/VL15_dropped", "");
	put(t, "ports/2/counters/too_long_a_name_for_any_counter_that_there_is_now", "1\n");
	put(t, "ports/2/hw_counters/lifespan", "10\n");
	put(t, "ports/2/hw_counters/link_downed", "3\n");
	put(t, "ports/2/hw_counters/negative", "-1\n");
	put(t, "ports/2/hw_counters/too_large", "18446744073709551616\n");
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
	put(t, "ports/1/state", "4: ACTIVE\n");
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_null(table);
	put(t, "ports/1/hw_counters/lifespan", "10\n");
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_null(table);
}

/* What would come too late is not read: opening a pipe that nobody writes to would not return. */
static void test_late(void **state)
{
	Tree *t = *state;
	_cleanup_(table_free_pointer) Table *table = NULL;

	put(t, "ports/1/counters/symbol_error", "5\n");
	assert_int_equal(mkfifoat(t->fd, "ports/1/counters/aaa", 0600), 0);
	assert_int_equal(counters_read(t->fd, 1, 0, &table), 0);
	assert_int_equal(table->n, 2);
	assert_entry(table, 0, COUNTER_GROUP_PORT, "aaa", 0, -ETIME);
	assert_entry(table, 1, COUNTER_GROUP_PORT, "symbol_error", 0, -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
