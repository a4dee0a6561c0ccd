/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of the answers of the programs that know the other ends of links and the modules,
 * and what is not. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
#include "bus-cable.h"
#include "bus-neighbors.h"
#include "decode.h"

#define NOW_USEC UINT64_C(1000000)

static bool has(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

/* An answer with the error ERROR. */
static sd_bus_message *answer_error(int error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = message_new();
	sd_bus_message *m;

	message_seal(call);
	assert_true(sd_bus_message_new_method_errno(call, &m, error, NULL) >= 0);
	message_seal(m);
	return m;
}

/* The percents of the first and of the last of 8 traffic classes, as rdmad-neighbors says them. */
static uint64_t ets_of(uint8_t first, uint8_t last)
{
	const uint8_t percents[] = {first, 0, 0, 0, 0, 0, 0, last};
	uint64_t ets;

	memcpy(&ets, percents, sizeof(ets));
	return ets;
}

/* The only other end that lldpd knows, in *RET. */
static void take_lldpd(uint32_t vlan, int pfc, uint64_t ets, uint64_t since, PortSnapshot *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = message_new();
	NeighborPort port = {.number = 7};

	assert_true(sd_bus_message_append(m, "a(ssssssuuitt)", 1, "eth7", "switch", "Ethernet12/1",
					  "to node 4", "00:00:5e:00:53:01", "192.0.2.1", vlan, 9216,
					  pfc, ets, since) >= 0);
	message_seal(m);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_LLDPD, m), 0);
	port_snapshot_done(ret);
	assert_int_equal(bus_next_neighbor(NEIGHBORS_OF_LLDPD, m, NOW_USEC, &port, ret), 1);
	assert_string_equal(port.name, "eth7");
	assert_int_equal(port.number, 0);
	assert_int_equal(bus_next_neighbor(NEIGHBORS_OF_LLDPD, m, NOW_USEC, &port, ret), 0);
}

static void test_lldpd(_unused_ void **state)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	take_lldpd(4094, 0x89, ets_of(50, 50), NOW_USEC - 1, &s);
	assert_int_equal(s.parts, READ_NEIGHBOR);
	assert_string_equal(TEXT_OF(&s.values, neighbor), "switch");
	assert_string_equal(TEXT_OF(&s.values, neighbor_port), "Ethernet12/1");
	assert_string_equal(TEXT_OF(&s.values, neighbor_port_text), "to node 4");
	assert_string_equal(TEXT_OF(&s.values, neighbor_chassis), "00:00:5e:00:53:01");
	assert_string_equal(TEXT_OF(&s.values, neighbor_address), "192.0.2.1");
	assert_string_equal(TEXT_OF(&s.values, neighbor_source), "lldpd");
	assert_int_equal(s.values.neighbor_vlan, 4094);
	assert_int_equal(s.values.neighbor_frame, 9216);
	assert_true(has(&s, PORT_ATTR_neighbor_pfc));
	assert_string_equal(TEXT_OF(&s.values, neighbor_pfc), "0,3,7");
	assert_true(has(&s, PORT_ATTR_neighbor_ets));
	assert_string_equal(TEXT_OF(&s.values, neighbor_ets), "50,0,0,0,0,0,0,50");
	assert_int_equal(s.values.neighbor_since, NOW_USEC - 1);
	/* numbers that cannot be */
	take_lldpd(4095, 256, ets_of(50, 51), NOW_USEC + 1, &s);
	assert_int_equal(s.values.neighbor_vlan, 0);
	assert_false(has(&s, PORT_ATTR_neighbor_pfc));
	assert_false(has(&s, PORT_ATTR_neighbor_ets));
	assert_int_equal(s.values.neighbor_since, NOW_USEC);
	/* none has it, all have it, and what was not said */
	take_lldpd(1, 0, 0, 0, &s);
	assert_true(has(&s, PORT_ATTR_neighbor_pfc));
	assert_string_equal(TEXT_OF(&s.values, neighbor_pfc), "none");
	assert_true(has(&s, PORT_ATTR_neighbor_ets));
	take_lldpd(1, 255, 0, 0, &s);
	assert_true(has(&s, PORT_ATTR_neighbor_pfc));
	take_lldpd(1, -1, UINT64_MAX, 0, &s);
	assert_false(has(&s, PORT_ATTR_neighbor_pfc));
	assert_false(has(&s, PORT_ATTR_neighbor_ets));
}

