/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is found in the addresses and keys of several ports: one address on two ports, one subnet on
 * several interfaces, one prefix for two subnets, other P_Keys than those of its like. */

#include "clock.h"
#include "machine.h"

/* Adds a GID of this type, interface and address to PORT, which speaks RoCE then. */
static void add_whole_gid(Object *port, const char *gid, const char *type, const char *netdev,
			  const char *address)
{
	Value *gids = &port->values[PORT_ATTR_gids], *entry;

	set_text(port, PORT_ATTR_protocol, "roce");
	gids->type = VALUE_ARRAY;
	entry = append(gids);
	entry->type = VALUE_STRUCT;
	append_number(entry, gids->n - 1);
	append_text(entry, gid);
	append_text(entry, type);
	append_text(entry, netdev);
	append_text(entry, address);
}

static void add_gid(Object *port, const char *type, const char *netdev, const char *address)
{
	add_whole_gid(port, address, type, netdev, address);
}

static Object *add_address(Machine *m, const char *netdev, const char *address)
{
	Object *port = add(m);

	add_gid(port, "RoCE v2", netdev, address);
	return port;
}

/* Whether it is found of a port with N GIDs and room for MOST. */
static size_t is_full(const char *protocol, size_t n, uint64_t most)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	for (size_t i = 0; i < n; i++)
		add_gid(port, "RoCE v2", "eth0", "192.0.2.1");
	set_text(port, PORT_ATTR_protocol, protocol);
	set_number(port, PORT_ATTR_gid_tbl_len, most);
	return found(&m, "full-gids");
}

static void test_full_gids(_unused_ void **state)
{
	assert_int_equal(is_full("roce", 14, 16), 0);
	assert_int_equal(is_full("roce", 15, 16), 1);
	assert_int_equal(is_full("roce", 16, 16), 1);
	assert_int_equal(is_full("roce", 243, 256), 0);
	assert_int_equal(is_full("roce", 244, 256), 1);
	assert_int_equal(is_full("infiniband", 16, 16), 0);
	/* a driver with one address */
	assert_int_equal(is_full("roce", 2, 2), 0);
}

static void test_same_address(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, many = {};
	Object *port, *other;

	port = add_address(&m, "eth0", "192.0.2.1");
	other = add_address(&m, "eth1", "192.0.2.2");
	assert_int_equal(found(&m, "same-address"), 0);
	add_gid(other, "RoCE v1", "eth1", "192.0.2.1");
	assert_int_equal(found(&m, "same-address"), 1);
	assert_ptr_equal(m.run.findings[0].port, other);
	assert_ptr_equal(m.run.findings[0].device, device_of(&m, other));
	assert_says(&m, 0, "d0/1 has the address 192.0.2.1 too: connections can take the wrong");
	/* twice on one port it is one */
	add_gid(other, "RoCE v2", "eth1", "192.0.2.1");
	assert_int_equal(found(&m, "same-address"), 1);
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "same-address"), 0);
	set_text(port, PORT_ATTR_state, "active");
	set_text(port, PORT_ATTR_protocol, "infiniband");
	assert_int_equal(found(&m, "same-address"), 0);
	set_text(port, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "same-address"), 1);
	assert_int_equal(expect_add(&m.expect, "Ignore=same-address"), 0);
	assert_int_equal(found(&m, "same-address"), 0);
	/* the ports of a bond, another namespace, and link-local ones */
	add_address(&many, "bond0", "192.0.2.1");
	add_address(&many, "bond0", "192.0.2.1");
	assert_int_equal(found(&many, "same-address"), 0);
	add_address(&many, "", "192.0.2.1");
	assert_int_equal(found(&many, "same-address"), 0);
	add_address(&many, "eth0", "fe80::1");
	add_address(&many, "eth1", "fe80::1");
	add_address(&many, "eth2", "169.254.0.1");
	add_address(&many, "eth3", "169.254.0.1");
	add_address(&many, "eth4", "");
	add_address(&many, "eth5", "");
	assert_int_equal(found(&many, "same-address"), 0);
	/* each but the first of those that have it, in their order */
	port = add_address(&many, "eth6", "192.0.2.1");
	other = add_address(&many, "eth7", "192.0.2.1");
	assert_int_equal(found(&many, "same-address"), 2);
	assert_ptr_equal(many.run.findings[0].port, port);
	assert_ptr_equal(many.run.findings[1].port, other);
	assert_says(&many, 1, "d0/1 has the address");
	add_gid(port, "RoCE v2", "eth6", "2001:db8::1");
	add_gid(other, "RoCE v2", "eth7", "2001:db8::1");
	assert_int_equal(found(&many, "same-address"), 3);
	/* of a MAC address too, beside what has none */
	set_text(port, PORT_ATTR_netdev_address, "00:00:5e:00:53:01");
	assert_int_equal(found(&many, "same-address"), 3);
	set_text(other, PORT_ATTR_netdev_address, "00:00:5e:00:53:01");
	set_text(port, PORT_ATTR_netdev, "eth6");
	assert_int_equal(found(&many, "same-address"), 4);
}

