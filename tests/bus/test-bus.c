/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real daemon on a private bus, on a scenario: objects, properties, signals, methods. */

#include <signal.h>

#include "attribute.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 2\n"
			       "[port mlx5_0/*]\n"
			       "lid = 17\n"
			       "sm_lid = 1\n"
			       "[device rocep1]\n"
			       "index = 5\n"
			       "efa_caps = rdma-read,rnr-retry\n"
			       "protocol = roce\n"
			       "[port rocep1/1]\n"
			       "netdev = eth7 7\n"
			       "gid.3 = 192.0.2.7 v2 eth7\n"
			       "[device iwarp0]\n"
			       "index = 6\n"
			       "protocol = iwarp\n";

#define IB_PORT	   "/org/rdma/device/3/port/1"
#define IB_PORT_2  "/org/rdma/device/3/port/2"
#define ROCE_PORT  "/org/rdma/device/5/port/1"
#define EFA_DEVICE "/org/rdma/device/5"
#define IWARP_PORT "/org/rdma/device/6/port/1"

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Which of our interfaces the object at PATH has, as the mask of AttrInterface, out of
 * GetManagedObjects(). */
static unsigned int managed_interfaces(Fixture *f, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	unsigned int mask = 0;
	const char *object, *interface;

	assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") >= 0);
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		sd_bus_message_read_basic(reply, 'o', &object);
		sd_bus_message_enter_container(reply, 'a', "{sa{sv}}");
		while (sd_bus_message_enter_container(reply, 'e', "sa{sv}") > 0) {
			sd_bus_message_read_basic(reply, 's', &interface);
			for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
				if (streq(object, path) && streq(interface, attr_interface_name(i)))
					mask |= 1U << i;
			sd_bus_message_skip(reply, "a{sv}");
			sd_bus_message_exit_container(reply);
		}
		sd_bus_message_exit_container(reply);
		sd_bus_message_exit_container(reply);
	}
	return mask;
}

#define ETHERNET   (1U << INTERFACE_ETHERNET | 1U << INTERFACE_NEIGHBOR | 1U << INTERFACE_CABLE)
#define INFINIBAND (1U << INTERFACE_INFINIBAND | 1U << INTERFACE_NEIGHBOR)

static void test_objects(void **state)
{
	Fixture *f = *state;
	const unsigned int port = 1U << INTERFACE_PORT;

	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3"), 1U << INTERFACE_DEVICE);
	assert_int_equal(managed_interfaces(f, IB_PORT), port | INFINIBAND);
	assert_int_equal(managed_interfaces(f, IB_PORT_2), port | INFINIBAND);
	assert_int_equal(managed_interfaces(f, ROCE_PORT), port | ETHERNET);
	assert_int_equal(managed_interfaces(f, IWARP_PORT), port | ETHERNET);
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/4"), 0);
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3/port/3"), 0);
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "Name", "mlx5_0");
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "Ports", "2");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "Device", "/org/rdma/device/3");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "State", "active");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "Lid", "17");
	fixture_assert_property(f, ROCE_PORT, RDMAD_INTERFACE_ETHERNET, "Netdev", "eth7");
	fixture_assert_property(f, ROCE_PORT, RDMAD_INTERFACE_PORT, "Protocol", "roce");
	fixture_assert_property(f, IWARP_PORT, RDMAD_INTERFACE_PORT, "Protocol", "iwarp");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Simulated", "yes");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "4");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount", "3");
}

/* ROW is a property of the type that the table says if PATH, which has INTERFACES, has its
 * interface. Returns whether it has. */
static bool check_property(Fixture *f, const char *path, unsigned int interfaces,
			   const Attribute *row)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ char *error = NULL;
	const char *type;

	if (row->interface == INTERFACE_RAW)
		return false;
	reply = fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", &error, "ss",
			     attr_interface_name(row->interface), row->name);
	if (!(interfaces >> row->interface & 1)) {
		assert_null(reply);
		return false;
	}
	assert_non_null(reply);
	sd_bus_message_peek_type(reply, NULL, &type);
	assert_string_equal(type, attr_signature(row->type));
	return true;
}

