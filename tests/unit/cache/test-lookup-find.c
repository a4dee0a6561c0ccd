/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each text finds, of all kinds of names. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "lookup.h"
#include "test-cache.h"

/* A port with an interface that has another name, as eth0 of 4, and one address of the kernel. */
static PortSnapshot named_port(const char *netdev, uint32_t ifindex, const char *altname,
			       const char *address, PortSnapshot s)
{
	NetdevEntry link = {.ifindex = ifindex};
	AltnameEntry other = {.ifindex = ifindex};
	AddressEntry at = {.ifindex = ifindex};

	strcpy(link.name, netdev);
	strcpy(other.name, altname);
	assert_int_equal(gid_parse(address, at.address), 0);
	s.tables[PORT_TABLE_NETDEVS] = table_new(&link, 1, sizeof(link));
	s.tables[PORT_TABLE_ALTNAMES] = table_new(&other, 1, sizeof(other));
	s.tables[PORT_TABLE_ADDRESSES] = table_new(&at, 1, sizeof(at));
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	mask_set(&s.supplied, PORT_ATTR_altnames, true);
	mask_set(&s.supplied, PORT_ATTR_addresses, true);
	return s;
}

static Device *add_function(Cache *c, uint32_t index, const char *name, const char *pci,
			    uint64_t guid)
{
	/* the first device is near to the first accelerator, and both are far from the second */
	AcceleratorEntry ways[] = {{.address = "0000:d1:00.0", .distance = "PXB", .hops = 3},
				   {.address = "0000:d2:00.0", .distance = "SYS", .hops = 3}};
	ChardevEntry nodes[] = {{.class = "verbs"}, {.class = "mad", .port = 2}};
	DeviceSnapshot s = {};
	AttrMask changed;
	Device *d = add_device(c, index, name, 2, 1);

	strcpy(ways[0].distance, index == 1 ? "PIX" : "PXB");
	s.tables[DEVICE_TABLE_ACCELERATORS] = table_new(ways, 2, sizeof(ways[0]));
	mask_set(&s.supplied, DEVICE_ATTR_accelerators, true);
	sprintf(nodes[0].path, "/dev/infiniband/uverbs%u", index);
	sprintf(nodes[1].path, "/dev/infiniband/umad%u2", index);
	s.tables[DEVICE_TABLE_CHARDEVS] = table_new(nodes, 2, sizeof(nodes[0]));
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, 2);
	DEVICE_SUPPLY_TEXT(&s, pci_address, pci);
	DEVICE_SUPPLY(&s, node_guid, guid);
	DEVICE_SUPPLY(&s, sys_image_guid, 0x77);
	assert_true(apply_device(c, &s, 0, &d, &changed) >= 0);
	return d;
}

/* What TEXT finds by BY, as "name mlx5_0/1 mlx5_0/2", with the number of the GID or the interface
 * behind a port; "none" or "bad". */
static const char *found_by(const Cache *c, const char *text, FindKind by, const char *netdev)
{
	const FindKey key = {.text = text, .by = by, .type = _GID_TYPE_MAX, .netdev = netdev};
	static char line[512];
	FoundPort found[4];
	FindKind is_by;
	size_t n, used;
	int r = lookup_find(c, &key, found, ARRAY_SIZE(found), &n, &is_by);

	if (r < 0)
		return r == -ENOENT ? "none" : "bad";
	assert_true(n <= ARRAY_SIZE(found));
	used = (size_t)sprintf(line, "%s", find_kind_name(is_by));
	for (size_t i = 0; i < n; i++) {
		char name[80];

		used += (size_t)sprintf(line + used, " %s", port_name(found[i].port, name));
		if (found[i].gid)
			used += (size_t)sprintf(line + used, "[%u]", found[i].gid->index);
		if (found[i].netdev)
			used += (size_t)sprintf(line + used, "=%s", found[i].netdev);
	}
	return line;
}

