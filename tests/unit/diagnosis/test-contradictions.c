/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is found where two things that are known of a port, of two ports, or of both ends of a link
 * say different things: each with a healthy twin. */

#include "machine.h"

/* What is found of a port in this state whose physical state is that; "": nothing. */
static void assert_linked(const char *is, const char *physical, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_state, is);
	if (physical)
		set_text(port, PORT_ATTR_phys_state, physical);
	assert_int_equal(found(&m, "not-linked"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
	assert_int_equal(expect_add(&m.expect, "PhysicalState=polling"), 0);
	assert_int_equal(found(&m, "not-linked"), 0);
}

static void test_physical_state(_unused_ void **state)
{
	assert_linked("active", "sleep", "says that it is active, and its link is sleep");
	assert_linked("active", "polling", "says that it is active, and its link is polling");
	assert_linked("active", "disabled", "its link is disabled");
	assert_linked("active-defer", "disabled", "says that it is active-defer");
	assert_linked("active", "link-up", "");
	/* on its way to another speed, or not known */
	assert_linked("active", "link-error-recovery", "");
	assert_linked("active", NULL, "");
	assert_linked("down", "polling", "");
	assert_linked("init", "disabled", "");
}

/* How many lanes of this speed are found to be too few; "": none. */
static void assert_lanes(uint64_t lanes, const char *speed, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_number(port, PORT_ATTR_active_width, lanes);
	set_text(port, PORT_ATTR_link_speed, speed);
	assert_int_equal(found(&m, "few-lanes"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
	/* on Ethernet, on a link that is down, and where somebody has said how it is to be */
	set_text(port, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "few-lanes"), 0);
	set_text(port, PORT_ATTR_protocol, "infiniband");
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "few-lanes"), 0);
	set_text(port, PORT_ATTR_state, "active");
	assert_int_equal(expect_add(&m.expect, "Rate=100G"), 0);
	assert_int_equal(found(&m, "few-lanes"), 0);
	expectations_done(&m.expect);
	m.expect.is_check = check_exists;
	assert_int_equal(expect_add(&m.expect, "LinkWidth=1"), 0);
	assert_int_equal(found(&m, "few-lanes"), 0);
}

static void test_lanes(_unused_ void **state)
{
	assert_lanes(1, "NDR", "the link has 1 lane at NDR, and should have 4");
	assert_lanes(2, "EDR", "the link has 2 lanes at EDR, and should have 4");
	assert_lanes(2, "FDR", "the link has 2 lanes at FDR");
	assert_lanes(3, "XDR", "the link has 3 lanes at XDR");
	/* half of a port of the switch */
	assert_lanes(2, "HDR", "");
	assert_lanes(2, "NDR", "");
	assert_lanes(2, "XDR", "");
	assert_lanes(4, "EDR", "");
	assert_lanes(8, "QDR", "");
	assert_lanes(0, "EDR", "");
}

/* CHECK SAYS something of PORT, or nothing if that is ""; and nothing while the link is down, while
 * the function waits, and when EXPECTED is. */
static void assert_in_use(Machine *m, Object *port, const char *check, const char *says,
			  const char *expected)
{
	assert_int_equal(found(m, check), *says ? 1 : 0);
	if (*says)
		assert_says(m, 0, says);
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(m, check), 0);
	set_text(port, PORT_ATTR_state, "active");
	set_text(device_of(m, port), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(m, check), 0);
	set_text(device_of(m, port), DEVICE_ATTR_function, "pf");
	assert_int_equal(expect_add(&m->expect, expected), 0);
	assert_int_equal(found(m, check), 0);
}

/* A link of Ethernet at 10 Gb/s whose ends offer these speeds; "": nothing is found. */
static void assert_offered(const char *port_offers, const char *partner_offers, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, "roce");
	set_number(port, PORT_ATTR_netdev_speed, UINT64_C(10000000000));
	set_text(port, PORT_ATTR_advertised_speeds, port_offers);
	set_text(port, PORT_ATTR_partner_speeds, partner_offers);
	assert_in_use(&m, port, "slow", says, "NetdevSpeed=10G");
}