/* Every row of the tables is a property on every object that has its interface, and on no other. */
static void test_every_property(void **state)
{
	Fixture *f = *state;
	static const char *const ports[] = {IB_PORT, ROCE_PORT, IWARP_PORT};
	static const char *const devices[] = {"/org/rdma/device/3", EFA_DEVICE};
	size_t checked = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		unsigned int interfaces = managed_interfaces(f, ports[i]);

		for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
			checked += check_property(f, ports[i], interfaces, &port_attributes[a]);
	}
	assert_true(checked > 100);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		unsigned int interfaces = managed_interfaces(f, devices[i]);

		checked = 0;
		for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
			checked += check_property(f, devices[i], interfaces, &device_attributes[a]);
		assert_true(checked > 20);
	}
}

static void refresh(Fixture *f)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
}

static void test_no_change_no_signal(void **state)
{
	Fixture *f = *state;

	refresh(f);
	fixture_forget(f);
	refresh(f);
	refresh(f);
	fixture_barrier(f);
	assert_int_equal(f->n_signals, 0);
}

static void test_state_change(void **state)
{
	Fixture *f = *state;
	static const struct {
		const char *command, *is, *was;
	} steps[] = {
		{"set mlx5_0/1 state=init phys_state=link-up event=port-error", "init", "down"},
		{"set mlx5_0/1 state=armed lid=18 event=lid-change", "armed", "init"},
		{"set mlx5_0/1 state=active event=port-active", "active", "armed"},
	};
	sd_bus_message *m;
	const char *is, *was, *reason;

	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	m = fixture_wait_signal(f, IB_PORT, "StateChanged");
	assert_true(sd_bus_message_read(m, "sss", &is, &was, &reason) >= 0);
	assert_string_equal(is, "down");
	assert_string_equal(was, "active");
	assert_string_equal(reason, "port-error");
	/* One signal for each interface, and before StateChanged, so that a client that hears
	 * StateChanged finds the new values. */
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, IB_PORT, "PropertiesChanged"), 2);
	assert_string_equal(sd_bus_message_get_member(f->signals[0]), "PropertiesChanged");
	assert_int_equal(fixture_changed(f->signals[0], RDMAD_INTERFACE_PORT, "State"), 1);
	assert_int_equal(fixture_changed(f->signals[0], RDMAD_INTERFACE_PORT, "Unavailable"), 1);
	assert_int_equal(fixture_changed(f->signals[0], RDMAD_INTERFACE_PORT, "MaxMtu"), 0);
	assert_int_equal(fixture_changed(f->signals[1], RDMAD_INTERFACE_INFINIBAND, "Lid"), 1);
	/* The LID has no meaning now, and a signal says so. */
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "Lid", "0");
	assert_int_equal(fixture_count_signals(f, IB_PORT_2, "PropertiesChanged"), 0);

	/* INIT, ARMED, ACTIVE: each transition that a query sees has a signal with the old state.
	 */
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		fixture_forget(f);
		fixture_simulate(f, steps[i].command);
		m = fixture_wait_signal(f, IB_PORT, "StateChanged");
		assert_true(sd_bus_message_read(m, "sss", &is, &was, &reason) >= 0);
		assert_string_equal(is, steps[i].is);
		assert_string_equal(was, steps[i].was);
	}
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "Lid", "18");
}

static void test_subnet_manager(void **state)
{
	Fixture *f = *state;
	sd_bus_message *m;
	const char *reason;

	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "SmGeneration", "0");
	fixture_simulate(f, "set mlx5_0/1 sm_lid=9 event=sm-change");
	m = fixture_wait_signal(f, IB_PORT, "SubnetReconfigured");
	assert_true(sd_bus_message_read(m, "s", &reason) >= 0);
	assert_string_equal(reason, "sm-change");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "SmGeneration", "1");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "SmLid", "9");
	/* Refresh finds a change that no event has announced. */
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_0/2 sm_lid=9");
	refresh(f);
	fixture_wait_signal(f, IB_PORT_2, "SubnetReconfigured");
	fixture_assert_property(f, IB_PORT_2, RDMAD_INTERFACE_INFINIBAND, "SmLid", "9");
}

static void test_tables_are_invalidated(void **state)
{
	Fixture *f = *state;
	sd_bus_message *m;

	fixture_simulate(f, "set rocep1/1 gid.5=192.0.2.9 event=gid-change");
	m = fixture_wait_signal(f, ROCE_PORT, "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_PORT, "Gids"), 2);
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_PORT, "GidGeneration"), 1);
	fixture_forget(f);
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "PkeyGeneration", "1");
	fixture_simulate(f, "set mlx5_0/1 pkey.4=0x8005 event=pkey-change");
	fixture_barrier(f);
	refresh(f);
	fixture_wait_signal(f, IB_PORT, "PropertiesChanged");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "PkeyGeneration", "2");
}

