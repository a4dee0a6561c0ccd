/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What port_derive() makes of what the sources supplied. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bond.h"
#include "decode.h"
#include "port.h"

/* A port of an InfiniBand device with these N entries in its GID table, derived. */
static PortSnapshot port_with_gids(const GidEntry *gids, size_t n)
{
	const DeviceSnapshot device = {.values.node_type = NODE_TYPE_CA};
	PortSnapshot s = {.parts = READ_ALL,
			  .tables[PORT_TABLE_GIDS] = table_new(gids, n, sizeof(*gids))};

	assert_non_null(s.tables[PORT_TABLE_GIDS]);
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	port_derive(&s, &device);
	return s;
}

/* The port GUID is the lower half of GID 0. Behind it there may be alias GUIDs. */
static void test_port_guid(_unused_ void **state)
{
	const GidEntry gids[] = {
		{.index = 0, .gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 1}},
		{.index = 1, .gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 2}},
	};
	_cleanup_(port_snapshot_done) PortSnapshot s = port_with_gids(gids, ARRAY_SIZE(gids));

	assert_true(mask_has(&s.valid, PORT_ATTR_port_guid));
	assert_int_equal(s.values.port_guid, UINT64_C(0x0002c90300000001));
	port_snapshot_done(&s);

	/* without GID 0 nobody knows it */
	s = port_with_gids(&gids[1], 1);
	assert_false(mask_has(&s.supplied, PORT_ATTR_port_guid));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_port_guid)->code, "not-reported");
	port_snapshot_done(&s);
}

/* Bit 26 of what an InfiniBand port announces does not mean what bit 26 of verbs does, and has a
 * name of its own. Where verbs cannot be asked, what the port announces is enough. */
static void test_capabilities(_unused_ void **state)
{
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};
	const uint64_t other = UINT64_C(1) << CAPABILITY_OTHER_LOCAL_CHANGES;
	static const struct {
		bool has_flags, has_mask;
		uint32_t flags;
		uint64_t mask;
		uint32_t link_layer;
		bool supplied;
		uint64_t expected;
	} cases[] = {
		{true, true, 0x2, 0x2, LINK_LAYER_INFINIBAND, true, 0x2},
		{true, true, 0x2, 0x04000002, LINK_LAYER_INFINIBAND, true, UINT64_C(0x100000002)},
		{false, true, 0, UINT64_C(0x3204000002), LINK_LAYER_INFINIBAND, true,
		 UINT64_C(0x100000002)},
		{true, false, 0x04810000, 0, LINK_LAYER_ETHERNET, true, 0x04010000},
		{true, true, 0x04010000, 0x04000002, LINK_LAYER_ETHERNET, true, 0x04010000},
		{false, true, 0, 0x04000002, LINK_LAYER_ETHERNET, false, 0},
	};

	assert_int_equal(other, UINT64_C(0x100000000));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

		PORT_SUPPLY(&s, link_layer, cases[i].link_layer);
		if (cases[i].has_flags)
			PORT_SUPPLY(&s, port_cap_flags, cases[i].flags);
		if (cases[i].has_mask)
			PORT_SUPPLY(&s, cap_mask, cases[i].mask);
		port_derive(&s, &ca);
		assert_int_equal(mask_has(&s.supplied, PORT_ATTR_capabilities), cases[i].supplied);
		assert_int_equal(s.values.capabilities, cases[i].expected);
		port_snapshot_done(&s);
	}
}

/* A link that is up has a speed. If the driver says none, that is said too. */
static void test_no_speed(_unused_ void **state)
{
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
	PORT_SUPPLY(&s, state, PORT_STATE_INIT);
	PORT_SUPPLY(&s, active_speed, 0);
	port_derive(&s, &ca);
	assert_false(mask_has(&s.valid, PORT_ATTR_link_speed));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_link_speed)->code, "unknown-code");
	/* a code that nobody knows is published as what it is */
	PORT_SUPPLY(&s, active_speed_ex, 512);
	port_derive(&s, &ca);
	assert_null(port_unavailable(&s, PORT_ATTR_link_speed));
	port_snapshot_done(&s);
}