/* Everything that a port can be found by. */
static const struct {
	const char *text;
	FindKind by;
	const char *found;
} find_cases[] = {
	{"mlx5_0/2", _FIND_MAX, "name mlx5_0/2"},
	{"mlx5_0:2", _FIND_MAX, "name mlx5_0/2"},
	{"mlx5_0", _FIND_MAX, "name mlx5_0/1[0] mlx5_0/2"},
	{"mlx5_0", FIND_NETDEV, "none"},
	{"mlx5_0/9", _FIND_MAX, "none"},
	{"mlx5_0/x", _FIND_MAX, "bad"},
	{"", _FIND_MAX, "bad"},
	{"", FIND_ALTNAME, "bad"},
	{"ib0", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"ibp193s0", _FIND_MAX, "altname mlx5_0/1[0]=ib0"},
	{"ibp193s0", FIND_NETDEV, "altname mlx5_0/1[0]=ib0"},
	{"9", _FIND_MAX, "ifindex mlx5_0/1[0]=ib0"},
	{"9", FIND_NAME, "none"},
	{"09", _FIND_MAX, "none"},
	{"09", FIND_IFINDEX, "bad"},
	{"0", FIND_IFINDEX, "bad"},
	{"4294967305", FIND_IFINDEX, "bad"},
	{"0000:c1:00.0", _FIND_MAX, "pci mlx5_0/1[0] mlx5_0/2"},
	{"c1:00.0", _FIND_MAX, "pci mlx5_0/1[0] mlx5_0/2"},
	{"C1:0.0", _FIND_MAX, "pci mlx5_0/1[0] mlx5_0/2"},
	{"c1:00.2", _FIND_MAX, "none"},
	{"c1:00.8", FIND_PCI, "bad"},
	{"c1:00.0 ", FIND_PCI, "bad"},
	{"10000:c1:00.0", FIND_PCI, "none"},
	{"uverbs1", _FIND_MAX, "chardev mlx5_0/1[0] mlx5_0/2"},
	{"/dev/infiniband/uverbs1", _FIND_MAX, "chardev mlx5_0/1[0] mlx5_0/2"},
	{"/dev/infiniband/umad12", FIND_CHARDEV, "chardev mlx5_0/2"},
	{"umad1", _FIND_MAX, "none"},
	{"/sys/class/infiniband/mlx5_0", _FIND_MAX, "name mlx5_0/1[0] mlx5_0/2"},
	{"/sys/class/infiniband/mlx5_0/ports/2", _FIND_MAX, "name mlx5_0/2"},
	{"/sys/class/infiniband/mlx5_0/ports/9", _FIND_MAX, "none"},
	{"/sys/class/infiniband/ib0", _FIND_MAX, "none"},
	{"/sys/class/infiniband_verbs/uverbs1", _FIND_MAX, "chardev mlx5_0/1[0] mlx5_0/2"},
	{"/sys/class/infiniband_mad/umad12", _FIND_MAX, "chardev mlx5_0/2"},
	{"/sys/class/net/ib0", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"/sys/class/net/mlx5_0", _FIND_MAX, "none"},
	{"/sys/bus/pci/devices/0000:c1:00.0", _FIND_MAX, "pci mlx5_0/1[0] mlx5_0/2"},
	{"/sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0", _FIND_MAX,
	 "pci mlx5_0/1[0] mlx5_0/2"},
	{"/sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0/infiniband/mlx5_0/ports/2", _FIND_MAX,
	 "name mlx5_0/2"},
	{"/sys/class/infiniband/mlx5_0/device/net/ib0", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"/sys/devices/virtual/net/bond0", _FIND_MAX, "netdev rxe0/1=bond0"},
	{"/sys/kernel", _FIND_MAX, "bad"},
	{"pci/0000:c1:00.0", _FIND_MAX, "pci mlx5_0/1[0] mlx5_0/2"},
	{"pci/1", _FIND_MAX, "none"},
	{"/dev/uverbs1", _FIND_MAX, "bad"},
	{"/sys/class/infiniband/mlx5_0/", _FIND_MAX, "name mlx5_0/1[0] mlx5_0/2"},
	{"/sys/class/net/ib0//", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"ib0/", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"mlx5_0/ports/2", _FIND_MAX, "name mlx5_0/2"},
	{"mlx5_0/ports/", _FIND_MAX, "bad"},
	{"ib0@if3", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"ib0@if3:", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"ib0:", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"ib0@if3", FIND_NETDEV, "none"},
	{"ib0:1", _FIND_MAX, "none"},
	{"ib1@ib0", _FIND_MAX, "none"},
	{"@ib0", _FIND_MAX, "bad"},
	{"sys-subsystem-net-devices-ib0.device", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"sys-class-infiniband-mlx5_0.device", _FIND_MAX, "name mlx5_0/1[0] mlx5_0/2"},
	{"dev-infiniband-uverbs1.device", _FIND_MAX, "chardev mlx5_0/1[0] mlx5_0/2"},
	{"sys-class-net-ib\\x300.device", _FIND_MAX, "none"},
	{"sys-class-net-ib\\x30.device", _FIND_MAX, "netdev mlx5_0/1[0]=ib0"},
	{"sys-class-net-ib\\x3.device", _FIND_MAX, "none"},
	{".device", _FIND_MAX, "none"},
	{"H-0000000000000055", _FIND_MAX, "node-guid mlx5_0/1[0] mlx5_0/2"},
	{"H-0000000000000077", _FIND_MAX, "none"},
	{"10.0.0.9/255.255.255.252", _FIND_MAX, "none"},
	{"10.0.0.3/255.255.255.252", _FIND_MAX, "subnet rxe0/1[3]=eth0"},
	{"10.0.0.3/255.0.255.0", _FIND_MAX, "bad"},
	{"infiniband/uverbs1", _FIND_MAX, "bad"},
	{"", FIND_CHARDEV, "bad"},
	{"d1:00.0", _FIND_MAX, "accelerator mlx5_0/1[0] mlx5_0/2"},
	{"0000:D2:00.0", FIND_ACCELERATOR, "accelerator mlx5_0/1[0] mlx5_0/2 mlx5_1/1 mlx5_1/2"},
	{"c1:00.0", FIND_ACCELERATOR, "none"},
	{"0002:c903:0000:0001", _FIND_MAX, "port-guid mlx5_0/1[0]"},
	{"0002:c903:0000:0001", FIND_NODE_GUID, "node-guid mlx5_1/1 mlx5_1/2"},
	{"0x55", _FIND_MAX, "node-guid mlx5_0/1[0] mlx5_0/2"},
	{"0000:0000:0000:0077", _FIND_MAX, "system-guid mlx5_0/1[0] mlx5_0/2 mlx5_1/1 mlx5_1/2"},
	{"0x78", _FIND_MAX, "none"},
	{"mlx5_0", FIND_PORT_GUID, "bad"},
	{"192.0.2.1", _FIND_MAX, "address mlx5_0/1[0]=ib0"},
	{"::ffff:192.0.2.1", _FIND_MAX, "address mlx5_0/1[0]=ib0"},
	{"192.0.2.1", FIND_GID, "none"},
	{"192.0.2", FIND_ADDRESS, "bad"},
	{"10.0.0.1", _FIND_MAX, "address rxe0/1[3]=eth0"},
	{"10.0.0.1", FIND_GID, "gid rxe0/1[3]=eth0"},
	{"fe80::2:c903:0:1", _FIND_MAX, "gid mlx5_0/1[0]"},
	{"fe80::2:c903:0:1", FIND_ADDRESS, "none"},
	{"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01", _FIND_MAX,
	 "hw-address mlx5_0/1[0]"},
	{"02:00:5E:00:53:01", _FIND_MAX, "hw-address rxe0/1[3]=eth0"},
	{"02-00-5e-00-53-01", FIND_HW_ADDRESS, "hw-address rxe0/1[3]=eth0"},
	{"02:00:5e:00:53:02", _FIND_MAX, "none"},
	{"bond0", _FIND_MAX, "netdev rxe0/1=bond0"},
	{"10.0.0.1%eth0", _FIND_MAX, "address rxe0/1[3]=eth0"},
	{"10.0.0.1%4", _FIND_MAX, "address rxe0/1[3]=eth0"},
	{"10.0.0.1%eth1", _FIND_MAX, "none"},
	{"10.0.0.1%", FIND_ADDRESS, "bad"},
	{"192.0.2.1%ib0", _FIND_MAX, "address mlx5_0/1[0]=ib0"},
	{"192.0.2.1%ibp193s0", _FIND_MAX, "address mlx5_0/1[0]=ib0"},
	{"192.0.2.1%ib1", _FIND_MAX, "none"},
	{"10.0.0.0/30", _FIND_MAX, "subnet rxe0/1[3]=eth0"},
	{"10.0.0.4/30", _FIND_MAX, "none"},
	{"192.0.2.9/24", _FIND_MAX, "subnet mlx5_0/1[0]=ib0"},
	{"192.0.2.0/33", FIND_SUBNET, "bad"},
	{"0.0.0.0/0", _FIND_MAX, "subnet mlx5_0/1[0]=ib0 rxe0/1[3]=eth0"},
};

