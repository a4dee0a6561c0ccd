/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sysfs reader on trees of files made here: what is missing, empty, oversized or nonsense is
 * not supplied. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "pci.h"
#include "query-function.h"
#include "query-sysfs.h"
#include "tree.h"

static void test_text(void **state)
{
	Tree *t = *state;
	char big[5000], buffer[16];

	assert_int_equal(sysfs_read_text(t->fd, "missing", buffer, sizeof(buffer)), -ENOENT);
	tree_put(t, "empty", "");
	assert_int_equal(sysfs_read_text(t->fd, "empty", buffer, sizeof(buffer)), -ENODATA);
	tree_put(t, "blank", " \n");
	assert_int_equal(sysfs_read_text(t->fd, "blank", buffer, sizeof(buffer)), -ENODATA);
	tree_put(t, "line", "MT4129\n");
	assert_int_equal(sysfs_read_text(t->fd, "line", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "MT4129");
	tree_put(t, "no-newline", "two words");
	assert_int_equal(sysfs_read_text(t->fd, "no-newline", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "two words");
	memset(big, 'x', sizeof(big));
	tree_put_bytes(t, "big", big, sizeof(big));
	assert_int_equal(sysfs_read_text(t->fd, "big", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "xxxxxxxxxxxxxxx");
	tree_put_bytes(t, "bytes", "a\0b\xff\x01\n", 6);
	assert_int_equal(sysfs_read_text(t->fd, "bytes", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "a");
	tree_put(t, "control",
		 "a\x01\xff"
		 "b\n");
	assert_int_equal(sysfs_read_text(t->fd, "control", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "a??b");
	assert_int_equal(sysfs_read_text(t->fd, ".", buffer, sizeof(buffer)), -EISDIR);
}

static void test_number(void **state)
{
	Tree *t = *state;
	static const char *const bad[] = {"N/A (no PMA)\n", "-1\n", "x\n",
					  "4294967296\n",   "4x\n", ": 4\n"};
	uint64_t v = 77;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		tree_put(t, "number", bad[i]);
		assert_int_equal(sysfs_read_number(t->fd, "number", UINT32_MAX, &v), -EINVAL);
		assert_int_equal(v, 77);
	}
	tree_put(t, "number", "");
	assert_int_equal(sysfs_read_number(t->fd, "number", UINT32_MAX, &v), -ENODATA);
	tree_put(t, "number", "4: ACTIVE\n");
	assert_int_equal(sysfs_read_number(t->fd, "number", UINT32_MAX, &v), 0);
	assert_int_equal(v, 4);
	tree_put(t, "number", "0x1a\n");
	assert_int_equal(sysfs_read_number(t->fd, "number", UINT32_MAX, &v), 0);
	assert_int_equal(v, 26);
}

static void test_device(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
	AttrValue v;

	tree_put(t, "hw_rev", "0\n");
	tree_put(t, "board_id", "");
	tree_put(t, "node_desc", "host mlx5_0\n");
	tree_put(t, "pci/drivers/mlx5_core/bind", "");
	tree_put(t, "pci/0000:c1:00.0/numa_node", "-1\n");
	tree_put_link(t, "pci/0000:c1:00.0/driver", "../drivers/mlx5_core");
	tree_put_link(t, "device", "pci/0000:c1:00.0");
	sysfs_supply_device(t->fd, &s);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_hw_rev));
	assert_string_equal(TEXT_OF(&s.values, hw_rev), "0");
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_hca_type));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_board_id));
	assert_string_equal(TEXT_OF(&s.values, node_desc), "host mlx5_0");
	/* the kernel has room for 64 bytes */
	tree_put(t, "node_desc",
		 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeF\n");
	sysfs_supply_device(t->fd, &s);
	assert_string_equal(TEXT_OF(&s.values, node_desc),
			    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeF");
	device_derive(&s);
	assert_int_equal(attr_publish(&device_attributes[DEVICE_ATTR_node_desc], &s.values, &v), 0);
	assert_string_equal(v.text, TEXT_OF(&s.values, node_desc));
	assert_string_equal(TEXT_OF(&s.values, driver), "mlx5_core");
	assert_string_equal(TEXT_OF(&s.values, pci_address), "0000:c1:00.0");
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_numa_node));

	tree_put(t, "pci/0000:c1:00.0/numa_node", "1\n");
	sysfs_supply_device(t->fd, &s);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_numa_node));
	assert_int_equal(s.values.numa_node, 1);
}