static void test_offered_speed(_unused_ void **state)
{
	assert_offered("1G,10G,25G", "", "the link runs at 10 Gb/s, the port offers 25 Gb/s");
	assert_offered("2.5G,10G,25G", "10G,25G", "25 Gb/s, and so does the other end");
	assert_offered("10G,25G,100G", "10G,25G", "the port offers 25 Gb/s, and so does");
	/* the other end cannot, somebody has set the speed, and none is offered */
	assert_offered("10G,25G", "1G,10G", "");
	assert_offered("1G,2.5G,10G", "", "");
	assert_offered("", "25G", "");
}

/* What is found of a port that runs at IS Gb/s with a module for MOST Gb/s (0: not known), where
 * the ends offer these speeds; "": nothing. */
static void assert_module(uint64_t is, uint64_t most, const char *port_offers,
			  const char *partner_offers, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, "roce");
	set_number(port, PORT_ATTR_data_rate, is * UINT64_C(1000000000));
	if (most > 0)
		set_number(port, PORT_ATTR_cable_max_rate, most * UINT64_C(1000000000));
	set_text(port, PORT_ATTR_advertised_speeds, port_offers);
	set_text(port, PORT_ATTR_partner_speeds, partner_offers);
	assert_in_use(&m, port, "wrong-cable", says, "CableMaxRate=10G");
}

static void test_wrong_cable(_unused_ void **state)
{
	/* the link runs above it, whatever is offered */
	assert_module(100, 40, "", "", "made for 40 Gb/s, the link runs at 100 Gb/s");
	assert_module(100, 40, "40G,100G", "40G,100G", "the link runs at 100 Gb/s");
	assert_module(40, 40, "", "", "");
	/* both ends offer more */
	assert_module(10, 10, "10G,25G", "10G,25G",
		      "made for 10 Gb/s, the ends of the link offer 25");
	assert_module(1, 10, "10G,25G", "1G,25G", "the ends of the link offer 25 Gb/s");
	assert_module(10, 25, "10G,25G", "10G,25G", "");
	/* a slow module at a slow switch, at one that is not heard, and at a port set to its speed
	 */
	assert_module(10, 10, "10G,25G", "1G,10G", "");
	assert_module(10, 10, "10G,25G", "", "");
	assert_module(10, 10, "10G", "10G,25G", "");
	assert_module(10, 10, "", "10G,25G", "");
	/* no speed above it is one of both */
	assert_module(10, 10, "10G,25G", "10G,40G", "");
	assert_module(100, 0, "100G", "100G", "");
}

/* The rate of a LAG is that of its bond, which has a module for each member. */
static void test_cable_of_lag(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, "roce");
	set_number(port, PORT_ATTR_data_rate, UINT64_C(200000000000));
	set_number(port, PORT_ATTR_cable_max_rate, UINT64_C(100000000000));
	assert_int_equal(found(&m, "wrong-cable"), 1);
	set_number(port, PORT_ATTR_bond_active_rate, UINT64_C(200000000000));
	assert_int_equal(found(&m, "wrong-cable"), 0);
	/* what the ends of a link offer is of one member */
	set_text(port, PORT_ATTR_advertised_speeds, "100G");
	set_text(port, PORT_ATTR_partner_speeds, "100G,200G");
	assert_int_equal(found(&m, "wrong-cable"), 0);
	set_text(port, PORT_ATTR_advertised_speeds, "100G,200G");
	assert_int_equal(found(&m, "wrong-cable"), 1);
	assert_says(&m, 0, "made for 100 Gb/s, the ends of the link offer 200 Gb/s");
}

/* A link at NDR with two lanes, of which the other end says that so many are enabled. */
static size_t shared(const char *enabled)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_number(port, PORT_ATTR_active_width, 2);
	set_text(port, PORT_ATTR_link_speed, "NDR");
	set_text(port, PORT_ATTR_neighbor_widths, enabled);
	return found(&m, "few-lanes");
}

