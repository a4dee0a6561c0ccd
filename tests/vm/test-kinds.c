/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed and rdma_sim loaded. It tests the kinds
 * of devices and ports that are not as most are: devices that libibverbs does not list, interfaces
 * in other network namespaces, speeds of Ethernet, ports that verbs cannot name. What the kernel
 * says of them must be published, and nothing else.
 */

#include <sys/utsname.h>

#include "fabric.h"

#define EVENTS_ALONE "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n"

static Fixture *f;

static void assert_why(const char *path, const char *name, const char *expected)
{
	_cleanup_free_ char *why = why_unavailable(f, path, PORT, name);

	if (!streq(why, expected))
		fail_msg("%s of %s: \"%s\", expected \"%s\"", name, path, why, expected);
}

/* What netlink and sysfs say of an InfiniBand port. */
static void assert_without_verbs(uint32_t index, const char *why)
{
	Path path = path_of(index, 1);
	char device[RDMAD_PATH_MAX];

	snprintf(device, sizeof(device), RDMAD_DEVICE_PREFIX "/%u", index);
	wait_property(f, path.text, PORT, "State", "active");
	fixture_assert_property(f, path.text, PORT, "Stale", "no");
	fixture_assert_property(f, path.text, PORT, "LastError", "");
	fixture_assert_property(f, device, DEVICE, "Stale", "no");
	fixture_assert_property(f, path.text, PORT, "Protocol", "infiniband");
	fixture_assert_property(f, path.text, PORT, "PhysicalState", "link-up");
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", "20");
	fixture_assert_property(f, path.text, INFINIBAND, "SmLid", "1");
	fixture_assert_property(f, path.text, PORT, "LinkWidth", "2");
	fixture_assert_property(f, path.text, PORT, "LinkSpeed", "HDR");
	fixture_assert_property(f, path.text, PORT, "Rate", "100000000000");
	fixture_assert_property(f, path.text, PORT, "GidTableLength", "8");
	fixture_assert_property(f, path.text, PORT, "PkeyTableLength", "16");
	fixture_assert_property(f, path.text, PORT, "Gids", "1");
	fixture_assert_property(f, path.text, PORT, "Capabilities", "2");
	assert_why(path.text, "MaxMtu", why);
	assert_why(path.text, "ActiveMtu", why);
	assert_why(path.text, "Lid", "");
	wait_quiet(f, "sim0/1");
}

#define LINK "set sim0/1 lid=20 sm_lid=1 active_width=16 active_speed=64 port_cap_flags=0x04000002"

/* libibverbs has no library for the device. */
static void test_no_provider(_unused_ void **state)
{
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	sim("add sim0 driver=none link=ib\n" LINK);
	index = wait_port(f, "sim0/1");
	assert_without_verbs(index, "no-provider");
	/* nobody sends its events, so Refresh() finds what changes */
	sim("set sim0/1 state=1 phys_state=2");
	refresh(f);
	fixture_assert_property(f, path_of(index, 1).text, PORT, "State", "down");
	fixture_assert_property(f, path_of(index, 1).text, PORT, "Stale", "no");
	sim("del sim0");
	wait_gone(f, index);
}

/* The uverbs node is not in /dev, as in a container that was not given it. */
static void test_no_node(_unused_ void **state)
{
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	run("systemctl stop rdmad");
	sim("add sim0 driver=mlx5 link=ib\n" LINK);
	run("udevadm settle; rm /dev/infiniband/uverbs*; systemctl start rdmad");
	fixture_connect(f);
	index = wait_port(f, "sim0/1");
	assert_without_verbs(index, "no-node");
}

/* The interface of a GID, as "NAME INDEX TYPE" of the entries, one to a line. */
static void assert_gids(const char *path, const char *pattern, bool expected)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "busctl --json=short get-property org.rdma %s org.rdma.Port Gids | grep -q '%s'",
		 path, pattern);
	if ((system(command) == 0) != expected)
		fail_msg("%s: %s: %s", path, pattern, expected ? "not there" : "is there");
}

/* A container has an interface on that of the port. Here its index is that of another interface. */
static void test_container(_unused_ void **state)
{
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	run("ip link add e0 type dummy && ip link set e0 up && ip netns add pod");
	run("ip link add net1 link e0 type macvlan && ip link set net1 netns pod");
	/* until an interface here has the index that net1 has there */
	run("ip link add twin index $(ip netns exec pod cat /sys/class/net/net1/ifindex) "
	    "type dummy 2>/dev/null || true");
	sim("add sim0 driver=mlx5 link=eth netdev=e0 gids=32");
	index = wait_port(f, "sim0/1");
	path = path_of(index, 1);
	run("ip link add e0.5 link e0 type vlan id 5 && ip link set e0.5 up && "
	    "ip address add 192.0.2.1/24 dev e0.5");
	run("ip netns exec pod ip link set net1 up && "
	    "ip netns exec pod ip address add 198.51.100.7/24 dev net1");
	wait_quiet(f, "sim0/1");
	refresh(f);
	assert_gids(path.text,
		    "\"e0.5\",\"192.0.2.1\",{\"Ifindex\":[^}]*},"
		    "\"VlanId\":{\"type\":\"u\",\"data\":5}}",
		    true);
	assert_gids(path.text,
		    "\"\",\"198.51.100.7\",{\"Namespace\":{\"type\":\"s\",\"data\":\"other\"}}",
		    true);
	assert_gids(path.text, "twin", false);
	assert_gids(path.text, "net1", false);
	sim("del sim0");
	run("ip netns delete pod; ip link delete twin; ip link delete e0");
}