static const char *text_of(const DeviceSnapshot *s, DeviceAttr a)
{
	return mask_has(&s->supplied, a) ? attr_get_text(&device_attributes[a], &s->values) : "";
}

#define PF "pci0000:c0/0000:c0:01.1/0000:c1:00.0"
#define VF "pci0000:c0/0000:c0:01.1/0000:c1:01.2"

/* A physical function with two virtual ones and a subfunction. */
static void put_functions(const Tree *t)
{
	tree_put(t, PF "/local_cpulist", "0-15,64-79\n");
	tree_put(t, PF "/numa_node", "1\n");
	tree_put(t, PF "/sriov_totalvfs", "8\n");
	tree_put_link(t, PF "/virtfn0", "../0000:c1:01.1");
	tree_put_link(t, PF "/virtfn11", "../0000:c1:01.2");
	tree_put_link(t, PF "/virtfn_x", "../0000:c1:01.2");
	tree_put(t, VF "/local_cpulist", "0-15\n");
	tree_put_link(t, VF "/physfn", "../0000:c1:00.0");
	tree_put(t, PF "/mlx5_core.sf.4/sfnum", "88\n");
}

static void expect_function(const DeviceSnapshot *s, const char *pci, const char *function,
			    int64_t number, const char *physical, const char *cpus)
{
	assert_string_equal(text_of(s, DEVICE_ATTR_pci_address), pci);
	assert_string_equal(text_of(s, DEVICE_ATTR_function), function);
	assert_int_equal(mask_has(&s->supplied, DEVICE_ATTR_function_number), number >= 0);
	if (number >= 0)
		assert_int_equal(s->values.function_number, number);
	assert_string_equal(text_of(s, DEVICE_ATTR_physical_function), physical);
	assert_string_equal(text_of(s, DEVICE_ATTR_local_cpus), cpus);
}

static void test_functions(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot pf = {}, vf = {}, sf = {};

	put_functions(t);
	tree_put_link(t, "a/device", "../" PF);
	tree_put_link(t, "b/device", "../" VF);
	tree_put_link(t, "c/device", "../" PF "/mlx5_core.sf.4");
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const paths[] = {"/sys/devices/" PF, "/sys/devices/" VF,
						    "/sys/devices/" PF "/mlx5_core.sf.4"};
		DeviceSnapshot *const snapshots[] = {&pf, &vf, &sf};
		int fd = sysfs_open_directory(t->fd, (const char *[]){"a", "b", "c"}[i]);

		assert_true(fd >= 0);
		sysfs_supply_device(fd, snapshots[i]);
		function_supply(fd, paths[i], snapshots[i]);
		assert_string_equal(text_of(snapshots[i], DEVICE_ATTR_sysfs_path), paths[i]);
		close(fd);
	}
	expect_function(&pf, "0000:c1:00.0", "pf", -1, "", "0-15,64-79");
	expect_function(&vf, "0000:c1:01.2", "vf", 11, "0000:c1:00.0", "0-15");
	expect_function(&sf, "0000:c1:00.0", "sf", 88, "0000:c1:00.0", "0-15,64-79");
	assert_int_equal(sf.values.numa_node, 1);
}