/* 192.0.2.x/24 and 198.51.100.x/28 are subnets, 203.0.113.x has none, and others are alone. */
static uint32_t find_mask(_unused_ void *userdata, const char *netdev, uint32_t address)
{
	if (streq(netdev, "none"))
		return 0;
	return address >> 8 == 0xc00002	  ? 0xffffff00
	       : address >> 8 == 0xc63364 ? 0xfffffff0
					  : UINT32_MAX;
}

static void test_same_subnet(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port, *second;

	m.run.ask.subnet_mask = find_mask;
	port = add_address(&m, "eth0", "192.0.2.1");
	add_gid(port, "RoCE v2", "eth0", "192.0.2.7");
	add_gid(port, "RoCE v1", "eth9", "192.0.2.8");
	add_gid(port, "RoCE v2", "none", "192.0.2.9");
	add_gid(port, "RoCE v2", "eth9", "2001:db8::1");
	add_address(&m, "eth2", "203.0.113.1");
	add_address(&m, "eth3", "203.0.113.1");
	assert_int_equal(found(&m, "same-subnet"), 0);
	second = add_address(&m, "eth10", "192.0.2.254");
	assert_int_equal(found(&m, "same-subnet"), 1);
	assert_says(&m, 0, "2 network interfaces are in the IP subnet 192.0.2.0/24");
	assert_says(&m, 0, "the wrong one: eth0 (d0/1), eth10 (d3/1)");
	assert_null(m.run.findings[0].port);
	add_address(&m, "eth2", "192.0.2.77");
	assert_int_equal(found(&m, "same-subnet"), 1);
	assert_says(&m, 0, "3 network interfaces");
	assert_says(&m, 0, "eth0 (d0/1), eth2 (d4/1), eth10 (d3/1)");
	/* two subnets that follow each other; of one of them there is a single one */
	add_address(&m, "eth4", "198.51.100.15");
	add_address(&m, "eth5", "198.51.100.16");
	assert_int_equal(found(&m, "same-subnet"), 1);
	add_address(&m, "eth6", "198.51.100.31");
	assert_int_equal(found(&m, "same-subnet"), 2);
	assert_says(&m, 0, "192.0.2.0/24");
	assert_says(&m, 1, "2 network interfaces are in the IP subnet 198.51.100.16/28");
	assert_says(&m, 1, "wrong one: eth5 (d6/1), eth6 (d7/1)");
	/* who does not carry RDMA */
	set_text(m.run.ports[7], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "same-subnet"), 1);
	set_text(m.run.ports[7], PORT_ATTR_state, "active");
	set_text(m.run.ports[7], PORT_ATTR_protocol, "raw-packet");
	assert_int_equal(found(&m, "same-subnet"), 1);
	set_text(second, PORT_ATTR_state, "down");
	set_text(m.run.ports[4], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "same-subnet"), 0);
}

static void test_ignored_subnet(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	m.run.ask.subnet_mask = find_mask;
	add_address(&m, "eth0", "192.0.2.1");
	add_address(&m, "eth1", "192.0.2.2");
	assert_int_equal(found(&m, "same-subnet"), 1);
	assert_int_equal(expect_add(&m.expect, "Ignore=same-subnet"), 0);
	assert_int_equal(found(&m, "same-subnet"), 0);
}