static void test_devices_come_and_go(void **state)
{
	Fixture *f = *state;
	sd_bus_message *m;

	fixture_simulate(f, "rename mlx5_0 ibp1s0");
	m = fixture_wait_signal(f, "/org/rdma/device/3", "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_DEVICE, "Name"), 1);
	m = fixture_wait_signal(f, IB_PORT_2, "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_PORT, "DeviceName"), 1);
	fixture_forget(f);

	fixture_simulate(f, "remove ibp1s0");
	while (fixture_count_signals(f, RDMAD_ROOT_PATH, "InterfacesRemoved") < 3)
		fixture_barrier(f);
	assert_int_equal(managed_interfaces(f, IB_PORT), 0);
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3"), 0);
	assert_int_equal(managed_interfaces(f, ROCE_PORT), 1U << INTERFACE_PORT | ETHERNET);
}

/* A device has the interfaces of its vendor and of its limits as soon as there is an answer. */
static void test_device_interfaces(void **state)
{
	const unsigned int with = 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_MLX5;
	Fixture *f = *state;
	sd_bus_message *m;

	assert_int_equal(managed_interfaces(f, EFA_DEVICE),
			 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_EFA);
	fixture_assert_property(f, EFA_DEVICE, "org.rdma.Device.Efa", "MaxSendWr", "0");
	fixture_simulate(f, "set mlx5_0 num_lag_ports=2 event=chardev");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesAdded");
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3"), with);
	fixture_assert_property(f, "/org/rdma/device/3", "org.rdma.Device.Mlx5", "LagPorts", "2");
	fixture_barrier(f);
	fixture_forget(f);
	/* the limits are known when the device could be opened */
	fixture_simulate(f, "set mlx5_0 max_qp=5 event=chardev");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesAdded");
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3"),
			 with | 1U << INTERFACE_DEVICE_LIMITS);
	fixture_barrier(f);
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_0 num_lag_ports=4 event=chardev");
	m = fixture_wait_signal(f, "/org/rdma/device/3", "PropertiesChanged");
	assert_int_equal(fixture_changed(m, "org.rdma.Device.Mlx5", "LagPorts"), 1);
	fixture_simulate(f, "remove mlx5_0");
	while (fixture_count_signals(f, RDMAD_ROOT_PATH, "InterfacesRemoved") < 3)
		fixture_barrier(f);
	assert_int_equal(managed_interfaces(f, "/org/rdma/device/3"), 0);
}

static void expect_error(Fixture *f, const char *method, const char *argument, const char *expected)
{
	_cleanup_free_ char *error = NULL;
	sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, method,
					     &error, "sa{sv}", argument, 0);

	assert_null(reply);
	assert_string_equal(error, expected);
}

static void expect_object(Fixture *f, const char *method, const char *argument,
			  const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, method, NULL, "sa{sv}", argument, 0);
	const char *path;

	assert_true(sd_bus_message_read_basic(reply, 'o', &path) >= 0);
	assert_string_equal(path, expected);
}

static void test_lookups(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *guid =
		fixture_property(f, IB_PORT_2, RDMAD_INTERFACE_INFINIBAND, "PortGuid");
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ char *error = NULL;
	const char *path;
	uint32_t index;

	expect_object(f, "GetDeviceByName", "mlx5_0", "/org/rdma/device/3");
	expect_object(f, "GetPort", "mlx5_0/2", IB_PORT_2);
	expect_object(f, "GetPort", "rocep1", ROCE_PORT);
	expect_object(f, "GetPort", "eth7", ROCE_PORT);
	expect_object(f, "GetPort", guid, IB_PORT_2);
	expect_object(f, "GetPortByNetdev", "eth7", ROCE_PORT);
	expect_object(f, "GetPortByGuid", guid, IB_PORT_2);
	expect_error(f, "GetDeviceByName", "mlx5_9", RDMAD_ERROR_NOT_FOUND);
	expect_error(f, "GetPort", "mlx5_0", RDMAD_ERROR_AMBIGUOUS);
	expect_error(f, "GetPort", "mlx5_0/3", RDMAD_ERROR_NOT_FOUND);
	expect_error(f, "GetPort", "mlx5_0/3000", RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "GetPort", "", RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "GetPortByGuid", "xyz", RDMAD_ERROR_INVALID_ARGUMENT);
	expect_error(f, "GetPortByNetdev", "eth8", RDMAD_ERROR_NOT_FOUND);

	reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPortByAddress", NULL,
			     "sa{sv}", "192.0.2.7", 1, "type", "s", "RoCE v2");
	assert_true(sd_bus_message_read(reply, "ou", &path, &index) >= 0);
	assert_string_equal(path, ROCE_PORT);
	assert_int_equal(index, 3);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPortByAddress",
				 &error, "sa{sv}", "192.0.2.7", 1, "type", "s", "RoCE v3"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