/* What the kernel does not say is not known: a virtual function in a guest, another bus. */
static void test_functions_unknown(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot guest = {}, platform = {}, lists = {},
						       gone = {};

	tree_put(t, "pci0000:00/0000:00:04.0/local_cpulist", "0-3\n");
	tree_put_link(t, "device", "pci0000:00/0000:00:04.0");
	function_supply(t->fd, "/sys/devices/pci0000:00/0000:00:04.0", &guest);
	expect_function(&guest, "0000:00:04.0", "", -1, "", "0-3");
	tree_put(t, "pci0000:00/0000:00:04.0/local_cpulist", "0-3;x\n");
	function_supply(t->fd, "/sys/devices/pci0000:00/0000:00:04.0", &lists);
	expect_function(&lists, "0000:00:04.0", "", -1, "", "");
	function_supply(t->fd, "/sys/devices/platform/HISI00D1:00", &platform);
	expect_function(&platform, "", "", -1, "", "");
	assert_string_equal(text_of(&platform, DEVICE_ATTR_sysfs_path),
			    "/sys/devices/platform/HISI00D1:00");
	function_supply(-EBADF, "/sys/devices/pci0000:00/0000:00:05.0", &gone);
	expect_function(&gone, "0000:00:05.0", "", -1, "", "");
}

/* Domains of PCI that have more than four digits, or more parts above them than the root: below a
 * VMD of Intel, as the kernel and as SPDK number them, and on the VMBus of Azure. */
static void test_domains(void **state)
{
	static const char *const cases[][2] = {
		{"pci0000:d7/0000:d7:05.5/pci10000:00/10000:00:02.0/10000:01:00.0",
		 "10000:01:00.0"},
		{"pci0000:5d/0000:5d:05.5/pci5d0505:00/5d0505:01:00.0", "5d0505:01:00.0"},
		{"LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/MSFT1000:00/"
		 "7ad35d50-c05b-47ab-b3a0-56a9a845852b/pcic05b:00/c05b:00:00.0",
		 "c05b:00:00.0"},
	};
	Tree *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char device[16], path[256], parsed[PCI_ADDRESS_SIZE];
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
		int fd;

		snprintf(path, sizeof(path), "%s/numa_node", cases[i][0]);
		tree_put(t, path, "1\n");
		snprintf(device, sizeof(device), "%zu/device", i);
		snprintf(path, sizeof(path), "../%s", cases[i][0]);
		tree_put_link(t, device, path);
		*strchr(device, '/') = '\0';
		fd = sysfs_open_directory(t->fd, device);
		assert_true(fd >= 0);
		snprintf(path, sizeof(path), "/sys/devices/%s", cases[i][0]);
		sysfs_supply_device(fd, &s);
		function_supply(fd, path, &s);
		close(fd);
		assert_string_equal(text_of(&s, DEVICE_ATTR_pci_address), cases[i][1]);
		assert_int_equal(s.values.numa_node, 1);
		assert_int_equal(pci_address_parse(cases[i][1], parsed), 0);
		assert_string_equal(parsed, cases[i][1]);
	}
}

/* A list that does not fit is not cut. */
static void test_long_list(void **state)
{
	Tree *t = *state;
	char list[1000] = "0";
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	tree_put(t, "pci0000:00/0000:00:04.0/numa_node", "0\n");
	tree_put_link(t, "device", "pci0000:00/0000:00:04.0");
	for (unsigned int i = 2; strlen(list) < sizeof(AttrPath) - 1; i += 2)
		sprintf(list + strlen(list), ",%u", i);
	list[sizeof(AttrPath) - 1] = '\0';
	tree_put(t, "pci0000:00/0000:00:04.0/local_cpulist", list);
	function_supply(t->fd, "/sys/devices/pci0000:00/0000:00:04.0", &s);
	assert_string_equal(text_of(&s, DEVICE_ATTR_local_cpus), list);
	strcat(list, "1");
	device_snapshot_done(&s);
	tree_put(t, "pci0000:00/0000:00:04.0/local_cpulist", list);
	function_supply(t->fd, "/sys/devices/pci0000:00/0000:00:04.0", &s);
	assert_string_equal(text_of(&s, DEVICE_ATTR_local_cpus), "");
}