/* The next other end of the answer M of rdmad-fabric, which is of the port NAME. */
static void next_of_fabric(sd_bus_message *m, const char *name, uint32_t number, PortSnapshot *ret)
{
	NeighborPort port = {};

	port_snapshot_done(ret);
	assert_int_equal(bus_next_neighbor(NEIGHBORS_OF_FABRIC, m, NOW_USEC, &port, ret), 1);
	assert_string_equal(port.name, name);
	assert_int_equal(port.number, number);
}

static void test_fabric(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = message_new();
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	NeighborPort port;

	assert_true(sd_bus_message_append(m, "a(suyyttsuu)", 5, "mlx5_0", 1, 2, 17,
					  UINT64_C(0x123456789abcdef0), UINT64_C(0x10), "leaf 1", 3,
					  0x80000060U, "mlx5_0", 2, 1, 1, UINT64_C(1), UINT64_C(0),
					  "node", 0, 0, "mlx5_1", 1, 0, 0, UINT64_C(0), UINT64_C(0),
					  "no-answer", 0, 0, "mlx5_2", 1, 0, 0, UINT64_C(0),
					  UINT64_C(0), "of a later one", 0, 0, "mlx5_3", 1, 0, 0,
					  UINT64_C(0), UINT64_C(0), "not-known", 0, 0) >= 0);
	message_seal(m);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_FABRIC, m), 0);
	next_of_fabric(m, "mlx5_0", 1, &s);
	assert_int_equal(s.parts, READ_NEIGHBOR);
	assert_null(s.no_neighbor);
	assert_string_equal(TEXT_OF(&s.values, neighbor), "leaf 1");
	assert_true(s.values.neighbor_guid == UINT64_C(0x123456789abcdef0));
	assert_int_equal(s.values.neighbor_type, 2);
	assert_string_equal(TEXT_OF(&s.values, neighbor_port), "17");
	assert_true(has(&s, PORT_ATTR_neighbor_port));
	assert_string_equal(TEXT_OF(&s.values, neighbor_chassis), "0000:0000:0000:0010");
	assert_true(has(&s, PORT_ATTR_neighbor_chassis));
	/* the bits of 1X and 4X; of EDR and HDR, and one without a meaning */
	assert_string_equal(TEXT_OF(&s.values, neighbor_widths), "1,4");
	assert_true(has(&s, PORT_ATTR_neighbor_widths));
	assert_string_equal(TEXT_OF(&s.values, neighbor_speeds), "EDR,HDR");
	assert_true(has(&s, PORT_ATTR_neighbor_speeds));
	assert_string_equal(TEXT_OF(&s.values, neighbor_source), "mad");
	assert_int_equal(s.values.neighbor_since, NOW_USEC);
	/* what is not said has no value */
	next_of_fabric(m, "mlx5_0", 2, &s);
	assert_string_equal(TEXT_OF(&s.values, neighbor), "node");
	assert_false(has(&s, PORT_ATTR_neighbor_chassis));
	assert_false(has(&s, PORT_ATTR_neighbor_widths));
	assert_false(has(&s, PORT_ATTR_neighbor_speeds));
	/* why it is not known; a reason that rdmad does not say is none */
	next_of_fabric(m, "mlx5_1", 1, &s);
	assert_ptr_equal(s.no_neighbor, unavailable_find("no-answer"));
	assert_true(mask_is_empty(&s.supplied));
	next_of_fabric(m, "mlx5_2", 1, &s);
	assert_null(s.no_neighbor);
	next_of_fabric(m, "mlx5_3", 1, &s);
	assert_null(s.no_neighbor);
	assert_int_equal(bus_next_neighbor(NEIGHBORS_OF_FABRIC, m, NOW_USEC, &port, &s), 0);
}

#define DEVICE "org.freedesktop.NetworkManager.Device"

/* Appends a device of NetworkManager to M, and leaves the list of the systems there open. */
static void open_device(sd_bus_message *m, const char *interface)
{
	assert_true(sd_bus_message_open_container(m, 'e', "oa{sa{sv}}") >= 0);
	assert_true(sd_bus_message_append(m, "o", "/org/freedesktop/NetworkManager/Devices/2") >=
		    0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sa{sv}}") >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", DEVICE ".Statistics", 1, "Interface", "s",
					  "other") >= 0);
	assert_true(sd_bus_message_open_container(m, 'e', "sa{sv}") >= 0);
	assert_true(sd_bus_message_append(m, "s", DEVICE) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_append(m, "{sv}{sv}", "Mtu", "u", 1500, "Interface", "s",
					  interface) >= 0);
	assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
	assert_true(sd_bus_message_append(m, "s", "LldpNeighbors") >= 0);
	assert_true(sd_bus_message_open_container(m, 'v', "aa{sv}") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "a{sv}") >= 0);
}

