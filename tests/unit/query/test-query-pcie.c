/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-pcie.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-function.h"
#include "query-sysfs.h"
#include "tree.h"

#define G UINT64_C(1000000000)

/* A root port, a switch with an upstream and two downstream ports, and an adapter below each, of
 * which the first has a virtual function. */
#define ROOT "pci0000:c0/0000:c0:01.1"
#define UP   ROOT "/0000:c1:00.0"
#define DOWN UP "/0000:c2:00.0"
#define NIC  DOWN "/0000:c3:00.0"
#define VF   DOWN "/0000:c3:00.1"
#define SLOT UP "/0000:c2:01.0"
#define NIC2 SLOT "/0000:c4:00.0"

static void put(const Tree *t, const char *function, const char *which, const char *speed,
		const char *width)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s_link_speed", function, which);
	tree_put(t, path, speed);
	snprintf(path, sizeof(path), "%s/%s_link_width", function, which);
	tree_put(t, path, width);
}

static void put_machine(const Tree *t)
{
	static const char *const gen5[] = {ROOT, UP, DOWN, NIC};

	for (size_t i = 0; i < ARRAY_SIZE(gen5); i++) {
		put(t, gen5[i], "max", "32.0 GT/s PCIe\n", "16\n");
		put(t, gen5[i], "current", "32.0 GT/s PCIe\n", "16\n");
	}
	put(t, VF, "max", "32.0 GT/s PCIe\n", "16\n");
	put(t, VF, "current", "Unknown\n", "0\n");
	tree_put_link(t, VF "/physfn", "../0000:c3:00.0");
	/* eight lanes of the slot for an adapter that has sixteen */
	put(t, SLOT, "max", "16 GT/s\n", "8\n");
	put(t, SLOT, "current", "16 GT/s\n", "8\n");
	put(t, NIC2, "max", "32.0 GT/s PCIe\n", "16\n");
	put(t, NIC2, "current", "16.0 GT/s PCIe\n", "8\n");
}

static DeviceSnapshot look(const Tree *t, const char *function)
{
	DeviceSnapshot s = {};
	char path[256];
	int fd = sysfs_open_directory(t->fd, function);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/sys/devices/%s", function);
	pcie_supply(fd, path, strlen(path), &s);
	close(fd);
	return s;
}

static bool has(const DeviceSnapshot *s, DeviceAttr a)
{
	return mask_has(&s->supplied, a);
}

static void expect_way(const DeviceSnapshot *s, uint64_t rate, uint64_t best, const char *narrowest)
{
	assert_true(has(s, DEVICE_ATTR_pcie_rate));
	assert_true(has(s, DEVICE_ATTR_pcie_max_rate));
	assert_int_equal(s->values.pcie_rate, rate);
	assert_int_equal(s->values.pcie_max_rate, best);
	assert_string_equal(TEXT_OF(&s->values, pcie_narrowest), narrowest);
}

static void expect_no_way(const DeviceSnapshot *s)
{
	assert_false(has(s, DEVICE_ATTR_pcie_rate));
	assert_false(has(s, DEVICE_ATTR_pcie_max_rate));
	assert_false(has(s, DEVICE_ATTR_pcie_narrowest));
}