/* A parent that is no PCI function has no PCI address; a device without sysfs has nothing. */
static void test_device_without(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	tree_put(t, "platform/rdma_sim.0/x", "");
	tree_put_link(t, "device", "platform/rdma_sim.0");
	sysfs_supply_device(t->fd, &s);
	sysfs_supply_device(-EBADF, &s);
	assert_true(mask_is_empty(&s.supplied));
}

static void put_node(const Tree *t, const char *class, const char *node, const char *ibdev,
		     const char *dev)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/ibdev", class, node);
	tree_put(t, path, ibdev);
	snprintf(path, sizeof(path), "%s/%s/dev", class, node);
	tree_put(t, path, dev);
}

static void test_chardevs(void **state)
{
	const ChardevEntry verbs = {
		.class = "verbs", .path = "/dev/infiniband/uverbs1", .major = 231, .minor = 193};
	Tree *t = *state;
	Table *table = NULL;
	const ChardevEntry *e;

	/* as of a device without parent: among those of all others */
	put_node(t, "infiniband_mad", "umad0", "rxe0\n", "231:0\n");
	put_node(t, "infiniband_mad", "umad1", "rxe1\n", "231:1\n");
	put_node(t, "infiniband_mad", "umad2", "rxe1\n", "nonsense\n");
	put_node(t, "infiniband_mad", "issm1", "rxe1\n", "231:65\n");
	tree_put(t, "infiniband_mad/abi_version", "5\n");
	tree_put(t, "infiniband_mad/umad1/port", "2\n");
	tree_put(t, "infiniband_mad/issm1/port", "nonsense\n");
	assert_int_equal(sysfs_read_chardevs(-EBADF, t->fd, "rxe1", &verbs, &table), 0);
	assert_non_null(table);
	assert_int_equal(table->n, 3);
	e = (const ChardevEntry *)(const void *)table->entries;
	assert_string_equal(e[0].class, "mad");
	assert_string_equal(e[0].path, "/dev/infiniband/umad1");
	assert_int_equal(e[0].minor, 1);
	assert_int_equal(e[0].port, 2);
	assert_string_equal(e[1].class, "issm");
	assert_int_equal(e[1].port, 0);
	assert_memory_equal(&e[2], &verbs, sizeof(verbs));
	table_free(table);

	/* with a parent: below it, and nowhere else */
	put_node(t, "parent/infiniband_mad", "umad7", "rxe1\n", "231:7\n");
	tree_put_link(t, "device", "parent");
	assert_int_equal(sysfs_read_chardevs(t->fd, t->fd, "rxe1", NULL, &table), 0);
	assert_int_equal(table->n, 1);
	assert_string_equal(((const ChardevEntry *)(const void *)table->entries)->path,
			    "/dev/infiniband/umad7");
	table_free(table);
	assert_int_equal(sysfs_read_chardevs(t->fd, t->fd, "other", NULL, &table), 0);
	assert_null(table);
}

