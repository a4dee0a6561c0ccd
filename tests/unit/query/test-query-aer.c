/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-aer.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-function.h"
#include "query-sysfs.h"
#include "tree.h"

/* A root port, a switch with an upstream and a downstream port, and an adapter with a virtual
 * function. */
#define ROOT "pci0000:c0/0000:c0:01.1"
#define DOWN ROOT "/0000:c1:00.0/0000:c2:00.0"
#define NIC  DOWN "/0000:c3:00.0"
#define VF   DOWN "/0000:c3:00.1"

#define SERVICE ROOT "/0000:c0:01.1:pcie002/driver"

/* As Linux 6.12 writes them. */
#define CORRECTABLE                                                                                \
	"RxErr 1\nBadTLP 5\nBadDLLP 0\nRollover 0\nTimeout 1\nNonFatalErr 0\nCorrIntErr 0\n"       \
	"HeaderOF 0\nTOTAL_ERR_COR 7\n"
#define NONFATAL                                                                                   \
	"Undefined 0\nDLP 0\nSDES 0\nTLP 0\nFCP 0\nCmpltTO 2\nCmpltAbrt 0\nUnxCmplt 0\nRxOF 0\n"   \
	"MalfTLP 0\nECRC 0\nUnsupReq 0\nACSViol 0\nUncorrIntErr 0\nBlockedTLP 0\n"                 \
	"AtomicOpBlocked 0\nTLPBlockedErr 0\nPoisonTLPBlocked 0\nTOTAL_ERR_NONFATAL 2\n"

static void put_files(const Tree *t, const char *function, const char *correctable,
		      const char *nonfatal, const char *fatal)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/aer_dev_correctable", function);
	tree_put(t, path, correctable);
	snprintf(path, sizeof(path), "%s/aer_dev_nonfatal", function);
	tree_put(t, path, nonfatal);
	snprintf(path, sizeof(path), "%s/aer_dev_fatal", function);
	tree_put(t, path, fatal);
}

static void put_machine(const Tree *t)
{
	put_files(t, NIC, CORRECTABLE, NONFATAL, "Undefined 0\nTOTAL_ERR_FATAL 0\n");
	put_files(t, VF, CORRECTABLE, NONFATAL, "Undefined 0\nTOTAL_ERR_FATAL 0\n");
	tree_put_link(t, VF "/physfn", "../0000:c3:00.0");
	/* the ports of the switch count too, which is not what the rows are about */
	put_files(t, DOWN, "TOTAL_ERR_COR 77\n", "TOTAL_ERR_NONFATAL 77\n", "TOTAL_ERR_FATAL 77\n");
	tree_put(t, ROOT "/aer_rootport_total_err_cor", "9\n");
	tree_put(t, ROOT "/aer_rootport_total_err_nonfatal", "3\n");
	tree_put(t, ROOT "/aer_rootport_total_err_fatal", "18446744073709551614\n");
	tree_put_link(t, SERVICE, "../../../../bus/pci_express/drivers/aer");
}

static DeviceSnapshot look(const Tree *t, const char *function)
{
	DeviceSnapshot s = {};
	char path[256];
	int fd = sysfs_open_directory(t->fd, function);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/sys/devices/%s", function);
	aer_supply(fd, path, strlen(path), &s);
	close(fd);
	return s;
}

static bool has(const DeviceSnapshot *s, DeviceAttr a)
{
	return mask_has(&s->supplied, a);
}

static void test_totals(_unused_ void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t total;
	} cases[] = {
		{CORRECTABLE, true, 7},
		{"TOTAL_ERR_COR 0", true, 0},
		{"TOTAL_ERR_COR 18446744073709551614\n", true, UINT64_MAX - 1},
		/* that stands for no value */
		{"TOTAL_ERR_COR 18446744073709551615\n", false, 0},
		{"TOTAL_ERR_COR 18446744073709551616\n", false, 0},
		{"TOTAL_ERR_COR 1000000000000000000000000000000007\n", false, 0},
		{"RxErr 1\nBadTLP 5\n", false, 0},
		{"", false, 0},
		{"\n\n\n", false, 0},
		{"TOTAL_ERR_COR", false, 0},
		{"TOTAL_ERR_COR \n", false, 0},
		{"TOTAL_ERR_COR\n7\n", false, 0},
		{"TOTAL_ERR_COR -7\n", false, 0},
		{"TOTAL_ERR_COR 7 8\n", false, 0},
		{"TOTAL_ERR_CORRECTED 7\n", false, 0},
		{"NOT_TOTAL_ERR_COR 7\n", false, 0},
		{"TOTAL_ERR_FATAL 7\n", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t total = 1234;

		assert_int_equal(aer_parse_total(cases[i].text, "TOTAL_ERR_COR", &total),
				 cases[i].ok);
		if (cases[i].ok)
			assert_int_equal(total, cases[i].total);
	}
}

