/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manager.FindPorts() and GetPort(): ports by everything that names them. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 1\n"
			       "ports = 2\n"
			       "protocol = infiniband\n"
			       "node_guid = 0x5500\n"
			       "sys_image_guid = 0x7700\n"
			       "pci_address = 0000:c1:00.0\n"
			       "[port mlx5_0/1]\n"
			       "netdev = ib0 9\n"
			       "altnames = ibp193s0\n"
			       "addresses = 192.0.2.9 fd00::9\n"
			       "[device rocep1]\n"
			       "index = 2\n"
			       "protocol = roce\n"
			       "sys_image_guid = 0x7700\n"
			       "pci_address = 0000:c1:00.1\n"
			       "[port rocep1/1]\n"
			       "netdev = eth7 7\n"
			       "altnames = enp193s0f1np1\n"
			       "netdev_address = 02:00:5e:00:53:07\n"
			       "netdev_master = bond0\n"
			       "bond_ifindex = 30\n"
			       "bond_member.7 = eth7\n"
			       "gid.2 = 192.0.2.7 v1 eth7\n"
			       "gid.3 = 192.0.2.7 v2 eth7\n"
			       "gid.4 = 192.0.2.8 v2 vlan5 8\n"
			       "[device mlx5_8]\n"
			       "index = 8\n"
			       "protocol = roce\n"
			       "pci_address = 0000:c1:00.1\n"
			       "sysfs_path = /sys/devices/pci0000:c0/0000:c1:00.1/mlx5_core.sf.4\n"
			       "function = sf\n"
			       "function_number = 88\n"
			       "physical_function = 0000:c1:00.1\n"
			       "local_cpus = 0-15\n"
			       "[device many]\n"
			       "index = 3\n"
			       "ports = 1024\n"
			       "protocol = roce\n"
			       "sys_image_guid = 0x7701\n"
			       "[device more]\n"
			       "index = 4\n"
			       "protocol = roce\n"
			       "sys_image_guid = 0x7701\n";

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Reads the entry of the GID table, which is to be that with INDEX. */
static void read_gid(sd_bus_message *reply, uint32_t index)
{
	const char *gid, *type, *netdev, *address;
	uint32_t number;

	assert_true(sd_bus_message_enter_container(reply, 'v', "(ussssa{sv})") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'r', "ussssa{sv}") > 0);
	assert_true(sd_bus_message_read(reply, "ussss", &number, &gid, &type, &netdev, &address) >
		    0);
	assert_int_equal(number, index);
	assert_int_equal(strlen(gid), 39);
	assert_true(sd_bus_message_skip(reply, "a{sv}") > 0);
	sd_bus_message_exit_container(reply);
	sd_bus_message_exit_container(reply);
}

/* The entries of the answer as "1/1 By=name GidIndex=3 Netdev=eth7, ...", up to the first three. */
static char *read_found(sd_bus_message *reply, size_t *ret_n)
{
	char *line = calloc(1, 1024);
	const char *path, *key;
	size_t used = 0;

	*ret_n = 0;
	assert_true(sd_bus_message_enter_container(reply, 'a', "(oa{sv})") >= 0);
	while (sd_bus_message_enter_container(reply, 'r', "oa{sv}") > 0) {
		unsigned int device, port;
		bool shown = (*ret_n)++ < 3;
		uint32_t index = UINT32_MAX;
		uint64_t generation = 0;

		assert_true(sd_bus_message_read_basic(reply, 'o', &path) > 0);
		assert_int_equal(sscanf(path, "/org/rdma/device/%u/port/%u", &device, &port), 2);
		if (shown)
			used += (size_t)sprintf(line + used, "%s%u/%u", used ? ", " : "", device,
						port);
		assert_true(sd_bus_message_enter_container(reply, 'a', "{sv}") >= 0);
		while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
			const char *text;

			assert_true(sd_bus_message_read_basic(reply, 's', &key) > 0);
			if (streq(key, "GidIndex")) {
				assert_true(sd_bus_message_read(reply, "v", "u", &index) > 0);
				if (shown)
					used += (size_t)sprintf(line + used, " GidIndex=%u", index);
			} else if (streq(key, "Gid")) {
				read_gid(reply, index);
			} else if (streq(key, "GidGeneration")) {
				assert_true(sd_bus_message_read(reply, "v", "t", &generation) > 0);
			} else {
				assert_true(sd_bus_message_read(reply, "v", "s", &text) > 0);
				if (shown)
					used += (size_t)sprintf(line + used, " %s=%s", key, text);
			}
			sd_bus_message_exit_container(reply);
		}
		assert_int_equal(generation > 0, index != UINT32_MAX);
		sd_bus_message_exit_container(reply);
		sd_bus_message_exit_container(reply);
	}
	sd_bus_message_exit_container(reply);
	return line;
}