static void test_port(void **state)
{
	Tree *t = *state;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	tree_put(t, "ports/1/state", "4: ACTIVE\n");
	tree_put(t, "ports/1/phys_state", "nonsense\n");
	tree_put(t, "ports/1/lid", "0x1f\n");
	tree_put(t, "ports/1/lid_mask_count", "2\n");
	tree_put(t, "ports/1/link_layer", "InfiniBand\n");
	tree_put(t, "ports/1/sm_lid", "");
	PORT_SUPPLY(&s, lid, 7); /* nldev has said it */
	assert_true(sysfs_may_supply_port(&s));
	/* that a file has nonsense, or is not there, does not pass */
	assert_int_equal(sysfs_supply_port(t->fd, 1, &s), 0);
	assert_true(sysfs_may_supply_port(&s)); /* the files may say more the next time */
	assert_int_equal(s.values.state, 4);
	assert_false(mask_has(&s.supplied, PORT_ATTR_phys_state));
	assert_int_equal(s.values.lid, 7);
	assert_true(mask_has(&s.supplied, PORT_ATTR_lmc));
	assert_int_equal(s.values.lmc, 2);
	assert_int_equal(s.values.link_layer, 1);
	assert_false(mask_has(&s.supplied, PORT_ATTR_sm_lid));
	/* without P_Keys there is no directory for them, and GIDs without one are not known */
	assert_true(mask_has(&s.supplied, PORT_ATTR_pkey_tbl_len));
	assert_int_equal(s.values.pkey_tbl_len, 0);
	assert_false(mask_has(&s.supplied, PORT_ATTR_gid_tbl_len));
	mask_set(&s.supplied, PORT_ATTR_pkey_tbl_len, false);
	tree_put(t, "ports/1/phys_state", "5: LinkUp\n");
	tree_put(t, "ports/1/sm_lid", "0x1\n");
	tree_put(t, "ports/1/sm_sl", "3\n");
	tree_put(t, "ports/1/rate", "400 Gb/sec (4X NDR)\n");
	tree_put(t, "ports/1/gids/0", "x");
	tree_put(t, "ports/1/gids/1", "x");
	tree_put(t, "ports/1/pkeys/0", "x");
	tree_put(t, "ports/1/cap_mask", "0xa651e848\n");
	assert_int_equal(sysfs_supply_port(t->fd, 1, &s), 0);
	assert_int_equal(s.values.active_width, 2);
	assert_int_equal(s.values.active_speed, 128);
	assert_false(mask_has(&s.supplied, PORT_ATTR_active_speed_ex));
	assert_int_equal(s.values.gid_tbl_len, 2);
	assert_int_equal(s.values.pkey_tbl_len, 1);
	assert_int_equal(s.values.cap_mask, 0xa651e848);
	assert_int_equal(s.values.phys_state, 5);
	assert_int_equal(s.values.sm_lid, 1);
	assert_int_equal(s.values.sm_sl, 3);
	assert_false(sysfs_may_supply_port(&s));
	port_snapshot_done(&s);

	assert_int_equal(sysfs_supply_port(t->fd, 2, &s), 0);
	assert_true(mask_is_empty(&s.supplied));
}

/* A file that cannot be read now, as with EIO while the firmware does not answer: a directory here.
 * The other files are read. */
static void test_port_fails(void **state)
{
	static const char *const files[] = {"sm_sl", "rate", "cap_mask"};
	Tree *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		char path[64];

		/* port N lacks file N - 1 */
		snprintf(path, sizeof(path), "ports/%zu/%s/x", i + 1, files[i]);
		tree_put(t, path, "");
		snprintf(path, sizeof(path), "ports/%zu/lid", i + 1);
		tree_put(t, path, "0x1f\n");
		snprintf(path, sizeof(path), "ports/%zu/link_layer", i + 1);
		tree_put(t, path, "InfiniBand\n");
		assert_int_equal(sysfs_supply_port(t->fd, (uint32_t)i + 1, &s), -EISDIR);
		assert_int_equal(s.values.lid, 0x1f);
		assert_int_equal(s.values.link_layer, 1);
	}
	assert_true(sysfs_may_pass(-EIO));
	assert_true(sysfs_may_pass(-ETIMEDOUT));
	assert_false(sysfs_may_pass(-EINVAL));
}