/* The subnet manager has configured a port that is armed, active or active-defer: the link of the
 * last is retrained while it is in use, and it keeps its LID. */
static void test_configured(_unused_ void **state)
{
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};

	for (uint32_t i = PORT_STATE_NOP; i <= PORT_STATE_ACTIVE_DEFER + 1; i++) {
		bool configured = i >= PORT_STATE_ARMED && i <= PORT_STATE_ACTIVE_DEFER;
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
		PORT_SUPPLY(&s, state, i);
		PORT_SUPPLY(&s, lid, 17);
		PORT_SUPPLY(&s, lmc, 0);
		port_derive(&s, &ca);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_lid), configured);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_lmc), configured);
	}
}

/* On Ethernet without GIDs there is no RoCE: representors, and RoCE switched off. Without any table
 * and a protocol that the kernel names it is not InfiniBand: mana. Sizes of -1 are not known. */
static void test_protocol(_unused_ void **state)
{
	static const struct {
		uint32_t node_type, link_layer, named;
		int gids, pkeys;
		uint32_t protocol;
	} cases[] = {
		{NODE_TYPE_CA, LINK_LAYER_ETHERNET, 0, 0, -1, PROTOCOL_RAW_PACKET},
		{NODE_TYPE_CA, LINK_LAYER_ETHERNET, 0, 255, -1, PROTOCOL_ROCE},
		{NODE_TYPE_CA, LINK_LAYER_ETHERNET, 0, -1, -1, PROTOCOL_ROCE},
		{NODE_TYPE_RNIC, LINK_LAYER_ETHERNET, 0, 0, -1, PROTOCOL_IWARP},
		{NODE_TYPE_CA, LINK_LAYER_INFINIBAND, 0, 0, -1, PROTOCOL_INFINIBAND},
		{NODE_TYPE_CA, LINK_LAYER_INFINIBAND, 0, 0, 0, PROTOCOL_RAW_PACKET},
		{NODE_TYPE_CA, LINK_LAYER_INFINIBAND, 0, 0, 1, PROTOCOL_INFINIBAND},
		{NODE_TYPE_CA, LINK_LAYER_INFINIBAND, 0, 1, 0, PROTOCOL_INFINIBAND},
		{NODE_TYPE_CA, LINK_LAYER_INFINIBAND, 1, 0, 0, PROTOCOL_INFINIBAND},
		{NODE_TYPE_UNSPECIFIED, LINK_LAYER_UNSPECIFIED, 0, 1, -1, PROTOCOL_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const DeviceSnapshot d = {.values = {.node_type = cases[i].node_type,
						     .dev_protocol = cases[i].named}};
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		PORT_SUPPLY(&s, link_layer, cases[i].link_layer);
		PORT_SUPPLY(&s, gid_tbl_len, (uint32_t)cases[i].gids);
		mask_set(&s.supplied, PORT_ATTR_gid_tbl_len, cases[i].gids >= 0);
		PORT_SUPPLY(&s, pkey_tbl_len, (uint32_t)cases[i].pkeys);
		mask_set(&s.supplied, PORT_ATTR_pkey_tbl_len, cases[i].pkeys >= 0);
		port_derive(&s, &d);
		assert_int_equal(s.values.protocol, cases[i].protocol);
		port_snapshot_done(&s);
	}
}

/* What a port of Ethernet or InfiniBand says, and the rates that come of it, in Mbit/s. 0: not
 * supplied. */
static void test_rates(_unused_ void **state)
{
	static const struct {
		uint32_t link_layer, width, speed;
		uint64_t netdev, effective, rate, data;
		AttrRateSource source;
	} cases[] = {
		/* 1, 10, 25, 40, 100 and 400 Gb/s, as the kernel puts them into codes */
		{LINK_LAYER_ETHERNET, 1, 1, 1000, 0, 1000, 1000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 1, 4, 10000, 0, 10000, 10000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 1, 32, 25000, 0, 25000, 25000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 2, 4, 40000, 0, 40000, 40000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 2, 32, 100000, 0, 100000, 100000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 2, 128, 400000, 0, 400000, 400000, RATE_SOURCE_NETDEV},
		/* the code of a speed that the driver does not know */
		{LINK_LAYER_ETHERNET, 2, 4, 800000, 0, 800000, 800000, RATE_SOURCE_NETDEV},
		{LINK_LAYER_ETHERNET, 0, 0, 200000, 0, 200000, 200000, RATE_SOURCE_NETDEV},
		/* a LAG of two: the port's interface is one of them */
		{LINK_LAYER_ETHERNET, 2, 64, 200000, 400000, 400000, 400000, RATE_SOURCE_EFFECTIVE},
		/* nothing but the codes */
		{LINK_LAYER_ETHERNET, 1, 4, 0, 0, 10000, 10000, RATE_SOURCE_LINK},
		{LINK_LAYER_ETHERNET, 2, 16, 0, 0, 56000, 56000, RATE_SOURCE_LINK},
		/* InfiniBand has the encoding, and its codes are exact */
		{LINK_LAYER_INFINIBAND, 2, 4, 0, 0, 40000, 32000, RATE_SOURCE_LINK},
		{LINK_LAYER_INFINIBAND, 2, 128, 0, 400000, 400000, 400000, RATE_SOURCE_LINK},
	};
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};
	const uint64_t mega = 1000000;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		PortSnapshot s = {};

		PORT_SUPPLY(&s, link_layer, cases[i].link_layer);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, active_width, cases[i].width);
		PORT_SUPPLY(&s, active_speed, cases[i].speed);
		if (cases[i].netdev)
			PORT_SUPPLY(&s, netdev_speed, cases[i].netdev * mega);
		if (cases[i].effective)
			PORT_SUPPLY(&s, port_speed, cases[i].effective * mega);
		port_derive(&s, &ca);
		assert_true(mask_has(&s.valid, PORT_ATTR_rate));
		assert_int_equal(s.values.rate, cases[i].rate * mega);
		assert_int_equal(s.values.data_rate, cases[i].data * mega);
		assert_int_equal(s.values.rate_source, cases[i].source);
		port_snapshot_done(&s);
	}
}