/* The value that comes next, as fixture_property() writes it, into RET. */
static void read_plain(sd_bus_message *m, char type, char ret[static 128])
{
	const char *text;
	uint32_t u32;
	uint64_t u64;
	int b;

	switch (type) {
	case 's':
	case 'o':
		assert_true(sd_bus_message_read_basic(m, type, &text) > 0);
		text_copy(ret, 128, text);
		break;
	case 'u':
		assert_true(sd_bus_message_read_basic(m, type, &u32) > 0);
		snprintf(ret, 128, "%u", u32);
		break;
	case 't':
		assert_true(sd_bus_message_read_basic(m, type, &u64) > 0);
		snprintf(ret, 128, "%llu", (unsigned long long)u64);
		break;
	case 'b':
		assert_true(sd_bus_message_read_basic(m, type, &b) > 0);
		text_copy(ret, 128, b ? "yes" : "no");
		break;
	default:
		fail_msg("a listed row has type %c", type);
	}
}

/* What ROW reads as without a value, as read_plain() has it. */
static const char *absent(const Attribute *row)
{
	const char *text = attr_absent_text(row);

	if (!text || streq(text, "an empty text"))
		return "";
	return streq(text, "false") ? "no" : text;
}

/* Takes the next structure of ListPorts() apart: it must be PATH, and each field what the property
 * is, or what it reads as without a value where PATH has no such interface. */
static void check_listed(Fixture *f, sd_bus_message *m, const char *contents, const char *path)
{
	unsigned int interfaces = managed_interfaces(f, path);
	char text[128];

	assert_true(sd_bus_message_enter_container(m, 'r', contents) > 0);
	read_plain(m, 'o', text);
	assert_string_equal(text, path);
	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		const Attribute *row = &port_attributes[listed_attributes[i]];

		read_plain(m, attr_signature(row->type)[0], text);
		if (interfaces >> row->interface & 1)
			fixture_assert_property(f, path, attr_interface_name(row->interface),
						row->name, text);
		else
			assert_string_equal(text, absent(row));
	}
	/* the tail is empty without the option "properties" */
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_exit_container(m) > 0);
}

static void test_list_ports(void **state)
{
	static const char *const all[] = {IB_PORT, IB_PORT_2, ROCE_PORT, IWARP_PORT};
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL, *of_one = NULL;
	const char *signature;
	char contents[64], *error;

	fixture_simulate(f, "set mlx5_0/2 state=down event=port-error");
	fixture_wait_signal(f, IB_PORT_2, "StateChanged");
	reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL,
			     "a{sv}", 0);
	signature = sd_bus_message_get_signature(reply, true);
	/* The manual promises that these stay. */
	assert_string_equal(signature, "a(osussssuustuussbsta{sv})");
	text_copy(contents, strlen(signature) - 2, signature + 2);
	assert_true(sd_bus_message_enter_container(reply, 'a', signature + 1) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		check_listed(f, reply, contents, all[i]);
	assert_true(sd_bus_message_at_end(reply, false) > 0);

	of_one = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL,
			      "a{sv}", 1, "device", "s", "rocep1");
	assert_true(sd_bus_message_enter_container(of_one, 'a', signature + 1) > 0);
	check_listed(f, of_one, contents, ROCE_PORT);
	assert_true(sd_bus_message_at_end(of_one, false) > 0);

	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", &error,
				 "a{sv}", 1, "device", "s", "mlx5_9"));
	assert_string_equal(error, RDMAD_ERROR_NOT_FOUND);
	free(error);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", &error,
				 "a{sv}", 1, "device", "u", 3));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
	free(error);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", &error,
				 "a{sv}", 1, "ports", "s", "mlx5_0"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
	free(error);
}