/* The file "rate" of a port has width and speed. */
static void test_rate(void **state)
{
	static const struct {
		const char *text;
		uint32_t width, speed; /* 0: not understood */
	} cases[] = {
		{"10 Gb/sec (4X)", 2, 1},
		{"10 Gb/sec (4X SDR)", 2, 1},
		{"2.5 Gb/sec (1X SDR)", 1, 1},
		{"20 Gb/sec (4X DDR)", 2, 2},
		{"120 Gb/sec (12X QDR)", 8, 4},
		{"40 Gb/sec (4X FDR10)", 2, 8},
		{"56 Gb/sec (4X FDR)", 2, 16},
		{"200 Gb/sec (4X HDR)", 2, 64},
		{"100 Gb/sec (2X HDR)", 16, 64},
		{"800 Gb/sec (4X XDR)", 2, 256},
		{"1600 Gb/sec (4X YDR)", 0, 0},
		{"30 Gb/sec (3X QDR)", 0, 0},
		{"10 Gb/sec (4X", 0, 0},
		{"", 0, 0},
		{"10 Gb/sec", 0, 0},
		{"10 Gb/sec (4X HDR) x", 0, 0},
	};
	Tree *t = *state;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t width = 0, speed = 0;

		assert_int_equal(sysfs_parse_rate(cases[i].text, &width, &speed),
				 cases[i].width != 0);
		if (cases[i].width) {
			assert_int_equal(width, cases[i].width);
			assert_int_equal(speed, cases[i].speed);
		}
	}
	/* as verbs has it: the old field has no room for XDR */
	tree_put(t, "ports/1/rate", "800 Gb/sec (4X XDR)\n");
	assert_int_equal(sysfs_supply_port(t->fd, 1, &s), 0);
	assert_int_equal(s.values.active_speed, 128);
	assert_int_equal(s.values.active_speed_ex, 256);
	/* what verbs has said is not asked again */
	port_snapshot_done(&s);
	PORT_SUPPLY(&s, active_width, 1);
	assert_int_equal(sysfs_supply_port(t->fd, 1, &s), 0);
	assert_false(mask_has(&s.supplied, PORT_ATTR_active_speed));
}

static void test_link_layer(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
	} cases[] = {{"InfiniBand\n", 1}, {"Ethernet\n", 2}, {"Unknown\n", 0}};
	Tree *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		tree_put(t, "ports/1/link_layer", cases[i].text);
		assert_int_equal(sysfs_supply_port(t->fd, 1, &s), 0);
		assert_true(mask_has(&s.supplied, PORT_ATTR_link_layer));
		assert_int_equal(s.values.link_layer, cases[i].value);
	}
}

static void test_pkeys(void **state)
{
	Tree *t = *state;
	Table *table = NULL;
	const PkeyEntry *e;

	assert_int_equal(sysfs_read_pkeys(t->fd, 1, &table), -ENOENT);
	tree_put(t, "ports/1/pkeys/0", "0xffff\n");
	tree_put(t, "ports/1/pkeys/1", "0x0000\n");
	tree_put(t, "ports/1/pkeys/2", "0x8000\n");
	tree_put(t, "ports/1/pkeys/3", "0x7fff\n");
	assert_int_equal(sysfs_read_pkeys(t->fd, 1, &table), 0);
	assert_int_equal(table->n, 2);
	e = (const PkeyEntry *)(const void *)table->entries;
	assert_int_equal(e[0].pkey, 0xffff);
	assert_int_equal(e[1].index, 3);
	table_free(table);
	/* half a table is none */
	tree_put(t, "ports/1/pkeys/4", "0x12345\n");
	table = NULL;
	assert_int_equal(sysfs_read_pkeys(t->fd, 1, &table), -EINVAL);
	assert_null(table);
	tree_put(t, "ports/2/pkeys/0", "0x0000\n");
	assert_int_equal(sysfs_read_pkeys(t->fd, 2, &table), 0);
	assert_null(table);
}