static Object *add_subnet(Machine *m, const char *protocol, const char *prefix, uint64_t lid,
			  uint64_t sm_lid, const char *adapter)
{
	Object *port = add(m);

	set_text(port, PORT_ATTR_protocol, protocol);
	set_text(port, PORT_ATTR_subnet_prefix, prefix);
	set_number(port, PORT_ATTR_lid, lid);
	set_number(port, PORT_ATTR_sm_lid, sm_lid);
	if (*adapter)
		set_text(device_of(m, port), DEVICE_ATTR_sys_image_guid, adapter);
	return port;
}

#define PREFIX	"fe80:0000:0000:0000"
#define ADAPTER "0002:c903:0000:000"

static void test_prefixes(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, lids = {}, unknown = {}, none = {};
	Object *port;

	/* the permissive LID is nobody's */
	add_subnet(&none, "infiniband", PREFIX, 1, 1, ADAPTER "1");
	add_subnet(&none, "infiniband", PREFIX, 2, 0xffff, ADAPTER "2");
	add_subnet(&none, "infiniband", PREFIX, 0xffff, 3, ADAPTER "3");
	assert_int_equal(found(&none, "same-prefix"), 0);
	/* Omni-Path and InfiniBand call their first subnet the same */
	add_subnet(&m, "opa", PREFIX, 1, 1, ADAPTER "1");
	add_subnet(&m, "infiniband", PREFIX, 2, 2, ADAPTER "2");
	add_subnet(&m, "opa", PREFIX, 3, 1, ADAPTER "3");
	add_subnet(&m, "infiniband", PREFIX, 4, 2, ADAPTER "4");
	assert_int_equal(found(&m, "same-prefix"), 0);
	port = add_subnet(&m, "infiniband", PREFIX, 9, 7, ADAPTER "5");
	assert_int_equal(found(&m, "same-prefix"), 1);
	assert_ptr_equal(m.run.findings[0].port, port);
	assert_ptr_equal(m.run.findings[0].device, device_of(&m, port));
	assert_says(&m, 0,
		    "as that of d3/1, but is another one: the subnet managers have the LIDs "
		    "7 and 2");
	assert_int_equal(expect_add(&m.expect, "Ignore=same-prefix"), 0);
	assert_int_equal(found(&m, "same-prefix"), 0);
	/* one LID on two adapters, whatever functions of one adapter share it */
	add_subnet(&lids, "infiniband", PREFIX, 8, 1, ADAPTER "2");
	add_subnet(&lids, "infiniband", PREFIX, 8, 1, ADAPTER "1");
	add_subnet(&lids, "infiniband", PREFIX, 8, 1, ADAPTER "2");
	assert_int_equal(found(&lids, "same-prefix"), 1);
	assert_says(&lids, 0, "both ports have the LID 8");
	assert_says(&lids, 0, "as that of d0/1");
	/* adapters that do not say which they are may be one */
	add_subnet(&unknown, "infiniband", PREFIX, 8, 1, "");
	add_subnet(&unknown, "infiniband", PREFIX, 8, 1, "");
	assert_int_equal(found(&unknown, "same-prefix"), 0);
}

/* Adds a port with these P_Keys. */
static Object *add_pkeys(Machine *m, const char *keys)
{
	Object *port = add(m);
	Value *table = &port->values[PORT_ATTR_pkeys];

	table->type = VALUE_ARRAY;
	for (size_t i = 0; *keys; keys += strcspn(keys, " "), keys += strspn(keys, " "), i++) {
		Value *entry = append(table);

		entry->type = VALUE_STRUCT;
		append_number(entry, i);
		append_number(entry, strtoul(keys, NULL, 16));
	}
	return port;
}