static void close_containers(sd_bus_message *m, unsigned int n)
{
	while (n-- > 0)
		assert_true(sd_bus_message_close_container(m) >= 0);
}

#define DEVICE_CONTAINERS 7U

/* A switch, without an address, as NetworkManager 1.42 says it */
static void append_switch(sd_bus_message *m, const char *chassis, uint32_t vlan, uint32_t frame)
{
	assert_true(sd_bus_message_append(m, "a{sv}", 10, "raw", "ay", 3, 1, 2, 3,
					  "chassis-id-type", "u", 4, "chassis-id", "s", chassis,
					  "port-id-type", "u", 7, "port-id", "s", "Ethernet12/1",
					  "destination", "s", "nearest-bridge", "port-description",
					  "s", "to node17", "system-name", "s", "leaf-r07-a",
					  "ieee-802-1-pvid", "u", vlan, "ieee-802-3-max-frame-size",
					  "u", frame) >= 0);
}

static int next_of_devices(sd_bus_message *m, const char *interface, PortSnapshot *ret)
{
	NeighborPort port = {.number = 7};
	int r;

	port_snapshot_done(ret);
	r = bus_next_neighbor(NEIGHBORS_OF_NETWORK_MANAGER, m, NOW_USEC, &port, ret);

	if (r > 0) {
		assert_string_equal(port.name, interface);
		assert_int_equal(port.number, 0);
	}
	return r;
}

static void test_network_manager(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = message_new();
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_true(sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}") >= 0);
	assert_true(sd_bus_message_append(m, "{oa{sa{sv}}}", "/org/freedesktop/NetworkManager", 1,
					  "org.freedesktop.NetworkManager", 1, "Version", "s",
					  "1.42.4") >= 0);
	/* no device says that */
	assert_true(sd_bus_message_append(
			    m, "{oa{sa{sv}}}", "/org/freedesktop/NetworkManager/Devices/1", 1,
			    DEVICE ".Statistics", 2, "Interface", "s", "eth5", "LldpNeighbors",
			    "aa{sv}", 1, 1, "port-id", "s", "swp5") >= 0);
	/* nobody is heard there */
	open_device(m, "eth6");
	close_containers(m, DEVICE_CONTAINERS);
	/* of two systems the first one counts */
	open_device(m, "eth7");
	append_switch(m, "00:00:5E:00:53:0A", 4094, UINT16_MAX);
	append_switch(m, "other", 7, 7);
	close_containers(m, DEVICE_CONTAINERS);
	/* numbers that cannot be, a text where a number is, and an address that is none */
	open_device(m, "eth8");
	append_switch(m, "Chassis A", 4095, UINT16_MAX + 1);
	close_containers(m, DEVICE_CONTAINERS);
	open_device(m, "eth9");
	assert_true(sd_bus_message_append(m, "a{sv}", 3, "system-name", "u", 7, "ieee-802-1-pvid",
					  "s", "7", "management-addresses", "aa{sv}", 1, 2,
					  "address-subtype", "u", 6, "address", "ay", 6, 0, 0, 0x5e,
					  0, 0x53, 1) >= 0);
	close_containers(m, DEVICE_CONTAINERS);
	open_device(m, "eth10");
	assert_true(sd_bus_message_append(m, "a{sv}", 1, "management-addresses", "aa{sv}", 2, 3,
					  "address-subtype", "u", 1, "address", "ay", 4, 192, 0, 2,
					  7, "interface-number", "u", 2, 1, "address", "ay", 4, 192,
					  0, 2, 8) >= 0);
	close_containers(m, DEVICE_CONTAINERS);
	close_containers(m, 1);
	message_seal(m);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_NETWORK_MANAGER, m), 0);
	assert_int_equal(next_of_devices(m, "eth7", &s), 1);
	assert_int_equal(s.parts, READ_NEIGHBOR);
	assert_string_equal(TEXT_OF(&s.values, neighbor), "leaf-r07-a");
	assert_true(has(&s, PORT_ATTR_neighbor));
	assert_string_equal(TEXT_OF(&s.values, neighbor_port), "Ethernet12/1");
	assert_string_equal(TEXT_OF(&s.values, neighbor_port_text), "to node17");
	assert_string_equal(TEXT_OF(&s.values, neighbor_chassis), "00:00:5e:00:53:0a");
	assert_int_equal(s.values.neighbor_vlan, 4094);
	assert_true(has(&s, PORT_ATTR_neighbor_vlan));
	assert_int_equal(s.values.neighbor_frame, UINT16_MAX);
	assert_string_equal(TEXT_OF(&s.values, neighbor_source), "NetworkManager");
	assert_int_equal(s.values.neighbor_since, NOW_USEC);
	assert_false(has(&s, PORT_ATTR_neighbor_address));
	assert_false(has(&s, PORT_ATTR_neighbor_pfc));
	assert_false(has(&s, PORT_ATTR_neighbor_ets));
	assert_int_equal(next_of_devices(m, "eth8", &s), 1);
	assert_string_equal(TEXT_OF(&s.values, neighbor_chassis), "Chassis A");
	assert_int_equal(s.values.neighbor_vlan, 0);
	assert_int_equal(s.values.neighbor_frame, 0);
	assert_int_equal(next_of_devices(m, "eth9", &s), 1);
	assert_false(has(&s, PORT_ATTR_neighbor));
	assert_false(has(&s, PORT_ATTR_neighbor_vlan));
	assert_false(has(&s, PORT_ATTR_neighbor_address));
	assert_int_equal(next_of_devices(m, "eth10", &s), 1);
	assert_string_equal(TEXT_OF(&s.values, neighbor_address), "192.0.2.7");
	assert_true(has(&s, PORT_ATTR_neighbor_address));
	assert_int_equal(next_of_devices(m, NULL, &s), 0);
}

