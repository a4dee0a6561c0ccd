/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file with the speed of an interface that stays open. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-link.h"

#include <sys/stat.h>

#include "query-sysfs.h"
#include "tree.h"
#include "util.h"

/* The linker puts it in the place of sysfs_read_netdev_speed(). A file without permissions is that
 * of an interface that has gone: sysfs says -ENODEV of that, and of other files nothing does. */
int __wrap_sysfs_read_netdev_speed(int file, uint64_t *ret);
int __real_sysfs_read_netdev_speed(int file, uint64_t *ret);

int __wrap_sysfs_read_netdev_speed(int file, uint64_t *ret)
{
	struct stat status;

	assert_int_equal(fstat(file, &status), 0);
	return status.st_mode & S_IRUSR ? __real_sysfs_read_netdev_speed(file, ret) : -ENODEV;
}

static uint64_t read_speed(KnownLink *l, const Tree *t, uint32_t ifindex, bool is_change)
{
	uint64_t speed = 0;

	assert_int_equal(link_read_speed(l, t->fd, "eth0", ifindex, is_change, &speed), 0);
	return speed / 1000000;
}

static void test_stays_open(void **state)
{
	const Tree *t = *state;
	KnownLink l = {};
	uint64_t speed;

	assert_int_equal(link_read_speed(&l, t->fd, "eth0", 3, true, &speed), -ENOENT);
	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "100\n");
	/* it stays open only after a change */
	assert_int_equal(read_speed(&l, t, 3, false), 100);
	assert_int_equal(l.file_ifindex, 0);
	assert_int_equal(read_speed(&l, t, 3, true), 100);
	assert_int_equal(l.file_ifindex, 3);
	/* a link that is down has none, and that is no reason to close it */
	tree_put(t, "eth0/speed", "-1\n");
	assert_int_equal(link_read_speed(&l, t->fd, "eth0", 3, true, &speed), -EINVAL);
	/* whatever the interface is called meanwhile */
	tree_put(t, "eth0/speed", "200\n");
	assert_int_equal(renameat(t->fd, "eth0", t->fd, "eth1"), 0);
	assert_int_equal(read_speed(&l, t, 3, true), 200);
	/* another interface has a file of its own */
	tree_put(t, "eth0/ifindex", "4\n");
	tree_put(t, "eth0/speed", "400\n");
	assert_int_equal(read_speed(&l, t, 4, true), 400);
	assert_int_equal(l.file_ifindex, 4);
	link_done(&l);
	assert_int_equal(l.file_ifindex, 0);
}

/* Another interface has the index and the name: the one of before has been removed, */
static void test_removed(void **state)
{
	const Tree *t = *state;
	KnownLink l = {};
	uint64_t speed;

	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "100\n");
	assert_int_equal(read_speed(&l, t, 3, true), 100);
	assert_int_equal(fchmodat(t->fd, "eth0/speed", 0, 0), 0);
	assert_int_equal(renameat(t->fd, "eth0", t->fd, "gone"), 0);
	assert_int_equal(link_read_speed(&l, t->fd, "eth0", 3, true, &speed), -ENOENT);
	assert_int_equal(l.file_ifindex, 0);
	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "200\n");
	assert_int_equal(read_speed(&l, t, 3, true), 200);
	assert_int_equal(l.file_ifindex, 3);
	link_done(&l);
}

/* or it is in another network namespace, and its file can still be read. */
static void test_moved(void **state)
{
	const Tree *t = *state;
	KnownLink l = {};

	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "100\n");
	assert_int_equal(read_speed(&l, t, 3, true), 100);
	assert_int_equal(renameat(t->fd, "eth0", t->fd, "elsewhere"), 0);
	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "200\n");
	/* a look that is not about a change opens the file anew, and it stays open */
	assert_int_equal(read_speed(&l, t, 3, false), 200);
	assert_int_equal(l.file_ifindex, 3);
	assert_int_equal(read_speed(&l, t, 3, true), 200);
	link_done(&l);
}

/* What is noted of the interface. The file is closed when the port has another interface or none.
 */
static void test_note(void **state)
{
	const Tree *t = *state;
	KnownLink l = {};

	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "100\n");
	assert_int_equal(read_speed(&l, t, 3, true), 100);
	assert_true(link_note(&l, 2, 3, 1500));
	assert_false(link_note(&l, 2, 3, 1500));
	assert_true(link_note(&l, 2, 3, 4200));
	assert_int_equal(l.port, 2);
	assert_int_equal(l.ifindex, 3);
	assert_int_equal(l.file_ifindex, 3);
	assert_true(link_note(&l, 1, 0, 0));
	assert_int_equal(l.port, 1);
	assert_int_equal(l.ifindex, 0);
	assert_int_equal(l.file_ifindex, 0);
	assert_int_equal(read_speed(&l, t, 3, true), 100);
	link_note(&l, 1, 4, 1500);
	assert_int_equal(l.file_ifindex, 0);
}

/* So many stay open and no more. */
static void test_limit(void **state)
{
	const Tree *t = *state;
	KnownLink links[LINK_FILES_MAX] = {}, other = {};

	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "100\n");
	for (unsigned int i = 0; i < LINK_FILES_MAX; i++)
		assert_int_equal(read_speed(&links[i], t, 3, true), 100);
	assert_int_equal(read_speed(&other, t, 3, true), 100);
	assert_int_equal(other.file_ifindex, 0);
	link_done(&links[0]);
	assert_int_equal(read_speed(&other, t, 3, true), 100);
	assert_int_equal(other.file_ifindex, 3);
	for (unsigned int i = 0; i < LINK_FILES_MAX; i++)
		link_done(&links[i]);
	link_done(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stays_open, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_removed, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_moved, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_note, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_limit, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests_name("query-link", tests, NULL, NULL);
}