static void test_gids(void **state)
{
	Tree *t = *state;
	Table *table = NULL;
	const GidEntry *e;
	static const uint8_t v4[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [14] = 2, [15] = 3};

	tree_put(t, "ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:00ab:cdef\n");
	tree_put(t, "ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	tree_put(t, "ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	tree_put(t, "ports/1/gids/2", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	tree_put(t, "ports/1/gid_attrs/types/2", "RoCE v2\n");
	tree_put(t, "ports/1/gid_attrs/ndevs/2", "lo\n");
	assert_int_equal(sysfs_read_gids(t->fd, 1, true, &table), 0);
	assert_int_equal(table->n, 2);
	e = (const GidEntry *)(const void *)table->entries;
	assert_int_equal(e[0].type, GID_TYPE_ROCE_V1);
	assert_string_equal(e[0].netdev, "");
	assert_int_equal(e[1].index, 2);
	assert_int_equal(e[1].type, GID_TYPE_ROCE_V2);
	assert_memory_equal(e[1].gid, v4, sizeof(v4));
	assert_string_equal(e[1].netdev, "lo");
	assert_int_equal(e[1].ifindex, 0); /* it may be in another network namespace */
	table_free(table);

	assert_int_equal(sysfs_read_gids(t->fd, 1, false, &table), 0);
	assert_int_equal(((const GidEntry *)(const void *)table->entries)->type, GID_TYPE_IB);
	table_free(table);
	table = NULL;
	tree_put(t, "ports/1/gids/3", "fe80::1\n");
	assert_int_equal(sysfs_read_gids(t->fd, 1, false, &table), -EINVAL);
	assert_null(table);
}

static void test_port_guid(void **state)
{
	static const uint8_t expected[8] = {0x02, 0x02, 0xc9, 0x03, 0, 0xab, 0xcd, 0xef};
	Tree *t = *state;
	uint8_t guid[8] = {};

	tree_put(t, "ports/2/gids/0", "fe80:0000:0000:0000:0202:c903:00ab:cdef\n");
	assert_int_equal(sysfs_read_port_guid(t->fd, 2, guid), 0);
	assert_memory_equal(guid, expected, sizeof(guid));
	assert_int_equal(sysfs_read_port_guid(t->fd, 1, guid), -ENOENT);
	tree_put(t, "ports/2/gids/0", "fe80::1\n");
	assert_int_equal(sysfs_read_port_guid(t->fd, 2, guid), -EINVAL);
	assert_memory_equal(guid, expected, sizeof(guid));
}

static int read_speed(const Tree *t, uint32_t ifindex, uint64_t *ret)
{
	_cleanup_close_ int file = sysfs_open_netdev_speed(t->fd, "eth0", ifindex);

	return file < 0 ? file : sysfs_read_netdev_speed(file, ret);
}

static void test_netdev_speed(void **state)
{
	Tree *t = *state;
	uint64_t speed = 0;

	assert_int_equal(read_speed(t, 3, &speed), -ENOENT);
	tree_put(t, "eth0/ifindex", "3\n");
	tree_put(t, "eth0/speed", "200000\n");
	assert_int_equal(read_speed(t, 3, &speed), 0);
	assert_true(speed == UINT64_C(200000000000));
	assert_int_equal(read_speed(t, 4, &speed), -ENODEV);
	tree_put(t, "eth0/speed", "-1\n");
	assert_int_equal(read_speed(t, 3, &speed), -EINVAL);
	tree_put(t, "eth0/speed", "4294967295\n");
	assert_int_equal(read_speed(t, 3, &speed), -EINVAL);
	tree_put(t, "eth0/speed", "65535\n");
	assert_int_equal(read_speed(t, 3, &speed), -EINVAL);
}

static void test_names(_unused_ void **state)
{
	assert_int_equal(sysfs_open_device(""), -EINVAL);
	assert_int_equal(sysfs_open_device("."), -EINVAL);
	assert_int_equal(sysfs_open_device(".."), -EINVAL);
	assert_int_equal(sysfs_open_device(".no-such-device"), -ENOENT);
	assert_int_equal(sysfs_open_device("a/b"), -EINVAL);
	assert_int_equal(sysfs_open_device("no-such-device"), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_number),
		TEST(test_device),
		TEST(test_functions),
		TEST(test_functions_unknown),
		TEST(test_domains),
		TEST(test_long_list),
		TEST(test_device_without),
		TEST(test_chardevs),
		TEST(test_port),
		TEST(test_port_fails),
		TEST(test_rate),
		TEST(test_link_layer),
		TEST(test_pkeys),
		TEST(test_gids),
		TEST(test_port_guid),
		TEST(test_netdev_speed),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("query-sysfs", tests, NULL, NULL);
}