static void test_other_end(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	assert_int_equal(shared("1,2"), 0);
	assert_int_equal(shared("1,2,4"), 1);
	assert_int_equal(shared("1,8"), 1);
	/* Omni-Path says 1 of two and three too */
	set_text(port, PORT_ATTR_protocol, "opa");
	set_number(port, PORT_ATTR_active_width, 1);
	set_text(port, PORT_ATTR_link_speed, "EDR");
	assert_int_equal(found(&m, "few-lanes"), 1);
	assert_says(&m, 0, "the link has 1 to 3 lanes at EDR, and should have 4");
	set_number(port, PORT_ATTR_active_width, 4);
	assert_int_equal(found(&m, "few-lanes"), 0);
}

static void set_bool(Object *port, PortAttr row, bool is)
{
	port->values[row] = (Value){.type = VALUE_BOOL, .boolean = is};
}

/* A RoCE port that says that it is active, and what its interface says. */
static void test_netdev(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, "roce");
	set_text(port, PORT_ATTR_netdev, "eth0");
	set_bool(port, PORT_ATTR_netdev_up, true);
	set_bool(port, PORT_ATTR_netdev_carrier, true);
	assert_int_equal(found(&m, "not-linked"), 0);
	set_bool(port, PORT_ATTR_netdev_carrier, false);
	assert_int_equal(found(&m, "not-linked"), 1);
	assert_says(&m, 0, "that it is active, and its interface eth0 has no carrier");
	set_text(port, PORT_ATTR_netdev_master, "vrf1");
	assert_int_equal(found(&m, "not-linked"), 1);
	/* another member may carry; if it is the bond itself, none does */
	set_text(port, PORT_ATTR_bond, "bond0");
	assert_int_equal(found(&m, "not-linked"), 0);
	set_text(port, PORT_ATTR_bond, "eth0");
	assert_int_equal(found(&m, "not-linked"), 1);
	set_text(port, PORT_ATTR_bond, "");
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "not-linked"), 0);
	set_text(port, PORT_ATTR_state, "active");
	set_bool(port, PORT_ATTR_netdev_up, false);
	set_bool(port, PORT_ATTR_netdev_carrier, true);
	assert_int_equal(found(&m, "not-linked"), 1);
	assert_says(&m, 0, "its interface eth0 is set down");
}

static void test_no_guid(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *device = device_of(&m, port);

	assert_int_equal(found(&m, "no-guid"), 0);
	/* not read is not none */
	set_reason(port, PORT_ATTR_port_guid, "not-reported");
	set_reason(device, DEVICE_ATTR_node_guid, "not-read");
	assert_int_equal(found(&m, "no-guid"), 0);
	value_done(&device->values[DEVICE_ATTR_unavailable]);
	set_reason(device, DEVICE_ATTR_node_guid, "none");
	assert_int_equal(found(&m, "no-guid"), 1);
	assert_says(&m, 0, "the GUID of its device is 0");
	assert_ptr_equal(m.run.findings[0].row, &device_attributes[DEVICE_ATTR_node_guid]);
	value_done(&port->values[PORT_ATTR_unavailable]);
	set_reason(port, PORT_ATTR_port_guid, "none");
	assert_int_equal(found(&m, "no-guid"), 1);
	assert_says(&m, 0, "the GUID of the port is 0");
	assert_ptr_equal(m.run.findings[0].row, &port_attributes[PORT_ATTR_port_guid]);
	set_text(port, PORT_ATTR_protocol, "opa");
	assert_int_equal(found(&m, "no-guid"), 1);
	/* RoCE has no use for it; who is down gets one, perhaps */
	set_text(port, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "no-guid"), 0);
	set_text(port, PORT_ATTR_protocol, "infiniband");
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "no-guid"), 0);
}

#define GUID(n) "0002:c903:0000:000" #n

/* Adds a port of a device of its own. */
static Object *add_guids(Machine *m, const char *of_device, const char *of_port)
{
	Object *port = add(m);

	set_text(device_of(m, port), DEVICE_ATTR_node_guid, of_device);
	set_text(port, PORT_ATTR_port_guid, of_port);
	return port;
}