/* A wrong option, a wrong type of one, a wrong signature: each is an error that names it, on every
 * method. */
static void test_wrong_arguments(void **state)
{
	Fixture *f = *state;
	static const char *const text_methods[] = {"GetDeviceByName", "GetPort", "GetPortByNetdev",
						   "GetPortByGuid", "GetPortByAddress"};
	char *error;

	for (size_t i = 0; i < ARRAY_SIZE(text_methods); i++) {
		assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					 text_methods[i], &error, "sa{sv}", "192.0.2.7", 1,
					 "nonsense", "u", 1));
		assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
		free(error);
		assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					 text_methods[i], &error, "u", 3));
		assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
		free(error);
	}
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", &error,
				 "a{sv}", 1, "nonsense", "u", 1));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
	free(error);
	assert_null(fixture_call(f, IB_PORT, RDMAD_INTERFACE_PORT, "Query", &error, "a{sv}", 1,
				 "nonsense", "u", 1));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
	free(error);
	assert_null(fixture_call(f, IB_PORT, RDMAD_INTERFACE_PORT, "Query", &error, "a{sv}", 1,
				 "max-age-usec", "s", "1"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
	free(error);
	assert_null(fixture_call(f, "/org/rdma/device/3/port/9", RDMAD_INTERFACE_PORT, "Query",
				 &error, "a{sv}", 0));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
	free(error);
	assert_null(fixture_call(f, "/org/rdma/device/03/port/x", RDMAD_INTERFACE_PORT, "Query",
				 &error, "a{sv}", 0));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
	free(error);
}

/* One field of the reply of Query(). */
static uint64_t query_field(Fixture *f, const char *path, const char *field, uint64_t max_age)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 1,
			     "max-age-usec", "t", max_age);
	const char *key, *type;
	uint64_t u64 = 0, found = UINT64_MAX;
	uint32_t u32 = 0;

	sd_bus_message_enter_container(reply, 'a', "{sv}");
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		sd_bus_message_read_basic(reply, 's', &key);
		sd_bus_message_peek_type(reply, NULL, &type);
		if (!streq(key, field)) {
			sd_bus_message_skip(reply, "v");
		} else if (streq(type, "u")) {
			sd_bus_message_read(reply, "v", "u", &u32);
			found = u32;
		} else {
			assert_true(sd_bus_message_read(reply, "v", "t", &u64) >= 0);
			found = u64;
		}
		sd_bus_message_exit_container(reply);
	}
	return found;
}

static void test_query(void **state)
{
	Fixture *f = *state;

	assert_int_equal(query_field(f, IB_PORT, "state", 0), 4);
	assert_int_equal(query_field(f, IB_PORT, "link_layer", 0), 1);
	/* The hardware changes without an event: the cache has the old value, a query the new one.
	 */
	fixture_simulate(f, "set mlx5_0/1 lid=99");
	assert_int_equal(query_field(f, IB_PORT, "lid", UINT64_MAX), 17);
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "Lid", "17");
	assert_int_equal(query_field(f, IB_PORT, "lid", 0), 99);
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_INFINIBAND, "Lid", "99");
}

static void test_wedged(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *error = NULL;

	fixture_simulate(f, "stall mlx5_0");
	fixture_simulate(f, "event mlx5_0/1 port-error");
	while (fixture_count_signals(f, IB_PORT, "PropertiesChanged") == 0)
		fixture_wait_signal(f, IB_PORT, "PropertiesChanged");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "Stale", "yes");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "State", "active");
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "Stale", "yes");
	assert_null(fixture_call(f, IB_PORT, RDMAD_INTERFACE_PORT, "Query", &error, "a{sv}", 0));
	assert_string_equal(error, RDMAD_ERROR_DEVICE_TIMEOUT);
	/* The ports of other devices are not stale. */
	assert_int_equal(query_field(f, ROCE_PORT, "state", 0), 4);
	fixture_assert_property(f, ROCE_PORT, RDMAD_INTERFACE_PORT, "Stale", "no");
	refresh(f);
	/* It recovers without help. */
	fixture_simulate(f, "set mlx5_0/1 state=down");
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_signal(f, IB_PORT, "StateChanged");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "Stale", "no");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "LastError", "");
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "Stale", "no");
}