static void test_find(void **state)
{
	Cache *c = *state;
	Device *pf = add_function(c, 1, "mlx5_0", "0000:c1:00.0", 0x55);
	Port *roce;
	const GidEntry gids[] = {
		{.index = 1,
		 .type = GID_TYPE_ROCE_V1,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .ifindex = 4,
		 .netdev = "eth0"},
		{.index = 3,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .ifindex = 4,
		 .netdev = "eth0"},
	};
	PortSnapshot s = {};

	add_function(c, 3, "mlx5_1", "0000:c1:00.1", UINT64_C(0x0002c90300000001));
	apply(pf->ports[0], named_port("ib0", 9, "ibp193s0", "192.0.2.1", ib_port(ACTIVE)), 0);
	roce = device_port(add_device(c, 2, "rxe0", 1, 1), 1);
	PORT_SUPPLY(&s, link_layer, 2);
	s.tables[PORT_TABLE_GIDS] = table_new(gids, ARRAY_SIZE(gids), sizeof(gids[0]));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	PORT_SUPPLY_TEXT(&s, netdev, "eth0");
	PORT_SUPPLY_TEXT(&s, netdev_address, "02:00:5e:00:53:01");
	PORT_SUPPLY_TEXT(&s, netdev_master, "bond0");
	apply(roce, s, 0);

	for (size_t i = 0; i < ARRAY_SIZE(find_cases); i++)
		assert_string_equal(found_by(c, find_cases[i].text, find_cases[i].by, NULL),
				    find_cases[i].found);
	assert_string_equal(found_by(c, "192.0.2.1", _FIND_MAX, "ib1"), "none");
	assert_string_equal(found_by(c, "192.0.2.1", _FIND_MAX, "ib0"), "address mlx5_0/1[0]=ib0");

	/* what goes is found no more */
	apply(pf->ports[0], named_port("ib0", 9, "other", "192.0.2.2", ib_port(ACTIVE)), 0);
	assert_string_equal(found_by(c, "192.0.2.1", _FIND_MAX, NULL), "none");
	assert_string_equal(found_by(c, "ibp193s0", _FIND_MAX, NULL), "none");
	assert_string_equal(found_by(c, "192.0.2.2", _FIND_MAX, NULL), "address mlx5_0/1[0]=ib0");
	cache_remove_device(c, pf);
	assert_string_equal(found_by(c, "c1:00.0", _FIND_MAX, NULL), "none");
	assert_string_equal(found_by(c, "0x77", _FIND_MAX, NULL), "system-guid mlx5_1/1 mlx5_1/2");
}

