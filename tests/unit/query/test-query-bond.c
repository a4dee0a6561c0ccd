/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bond of an interface and its members, with a kernel that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-bond.h"

#include <fcntl.h>

#include "query-sysfs.h"

/* The interfaces that there are */
static Netdev links[] = {
	{.ifindex = 9, .name = "bond0", .is_bond = true, .bond_mode = 4},
	{.ifindex = 7, .name = "eth7", .master = 9, .is_bonded = true, .up = true, .carrier = true},
	{.ifindex = 3, .name = "eth3", .master = 9, .is_bonded = true, .up = true},
	{.ifindex = 4, .name = "eth4", .master = 8, .is_bonded = true},
	{.ifindex = 8, .name = "br8", .master = 9},
	{.ifindex = 6, .name = "eth6", .is_bonded = true}, /* the bond is elsewhere */
};
static int dump_error; /* after the first interface */
static int parse_error, get_error;
static unsigned int n_dumps;

int __wrap_netdev_parse(const struct nlmsghdr *message, Netdev *ret);
int __wrap_netdev_parse(const struct nlmsghdr *message, Netdev *ret)
{
	*ret = *(const Netdev *)(const void *)message;
	return parse_error;
}

int __wrap_netdev_dump(Netlink *n, uint32_t master,
		       int (*on_each)(const struct nlmsghdr *message, void *userdata),
		       size_t *found, void *userdata);
int __wrap_netdev_dump(_unused_ Netlink *n, uint32_t master,
		       int (*on_each)(const struct nlmsghdr *message, void *userdata),
		       size_t *found, void *userdata)
{
	n_dumps++;
	assert_int_equal(master, 9);
	*found = 0;
	/* a kernel that cannot choose says all */
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		int r = on_each((const struct nlmsghdr *)(const void *)&links[i], userdata);

		if (r < 0 || dump_error)
			return r < 0 ? r : dump_error;
	}
	return 0;
}

int __wrap_netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret);
int __wrap_netdev_get(_unused_ Netlink *n, uint32_t ifindex, Netdev *ret)
{
	if (get_error)
		return get_error;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (links[i].ifindex == ifindex) {
			*ret = links[i];
			return 0;
		}
	return -ENODEV;
}

int __wrap_sysfs_open_netdev_speed(int net, const char *name, uint32_t ifindex);
int __wrap_sysfs_open_netdev_speed(int net, const char *name, uint32_t ifindex)
{
	assert_int_equal(net, 5);
	assert_int_equal(name[strlen(name) - 1], '0' + ifindex);
	return ifindex == 8 ? -ENODEV : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_sysfs_read_netdev_speed(int file, uint64_t *ret);
int __wrap_sysfs_read_netdev_speed(int file, uint64_t *ret)
{
	assert_true(file >= 0);
	*ret = 100;
	return 0;
}

static void assert_no_bond(const Netdev *d)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(bond_supply(NULL, 5, d, &s), 0);
	assert_string_equal(TEXT_OF(&s.values, bond), "");
	assert_string_equal(TEXT_OF(&s.values, bond_mode), "");
	assert_int_equal(s.values.bond_ifindex, 0);
	assert_null(s.tables[PORT_TABLE_BOND_MEMBERS]);
	assert_true(mask_has(&s.supplied, PORT_ATTR_bond_members));
	assert_int_equal(n_dumps, 0);
}

static void test_no_bond(_unused_ void **state)
{
	Netdev other = links[1];

	n_dumps = 0;
	assert_no_bond(&links[4]); /* a bridge is none */
	assert_no_bond(&links[3]); /* what its master is, is none */
	assert_no_bond(&links[5]);
	other.master = 99; /* it has gone */
	assert_no_bond(&other);
	other = links[1];
	other.is_bonded = false; /* it is a member of something else */
	assert_no_bond(&other);
}

/* The members of the bond of D: by index, and those of no other. */
static void assert_bond(const Netdev *d)
{
	const BondMember *m;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(bond_supply(NULL, 5, d, &s), 0);
	assert_string_equal(TEXT_OF(&s.values, bond), "bond0");
	assert_string_equal(TEXT_OF(&s.values, bond_mode), "802.3ad");
	assert_int_equal(s.values.bond_ifindex, 9);
	assert_int_equal(s.tables[PORT_TABLE_BOND_MEMBERS]->n, 3);
	m = (const BondMember *)(const void *)s.tables[PORT_TABLE_BOND_MEMBERS]->entries;
	assert_int_equal(m[0].ifindex, 3);
	assert_string_equal(m[0].name, "eth3");
	assert_string_equal(m[0].state, "down");
	assert_int_equal(m[0].speed, 100);
	assert_int_equal(m[1].ifindex, 7);
	assert_string_equal(m[1].state, "active");
	assert_int_equal(m[1].speed, 100);
	assert_int_equal(m[2].ifindex, 8);
	assert_int_equal(m[2].speed, 0); /* it has none */
	assert_true(mask_has(&s.supplied, PORT_ATTR_bond_members));
}

static void test_bond(_unused_ void **state)
{
	assert_bond(&links[0]);
	assert_bond(&links[1]);
}

/* Without its members the bond is still known. */
static void test_failing_dump(_unused_ void **state)
{
	static const struct {
		int dump, parse;
	} errors[] = {{-EIO, 0}, {0, -EBADMSG}};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		dump_error = errors[i].dump;
		parse_error = errors[i].parse;
		assert_int_equal(bond_supply(NULL, 5, &links[1], &s), MIN(dump_error, parse_error));
		assert_string_equal(TEXT_OF(&s.values, bond), "bond0");
		assert_string_equal(TEXT_OF(&s.values, bond_mode), "802.3ad");
		assert_true(mask_has(&s.supplied, PORT_ATTR_bond_ifindex));
		assert_false(mask_has(&s.supplied, PORT_ATTR_bond_members));
		assert_null(s.tables[PORT_TABLE_BOND_MEMBERS]);
	}
	dump_error = parse_error = 0;
}

/* Without an answer about the bond nobody says that there is none. */
static void test_failing_get(_unused_ void **state)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	get_error = -ENOMEM;
	assert_int_equal(bond_supply(NULL, 5, &links[1], &s), -ENOMEM);
	get_error = 0;
	assert_true(mask_is_empty(&s.supplied));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_bond),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_failing_dump),
		cmocka_unit_test(test_failing_get),
	};

	return cmocka_run_group_tests_name("query-bond", tests, NULL, NULL);
}
