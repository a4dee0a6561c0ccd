/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A port is found by its interface while no table of it is there, and by the members of a LAG. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "lookup.h"
#include "test-cache.h"

static void have(Port *p, const char *netdev, uint32_t ifindex)
{
	PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY_TEXT(&s, netdev, netdev);
	PORT_SUPPLY(&s, ifindex, ifindex);
	apply(p, s, 0);
}

/* The interface of the port that TEXT finds by BY; "none": no port has it. */
static const char *found(const Cache *c, const char *text, FindKind by)
{
	const FindKey key = {.text = text, .by = by, .type = _GID_TYPE_MAX};
	FindKind is_by;
	FoundPort port;
	size_t n;

	if (lookup_find(c, &key, &port, 1, &n, &is_by) == -ENOENT)
		return "none";
	assert_int_equal(n, 1);
	return port.netdev;
}

static void test_bare(void **state)
{
	Cache *c = *state;
	Port *p = device_port(add_device(c, 1, "mlx5_0", 1, 1), 1);

	have(p, "eth7", 7);
	assert_string_equal(found(c, "eth7", FIND_NETDEV), "eth7");
	assert_string_equal(found(c, "7", FIND_IFINDEX), "eth7");
	/* what goes is found no more */
	have(p, "eth8", 7);
	assert_string_equal(found(c, "eth7", FIND_NETDEV), "none");
	assert_string_equal(found(c, "7", FIND_IFINDEX), "eth8");
	have(p, "eth8", 8);
	assert_string_equal(found(c, "7", FIND_IFINDEX), "none");
	assert_string_equal(found(c, "8", FIND_IFINDEX), "eth8");
}

/* The ports of an adapter in a LAG are one device: each member of the bond is a name of it. */
static void test_bond_member(void **state)
{
	const BondMember members[] = {{.ifindex = 4, .name = "eth0"},
				      {.ifindex = 5, .name = "eth1"}};
	Cache *c = *state;
	Device *d = add_device(c, 1, "mlx5_bond_0", 1, 1);
	DeviceSnapshot lag = {};
	PortSnapshot s = {};
	AttrMask changed;
	Port *p;

	PORT_SUPPLY_TEXT(&s, netdev, "eth0");
	PORT_SUPPLY_TEXT(&s, netdev_master, "bond0");
	s.tables[PORT_TABLE_BOND_MEMBERS] = table_new(members, 2, sizeof(members[0]));
	mask_set(&s.supplied, PORT_ATTR_bond_members, true);
	texts_hold(s.values.texts); /* for the second time */
	apply(d->ports[0], s, 0);
	/* in a bond of several devices, eth1 is another one */
	assert_int_equal(lookup_port(c, "eth1", &p), -ENOENT);
	DEVICE_SUPPLY(&lag, index, 1);
	DEVICE_SUPPLY_TEXT(&lag, name, "mlx5_bond_0");
	DEVICE_SUPPLY(&lag, port_count, 1);
	DEVICE_SUPPLY(&lag, num_lag_ports, 2);
	assert_true(apply_device(c, &lag, 0, &d, &changed) >= 0);
	assert_int_equal(lookup_port(c, "eth1", &p), 0);
	assert_ptr_equal(p, d->ports[0]);
	assert_int_equal(lookup_port_by(c, "eth1", FIND_NETDEV, &p), 0);
	assert_string_equal(found(c, "eth0", FIND_NETDEV), "eth0");
	assert_int_equal(lookup_port_by(c, "", FIND_NETDEV, &p), -EINVAL);
	/* the bond has lost it */
	s.tables[PORT_TABLE_BOND_MEMBERS] = table_new(members, 1, sizeof(members[0]));
	apply(d->ports[0], s, 0);
	assert_int_equal(lookup_port(c, "eth1", &p), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bare, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bond_member, setup, teardown),
	};

	return cmocka_run_group_tests_name("lookup-bare", tests, NULL, NULL);
}