static void expect_found(Fixture *f, const char *what, const char *by, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		by ? fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL,
				  "sa{sv}", what, 1, "by", "s", by)
		   : fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL,
				  "sa{sv}", what, 0);
	size_t n;
	_cleanup_free_ char *found = read_found(reply, &n);

	if (!streq(found, expected))
		fail_msg("%s: %s, not %s", what, found, expected);
}

static void expect_error(Fixture *f, const char *what, const char *key, const char *value,
			 const char *expected)
{
	_cleanup_free_ char *error = NULL;

	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", &error,
				 "sa{sv}", what, key ? 1 : 0, key, "s", value));
	assert_string_equal(error, expected);
}

static void test_find(void **state)
{
	static const struct {
		const char *what, *by, *found;
	} cases[] = {
		{"mlx5_0/2", NULL, "1/2 By=name GidIndex=0"},
		{"mlx5_0:2", NULL, "1/2 By=name GidIndex=0"},
		{"mlx5_0", NULL, "1/1 By=name GidIndex=0, 1/2 By=name GidIndex=0"},
		{"mlx5_0", "netdev", ""},
		{"mlx5_9", NULL, ""},
		{"eth7", NULL, "2/1 By=netdev GidIndex=3 Netdev=eth7"},
		{"vlan5", "netdev", "2/1 By=netdev GidIndex=4 Netdev=vlan5"},
		{"ibp193s0", NULL, "1/1 By=altname GidIndex=0 Netdev=ib0"},
		{"enp193s0f1np1", "altname", "2/1 By=altname GidIndex=3 Netdev=eth7"},
		{"9", NULL, "1/1 By=ifindex GidIndex=0 Netdev=ib0"},
		{"8", "ifindex", "2/1 By=ifindex GidIndex=4 Netdev=vlan5"},
		{"0000:c1:00.0", NULL, "1/1 By=pci GidIndex=0, 1/2 By=pci GidIndex=0"},
		{"c1:00.1", "pci", "2/1 By=pci GidIndex=3, 8/1 By=pci GidIndex=3"},
		{"0000:0000:0000:5501", NULL, "1/1 By=port-guid GidIndex=0"},
		{"00:00:00:00:00:00:55:01", NULL, "1/1 By=port-guid GidIndex=0"},
		{"0x5500", NULL, "1/1 By=node-guid GidIndex=0, 1/2 By=node-guid GidIndex=0"},
		{"0x7700", NULL,
		 "1/1 By=system-guid GidIndex=0, 1/2 By=system-guid GidIndex=0, 2/1 By=system-guid "
		 "GidIndex=3"},
		{"192.0.2.7", NULL, "2/1 By=address GidIndex=3 Netdev=eth7"},
		{"192.0.2.7", "gid", "2/1 By=gid GidIndex=3 Netdev=eth7"},
		{"192.0.2.9", NULL, "1/1 By=address GidIndex=0 Netdev=ib0"},
		{"fd00::9", NULL, "1/1 By=address GidIndex=0 Netdev=ib0"},
		{"enp193s0f1np1", "netdev", "2/1 By=altname GidIndex=3 Netdev=eth7"},
		{"80:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:55:01", NULL,
		 "1/1 By=hw-address GidIndex=0"},
		{"192.0.2.9", "gid", ""},
		{"fe80::5501", NULL, "1/1 By=gid GidIndex=0"},
		{"bond0", NULL, "2/1 By=netdev Netdev=bond0"},
		{"30", NULL, "2/1 By=ifindex Netdev=bond0"},
		{"02:00:5e:00:53:07", NULL, "2/1 By=hw-address GidIndex=3 Netdev=eth7"},
		{"192.0.2.8%vlan5", NULL, "2/1 By=address GidIndex=4 Netdev=vlan5"},
		{"192.0.2.8%8", NULL, "2/1 By=address GidIndex=4 Netdev=vlan5"},
		{"192.0.2.8%eth7", NULL, ""},
		{"192.0.2.0/28", NULL,
		 "1/1 By=subnet GidIndex=0 Netdev=ib0, 2/1 By=subnet GidIndex=3 Netdev=eth7"},
	};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *v1 = NULL, *vlan = NULL;
	_cleanup_free_ char *of_v1 = NULL, *of_vlan = NULL;
	Fixture *f = *state;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_found(f, cases[i].what, cases[i].by, cases[i].found);
	v1 = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL, "sa{sv}",
			  "192.0.2.7", 1, "type", "s", "RoCE v1");
	of_v1 = read_found(v1, &n);
	assert_string_equal(of_v1, "2/1 By=address GidIndex=2 Netdev=eth7");
	vlan = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL,
			    "sa{sv}", "192.0.2.7", 1, "netdev", "s", "vlan5");
	of_vlan = read_found(vlan, &n);
	assert_string_equal(of_vlan, "");
}