static void test_no_neighbors(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *error = answer_error(ENOENT);
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *empty = message_new();
	NeighborPort port;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_LLDPD, error), -ENOENT);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_FABRIC, error), -ENOENT);
	assert_true(sd_bus_message_append(empty, "a(suyyttsuu)", 0) >= 0);
	message_seal(empty);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_LLDPD, empty), -EBADMSG);
	assert_int_equal(bus_take_neighbors(NEIGHBORS_OF_FABRIC, empty), 0);
	assert_int_equal(bus_next_neighbor(NEIGHBORS_OF_FABRIC, empty, NOW_USEC, &port, &s), 0);
}

/* Takes the answer of rdmad-cable with these rows. */
static int take_module(const char *field, const char *text, PortSnapshot *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(m, "a{ss}", 2, "cable_vendor", "ACME", field, text) >= 0);
	message_seal(m);
	port_snapshot_done(ret);
	return bus_take_module(m, ret);
}

static void test_module(_unused_ void **state)
{
	static const char *const wrong[][2] = {{"no_field", "1"},
					       {"lid", "1"}, /* of no module */
					       {"cable_length", "long"}};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(take_module("cable_length", "300", &s), 0);
	assert_int_equal(s.parts, READ_CABLE);
	assert_int_equal(s.failed, 0);
	assert_string_equal(TEXT_OF(&s.values, cable_vendor), "ACME");
	assert_int_equal(s.values.cable_length, 300);
	assert_true(has(&s, PORT_ATTR_cable_vendor));
	assert_true(has(&s, PORT_ATTR_cable_length));
	/* nothing is taken of an answer with a row that is wrong */
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(take_module(wrong[i][0], wrong[i][1], &s), -EBADMSG);
		assert_int_equal(s.parts, READ_CABLE);
		assert_int_equal(s.failed, READ_CABLE);
		assert_true(mask_is_empty(&s.supplied));
		assert_string_equal(TEXT_OF(&s.values, cable_vendor), "");
	}
}

/* A driver that cannot say it has not failed. */
static void test_no_module(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *unable = answer_error(EOPNOTSUPP);
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *failed = answer_error(EIO);
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *other = message_new();
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(bus_take_module(unable, &s), -EOPNOTSUPP);
	assert_int_equal(s.parts, READ_CABLE);
	assert_int_equal(s.failed, 0);
	assert_int_equal(bus_take_module(failed, &s), -EIO);
	assert_int_equal(s.failed, READ_CABLE);
	assert_true(sd_bus_message_append(other, "a{su}", 1, "cable_length", 3) >= 0);
	message_seal(other);
	assert_int_equal(bus_take_module(other, &s), -EBADMSG);
	assert_int_equal(s.failed, READ_CABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lldpd),		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_network_manager), cmocka_unit_test(test_no_neighbors),
		cmocka_unit_test(test_module),		cmocka_unit_test(test_no_module),
	};

	return cmocka_run_group_tests_name("bus-answers", tests, NULL, NULL);
}