/* Of width, speed and rate of a port of Ethernet those are published that agree. */
static void test_guesses(void **state)
{
	static const struct {
		uint32_t width, speed;
		uint64_t netdev, effective; /* Mbit/s; 0: not supplied */
		bool has_rate, has_speed, has_width;
	} cases[] = {
		/* the code for an interface of which the speed is unknown */
		{1, 1, 0, 0, false, false, false},
		{1, 1, 1000, 0, true, false, true},
		{1, 1, 2500, 0, true, true, true},
		/* codes of another speed */
		{2, 1, 800000, 0, true, false, true},
		{2, 128, 800000, 0, true, false, true},
		{1, 8, 5000, 0, true, false, true},
		/* these agree, and nothing says that these do not */
		{2, 128, 400000, 0, true, true, true},
		{2, 64, 200000, 400000, true, true, true},
		{2, 128, 0, 400000, true, true, true},
		{2, 32, 0, 0, true, true, true},
		{2, 1, 0, 0, true, true, true},
		/* codes that nobody knows */
		{2, 512, 400000, 0, true, true, true},
		{3, 128, 400000, 0, true, true, false},
	};
	static const PortAttr guessed[] = {PORT_ATTR_rate, PORT_ATTR_rate_source,
					   PORT_ATTR_data_rate, PORT_ATTR_link_speed,
					   PORT_ATTR_active_width};
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};
	const uint64_t mega = 1000000;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

		PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, active_width, cases[i].width);
		PORT_SUPPLY(&s, active_speed, cases[i].speed);
		if (cases[i].netdev)
			PORT_SUPPLY(&s, netdev_speed, cases[i].netdev * mega);
		if (cases[i].effective)
			PORT_SUPPLY(&s, port_speed, cases[i].effective * mega);
		port_derive(&s, &ca);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_rate), cases[i].has_rate);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_link_speed), cases[i].has_speed);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_active_width), cases[i].has_width);
		for (size_t a = 0; !cases[i].has_rate && a < ARRAY_SIZE(guessed); a++) {
			assert_false(mask_has(&s.valid, guessed[a]));
			assert_string_equal(port_unavailable(&s, guessed[a])->code, "not-measured");
		}
		/* a link that is down has none, whatever the driver says */
		PORT_SUPPLY(&s, state, PORT_STATE_DOWN);
		port_derive(&s, &ca);
		assert_string_equal(port_unavailable(&s, PORT_ATTR_link_speed)->code, "link-down");
	}
}