/* Which function a device is on. */
static void test_function(void **state)
{
	static const struct {
		const char *name, *value;
	} cases[] = {
		{"Function", "sf"},
		{"FunctionNumber", "88"},
		{"PhysicalFunction", "0000:c1:00.1"},
		{"PciAddress", "0000:c1:00.1"},
		{"SysfsPath", "/sys/devices/pci0000:c0/0000:c1:00.1/mlx5_core.sf.4"},
		{"LocalCpus", "0-15"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		fixture_assert_property(*state, "/org/rdma/device/8", RDMAD_INTERFACE_DEVICE,
					cases[i].name, cases[i].value);
	/* not known: 0 is a number of a virtual function */
	fixture_assert_property(*state, "/org/rdma/device/1", RDMAD_INTERFACE_DEVICE,
				"FunctionNumber", "4294967295");
	fixture_assert_property(*state, "/org/rdma/device/1", RDMAD_INTERFACE_DEVICE, "Function",
				"");
}

/* The addresses and names of interfaces come and go, and are heard of. */
static void test_changes(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Fixture *f = *state;

	fixture_simulate(f, "set mlx5_0/1 addresses=192.0.2.10 event=address");
	fixture_simulate(f, "set rocep1/1 altnames=roce0 event=link");
	reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", NULL, "a{sv}",
			     0);
	expect_found(f, "192.0.2.10", NULL, "1/1 By=address GidIndex=0 Netdev=ib0");
	expect_found(f, "192.0.2.9", NULL, "");
	expect_found(f, "roce0", NULL, "2/1 By=altname GidIndex=3 Netdev=eth7");
	expect_found(f, "enp193s0f1np1", NULL, "");
}

static void test_errors(void **state)
{
	Fixture *f = *state;

	expect_error(f, "", NULL, NULL, RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "mlx5_0/x", NULL, NULL, RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "192.0.2", "by", "address", RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "mlx5_0", "by", "colour", RDMAD_ERROR_INVALID_OPTION);
	expect_error(f, "mlx5_0", "type", "RoCE v3", RDMAD_ERROR_INVALID_OPTION);
	expect_error(f, "mlx5_0", "nonsense", "", RDMAD_ERROR_INVALID_OPTION);
	/* 1025 ports */
	expect_error(f, "0x7701", NULL, NULL, RDMAD_ERROR_LIMITS_EXCEEDED);
}

/* A device with as many ports as there may be. */
static void test_many(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(*state, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL,
			     "sa{sv}", "many", 0);
	size_t n;
	_cleanup_free_ char *found = read_found(reply, &n);

	assert_int_equal(n, 1024);
	assert_string_equal(
		found, "3/1 By=name GidIndex=3, 3/2 By=name GidIndex=3, 3/3 By=name GidIndex=3");
}

/* GetPort() takes all of it where one port is meant. Else the error names those that may be. */
static void test_get_port(void **state)
{
	static const struct {
		const char *what, *path;
	} cases[] = {
		{"ibp193s0", "/org/rdma/device/1/port/1"},
		{"7", "/org/rdma/device/2/port/1"},
		{"vlan5", "/org/rdma/device/2/port/1"},
		{"192.0.2.9", "/org/rdma/device/1/port/1"},
		{"192.0.2.7", "/org/rdma/device/2/port/1"},
		{"fe80::5502", "/org/rdma/device/1/port/2"},
	};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *found =
			fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", NULL,
				     "sa{sv}", cases[i].what, 0);
		const char *path;

		assert_true(sd_bus_message_read_basic(found, 'o', &path) > 0);
		assert_string_equal(path, cases[i].path);
	}
	assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       RDMAD_INTERFACE_MANAGER, "GetPort", &error, &reply, "sa{sv}",
				       "c1:00.0", 0) < 0);
	assert_string_equal(error.name, RDMAD_ERROR_AMBIGUOUS);
	assert_string_equal(error.message, "\"c1:00.0\" is more than one port: mlx5_0/1, mlx5_0/2");
	sd_bus_error_free(&error);
	assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       RDMAD_INTERFACE_MANAGER, "GetPort", &error, &reply, "sa{sv}",
				       "many", 0) < 0);
	assert_string_equal(error.message, "\"many\" is more than one port: many/1, many/2, "
					   "many/3, many/4 and 1020 more");
	sd_bus_error_free(&error);
}