static void test_failing_port(void **state)
{
	Fixture *f = *state;

	fixture_simulate(f, "fail mlx5_0/1 EIO");
	refresh(f);
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "Stale", "yes");
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "LastError",
				"Input/output error");
	/* The other port of the device is not concerned. */
	fixture_assert_property(f, IB_PORT_2, RDMAD_INTERFACE_PORT, "Stale", "no");
}

static void test_second_daemon(void **state)
{
	Fixture *f = *state;
	pid_t second = fixture_spawn_daemon(f, scenario, NULL);
	_cleanup_free_ char *log = NULL;

	assert_int_equal(fixture_wait_process(second), 1);
	log = fixture_daemon_log(f);
	assert_non_null(strstr(log, "Another process owns org.rdma"));
	/* The first daemon goes on. */
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "State", "active");
}

static void test_bus_restarts(void **state)
{
	Fixture *f = *state;

	fixture_stop_bus(f);
	fixture_start_bus(f);
	fixture_connect(f);
	fixture_wait_name(f);
	fixture_assert_property(f, IB_PORT, RDMAD_INTERFACE_PORT, "State", "active");
	fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
	fixture_wait_signal(f, IB_PORT, "StateChanged");
}

static void test_log_control(void **state)
{
	Fixture *f = *state;
	char *error;

	sd_bus_message_unref(fixture_call(f, "/org/freedesktop/LogControl1",
					  "org.freedesktop.DBus.Properties", "Set", NULL, "ssv",
					  "org.freedesktop.LogControl1", "LogLevel", "s", "debug"));
	fixture_assert_property(f, "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1",
				"LogLevel", "debug");
	assert_null(fixture_call(f, "/org/freedesktop/LogControl1",
				 "org.freedesktop.DBus.Properties", "Set", &error, "ssv",
				 "org.freedesktop.LogControl1", "LogLevel", "s", "loud"));
	assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	free(error);
}

/* A mistake on the command line or in the configuration is reported, with the name of what is
 * wrong.
 */
static void test_bad_start(void **state)
{
	static const struct {
		const char *option, *scenario, *says;
		int status;
	} cases[] = {
		{"--nonsense", scenario, "nonsense", 2},
		{"argument", scenario, "argument", 2},
		{"--log-level=loud", scenario, "--log-level=loud: expected", 2},
		{"--simulate=/nonexistent", NULL, "/nonexistent", 1},
		{"--config=/nonexistent", scenario, "/nonexistent", 1},
		{NULL, "[device x]\nprotocol = infiniband\nnonsense = 3\n", "scenario:3: ", 1},
		{NULL, "[port x/1]\nstate = active\n", "scenario:1: ", 1},
	};
	Fixture *f = *state;

	fixture_stop_daemon(f, SIGTERM);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *const options[] = {cases[i].option, NULL};
		_cleanup_free_ char *log = NULL;

		assert_int_equal(
			fixture_wait_process(fixture_spawn_daemon(f, cases[i].scenario, options)),
			cases[i].status);
		log = fixture_daemon_log(f);
		if (!strstr(log, cases[i].says))
			fail_msg("\"%s\" is not in: %s", cases[i].says, log);
	}
}

/* No hardware is a valid state. */
static void test_nothing(void **state)
{
	Fixture *f = *state;

	fixture_stop_daemon(f, SIGTERM);
	fixture_forget(f);
	fixture_start_daemon(f, "# nothing\n", NULL);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount", "0");
	refresh(f);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_objects),
		TEST(test_every_property),
		TEST(test_no_change_no_signal),
		TEST(test_state_change),
		TEST(test_subnet_manager),
		TEST(test_tables_are_invalidated),
		TEST(test_devices_come_and_go),
		TEST(test_device_interfaces),
		TEST(test_lookups),
		TEST(test_list_ports),
		TEST(test_wrong_arguments),
		TEST(test_query),
		TEST(test_wedged),
		TEST(test_failing_port),
		TEST(test_second_daemon),
		TEST(test_bus_restarts),
		TEST(test_log_control),
		TEST(test_bad_start),
		TEST(test_nothing),
	};

	return cmocka_run_group_tests_name("bus", tests, NULL, NULL);
}