static void test_same_guids(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, three = {}, own = {};
	Object *first, *second, *third;

	first = add_guids(&m, GUID(1), GUID(2));
	second = add_guids(&m, GUID(3), GUID(4));
	assert_int_equal(found(&m, "same-guid"), 0);
	set_text(second, PORT_ATTR_port_guid, GUID(2));
	assert_int_equal(found(&m, "same-guid"), 1);
	assert_ptr_equal(m.run.findings[0].port, second);
	assert_ptr_equal(m.run.findings[0].device, device_of(&m, second));
	assert_ptr_equal(m.run.findings[0].row, &port_attributes[PORT_ATTR_port_guid]);
	assert_says(&m, 0, "the GUID " GUID(2) ", as d0/1 has");
	/* Ethernet, planes, and functions that nobody uses say nothing */
	set_text(first, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "same-guid"), 0);
	set_text(first, PORT_ATTR_protocol, "opa");
	assert_int_equal(found(&m, "same-guid"), 1);
	set_text(device_of(&m, first), DEVICE_ATTR_dev_type, "smi");
	assert_int_equal(found(&m, "same-guid"), 0);
	set_text(device_of(&m, first), DEVICE_ATTR_dev_type, "");
	set_text(first, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "same-guid"), 1);
	set_text(device_of(&m, first), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "same-guid"), 0);
	set_text(first, PORT_ATTR_state, "active");
	assert_int_equal(found(&m, "same-guid"), 1);
	/* that of the devices, and one finding for each port */
	set_text(device_of(&m, second), DEVICE_ATTR_node_guid, GUID(1));
	assert_int_equal(found(&m, "same-guid"), 1);
	set_text(second, PORT_ATTR_port_guid, GUID(4));
	assert_int_equal(found(&m, "same-guid"), 1);
	assert_ptr_equal(m.run.findings[0].row, &device_attributes[DEVICE_ATTR_node_guid]);
	value_done(&second->values[PORT_ATTR_port_guid]);
	assert_int_equal(found(&m, "same-guid"), 1);
	value_done(&device_of(&m, second)->values[DEVICE_ATTR_node_guid]);
	assert_int_equal(found(&m, "same-guid"), 0);
	/* each but the first of three, in their order */
	first = add_guids(&three, GUID(1), GUID(9));
	second = add_guids(&three, GUID(2), GUID(9));
	third = add_guids(&three, GUID(3), GUID(9));
	assert_int_equal(found(&three, "same-guid"), 2);
	assert_ptr_equal(three.run.findings[0].port, second);
	assert_ptr_equal(three.run.findings[1].port, third);
	/* a port and its own device mostly have one GUID */
	first = add_guids(&own, GUID(1), GUID(1));
	add_guids(&own, GUID(2), GUID(2));
	assert_int_equal(found(&own, "same-guid"), 0);
	second = add_second(&own, first);
	set_text(second, PORT_ATTR_port_guid, GUID(3));
	assert_int_equal(found(&own, "same-guid"), 0);
	/* and two ports of it do not */
	set_text(second, PORT_ATTR_port_guid, GUID(1));
	assert_int_equal(found(&own, "same-guid"), 1);
	assert_ptr_equal(own.run.findings[0].port, second);
	assert_says(&own, 0, "as d0/1 has");
	/* the port of one device has the GUID of another device */
	set_text(second, PORT_ATTR_port_guid, GUID(2));
	assert_int_equal(found(&own, "same-guid"), 1);
}

/* The GUID of a device whose first port is of no use to anybody counts too. */
static void test_same_guid_of_function(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *first = add_guids(&m, GUID(1), GUID(2)), *second = add_second(&m, first), *third;

	set_text(second, PORT_ATTR_port_guid, GUID(3));
	set_text(first, PORT_ATTR_state, "down");
	set_text(device_of(&m, first), DEVICE_ATTR_function, "vf");
	third = add_guids(&m, GUID(1), GUID(4));
	assert_int_equal(found(&m, "same-guid"), 1);
	assert_ptr_equal(m.run.findings[0].port, third);
	assert_says(&m, 0, "as d0/2 has");
}