/* An interface has several names, and that of IPoIB is in no GID. */
static void test_get_port_by(void **state)
{
	static const struct {
		const char *method, *what, *path;
		uint32_t gid_index;
	} cases[] = {
		{"GetPortByNetdev", "ib0", "/org/rdma/device/1/port/1", 0},
		{"GetPortByNetdev", "ibp193s0", "/org/rdma/device/1/port/1", 0},
		{"GetPortByNetdev", "enp193s0f1np1", "/org/rdma/device/2/port/1", 0},
		{"GetPortByAddress", "192.0.2.9", "/org/rdma/device/1/port/1", 0},
		{"GetPortByAddress", "fd00::9", "/org/rdma/device/1/port/1", 0},
		{"GetPortByAddress", "192.0.2.7", "/org/rdma/device/2/port/1", 3},
		{"GetPortByAddress", "fe80::5502", "/org/rdma/device/1/port/2", 0},
	};
	sd_bus_error error = SD_BUS_ERROR_NULL;
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *found =
			fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, cases[i].method,
				     NULL, "sa{sv}", cases[i].what, 0);
		uint32_t index = 0;
		const char *path;

		assert_true(sd_bus_message_read_basic(found, 'o', &path) > 0);
		assert_string_equal(path, cases[i].path);
		if (streq(cases[i].method, "GetPortByAddress"))
			assert_true(sd_bus_message_read_basic(found, 'u', &index) > 0);
		assert_int_equal(index, cases[i].gid_index);
	}
	/* the address of IPoIB is in no GID of RoCE, and of no other interface */
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "GetPortByAddress", &error,
					       NULL, "sa{sv}", "192.0.2.9", 1,
					       i ? "netdev" : "type", "s",
					       i ? "eth7" : "RoCE v2") < 0);
		assert_string_equal(error.name, RDMAD_ERROR_NOT_FOUND);
		sd_bus_error_free(&error);
	}
}

/* The names of the properties in M, each after a blank. The caller frees them. */
static char *read_names(sd_bus_message *m)
{
	char *names = NULL;
	const char *name;
	size_t size;
	FILE *f = open_memstream(&names, &size);

	assert_non_null(f);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &name) > 0);
		fprintf(f, " %s", name);
		assert_true(sd_bus_message_skip(m, "v") > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_int_equal(fclose(f), 0);
	return names;
}

/* The names of what FindPorts(WHAT) returns of the one port with NAME, and with ALL. */
static char *read_properties(Fixture *f, const char *what, const char *name, bool all)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", NULL,
			     "sa{sv}", what, 2, "properties", "as", 1, name, "all", "b", all);
	const char *key = "";

	assert_true(sd_bus_message_enter_container(reply, 'a', "(oa{sv})") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'r', "oa{sv}") > 0);
	assert_true(sd_bus_message_skip(reply, "o") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(reply, "s", &key) > 0);
		if (streq(key, "Properties"))
			break;
		assert_true(sd_bus_message_skip(reply, "v") > 0);
		assert_true(sd_bus_message_exit_container(reply) > 0);
	}
	assert_string_equal(key, "Properties");
	assert_true(sd_bus_message_enter_container(reply, 'v', "a{sv}") > 0);
	return read_names(reply);
}

/* The properties of the port come with it: all, as GetAll() has them, or those that were named. */
static void test_properties(void **state)
{
	static const struct {
		const char *what, *name, *expected;
	} cases[] = {
		{"mlx5_0/2", "Lid", " Lid"},
		{"mlx5_0/2", "Driver", ""}, /* the simulator has not said it */
		{"mlx5_0/2", "NodeType", " NodeType"},
		{"rocep1/1", "Netdev", " Netdev"},
		{"rocep1/1", "Lid", ""},
	};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ char *all = NULL, *of_port = NULL, *of_device = NULL, *expected = NULL;
	_cleanup_free_ char *error = NULL;
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *names =
			read_properties(f, cases[i].what, cases[i].name, false);

		assert_string_equal(names, cases[i].expected);
	}
	reply = fixture_call(f, "/org/rdma/device/1/port/2", "org.freedesktop.DBus.Properties",
			     "GetAll", NULL, "s", "");
	all = read_names(reply);
	assert_non_null(strstr(all, " Lid"));
	/* one that is among all is not there twice */
	of_port = read_properties(f, "mlx5_0/2", "Lid", true);
	assert_string_equal(of_port, all);
	of_device = read_properties(f, "mlx5_0/2", "NodeType", true);
	assert_true(asprintf(&expected, "%s NodeType", all) > 0);
	assert_string_equal(of_device, expected);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", &error,
				 "sa{sv}", "mlx5_0", 1, "properties", "as", 1, "Colour"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_find), TEST(test_function), TEST(test_changes),     TEST(test_errors),
		TEST(test_many), TEST(test_get_port), TEST(test_get_port_by), TEST(test_properties),
	};

	return cmocka_run_group_tests_name("find-ports", tests, NULL, NULL);
}