/* The interface is one of those that make a LAG, and no number says what they are together. */
static void test_lag_port(void **state)
{
	static const struct {
		uint32_t ports;
		const char *master;
		uint64_t effective;
		AttrRateSource source;
	} cases[] = {
		{2, "bond0", 0, RATE_SOURCE_LAG_PORT},
		{2, "bond0", UINT64_C(400000000000), RATE_SOURCE_EFFECTIVE},
		{2, "", 0, RATE_SOURCE_NETDEV},
		{1, "bond0", 0, RATE_SOURCE_NETDEV},
		{0, "bond0", 0, RATE_SOURCE_NETDEV},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(device_snapshot_done)
			DeviceSnapshot d = {.values.node_type = NODE_TYPE_CA};
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		DEVICE_SUPPLY(&d, num_lag_ports, cases[i].ports);
		PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, netdev_speed, UINT64_C(200000000000));
		PORT_SUPPLY_TEXT(&s, netdev_master, cases[i].master);
		if (cases[i].effective)
			PORT_SUPPLY(&s, port_speed, cases[i].effective);
		port_derive(&s, &d);
		assert_int_equal(s.values.rate_source, cases[i].source);
	}
}

#define GBIT UINT64_C(1000000000)

/* What a bond has, what remains of it, and the rate of a LAG, which is what remains. */
static void test_bond(void **state)
{
	static const struct {
		const char *mode;
		BondMember members[3];
		uint64_t all, active;
	} cases[] = {
		{"802.3ad",
		 {{1, "a", "active", 200 * GBIT}, {2, "b", "active", 200 * GBIT}},
		 400,
		 400},
		/* no speed, as its link is down */
		{"802.3ad", {{1, "a", "active", 200 * GBIT}, {2, "b", "down", 0}}, 400, 200},
		/* the switch does not answer on it */
		{"802.3ad",
		 {{1, "a", "active", 200 * GBIT}, {2, "b", "backup", 200 * GBIT}},
		 400,
		 200},
		{"active-backup",
		 {{1, "a", "active", 25 * GBIT}, {2, "b", "backup", 100 * GBIT}},
		 100,
		 25},
		{"broadcast",
		 {{1, "a", "active", 25 * GBIT}, {2, "b", "active", 25 * GBIT}},
		 25,
		 25},
		{"", {{1, "a", "active", 25 * GBIT}, {2, "b", "active", 10 * GBIT}}, 35, 35},
		{"802.3ad", {{1, "a", "down", 0}, {2, "b", "down", 0}}, 0, 0},
		{"802.3ad", {{1, "a", "active", 0}, {2, "b", "down", 0}}, 0, 0},
		{"", {}, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(device_snapshot_done)
			DeviceSnapshot d = {.values.node_type = NODE_TYPE_CA};
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		size_t n = cases[i].members[0].ifindex ? 2 : 0;

		s.tables[PORT_TABLE_BOND_MEMBERS] =
			table_new(cases[i].members, n, sizeof(BondMember));
		mask_set(&s.supplied, PORT_ATTR_bond_members, true);
		DEVICE_SUPPLY(&d, num_lag_ports, 2);
		PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, netdev_speed, 7 * GBIT);
		PORT_SUPPLY_TEXT(&s, netdev_master, "bond0");
		PORT_SUPPLY_TEXT(&s, bond_mode, cases[i].mode);
		port_derive(&s, &d);
		assert_true(s.values.bond_rate == cases[i].all * GBIT);
		assert_true(s.values.bond_active_rate == cases[i].active * GBIT);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_bond_active_rate),
				 cases[i].active > 0);
		assert_int_equal(s.values.rate_source,
				 cases[i].active ? RATE_SOURCE_BOND : RATE_SOURCE_LAG_PORT);
		assert_true(s.values.rate == (cases[i].active ? cases[i].active : 7) * GBIT);
		port_snapshot_done(&s);
	}
	assert_true(bond_lacks_member("down", "active-backup"));
	assert_false(bond_lacks_member("backup", "active-backup"));
	assert_true(bond_lacks_member("backup", "802.3ad"));
	assert_false(bond_lacks_member("active", "802.3ad"));
	assert_string_equal(bond_mode_name(4), "802.3ad");
	assert_string_equal(bond_mode_name(7), "");
}