static void add_member(Object *port, const char *name, const char *state)
{
	Value *all = &port->values[PORT_ATTR_bond_members], *member;

	all->type = VALUE_ARRAY;
	member = append(all);
	member->type = VALUE_STRUCT;
	append_number(member, all->n);
	append_text(member, name);
	append_text(member, state);
	append(member)->type = VALUE_DICT;
}

static void set_speed(Object *port, size_t i, uint64_t speed)
{
	Value *tail = &port->values[PORT_ATTR_bond_members].items[i].items[3];

	value_done(tail);
	tail->type = VALUE_DICT;
	append_text(tail, "Speed");
	append_number(tail, speed);
}

static void test_bond_of_unequal(_unused_ void **state)
{
	static const char *const by_speed[] = {"active-backup", "broadcast", "balance-tlb",
					       "balance-alb", ""};
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, "roce");
	set_text(port, PORT_ATTR_bond, "bond0");
	set_text(port, PORT_ATTR_bond_mode, "balance-xor");
	add_member(port, "eth0", "active");
	add_member(port, "eth1", "active");
	assert_int_equal(found(&m, "bond-member"), 0);
	set_speed(port, 0, 25000000000);
	assert_int_equal(found(&m, "bond-member"), 0);
	/* LACP needs the speed */
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "1 of 2 members of bond0 is slower: eth1 (no speed);");
	set_text(port, PORT_ATTR_bond_mode, "balance-xor");
	set_speed(port, 1, 25000000000);
	assert_int_equal(found(&m, "bond-member"), 0);
	set_speed(port, 1, 10000000000);
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "1 of 2 members of bond0 is slower: eth1 (10 Gb/s);");
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	assert_int_equal(found(&m, "bond-member"), 1);
	for (size_t i = 0; i < ARRAY_SIZE(by_speed); i++) {
		set_text(port, PORT_ATTR_bond_mode, by_speed[i]);
		assert_int_equal(found(&m, "bond-member"), 0);
	}
}

static void test_bond(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	assert_int_equal(found(&m, "bond-member"), 0);
	set_text(port, PORT_ATTR_protocol, "roce");
	set_text(port, PORT_ATTR_bond, "bond0");
	set_text(port, PORT_ATTR_bond_mode, "active-backup");
	set_number(port, PORT_ATTR_bond_rate, 200000000000);
	set_number(port, PORT_ATTR_bond_active_rate, 100000000000);
	add_member(port, "eth0", "active");
	add_member(port, "eth1", "backup");
	assert_int_equal(found(&m, "bond-member"), 0);
	/* who stands by where all are meant to carry */
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0,
		    "1 of 2 members of bond0 carries nothing: eth1 (backup); BondActiveRate "
		    "is 100 Gb/s, BondRate 200 Gb/s");
	set_text(port, PORT_ATTR_bond_mode, "active-backup");
	add_member(port, "eth2", "down");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "1 of 3 members of bond0 carries nothing: eth2 (down);");
	add_member(port, "eth3", "down");
	add_member(port, "eth4", "down");
	add_member(port, "eth5", "down");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0,
		    "4 of 6 members of bond0 carry nothing: eth2 (down), eth3 (down), eth4 "
		    "(down), eth5 (down); Bond");
	add_member(port, "eth6", "down");
	add_member(port, "eth7", "down");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "eth5 (down), ...; Bond");
	/* the first one too */
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	value_done(&port->values[PORT_ATTR_bond_members]);
	add_member(port, "eth0", "down");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "nothing: eth0 (down)");
	/* a port that is down: no member carries, and then another one does */
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "bond-member"), 0);
	add_member(port, "eth1", "active");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_int_equal(expect_add(&m.expect, "BondActiveRate=100G"), 0);
	assert_int_equal(found(&m, "bond-member"), 0);
	expectations_done(&m.expect);
	m.expect.is_check = check_exists;
	assert_int_equal(expect_add(&m.expect, "BondMembers=eth0"), 0);
	assert_int_equal(found(&m, "bond-member"), 0);
}