static void test_pkeys(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *odd, *first;

	first = add_pkeys(&m, "ffff 8012");
	/* in another order they are the same */
	add_pkeys(&m, "8012 ffff");
	add_pkeys(&m, "ffff 8012");
	odd = add_pkeys(&m, "ffff 8012");
	assert_int_equal(found(&m, "odd-one-out"), 0);
	value_done(&odd->values[PORT_ATTR_pkeys]);
	assert_int_equal(found(&m, "odd-one-out"), 0);
	add_pkeys(&m, "8013 ffff");
	assert_int_equal(found(&m, "odd-one-out"), 1);
	assert_ptr_equal(m.run.findings[0].port, m.run.ports[4]);
	assert_says(&m, 0, "Pkeys is 0x8013, 0xffff, but 0x8012, 0xffff on 3 of 3 other ports");
	/* of a link that is down the keys are of before */
	set_text(m.run.ports[4], PORT_ATTR_state, "init");
	assert_int_equal(found(&m, "odd-one-out"), 1);
	assert_says(&m, 0, "State is init, but active on 4 of 4");
	set_text(m.run.ports[4], PORT_ATTR_state, "active");
	value_done(&first->values[PORT_ATTR_pkeys]);
	assert_int_equal(found(&m, "odd-one-out"), 0);
	add_pkeys(&m, "8012 ffff");
	add_pkeys(&m, "8012");
	assert_int_equal(found(&m, "odd-one-out"), 2);
	/* somebody has said that it is meant so */
	assert_int_equal(expect_add(&m.expect, "Pkeys=0x8013"), 0);
	assert_int_equal(found(&m, "odd-one-out"), 0);
}

/* The state of a port that nobody shall look at is no oddity. */
static void test_odd_state(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *odd;

	for (size_t i = 0; i < 4; i++)
		odd = add(&m);
	set_text(odd, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "odd-one-out"), 1);
	set_text(device_of(&m, odd), DEVICE_ATTR_dev_type, "smi");
	assert_int_equal(found(&m, "odd-one-out"), 0);
	set_text(device_of(&m, odd), DEVICE_ATTR_dev_type, "");
	assert_int_equal(expect_add(&m.expect, "Ignore=not-active"), 0);
	assert_int_equal(found(&m, "odd-one-out"), 0);
	expectations_done(&m.expect);
	m.expect.is_check = check_exists;
	/* functions that wait for who uses them, and a device of which not even the driver is
	 * known */
	for (size_t i = 0; i < 4; i++)
		set_text(device_of(&m, m.run.ports[i]), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "odd-one-out"), 0);
	for (size_t i = 0; i < 4; i++)
		set_text(device_of(&m, m.run.ports[i]), DEVICE_ATTR_function, "pf");
	assert_int_equal(found(&m, "odd-one-out"), 1);
	value_done(&device_of(&m, m.run.ports[0])->values[DEVICE_ATTR_driver]);
	assert_int_equal(found(&m, "odd-one-out"), 0);
	set_text(device_of(&m, add(&m)), DEVICE_ATTR_function, "pf");
	assert_int_equal(found(&m, "odd-one-out"), 1);
	/* who was not asked for is not told of, and counts */
	m.run.n_ports = 3;
	assert_int_equal(found(&m, "odd-one-out"), 0);
	m.run.n_ports = 4;
	assert_int_equal(found(&m, "odd-one-out"), 1);
	assert_says(&m, 0, "on 3 of 3 other ports");
	m.run.n_ports = 5;
}

/* The port has 192.0.2.1 on NETDEV; a GID went N times so long ago, and another that went OTHERS
 * times; DOWNS of that with the link: what is found; "": nothing. */