/* GIDs of iWARP are not of RoCE, also where only sysfs can be asked. */
static void test_iwarp_gids(_unused_ void **state)
{
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	run("ip link add e0 type dummy && ip link set e0 up");
	sim("add sim0 driver=none link=iwarp netdev=e0");
	index = wait_port(f, "sim0/1");
	wait_property(f, path_of(index, 1).text, PORT, "Protocol", "iwarp");
	assert_gids(path_of(index, 1).text, "RoCE", false);
	assert_gids(path_of(index, 1).text, "\"IB\"", true);
	sim("del sim0");
	run("ip link delete e0");
}

/* The link is down for less time than a query takes. */
static void test_flaps(_unused_ void **state)
{
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	sim("add sim0 driver=mlx5 link=ib");
	index = wait_port(f, "sim0/1");
	path = path_of(index, 1);
	while (sim_number("device", "sim0", "contexts") == 0)
		fixture_barrier(f);
	wait_quiet(f, "sim0/1");
	fixture_assert_property(f, path.text, PORT, "LinkDownCount", "0");
	for (unsigned int i = 0; i < 100; i++)
		sim("set sim0/1 state=1 phys_state=2 event=PORT_ERR\n"
		    "set sim0/1 state=4 phys_state=5 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "LinkDownCount", "100");
	wait_property(f, path.text, PORT, "State", "active");
	wait_equal(f, index, 1);
}

static int setup(_unused_ void **state)
{
	f = fabric_new();
	run("modprobe rdma_sim");
	return 0;
}

/* Verbs has no names for ports above 255: these are read by netlink, sysfs and direct verbs. */
static void test_many_ports(_unused_ void **state)
{
	const char *why = "too-many-ports";
	unsigned int major, minor;
	struct utsname u;
	Path last, first;
	uint32_t index;

	/* until then rdma_sim can have 254 ports only, for the kernel has 8 bits for them */
	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2 ||
	    major * 100 + minor < 514)
		skip();
	fabric_restart(f, EVENTS_ALONE);
	sim("add wide driver=mlx5 link=ib ports=300 pkeys=2 gids=2");
	sim("set wide/all sm_lid=1 active_width=16 active_speed=64 port_cap_flags=2");
	sim("set wide/255 lid=255\nset wide/256 lid=256\n"
	    "set wide/300 lid=300 mlx5.flags=1 mlx5.vport=299 event=LID_CHANGE");
	index = wait_port(f, "wide/300");
	last = path_of(index, 300);
	wait_property(f, last.text, INFINIBAND, "Lid", "300");
	fixture_assert_property(f, last.text, PORT, "State", "active");
	fixture_assert_property(f, last.text, PORT, "PhysicalState", "link-up");
	fixture_assert_property(f, last.text, PORT, "Protocol", "infiniband");
	fixture_assert_property(f, last.text, PORT, "Stale", "no");
	fixture_assert_property(f, last.text, PORT, "Rate", "100000000000");
	fixture_assert_property(f, last.text, "org.rdma.Port.Mlx5", "Vport", "299");
	assert_why(last.text, "MaxMtu", why);
	/* the others as verbs says, as far as verbs can name them */
	wait_equal(f, index, 1);
	wait_equal(f, index, 255);
	first = path_of(index, 256);
	wait_property(f, first.text, INFINIBAND, "Lid", "256");
	assert_why(first.text, "MaxMtu", why);

	/* the events of these ports have their numbers */
	fixture_barrier(f);
	fixture_forget(f);
	sim("set wide/300 state=1 event=PORT_ERR");
	wait_property(f, last.text, PORT, "State", "down");
	fixture_wait_signal(f, last.text, "StateChanged");
	run("test \"$(rdmactl list | grep -c ^wide/)\" = 300");
	run("rdmactl show wide/300 | grep -q down");
	run("rdmactl counters wide/300 >/dev/null");
}

/* The kernel takes names of devices that begin with a dot, and names that no file can have. Such a
 * device is gone, and the others stay. This is the last test: the directory of all devices cannot
 * be read any more. */
static void test_names(_unused_ void **state)
{
	char device[RDMAD_PATH_MAX];
	uint32_t hidden, slash;

	fabric_restart(f, EVENTS_ALONE);
	sim("add sim0 driver=mlx5 link=ib");
	sim("add sim1 driver=mlx5 link=ib");
	slash = wait_port(f, "sim1/1");
	run("rdma dev set sim0 name .hidden");
	refresh(f);
	hidden = wait_port(f, ".hidden/1");
	snprintf(device, sizeof(device), RDMAD_DEVICE_PREFIX "/%u", hidden);
	fixture_assert_property(f, device, DEVICE, "CharDevices", "1");
	fixture_assert_property(f, device, DEVICE, "HcaType", "SIM");
	run("rdma dev set sim1 name a/b");
	refresh(f);
	wait_gone(f, slash);
	fixture_assert_property(f, path_of(hidden, 1).text, PORT, "DeviceName", ".hidden");
	run("systemctl restart rdmad");
	fixture_connect(f);
	assert_int_equal(wait_port(f, ".hidden/1"), hidden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_provider), cmocka_unit_test(test_no_node),
		cmocka_unit_test(test_flaps),	    cmocka_unit_test(test_container),
		cmocka_unit_test(test_iwarp_gids),  cmocka_unit_test(test_many_ports),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("kinds", tests, setup, NULL);
}