static void test_counts(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_int_equal(s.values.aer_correctable, 7);
	assert_int_equal(s.values.aer_nonfatal, 2);
	assert_int_equal(s.values.aer_fatal, 0);
	assert_int_equal(s.values.aer_root_correctable, 9);
	assert_int_equal(s.values.aer_root_nonfatal, 3);
	assert_int_equal(s.values.aer_root_fatal, UINT64_MAX - 1);
	for (DeviceAttr a = DEVICE_ATTR_aer_correctable; a <= DEVICE_ATTR_aer_root_fatal; a++)
		assert_true(has(&s, a));
}

/* What is not counted is not 0. */
static void test_unknown(void **state)
{
	char huge[8192];
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	/* broken files, one by one */
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	tree_put(t, NIC "/aer_dev_correctable", huge);
	tree_put(t, NIC "/aer_dev_fatal", "TOTAL_ERR_FATAL many\n");
	tree_put(t, ROOT "/aer_rootport_total_err_cor", "-1\n");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_false(has(&s, DEVICE_ATTR_aer_correctable));
	assert_true(has(&s, DEVICE_ATTR_aer_nonfatal));
	assert_false(has(&s, DEVICE_ATTR_aer_fatal));
	assert_false(has(&s, DEVICE_ATTR_aer_root_correctable));
	assert_true(has(&s, DEVICE_ATTR_aer_root_nonfatal));

	/* a function without AER below a port that has it */
	tree_put(t, DOWN "/0000:c3:00.2/class", "0x020000\n");
	device_snapshot_done(&s);
	s = look(t, DOWN "/0000:c3:00.2");
	assert_false(has(&s, DEVICE_ATTR_aer_nonfatal));
	assert_true(has(&s, DEVICE_ATTR_aer_root_nonfatal));

	/* the kernel has the files, but the firmware keeps AER for itself, or pci=noaer */
	assert_int_equal(unlinkat(t->fd, SERVICE, 0), 0);
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_true(mask_is_empty(&s.supplied));
	tree_put_link(t, SERVICE, "../../../../bus/pci_express/drivers/pcie_pme");
	device_snapshot_done(&s);
	s = look(t, NIC);
	assert_true(mask_is_empty(&s.supplied));

	/* no port above, as in a virtual machine */
	put_files(t, "pci0000:00/0000:00:04.0", CORRECTABLE, NONFATAL, "TOTAL_ERR_FATAL 0\n");
	device_snapshot_done(&s);
	s = look(t, "pci0000:00/0000:00:04.0");
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

/* A virtual function tells nothing, a subfunction what the function above does. */
static void test_functions(void **state)
{
	Tree *t = *state;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	put_machine(t);
	tree_put(t, NIC "/mlx5_core.sf.4/sfnum", "88\n");
	device_snapshot_done(&s);
	s = look_as_device(t, "a", NIC);
	assert_int_equal(s.values.aer_correctable, 7);
	device_snapshot_done(&s);
	s = look_as_device(t, "b", VF);
	assert_string_equal(TEXT_OF(&s.values, function), "vf");
	for (DeviceAttr a = DEVICE_ATTR_aer_correctable; a <= DEVICE_ATTR_aer_root_fatal; a++)
		assert_false(has(&s, a));
	device_snapshot_done(&s);
	s = look_as_device(t, "c", NIC "/mlx5_core.sf.4");
	assert_string_equal(TEXT_OF(&s.values, function), "sf");
	assert_int_equal(s.values.aer_correctable, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),
		cmocka_unit_test_setup_teardown(test_counts, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_unknown, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_functions, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