/* Omni-Path: its driver says the number of virtual lanes, and FDR for 12.5 Gb/s. */
static void test_opa(void **state)
{
	const DeviceSnapshot hfi = {.values.node_type = NODE_TYPE_CA,
				    .values.dev_protocol = PROTOCOL_OPA};
	static const struct {
		uint32_t width, speed;
		bool has_speed;
		uint64_t rate;
	} cases[] = {
		{2, 16, false, UINT64_C(50000000000)},
		{1, 16, false, UINT64_C(12500000000)},
		{2, 32, true, UINT64_C(100000000000)},
		{2, 128, true, UINT64_C(400000000000)},
	};
	AttrValue v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

		PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, active_width, cases[i].width);
		PORT_SUPPLY(&s, active_speed, cases[i].speed);
		port_derive(&s, &hfi);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_link_speed), cases[i].has_speed);
		assert_true(mask_has(&s.valid, PORT_ATTR_active_width));
		assert_true(s.values.rate == cases[i].rate && s.values.data_rate == cases[i].rate);
	}
	for (uint32_t n = 1; n <= 31; n++) {
		const Attribute *row = &port_attributes[PORT_ATTR_max_vl_num];
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
		PORT_SUPPLY(&s, max_vl_num, n);
		port_derive(&s, &hfi);
		assert_true(mask_has(&s.valid, PORT_ATTR_max_vl_num));
		assert_int_equal(attr_publish(row, &s.values, &v), 0);
		assert_int_equal(v.u32, n);
	}
}

/* RoCE adapters count packets with a wrong Q_Key too. */
static void test_violations(void **state)
{
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};
	_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

	(void)state;
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&s, qkey_viol_cntr, 3);
	port_derive(&s, &ca);
	assert_true(mask_has(&s.valid, PORT_ATTR_qkey_viol_cntr));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_bad_pkey_cntr)->code, "not-reported");
	port_snapshot_done(&s);
}

/* Verbs cannot name the port: what only verbs has is unavailable, and the rest is there. */
static void test_beyond_verbs(_unused_ void **state)
{
	const DeviceSnapshot device = {};
	_cleanup_(port_snapshot_done) PortSnapshot s = {.open_error = -ERANGE, .parts = READ_ALL};

	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	PORT_SUPPLY(&s, vport, 299);
	port_derive(&s, &device);
	assert_null(port_unavailable(&s, PORT_ATTR_state));
	assert_null(port_unavailable(&s, PORT_ATTR_vport));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_max_mtu)->code, "too-many-ports");
	assert_string_equal(port_unavailable(&s, PORT_ATTR_rate)->code, "too-many-ports");
	/* direct verbs and netlink were asked */
	assert_string_equal(port_unavailable(&s, PORT_ATTR_reg_c0_value)->code, "not-reported");
	assert_string_equal(port_unavailable(&s, PORT_ATTR_netdevs)->code, "not-reported");
	/* a table could not be read now */
	s.failed = READ_GIDS;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_netdevs)->code, "query-failed");
	s.open_error = 0;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_port_guid)->code, "query-failed");
	/* nobody has asked for the P_Keys yet, or the firmware did not answer */
	s.parts = READ_USUAL;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_pkeys)->code, "not-read");
	s.query_error = -ETIMEDOUT;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_pkeys)->code, "firmware-timeout");
	s.query_error = -EIO;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_pkeys)->code, "query-failed");
}