static void test_neighbor_mtu(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_number(port, PORT_ATTR_netdev_mtu, 9000);
	assert_int_equal(found(&m, "neighbor-mtu"), 0);
	set_text(port, PORT_ATTR_neighbor_chassis, "00:11:22:33:44:55");
	set_text(port, PORT_ATTR_neighbor_port, "swp7");
	set_number(port, PORT_ATTR_neighbor_frame, 9000);
	assert_int_equal(found(&m, "neighbor-mtu"), 0);
	set_number(port, PORT_ATTR_neighbor_frame, 8999);
	assert_int_equal(found(&m, "neighbor-mtu"), 1);
	assert_says(&m, 0, "the MTU is 9000, and 00:11:22:33:44:55 swp7 takes frames of 8999");
	set_text(port, PORT_ATTR_neighbor, "leaf1");
	assert_int_equal(found(&m, "neighbor-mtu"), 1);
	assert_says(&m, 0, "and leaf1 swp7 takes");
	value_done(&port->values[PORT_ATTR_netdev_mtu]);
	assert_int_equal(found(&m, "neighbor-mtu"), 0);
	set_number(port, PORT_ATTR_netdev_mtu, 9000);
	assert_int_equal(expect_add(&m.expect, "NeighborMaxFrameSize=1"), 0);
	assert_int_equal(found(&m, "neighbor-mtu"), 0);
}

static void test_neighbor_pfc(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_pfc_enabled, "3");
	assert_int_equal(found(&m, "neighbor-pfc"), 0);
	set_text(port, PORT_ATTR_neighbor_pfc, "3");
	set_text(port, PORT_ATTR_neighbor, "leaf1");
	set_text(port, PORT_ATTR_neighbor_port, "swp7");
	assert_int_equal(found(&m, "neighbor-pfc"), 0);
	set_text(port, PORT_ATTR_neighbor_pfc, "3 4");
	assert_int_equal(found(&m, "neighbor-pfc"), 1);
	assert_says(&m, 0, "PFC is enabled for the priorities 3 here, and 3 4 at leaf1 swp7");
	set_text(port, PORT_ATTR_neighbor_pfc, "");
	assert_int_equal(found(&m, "neighbor-pfc"), 1);
	value_done(&port->values[PORT_ATTR_pfc_enabled]);
	assert_int_equal(found(&m, "neighbor-pfc"), 0);
}

/* Adds a port of the function at PCI of an adapter of MODEL, which is active or has never been. */
static void add_function(Machine *m, const char *pci, const char *model, bool is_active)
{
	Object *port = add(m), *device = device_of(m, port);

	set_text(device, DEVICE_ATTR_pci_address, pci);
	set_text(device, DEVICE_ATTR_hca_type, model);
	set_text(port, PORT_ATTR_state, is_active ? "active" : "down");
	set_number(port, PORT_ATTR_link_downs, 0);
}

/* A port of InfiniBand without a table of GIDs is no endpoint, unless it says that it is active. */
static void test_no_endpoint(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	add_function(&m, "0000:c1:00.0", "MT4129", true);
	add_function(&m, "0000:c2:00.0", "MT4131", false);
	set_text(m.run.ports[1], PORT_ATTR_protocol, "infiniband");
	assert_int_equal(found(&m, "not-active"), 1);
	set_number(m.run.ports[1], PORT_ATTR_gid_tbl_len, 8);
	assert_int_equal(found(&m, "not-active"), 1);
	set_number(m.run.ports[1], PORT_ATTR_gid_tbl_len, 0);
	assert_int_equal(found(&m, "not-active"), 0);
	set_text(m.run.ports[1], PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "not-active"), 1);
}

