/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine with the newest kernel and the newest rdma-core that there are, as
 * root, with rdmad installed and rdma_sim loaded. It tests what older ones do not have: the
 * effective speed of a port and its event (rdma-core 62, Linux 7.0), the message about a new name
 * (Linux 6.13), and planes (Linux 6.11).
 */

#include "fabric.h"

#define EVENTS_ALONE "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n"

static Fixture *f;

static uint32_t add_sim0(void)
{
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	sim("add sim0 driver=mlx5 link=ib planes=4");
	index = wait_port(f, "sim0/1");
	wait_equal(f, index, 1);
	return index;
}

static void test_effective_speed(_unused_ void **state)
{
	Path port = path_of(add_sim0(), 1);

	wait_property(f, port.text, PORT, "EffectiveSpeed", "200000000000");
	sim("set sim0/1 port_speed=4000");
	sim("event sim0/1 20 raw=1"); /* IBV_EVENT_DEVICE_SPEED_CHANGE */
	wait_property(f, port.text, PORT, "EffectiveSpeed", "400000000000");
}

/* The kernel says it in the group of RDMA netlink that rdmad is in, and rdmad publishes it. */
static void test_rename(_unused_ void **state)
{
	uint32_t index = add_sim0();
	char device[RDMAD_PATH_MAX];

	snprintf(device, sizeof(device), RDMAD_DEVICE_PREFIX "/%u", index);
	run("rdma monitor > /tmp/monitor & echo $! > /tmp/monitor-pid");
	/* A device that the monitor names shows that it listens. */
	run("until grep -q REGISTER /tmp/monitor; do echo 'add other driver=siw' > /dev/rdma_sim "
	    "&& "
	    "echo 'del other' > /dev/rdma_sim; done");
	run("rdma dev set sim0 name newname");
	wait_property(f, device, DEVICE, "Name", "newname");
	run("timeout 60 sh -c \"until grep '\\[RENAME\\].*newname' /tmp/monitor; do :; done\"");
	run("kill $(cat /tmp/monitor-pid)");
	wait_equal(f, index, 1);
}

/* A plane is a device of its own, and it goes with the device above it. */
static void test_plane(_unused_ void **state)
{
	uint32_t index = add_sim0(), plane;

	run("rdma dev add smi0 type SMI parent sim0");
	plane = wait_port(f, "smi0/4");
	assert_int_not_equal(plane, index);
	run("! rdma dev add smi1 type SMI parent sim0");
	sim("del sim0");
	wait_gone(f, plane);
	wait_gone(f, index);
}

static int setup(_unused_ void **state)
{
	f = fabric_new();
	run("modprobe ib_uverbs && modprobe rdma_sim");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effective_speed),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_plane),
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	return cmocka_run_group_tests_name("newest", tests, setup, NULL);
}