/* The library of the vendor has answered with an error: its interface says so of each row. */
static void test_unanswered(_unused_ void **state)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

	assert_int_equal(port_interfaces(&s), 1U << INTERFACE_PORT);
	assert_string_equal(port_unavailable(&s, PORT_ATTR_vport)->code, "not-reported");
	mask_set(&s.unanswered, PORT_ATTR_vport, true);
	assert_int_equal(port_interfaces(&s), 1U << INTERFACE_PORT | 1U << INTERFACE_MLX5);
	assert_string_equal(port_unavailable(&s, PORT_ATTR_vport)->code, "query-failed");
	assert_string_equal(port_unavailable(&s, PORT_ATTR_reg_c0_value)->code, "not-reported");
	/* the device could not be opened for it */
	s.open_error = -EBUSY;
	assert_string_equal(port_unavailable(&s, PORT_ATTR_vport)->code, "in-use");
}

/* Which interfaces of D-Bus a port has, by its protocol. */
static void test_interfaces(_unused_ void **state)
{
	static const struct {
		uint32_t protocol;
		unsigned int interfaces; /* beside PORT */
	} cases[] = {
		{PROTOCOL_UNKNOWN, 0},
		{PROTOCOL_INFINIBAND, 1U << INTERFACE_INFINIBAND | 1U << INTERFACE_NEIGHBOR},
		{PROTOCOL_OPA, 1U << INTERFACE_INFINIBAND | 1U << INTERFACE_NEIGHBOR},
		{PROTOCOL_ROCE,
		 1U << INTERFACE_ETHERNET | 1U << INTERFACE_NEIGHBOR | 1U << INTERFACE_CABLE},
	};
	_cleanup_(port_snapshot_done) PortSnapshot none = {};

	none.values.protocol = PROTOCOL_ROCE; /* nobody has said it */
	assert_int_equal(port_interfaces(&none), 1U << INTERFACE_PORT);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		PORT_SUPPLY(&s, protocol, cases[i].protocol);
		assert_int_equal(port_interfaces(&s), 1U << INTERFACE_PORT | cases[i].interfaces);
	}
}

/* What an interface says only while it is up. The rates of a bond are those of its members. */
static void test_interface_down(_unused_ void **state)
{
	const DeviceSnapshot device = {};
	_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};

	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	PORT_SUPPLY(&s, netdev_carrier, 1);
	PORT_SUPPLY(&s, netdev_up, 0);
	port_derive(&s, &device);
	assert_string_equal(port_unavailable(&s, PORT_ATTR_netdev_carrier)->code, "interface-down");
	assert_false(mask_has(&s.supplied, PORT_ATTR_bond_rate));
	assert_false(mask_has(&s.supplied, PORT_ATTR_bond_active_rate));
	PORT_SUPPLY(&s, netdev_up, 1);
	port_derive(&s, &device);
	assert_null(port_unavailable(&s, PORT_ATTR_netdev_carrier));
	mask_set(&s.supplied, PORT_ATTR_bond_members, true);
	port_derive(&s, &device);
	assert_true(mask_has(&s.supplied, PORT_ATTR_bond_rate));
	assert_true(mask_has(&s.supplied, PORT_ATTR_bond_active_rate));
	port_snapshot_done(&s);
}

/* The index of the GID that programs should use follows from the GID table, the interface and its
 * bond. */