/* A port that nobody has ever used is not found, as far as nothing says that it is used. */
static void test_unused(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, alone = {}, guids = {};

	add_function(&m, "0000:c1:00.0", "MT4129", true);
	add_function(&m, "0000:c1:00.1", "MT4129", false);
	assert_int_equal(found(&m, "not-active"), 0);
	/* the same place on an adapter of another model, and another place on one of this model */
	add_function(&m, "0000:d1:00.1", "MT4125", true);
	add_function(&m, "0000:e1:00.0", "MT4129", true);
	assert_int_equal(found(&m, "not-active"), 0);
	add_function(&m, "0000:e1:00.1", "MT4129", true);
	assert_int_equal(found(&m, "not-active"), 1);
	assert_ptr_equal(m.run.findings[0].port, m.run.ports[1]);
	/* that was used too */
	set_text(m.run.ports[4], PORT_ATTR_state, "down");
	set_number(m.run.ports[4], PORT_ATTR_link_downs, 1);
	assert_int_equal(found(&m, "not-active"), 2);
	/* adapters with one port each */
	add_function(&alone, "0000:c1:00.0", "MT4129", true);
	add_function(&alone, "0000:c2:00.0", "MT4129", false);
	assert_int_equal(found(&alone, "not-active"), 1);
	/* one adapter, as its GUID says, and whichever port is used */
	add_function(&guids, "0000:05:00.0", "MT4129", false);
	add_function(&guids, "0000:06:00.0", "MT4129", true);
	for (size_t i = 0; i < 2; i++)
		set_text(device_of(&guids, guids.objects.items[2 * i + 1]),
			 DEVICE_ATTR_sys_image_guid, "0002:c903:0000:0001");
	assert_int_equal(found(&guids, "not-active"), 0);
	/* a physical function is a switch for the virtual ones of its adapter */
	set_text(guids.run.ports[0], PORT_ATTR_protocol, "raw-packet");
	set_number(guids.run.ports[0], PORT_ATTR_link_downs, 1);
	assert_int_equal(found(&guids, "not-active"), 0);
	set_text(device_of(&guids, guids.run.ports[1]), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&guids, "not-active"), 1);
	set_number(guids.run.ports[0], PORT_ATTR_port_num, 2);
	assert_int_equal(found(&guids, "not-active"), 0);
	set_number(guids.run.ports[0], PORT_ATTR_port_num, 1);
	set_number(guids.run.ports[0], PORT_ATTR_link_downs, 0);
	assert_int_equal(found(&guids, "not-active"), 0);
	set_text(guids.run.ports[0], PORT_ATTR_protocol, "infiniband");
	set_text(device_of(&guids, guids.run.ports[1]), DEVICE_ATTR_function, "pf");
	/* the driver gives the GUID to all adapters of the machine */
	for (size_t i = 0; i < 2; i++)
		set_text(device_of(&guids, guids.objects.items[2 * i + 1]), DEVICE_ATTR_driver,
			 "hfi1");
	assert_int_equal(found(&guids, "not-active"), 1);
	for (size_t i = 0; i < 2; i++)
		set_text(device_of(&guids, guids.objects.items[2 * i + 1]), DEVICE_ATTR_driver,
			 "mlx5_core");
	/* it has been used */
	set_number(guids.run.ports[0], PORT_ATTR_link_downs, 1);
	assert_int_equal(found(&guids, "not-active"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_physical_state), cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_offered_speed),  cmocka_unit_test(test_other_end),
		cmocka_unit_test(test_netdev),	       cmocka_unit_test(test_no_endpoint),
		cmocka_unit_test(test_unused),	       cmocka_unit_test(test_no_guid),
		cmocka_unit_test(test_same_guids),     cmocka_unit_test(test_same_guid_of_function),
		cmocka_unit_test(test_bond),	       cmocka_unit_test(test_bond_of_unequal),
		cmocka_unit_test(test_wrong_cable),    cmocka_unit_test(test_cable_of_lag),
		cmocka_unit_test(test_neighbor_mtu),   cmocka_unit_test(test_neighbor_pfc),
	};

	return cmocka_run_group_tests_name("contradictions", tests, NULL, NULL);
}