static void assert_address_flaps(size_t n, const char *gid, uint64_t ago, size_t others,
				 size_t downs, const char *netdev, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	Value *history;

	add_gid(port, "RoCE v2", netdev, "192.0.2.1");
	set_number(port, PORT_ATTR_gid_generation, 4);
	for (size_t i = 0; i < n || i < others; i++) {
		if (i < n)
			add_evidence(&m, "Gids", ago, gid, "");
		if (i < others)
			add_evidence(&m, "Gids", 0, "[5] 2001:db8::7", "");
	}
	m.run.flap = (FlapLimit){FLAP_LIMIT, FLAP_LIMIT_USEC, FLAP_LIMIT_TEXT};
	history = history_of(&m, port, "LinkDowns");
	for (size_t i = 0; i < downs; i++)
		append_number(history, realtime_now_usec());
	assert_int_equal(found(&m, "address-flap"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_address_flaps(_unused_ void **state)
{
	static const char gid[] = "[3] ::ffff:192.0.2.1";

	assert_address_flaps(4, gid, 0, 3, 0, "eth0", "192.0.2.1 has gone 4 times in 1h");
	assert_address_flaps(3, gid, 0, 3, 0, "eth0", "");
	assert_address_flaps(4, gid, HOUR + USEC_PER_SEC, 0, 0, "eth0", "");
	assert_address_flaps(4, "[3] fe80::1", 0, 0, 0, "eth0", "");
	assert_address_flaps(7, gid, 0, 0, 3, "eth0", "has gone 4 times");
	assert_address_flaps(6, gid, 0, 0, 3, "eth0", "");
	assert_address_flaps(4, gid, 0, 0, 9, "eth0", "");
	assert_address_flaps(4, gid, 0, 0, 0, "", "");
	assert_address_flaps(4, "[3] ::ffff:192.0.2.9", 0, 0, 0, "eth0", "");
}

/* Three addresses went so often: one is of a container that is not there now, one reaches
 * neighbours only. One has moved to another index. An interface that is a member of a bond may lose
 * its addresses to another member. */
static void test_other_flaps(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	add_gid(port, "RoCE v2", "eth0", "192.0.2.1");
	set_number(port, PORT_ATTR_gid_generation, 8);
	add_gid(port, "RoCE v2", "eth0", "fe80::1");
	add_gid(port, "RoCE v2", "eth0", "192.0.2.8");
	for (size_t i = 0; i < 4; i++) {
		add_evidence(&m, "Gids", 0, "[4] ::ffff:192.0.2.9", "");
		add_evidence(&m, "Gids", 0, "[2] fe80::1", "");
		add_evidence(&m, "Gids", 0, "[5] ::ffff:192.0.2.8", "[5] 2001:db8::7");
	}
	for (size_t i = 0; i < 4; i++)
		add_evidence(&m, "Gids", 0, "[3] ::ffff:192.0.2.1", "");
	m.run.flap = (FlapLimit){FLAP_LIMIT, FLAP_LIMIT_USEC, FLAP_LIMIT_TEXT};
	assert_int_equal(found(&m, "address-flap"), 1);
	assert_says(&m, 0, "192.0.2.1 has gone 4 times in 1h");
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	assert_int_equal(found(&m, "address-flap"), 1);
	set_text(port, PORT_ATTR_bond_mode, "active-backup");
	assert_int_equal(found(&m, "address-flap"), 0);
	set_text(port, PORT_ATTR_bond_mode, "802.3ad");
	m.run.flap.n = 0;
	assert_int_equal(found(&m, "address-flap"), 0);
}

/* A port of RoCE that has never been active, beside another adapter that is: whoever has given its
 * interface an address means to use it. */
static void test_configured(_unused_ void **state)
{
	static const struct {
		const char *gid, *address;
		bool is_up, is_found;
	} ports[] = {
		{"0000:0000:0000:0000:0000:ffff:c000:0207", "192.0.2.7", true, true},
		{"2001:0db8:0000:0000:0000:0000:0000:0007", "2001:db8::7", true, true},
		{"fe80:0000:0000:0000:0000:00ff:fe00:0007", "fe80::ff:fe00:7", true, false},
		{"0000:0000:0000:0000:0000:ffff:c000:0207", "192.0.2.7", false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		_cleanup_machine_ Machine m = {};
		Object *port;

		set_text(device_of(&m, add(&m)), DEVICE_ATTR_hca_type, "MT4125");
		port = add(&m);
		set_text(device_of(&m, port), DEVICE_ATTR_hca_type, "MT4129");
		set_text(port, PORT_ATTR_state, "down");
		set_text(port, PORT_ATTR_link_layer, "ethernet");
		set_number(port, PORT_ATTR_link_downs, 0);
		port->values[PORT_ATTR_netdev_up] =
			(Value){.type = VALUE_BOOL, .boolean = ports[i].is_up};
		add_whole_gid(port, ports[i].gid, "RoCE v2", "eth0", ports[i].address);
		assert_int_equal(found(&m, "not-active"), ports[i].is_found);
		/* one that is a member of a bridge is used without an address */
		set_text(port, PORT_ATTR_netdev_master, "br0");
		assert_int_equal(found(&m, "not-active"), ports[i].is_up);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_address),  cmocka_unit_test(test_full_gids),
		cmocka_unit_test(test_same_subnet),   cmocka_unit_test(test_ignored_subnet),
		cmocka_unit_test(test_prefixes),      cmocka_unit_test(test_pkeys),
		cmocka_unit_test(test_odd_state),     cmocka_unit_test(test_configured),
		cmocka_unit_test(test_address_flaps), cmocka_unit_test(test_other_flaps),
	};

	return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