static void test_gid_index(_unused_ void **state)
{
#define V1                                                                                         \
	{                                                                                          \
		.gid = {0xfe, 0x80}, .type = GID_TYPE_ROCE_V1, .netdev = "a"                       \
	}
#define V4(i, ...)                                                                                 \
	{                                                                                          \
		.index = (i), .type = GID_TYPE_ROCE_V2,                                            \
		.gid = {[10] = 0xff, 0xff, 192, 0, 2, (i)}, __VA_ARGS__                            \
	}
#define V6(i, first, second)                                                                       \
	{                                                                                          \
		.index = (i), .type = GID_TYPE_ROCE_V2, .gid = {(first), (second), [15] = (i)},    \
		.netdev = "a"                                                                      \
	}
	static const struct {
		GidEntry entries[3];
		uint32_t node_type;
		int64_t index;
		const char *why;
	} cases[] = {
		{{V1, V4(3, .netdev = "a"), V4(5, .netdev = "a")}, NODE_TYPE_CA, 3, NULL},
		{{V4(3, .netdev = "a.5", .vlan_id = 5), V4(5, .netdev = "a")},
		 NODE_TYPE_CA,
		 5,
		 NULL},
		/* what kind of an address it is counts for more than its index */
		{{V6(1, 0xfe, 0x80), V6(3, 0x20, 1)}, NODE_TYPE_CA, 3, NULL},
		{{V6(1, 0xfe, 0x80), V6(2, 0x20, 1), V4(3, .netdev = "a")}, NODE_TYPE_CA, 3, NULL},
		{{V4(3, .netdev = "up"), V4(5, .netdev = "bond0")}, NODE_TYPE_CA, 5, NULL},
		{{V4(3, .namespace = GID_NAMESPACE_OTHER), V1}, NODE_TYPE_CA, 0, NULL},
		{{V4(3, .namespace = GID_NAMESPACE_OTHER)}, NODE_TYPE_CA, -1, "none"},
		{{V4(3, .netdev = "a")}, NODE_TYPE_RNIC, -1, "not-applicable"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const DeviceSnapshot device = {.values.node_type = cases[i].node_type};
		_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_ALL};
		size_t n = 0;

		while (n < 3 && cases[i].entries[n].type)
			n++;
		PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
		PORT_SUPPLY(&s, gid_tbl_len, 128);
		PORT_SUPPLY_TEXT(&s, netdev, "a");
		PORT_SUPPLY_TEXT(&s, netdev_master, "bond0");
		port_derive(&s, &device);
		assert_string_equal(port_unavailable(&s, PORT_ATTR_gid_index)->code,
				    "not-reported");
		assert_return_code(table_make(cases[i].entries, n, sizeof(GidEntry),
					      &s.tables[PORT_TABLE_GIDS]),
				   0);
		mask_set(&s.supplied, PORT_ATTR_gids, true);
		port_derive(&s, &device);
		if (cases[i].why)
			assert_string_equal(port_unavailable(&s, PORT_ATTR_gid_index)->code,
					    cases[i].why);
		else
			assert_int_equal(s.values.gid_index, cases[i].index);
		port_snapshot_done(&s);
	}
}

/* A code is for programs: lower case with hyphens, and each once. */
static void test_codes(_unused_ void **state)
{
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++) {
		const Unavailable *row = &unavailable_rows[i];

		assert_int_equal(row->code[strspn(row->code, "abcdefghijklmnopqrstuvwxyz-")], 0);
		assert_true(*row->code && *row->text && strlen(row->code) < sizeof(AttrText));
		assert_string_equal(unavailable_text(row->code), row->text);
	}
	assert_string_equal(unavailable_text("of-a-later-rdmad"), "of-a-later-rdmad");
}

static bool reasons_differ_by_row(const PortSnapshot *a, const PortSnapshot *b)
{
	unsigned int interfaces = port_interfaces(a) | port_interfaces(b);

	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW &&
		    interfaces >> port_attributes[i].interface & 1 &&
		    port_unavailable(a, i) != port_unavailable(b, i))
			return true;
	return false;
}