static void test_speeds(void **state _unused_)
{
	static const struct {
		const char *text;
		uint64_t speed; /* 0: none */
	} cases[] = {
		{"2.5 GT/s PCIe", 5 * G / 2},
		{"2.5 GT/s", 5 * G / 2},
		{"5 GT/s", 5 * G},
		{"8.0 GT/s PCIe", 8 * G},
		{"16 GT/s", 16 * G},
		{"32.0 GT/s PCIe", 32 * G},
		{"64.0 GT/s PCIe", 64 * G},
		{"Unknown", 0},
		{"Unknown speed", 0},
		{"66 MHz PCI", 0},
		{"", 0},
		{"0 GT/s", 0},
		{"0.0 GT/s PCIe", 0},
		{"-8 GT/s", 0},
		{" 8 GT/s", 0},
		{"8", 0},
		{"8.", 0},
		{"8.x GT/s", 0},
		{"8.00 GT/s", 0},
		{"8.0 GT/s PCIe x", 0},
		{"9999 GT/s", 0},
		{"99999999999999999999 GT/s", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t speed = 7;

		assert_int_equal(pcie_parse_speed(cases[i].text, &speed), cases[i].speed != 0);
		if (cases[i].speed)
			assert_int_equal(speed, cases[i].speed);
	}
}

static void test_way(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_speed, 32 * G);
	assert_int_equal(s.values.pcie_width, 16);
	assert_int_equal(s.values.pcie_max_speed, 32 * G);
	assert_int_equal(s.values.pcie_max_width, 16);
	expect_way(&s, 512 * G / 130 * 128, 512 * G / 130 * 128, "0000:c2:00.0");

	/* The slot allows no more. That the port of the switch above is wider does not matter. */
	device_snapshot_done(&s);
	s = look(t, NIC2);
	assert_int_equal(s.values.pcie_width, 8);
	assert_int_equal(s.values.pcie_max_width, 16);
	expect_way(&s, 128 * G / 130 * 128, 128 * G / 130 * 128, "0000:c2:01.0");

	/* the link of the adapter lost lanes */
	put(t, NIC, "current", "32.0 GT/s PCIe\n", "4\n");
	put(t, DOWN, "current", "32.0 GT/s PCIe\n", "4\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_width, 4);
	expect_way(&s, 128 * G / 130 * 128, 512 * G / 130 * 128, "0000:c2:00.0");

	/* the link of the switch came up at the lowest speed, with 8 of 10 bits for data */
	put(t, UP, "current", "2.5 GT/s PCIe\n", "16\n");
	put(t, ROOT, "current", "2.5 GT/s PCIe\n", "16\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_speed, 32 * G);
	expect_way(&s, 32 * G, 512 * G / 130 * 128, "0000:c0:01.1");
	device_snapshot_done(&s);
	s = look(t, NIC2);
	expect_way(&s, 32 * G, 128 * G / 130 * 128, "0000:c0:01.1");

	/* from 64 GT/s on everything is data */
	put(t, NIC, "current", "64.0 GT/s PCIe\n", "1\n");
	put(t, DOWN, "current", "64.0 GT/s PCIe\n", "1\n");
	put(t, UP, "current", "32.0 GT/s PCIe\n", "16\n");
	put(t, ROOT, "current", "32.0 GT/s PCIe\n", "16\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_rate, 64 * G);
}

/* What is not known is said to be not known. */
static void test_unknown(void **state)
{
	static const char *const widths[] = {"0\n", "63\n", "255\n", "-1\n", "x16\n", ""};
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	/* of the link itself: such as that of a function in a sleep from which reading does not
	 * wake it */
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		put(t, NIC, "current", "32.0 GT/s PCIe\n", widths[i]);
		device_snapshot_done(&s);
		s = look(t, NIC);
		assert_false(has(&s, DEVICE_ATTR_pcie_speed));
		assert_false(has(&s, DEVICE_ATTR_pcie_width));
		assert_true(has(&s, DEVICE_ATTR_pcie_max_width));
		expect_no_way(&s);
	}
	put(t, NIC, "current", "Unknown\n", "16\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_false(has(&s, DEVICE_ATTR_pcie_width));
	expect_no_way(&s);

	/* the ends of a link contradict each other */
	put(t, NIC, "current", "32.0 GT/s PCIe\n", "8\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_width, 8);
	expect_no_way(&s);

	/* a link further up */
	put(t, NIC, "current", "32.0 GT/s PCIe\n", "16\n");
	put(t, UP, "max", "Unknown\n", "255\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.pcie_width, 16);
	expect_no_way(&s);

	/* an end that says that it can do less than it does */
	put(t, UP, "max", "32.0 GT/s PCIe\n", "16\n");
	put(t, DOWN, "max", "2.5 GT/s PCIe\n", "1\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	expect_way(&s, 512 * G / 130 * 128, 512 * G / 130 * 128, "0000:c2:00.0");

	/* a function that is a part of the processor, or in a virtual machine: no port above it */
	put(t, "pci0000:00/0000:00:04.0", "current", "8.0 GT/s PCIe\n", "8\n");
	device_snapshot_done(&s);
	s = look(t, "pci0000:00/0000:00:04.0");
	assert_int_equal(s.values.pcie_width, 8);
	assert_false(has(&s, DEVICE_ATTR_pcie_max_width));
	expect_no_way(&s);

	/* no PCI Express at all */
	tree_put(t, "pci0000:00/0000:00:05.0/class", "0x020000\n");
	device_snapshot_done(&s);
	s = look(t, "pci0000:00/0000:00:05.0");
	assert_true(mask_is_empty(&s.supplied));
}

static DeviceSnapshot look_as_device(const Tree *t, const char *link, const char *parent)
{
	DeviceSnapshot s = {};
	char target[256], path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/device", link);
	snprintf(target, sizeof(target), "../%s", parent);
	tree_put_link(t, path, target);
	fd = sysfs_open_directory(t->fd, link);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/sys/devices/%s", parent);
	function_supply(fd, path, &s);
	close(fd);
	return s;
}

/* A virtual function has no link of its own, a subfunction that of the function above. */
static void test_functions(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	tree_put(t, NIC "/mlx5_core.sf.4/sfnum", "88\n");
	device_snapshot_done(&s);
	s = look_as_device(t, "a", NIC);
	assert_int_equal(s.values.pcie_width, 16);
	device_snapshot_done(&s);
	s = look_as_device(t, "b", VF);
	assert_string_equal(TEXT_OF(&s.values, function), "vf");
	for (DeviceAttr a = DEVICE_ATTR_pcie_speed; a <= DEVICE_ATTR_pcie_narrowest; a++)
		assert_false(has(&s, a));
	device_snapshot_done(&s);
	s = look_as_device(t, "c", NIC "/mlx5_core.sf.4");
	assert_string_equal(TEXT_OF(&s.values, function), "sf");
	expect_way(&s, 512 * G / 130 * 128, 512 * G / 130 * 128, "0000:c2:00.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speeds),
		cmocka_unit_test_setup_teardown(test_way, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_unknown, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_functions, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