/* One name of a device after the other becomes another one. */
static void test_device_names_change(void **state)
{
	static const char *const names[][2] = {{"mlx5_0", "mlx5_9"},
					       {"0000:c1:00.0", "0000:c2:00.0"},
					       {"0x55", "0x56"},
					       {"0x77", "0x78"}};
	Cache *c = *state;

	add_function(c, 1, names[0][0], names[1][0], 0x55);
	for (size_t i = 0; i <= ARRAY_SIZE(names); i++) {
		DeviceSnapshot s = {};
		AttrMask changed;
		Device *d;

		DEVICE_SUPPLY(&s, index, 1);
		DEVICE_SUPPLY_TEXT(&s, name, names[0][i > 0]);
		DEVICE_SUPPLY_TEXT(&s, pci_address, names[1][i > 1]);
		DEVICE_SUPPLY(&s, node_guid, 0x55U + (i > 2));
		DEVICE_SUPPLY(&s, sys_image_guid, 0x77U + (i > 3));
		DEVICE_SUPPLY(&s, port_count, 2);
		assert_true(apply_device(c, &s, 0, &d, &changed) >= 0);
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			assert_string_equal(found_by(c, names[k][i <= k], _FIND_MAX, NULL), "none");
			assert_string_not_equal(found_by(c, names[k][i > k], _FIND_MAX, NULL),
						"none");
		}
	}
}

/* More ports than there is room for: the first of them, and how many there are. */
static void test_find_many(void **state)
{
	const FindKey key = {.text = "mlx5_0", .by = _FIND_MAX, .type = _GID_TYPE_MAX};
	Cache *c = *state;
	FoundPort found[3];
	FindKind by;
	size_t n;

	add_device(c, 1, "mlx5_0", 1000, 1);
	assert_int_equal(lookup_find(c, &key, found, ARRAY_SIZE(found), &n, &by), 0);
	assert_int_equal(n, 1000);
	for (uint32_t i = 0; i < ARRAY_SIZE(found); i++)
		assert_int_equal(found[i].port->number, i + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_names_change, setup, teardown),
	};

	return cmocka_run_group_tests_name("lookup-find", tests, NULL, NULL);
}