/* Each part of a snapshot that a reason depends on makes the reasons differ, by itself. */
static void test_reasons_differ(_unused_ void **state)
{
	const DeviceSnapshot device = {.values.node_type = NODE_TYPE_CA};
	PortSnapshot a = {.parts = READ_VERBS | READ_PKEYS}, others[12];
	size_t n = 0;

	PORT_SUPPLY(&a, link_layer, LINK_LAYER_INFINIBAND);
	PORT_SUPPLY(&a, state, PORT_STATE_ACTIVE);
	PORT_SUPPLY(&a, active_mtu, 99);
	PORT_SUPPLY(&a, fec_corrected_bits, 0);
	port_derive(&a, &device);
	assert_false(port_reasons_differ(&a, &a));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = a;
	mask_set(&others[n++].supplied, PORT_ATTR_neighbor_source, true);
	mask_set(&others[n++].unmeasured, PORT_ATTR_lid, true);
	mask_set(&others[n++].unanswered, PORT_ATTR_lid, true);
	others[n++].parts = READ_VERBS;
	others[n++].failed = READ_PKEYS;
	others[n++].query_error = -EIO;
	others[n++].open_error = -EACCES;
	others[n++].no_neighbor = &unavailable_rows[UNAVAILABLE_NONE];
	others[n++].rail.known = RAIL_NOT_KNOWN;
	others[n++].values.protocol = PROTOCOL_ROCE;
	attr_set_text(&port_attributes[PORT_ATTR_fec_mode], &others[n++].values, "off");
	/* of what is supplied, and valid in none of the two */
	others[n++].values.state = PORT_STATE_DOWN;
	assert_int_equal(n, ARRAY_SIZE(others));
	for (size_t i = 0; i < n; i++) {
		if (!reasons_differ_by_row(&a, &others[i]))
			fail_msg("number %zu makes no difference", i);
		if (!port_reasons_differ(&a, &others[i]) || !port_reasons_differ(&others[i], &a))
			fail_msg("the difference of number %zu is not seen", i);
		texts_release(others[i].values.texts);
	}
}

/* A counter that is full says why there is no ratio, but not of a port on which FEC counts. */
static void test_counter_full(_unused_ void **state)
{
	PortSnapshot a = {.parts = READ_VERBS | READ_SIGNAL, .measured.once = true}, b;

	PORT_SUPPLY(&a, protocol, PROTOCOL_INFINIBAND);
	b = a;
	b.measured.full = true;
	assert_string_equal(port_unavailable(&a, PORT_ATTR_bit_error_ratio)->code, "too-early");
	assert_string_equal(port_unavailable(&b, PORT_ATTR_bit_error_ratio)->code, "counter-full");
	assert_string_equal(port_unavailable(&b, PORT_ATTR_bit_error_margin)->code,
			    "not-applicable");
	assert_true(port_reasons_differ(&a, &b));
	assert_true(port_reasons_differ(&b, &a));
	PORT_SUPPLY(&a, fec_corrected_bits, 0);
	PORT_SUPPLY(&b, fec_corrected_bits, 0);
	assert_string_equal(port_unavailable(&b, PORT_ATTR_bit_error_ratio)->code, "too-early");
	assert_false(port_reasons_differ(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_guid),    cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_no_speed),     cmocka_unit_test(test_configured),
		cmocka_unit_test(test_protocol),     cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_lag_port),     cmocka_unit_test(test_bond),
		cmocka_unit_test(test_opa),	     cmocka_unit_test(test_rates),
		cmocka_unit_test(test_violations),   cmocka_unit_test(test_beyond_verbs),
		cmocka_unit_test(test_unanswered),   cmocka_unit_test(test_reasons_differ),
		cmocka_unit_test(test_gid_index),    cmocka_unit_test(test_codes),
		cmocka_unit_test(test_interfaces),   cmocka_unit_test(test_interface_down),
		cmocka_unit_test(test_counter_full),
	};

	return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
