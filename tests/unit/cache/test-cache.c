/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an answer changes, and what it does not. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "test-cache.h"
#include "decode.h"
#include "names.h"

static void assert_changed(const PortChange *change, const PortAttr *expected, size_t n)
{
	AttrMask mask = {};

	for (size_t i = 0; i < n; i++)
		mask_set(&mask, expected[i], true);
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (mask_has(&mask, a) != mask_has(&change->changed, a))
			fail_msg("%s is %sin the mask", port_attributes[a].name,
				 mask_has(&mask, a) ? "not " : "");
}

static void test_added_and_unchanged(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortChange change = apply(p, ib_port(ACTIVE), REASON_BIT(REASON_STARTUP));
	PortSnapshot s = ib_port(ACTIVE);

	assert_int_equal(change.op, CACHE_ADDED);
	assert_false(port_change_is_of_state(&change));
	assert_false(change.subnet_reconfigured);
	assert_int_equal(port_interfaces(&p->now), 1U << INTERFACE_PORT |
							   1U << INTERFACE_INFINIBAND |
							   1U << INTERFACE_NEIGHBOR);
	/* XDR, 4 lanes: the extended code counts, not the clamped one */
	assert_int_equal(p->now.values.rate, UINT64_C(800000000000));
	assert_int_equal(p->now.values.port_guid, UINT64_C(0x0002c90300000001));

	/* violations counted in the meantime are no change */
	s.values.bad_pkey_cntr = 99;
	change = apply(p, s, REASON_BIT(REASON_RECONCILE));
	assert_int_equal(change.op, CACHE_UNCHANGED);
	assert_int_equal(p->now.values.bad_pkey_cntr, 99);
	assert_int_equal(p->now.values.generation, 1);
}

static bool gains_nothing(const PortChange *c)
{
	AttrMask gained = mask_without(c->port->now.valid, c->was.valid);

	return mask_is_empty(&gained);
}

static void test_link_down(void **state)
{
	static const PortAttr expected[] = {
		PORT_ATTR_state,      PORT_ATTR_active_mtu,  PORT_ATTR_active_width,
		PORT_ATTR_link_speed, PORT_ATTR_rate,	     PORT_ATTR_data_rate,
		PORT_ATTR_lid,	      PORT_ATTR_lmc,	     PORT_ATTR_sm_lid,
		PORT_ATTR_sm_sl,      PORT_ATTR_unavailable, PORT_ATTR_generation};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE), 0);
	change = apply(p, ib_port(DOWN), REASON_BIT(REASON_PORT_ERROR));
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_true(port_change_is_of_state(&change));
	assert_int_equal(change.was.values.state, ACTIVE);
	assert_changed(&change, expected, ARRAY_SIZE(expected));
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_lid)->code, "not-configured");
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_active_mtu)->code, "link-down");
	assert_null(port_unavailable(&p->now, PORT_ATTR_state));
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_max_mtu)->code, "not-reported");
	assert_true(gains_nothing(&change));

	/* While it is down, what the driver says of the LID is no change. */
	PortSnapshot s = ib_port(DOWN);
	s.values.lid = 0xffff;
	assert_int_equal(apply(p, s, 0).op, CACHE_UNCHANGED);

	change = apply(p, ib_port(ACTIVE), REASON_BIT(REASON_PORT_ACTIVE));
	assert_false(mask_has(&change.was.valid, PORT_ATTR_lid));
	assert_true(mask_has(&p->now.valid, PORT_ATTR_lid));
	assert_true(mask_has(&change.was.valid, PORT_ATTR_state));
}

/* What is missing because the device could not be opened says so, and a change of that is one. */
static void test_not_opened(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s = {.open_error = -EACCES};
	_cleanup_(port_change_done) PortChange change = {};

	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, state, ACTIVE);
	apply(p, s, 0);
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_max_mtu)->code, "no-permission");
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_rate)->code, "no-permission");
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_subnet_prefix)->code,
			    "not-reported");
	assert_null(port_unavailable(&p->now, PORT_ATTR_state));
	s.open_error = -EBUSY;
	change = apply(p, s, 0);
	assert_true(mask_has(&change.changed, PORT_ATTR_unavailable));
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_max_mtu)->code, "in-use");
	s.open_error = 0;
	apply(p, s, 0);
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_max_mtu)->code, "not-reported");
}

/* A row of an interface that the port does not have is not in Unavailable: why it has no value is
 * no change of what is published. */
static void test_not_shown(void **state)
{
	Port *p = device_port(add_device(*state, 3, "rocep1", 1, 1), 1);
	PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&s, state, ACTIVE);
	apply(p, s, 0);
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_sm_lid)->code, "not-reported");
	PORT_SUPPLY(&s, sm_lid, 1);
	assert_int_equal(apply(p, s, 0).op, CACHE_UNCHANGED);
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_sm_lid)->code, "not-applicable");
}

static void test_subnet(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s = ib_port(ACTIVE);
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE), 0);
	/* the event alone */
	change = apply(p, ib_port(ACTIVE), REASON_BIT(REASON_CLIENT_REREGISTER));
	assert_true(change.subnet_reconfigured);
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_int_equal(p->now.values.sm_generation, 1);
	/* the change alone: the event was lost */
	s.values.sm_lid = 2;
	change = apply(p, s, REASON_BIT(REASON_RECONCILE));
	assert_true(change.subnet_reconfigured);
	assert_int_equal(p->now.values.sm_generation, 2);
	/* across a time in which it was down */
	assert_false(apply(p, ib_port(DOWN), 0).subnet_reconfigured);
	s = ib_port(ACTIVE);
	s.values.sm_lid = 2;
	assert_false(apply(p, s, 0).subnet_reconfigured);
	assert_false(apply(p, ib_port(DOWN), 0).subnet_reconfigured);
	s = ib_port(ARMED);
	s.values.sm_lid = 3;
	assert_true(apply(p, s, 0).subnet_reconfigured);
	assert_int_equal(p->now.values.sm_generation, 3);
}

/* Each value that the subnet manager sets is one by which it is noticed, without an event. */
static void test_subnet_values(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s = ib_port(ACTIVE);

	PORT_SUPPLY(&s, subnet_timeout, 18);
	PORT_SUPPLY(&s, subnet_prefix, UINT64_C(0xfe80000000000000));
#define CHANGES(field, value)                                                                      \
	do {                                                                                       \
		PortSnapshot next = ib_port(ACTIVE);                                               \
		next.supplied = s.supplied;                                                        \
		s.values.field = (value);                                                          \
		next.values = s.values;                                                            \
		if (!apply(p, next, REASON_BIT(REASON_RECONCILE)).subnet_reconfigured)             \
			fail_msg("another %s is not noticed", #field);                             \
	} while (false)
	apply(p, s, 0);
	CHANGES(lid, 18);
	CHANGES(lmc, 2);
	CHANGES(sm_lid, 2);
	CHANGES(sm_sl, 3);
	CHANGES(subnet_timeout, 19);
	CHANGES(subnet_prefix, UINT64_C(0xfe80000000000001));
#undef CHANGES
	assert_int_equal(p->now.values.sm_generation, 6);
}

/* A device that cannot be opened does not say all values of the subnet manager. That it says them
 * again is not the doing of the subnet manager. */
static void test_subnet_values_missing(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot closed = ib_port(ACTIVE), s = ib_port(ACTIVE);

	mask_set(&closed.supplied, PORT_ATTR_sm_sl, false);
	closed.values.sm_sl = 0;
	apply(p, closed, 0);
	s.values.sm_sl = 3;
	PORT_SUPPLY(&s, subnet_timeout, 18);
	assert_false(apply(p, s, REASON_BIT(REASON_RECONCILE)).subnet_reconfigured);
	assert_false(apply(p, ib_port(DOWN), 0).subnet_reconfigured);
	closed = ib_port(ACTIVE);
	mask_set(&closed.supplied, PORT_ATTR_sm_sl, false);
	assert_false(apply(p, closed, REASON_BIT(REASON_RECONCILE)).subnet_reconfigured);
	assert_int_equal(p->now.values.sm_generation, 0);
	/* what was last known counts, across the time in which it was not */
	s = ib_port(ACTIVE);
	s.values.sm_sl = 3;
	PORT_SUPPLY(&s, subnet_timeout, 19);
	assert_true(apply(p, s, REASON_BIT(REASON_RECONCILE)).subnet_reconfigured);
	assert_int_equal(p->now.values.sm_generation, 1);
}

/* A port of which every part has something. */
static PortSnapshot whole_port(void)
{
	const NetdevEntry netdev = {.ifindex = 7, .name = "ib0"};
	PortSnapshot s = ib_port(ACTIVE);

	PORT_SUPPLY(&s, subnet_prefix, 0xfe80);
	PORT_SUPPLY(&s, vport, 3);
	PORT_SUPPLY(&s, pfc_cap, 8);
	s.tables[PORT_TABLE_NETDEVS] = table_new(&netdev, 1, sizeof(netdev));
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	mask_set(&s.supplied, PORT_ATTR_vfs, true);
	return s;
}

/* The answer S at NOW_USEC. */
static void answer_at(Port *p, PortSnapshot *s, uint64_t now_usec, PortChange *ret)
{
	cache_apply_port(p, s, 0, now_usec, ret);
	port_change_done(ret);
}

/* Each part in turn is read alone and has nothing: the rows of the others stay as they are. */
static void test_parts(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s, before;
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, whole_port(), 0);
	before = p->now;
	s = (PortSnapshot){.parts = 0};
	answer_at(p, &s, 2000, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);
	assert_memory_equal(&p->now.supplied, &before.supplied, sizeof(AttrMask));
	assert_memory_equal(&p->now.valid, &before.valid, sizeof(AttrMask));
	assert_memory_equal(p->now.tables, before.tables, sizeof(before.tables));
	for (unsigned int part = 1; part < READ_ALL; part *= 2) {
		const AttrMask rows = port_rows_of(part);
		PortSnapshot nothing = {.parts = part}, all = whole_port();

		PORT_SUPPLY_TEXT(&all, fec_mode, "rs");
		apply(p, all, 0);
		before = p->now;
		answer_at(p, &nothing, 3000, &change);
		/* what an InfiniBand port says of Ethernet's priorities is not published */
		assert_int_equal(change.op, part == READ_DCB ? CACHE_UNCHANGED : CACHE_CHANGED);
		for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
			if (mask_has(&rows, a))
				assert_false(mask_has(&p->now.supplied, a));
			else if (port_attributes[a].source != SOURCE_DERIVED)
				assert_int_equal(mask_has(&p->now.supplied, a),
						 mask_has(&before.supplied, a));
	}
	assert_int_equal(p->now.parts, READ_ALL);
}

/* Why verbs could not be asked, and what the driver does not measure, is kept with the rest; but
 * what a part supplies that belongs to another is taken. */
static void test_parts_without_verbs(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s = {.open_error = -EACCES};
	const Unavailable *why;
	_cleanup_(port_change_done) PortChange change = {};

	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	apply(p, s, 0);
	why = port_unavailable(&p->now, PORT_ATTR_active_mtu);
	s = (PortSnapshot){.parts = READ_LINKS};
	PORT_SUPPLY(&s, state, PORT_STATE_DOWN);
	answer_at(p, &s, 2000, &change);
	assert_true(port_change_is_of_state(&change) && mask_has(&change.changed, PORT_ATTR_state));
	assert_int_equal(p->now.open_error, -EACCES);
	assert_ptr_equal(port_unavailable(&p->now, PORT_ATTR_active_mtu), why);
	s = (PortSnapshot){.parts = READ_PKEYS};
	mask_set(&s.unmeasured, PORT_ATTR_state, true);
	answer_at(p, &s, 2000, &change);
	assert_false(mask_has(&p->now.supplied, PORT_ATTR_state));
}

static void test_tables(void **state)
{
	static const PortAttr pkeys[] = {PORT_ATTR_pkeys, PORT_ATTR_pkey_generation,
					 PORT_ATTR_generation};
	const PkeyEntry two[] = {{0, 0xffff}, {1, 0x8001}};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s;
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE), 0);
	s = ib_port(ACTIVE);
	table_free(s.tables[PORT_TABLE_PKEYS]);
	s.tables[PORT_TABLE_PKEYS] = table_new(two, 2, sizeof(two[0]));
	change = apply(p, s, REASON_BIT(REASON_PKEY_CHANGE));
	assert_changed(&change, pkeys, ARRAY_SIZE(pkeys));

	/* A query that did not ask for P_Keys leaves them. */
	s = ib_port(ACTIVE);
	table_free(s.tables[PORT_TABLE_PKEYS]);
	s.tables[PORT_TABLE_PKEYS] = NULL;
	mask_set(&s.supplied, PORT_ATTR_pkeys, false);
	s.parts = READ_USUAL;
	answer_at(p, &s, 1000, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);
	assert_int_equal(p->now.tables[PORT_TABLE_PKEYS]->n, 2);

	/* One that asked and read none empties the table. */
	s = ib_port(ACTIVE);
	table_free(s.tables[PORT_TABLE_PKEYS]);
	s.tables[PORT_TABLE_PKEYS] = NULL;
	change = apply(p, s, 0);
	assert_true(mask_has(&change.changed, PORT_ATTR_pkeys));
	assert_null(p->now.tables[PORT_TABLE_PKEYS]);
}

static void test_stale(void **state)
{
	static const PortAttr trust[] = {PORT_ATTR_stale, PORT_ATTR_last_error,
					 PORT_ATTR_last_error_code};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE), 0);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "Input/output error", 0, 1000, &change);
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_changed(&change, trust, ARRAY_SIZE(trust));
	assert_int_equal(p->now.values.state, ACTIVE);
	assert_int_equal(p->now.values.generation, 1);
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "Input/output error", 0, 1000, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);
	port_change_done(&change);
	change = apply(p, ib_port(ACTIVE), 0);
	assert_changed(&change, trust, ARRAY_SIZE(trust));
	assert_string_equal(TEXT_OF(&p->now.values, last_error), "");
	change = apply(p, ib_port(ACTIVE), 0);
	assert_int_equal(change.op, CACHE_UNCHANGED);
	assert_int_equal(p->now.values.generation, 1);
}

static void test_protocols(void **state)
{
	Port *roce = device_port(add_device(*state, 1, "rxe0", 1, 1), 1);
	Port *iwarp = device_port(add_device(*state, 2, "siw0", 1, 4), 1);
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, ACTIVE);
	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY(&s, lid, 5);
	/* rxe: 1 << 23 would be boot management */
	PORT_SUPPLY(&s, port_cap_flags, 1U << 16 | 1U << 23 | 1U << 26);
	apply(roce, s, 0);
	assert_int_equal(roce->now.values.protocol, PROTOCOL_ROCE);
	assert_false(mask_has(&roce->now.valid, PORT_ATTR_lid));
	assert_int_equal(roce->now.values.capabilities, 1U << 16 | 1U << 26);
	apply(iwarp, s, 0);
	assert_int_equal(iwarp->now.values.protocol, PROTOCOL_IWARP);

	/* A port that changes its link layer changes its interfaces. */
	PortChange change = apply(roce, ib_port(ACTIVE), 0);
	assert_int_equal(port_interfaces(&change.was),
			 1U << INTERFACE_PORT | 1U << INTERFACE_ETHERNET |
				 1U << INTERFACE_NEIGHBOR | 1U << INTERFACE_CABLE);
	assert_int_equal(port_interfaces(&roce->now), 1U << INTERFACE_PORT |
							      1U << INTERFACE_INFINIBAND |
							      1U << INTERFACE_NEIGHBOR);
}

static void test_device(void **state)
{
	Device *d = add_device(*state, 7, "mlx5_0", 2, 1), *same;
	DeviceSnapshot s = {};
	_cleanup_(port_change_done) PortChange change = {};
	AttrMask changed;

	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY_TEXT(&s, name, "ibp1s0");
	assert_int_equal(apply_device(*state, &s, 0, &same, &changed), CACHE_CHANGED);
	assert_ptr_equal(same, d);
	assert_true(mask_has(&changed, DEVICE_ATTR_name));
	assert_string_equal(TEXT_OF(&d->ports[0]->now.values, device_name), "mlx5_0");
	cache_apply_port_name(d->ports[0], 0, &change);
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_string_equal(TEXT_OF(&change.was.values, device_name), "mlx5_0");
	assert_string_equal(TEXT_OF(&d->ports[0]->now.values, device_name), "ibp1s0");
	port_change_done(&change);
	cache_apply_port_name(d->ports[0], 0, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);

	/* text from firmware is made fit for D-Bus */
	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY_TEXT(&s, node_desc,
			   "bad\xff"
			   "desc");
	assert_int_equal(apply_device(*state, &s, 5, &same, &changed), CACHE_CHANGED);
	assert_string_equal(TEXT_OF(&d->now.values, node_desc), "bad?desc");

	/* fewer ports */
	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY(&s, port_count, 1);
	assert_int_equal(apply_device(*state, &s, 0, &same, &changed), CACHE_CHANGED);
	assert_ptr_equal(cache_excess_port(d), d->ports[1]);
	cache_remove_port(cache_excess_port(d));
	assert_null(cache_excess_port(d));
	assert_int_equal(d->now.values.omitted_ports, 0);
}

/* A device has as many ports as it says, those after the 1024th have no object. */
static void test_many_ports(void **state)
{
	Device *d = add_device(*state, 7, "mlx5_0", 1024, 1), *same;
	DeviceSnapshot s = {};
	_cleanup_(port_change_done) PortChange change = {};
	AttrMask changed;

	assert_int_equal(device_port(d, 1024)->number, 1024);
	assert_int_equal(device_port(d, 1024)->now.values.port_num, 1024);
	assert_null(device_port(d, 1025));
	assert_int_equal(d->now.values.omitted_ports, 0);
	assert_true(mask_has(&d->now.valid, DEVICE_ATTR_omitted_ports));

	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY(&s, port_count, 3000);
	assert_int_equal(apply_device(*state, &s, 0, &same, &changed), CACHE_CHANGED);
	assert_int_equal(d->n_ports, 1024);
	assert_null(cache_excess_port(d));
	assert_int_equal(d->now.values.port_count, 3000);
	assert_int_equal(d->now.values.omitted_ports, 3000 - 1024);
	assert_true(mask_has(&changed, DEVICE_ATTR_port_count));
	assert_true(mask_has(&changed, DEVICE_ATTR_omitted_ports));
	/* the answer of the device says nothing of it; what it does not have is not reported */
	assert_string_equal(device_unavailable(&d->now, DEVICE_ATTR_driver)->code, "not-read");
	DEVICE_SUPPLY(&s, index, 7);
	assert_int_equal(apply_device(*state, &s, 5, &same, &changed), CACHE_CHANGED);
	assert_true(mask_has(&changed, DEVICE_ATTR_unavailable));
	assert_string_equal(device_unavailable(&d->now, DEVICE_ATTR_driver)->code, "not-reported");
	DEVICE_SUPPLY(&s, index, 7);
	assert_int_equal(apply_device(*state, &s, 6, &same, &changed), CACHE_UNCHANGED);
	assert_int_equal(d->now.values.omitted_ports, 3000 - 1024);
	cache_apply_port_name(device_port(d, 1024), 0, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);
}

/* The only port of a switch has the number 0. */
static void test_switch(void **state)
{
	Device *d = add_device(*state, 7, "sw0", 1, NODE_TYPE_SWITCH);
	Port *p = device_port_called(d, 0);
	char path[RDMAD_PATH_MAX], name[80];

	assert_non_null(p);
	assert_ptr_equal(device_port(d, 1), p);
	assert_null(device_port_called(d, 1));
	assert_int_equal(p->now.values.port_num, 0);
	assert_string_equal(port_path(p, path), "/org/rdma/device/7/port/0");
	assert_string_equal(port_name(p, name), "sw0/0");
	/* no other device has such a port */
	d = add_device(*state, 8, "mlx5_0", 2, NODE_TYPE_CA);
	assert_null(device_port_called(d, 0));
	assert_null(device_port_called(d, UINT32_MAX));
	assert_int_equal(device_port_called(d, 2)->now.values.port_num, 2);
}

/* All devices together have a limit too. What one gives up the next enumeration gives to another.
 */
static void test_ports_of_all(void **state)
{
	Cache *c = *state;
	Device *d = NULL;
	DeviceSnapshot s = {};
	AttrMask changed;

	for (uint32_t i = 0; i < 31; i++)
		add_device(c, i, "many", 1024, 1);
	add_device(c, 31, "some", 1000, 1);
	DEVICE_SUPPLY(&s, index, 32);
	DEVICE_SUPPLY(&s, port_count, 1024);
	assert_int_equal(apply_device(c, &s, 0, &d, &changed), CACHE_ADDED);
	assert_int_equal(c->n_ports, 32768);
	assert_int_equal(d->n_ports, 24);
	assert_int_equal(d->now.values.port_count, 1024);
	assert_int_equal(d->now.values.omitted_ports, 1000);
	assert_null(cache_excess_port(d));

	cache_remove_device(c, cache_device(c, 31));
	DEVICE_SUPPLY(&s, index, 32);
	DEVICE_SUPPLY(&s, port_count, 1024);
	assert_int_equal(apply_device(c, &s, 0, &d, &changed), CACHE_CHANGED);
	assert_int_equal(d->n_ports, 1024);
	assert_int_equal(d->now.values.omitted_ports, 0);
}

/* What sysfs no longer says of a device is not known any more; what an answer could not read stays.
 */
static void test_device_withdrawn(void **state)
{
	Device *d = add_device(*state, 7, "mlx5_0", 1, 1), *same;
	DeviceSnapshot s = {};
	AttrMask changed;

	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY(&s, numa_node, 1);
	DEVICE_SUPPLY(&s, driver_id, 1);
	DEVICE_SUPPLY(&s, vendor_id, 0x2c9);
	DEVICE_SUPPLY_TEXT(&s, node_desc, "host");
	apply_device(*state, &s, 5, &same, &changed);

	/* an enumeration, and an answer that could not read the directory */
	DEVICE_SUPPLY(&s, index, 7);
	apply_device(*state, &s, 0, &same, &changed);
	DEVICE_SUPPLY(&s, index, 7);
	assert_int_equal(apply_device(*state, &s, 6, &same, &changed), CACHE_UNCHANGED);
	assert_int_equal(d->now.values.numa_node, 1);

	DEVICE_SUPPLY(&s, index, 7);
	DEVICE_SUPPLY(&s, numa_node, 1);
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	assert_int_equal(apply_device(*state, &s, 7, &same, &changed), CACHE_CHANGED);
	assert_true(mask_has(&changed, DEVICE_ATTR_node_desc));
	assert_string_equal(device_unavailable(&d->now, DEVICE_ATTR_node_desc)->code,
			    "not-reported");
	assert_string_equal(device_unavailable(&d->now, DEVICE_ATTR_driver_id)->code,
			    "not-reported");
	assert_null(device_unavailable(&d->now, DEVICE_ATTR_numa_node));
	assert_null(device_unavailable(&d->now, DEVICE_ATTR_vendor_id));
	assert_null(device_unavailable(&d->now, DEVICE_ATTR_name));
}

/* How many ports there are and how many of them are active, whatever changes that. */
static void test_counts(void **state)
{
	Cache *c = *state;
	Device *d = add_device(c, 1, "mlx5_0", 3, 1);
	DeviceSnapshot s = {};
	AttrMask changed;

	add_device(c, 2, "mlx5_1", 1, 1);
	assert_int_equal(c->n_ports, 4);
	assert_int_equal(c->n_active, 0);
	for (uint32_t n = 1; n <= 3; n++)
		apply(device_port(d, n), ib_port(ACTIVE), 0);
	apply(device_port(cache_device(c, 2), 1), ib_port(ACTIVE), 0);
	assert_int_equal(c->n_active, 4);
	apply(device_port(d, 1), ib_port(PORT_STATE_ACTIVE_DEFER), 0);
	apply(device_port(d, 2), ib_port(ARMED), 0);
	assert_int_equal(c->n_active, 3);
	/* one fewer, and it was active */
	DEVICE_SUPPLY(&s, index, 1);
	DEVICE_SUPPLY(&s, port_count, 2);
	assert_int_equal(apply_device(c, &s, 0, &d, &changed), CACHE_CHANGED);
	cache_remove_port(cache_excess_port(d));
	assert_int_equal(c->n_ports, 3);
	assert_int_equal(c->n_active, 2);
	cache_remove_device(c, d);
	assert_int_equal(c->n_ports, 1);
	assert_int_equal(c->n_active, 1);
}

static void test_order(void **state)
{
	Cache *c = *state;
	static const uint32_t indices[] = {5, 1, 9, 3, 7, 0};

	for (size_t i = 0; i < ARRAY_SIZE(indices); i++)
		add_device(c, indices[i], "d", 1, 1);
	for (size_t i = 1; i < c->n_devices; i++)
		assert_true(c->devices[i - 1]->index < c->devices[i]->index);
	cache_remove_device(c, cache_device(c, 5));
	assert_null(cache_device(c, 5));
	for (size_t i = 1; i < ARRAY_SIZE(indices); i++)
		assert_int_equal(cache_device(c, indices[i])->index, indices[i]);
	assert_null(cache_device(c, 4));
	assert_null(cache_device(c, UINT32_MAX));
}

/* The character devices of a device leave it (rmmod ib_uverbs): the sanitizers see what is lost. */
static void test_chardevs(void **state)
{
	const ChardevEntry uverbs = {.class = "verbs", .path = "/dev/infiniband/uverbs0"};
	Cache *c = *state;
	Device *d = add_device(c, 1, "mlx5_0", 1, 1);
	DeviceSnapshot s = {};
	AttrMask changed;

	DEVICE_SUPPLY(&s, index, 1);
	s.tables[DEVICE_TABLE_CHARDEVS] = table_new(&uverbs, 1, sizeof(uverbs));
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	assert_int_equal(apply_device(c, &s, 1, &d, &changed), CACHE_CHANGED);
	assert_non_null(d->now.tables[DEVICE_TABLE_CHARDEVS]);
	/* not asked for: it stays */
	DEVICE_SUPPLY(&s, index, 1);
	assert_int_equal(apply_device(c, &s, 2, &d, &changed), CACHE_UNCHANGED);
	assert_non_null(d->now.tables[DEVICE_TABLE_CHARDEVS]);
	/* read, and empty */
	DEVICE_SUPPLY(&s, index, 1);
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	assert_int_equal(apply_device(c, &s, 3, &d, &changed), CACHE_CHANGED);
	assert_true(mask_has(&changed, DEVICE_ATTR_chardevs));
	assert_null(d->now.tables[DEVICE_TABLE_CHARDEVS]);
}

/* The kernel lets an interface have almost any bytes as its name, and D-Bus sends no message with
 * text that is none: all tables come out clean. */
static void test_text_in_tables(void **state)
{
	const ChardevEntry chardev = {.class = "v\xff", .path = "/dev/\xc3"};
	const NetdevEntry netdev = {.ifindex = 3, .name = "eth\xfe\xff"};
	const GidEntry gid = {.type = 2, .ifindex = 3, .netdev = "eth\xfe\x01"};
	Cache *c = *state;
	Device *d = add_device(c, 1, "mlx5_0", 1, 1);
	DeviceSnapshot s = {};
	PortSnapshot p = {};
	AttrMask changed;
	const Table *const *tables;

	DEVICE_SUPPLY(&s, index, 1);
	s.tables[DEVICE_TABLE_CHARDEVS] = table_new(&chardev, 1, sizeof(chardev));
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	assert_int_equal(apply_device(c, &s, 1, &d, &changed), CACHE_CHANGED);
	TABLE_FOREACH(ChardevEntry, e, d->now.tables[DEVICE_TABLE_CHARDEVS]) {
		assert_string_equal(e->class, "v?");
		assert_string_equal(e->path, "/dev/?");
	}
	PORT_SUPPLY(&p, link_layer, 2);
	p.tables[PORT_TABLE_NETDEVS] = table_new(&netdev, 1, sizeof(netdev));
	mask_set(&p.supplied, PORT_ATTR_netdevs, true);
	p.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&p.supplied, PORT_ATTR_gids, true);
	apply(d->ports[0], p, REASON_BIT(REASON_STARTUP));
	tables = (const Table *const *)d->ports[0]->now.tables;
	TABLE_FOREACH(NetdevEntry, e, tables[PORT_TABLE_NETDEVS])
		assert_string_equal(e->name, "eth??");
	TABLE_FOREACH(GidEntry, e, tables[PORT_TABLE_GIDS])
		assert_string_equal(e->netdev, "eth??");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_added_and_unchanged),
		TEST(test_link_down),
		TEST(test_not_opened),
		TEST(test_not_shown),
		TEST(test_subnet),
		TEST(test_subnet_values),
		TEST(test_subnet_values_missing),
		TEST(test_counts),
		TEST(test_tables),
		TEST(test_parts),
		TEST(test_parts_without_verbs),
		TEST(test_stale),
		TEST(test_protocols),
		TEST(test_device),
		TEST(test_many_ports),
		TEST(test_switch),
		TEST(test_ports_of_all),
		TEST(test_device_withdrawn),
		TEST(test_chardevs),
		TEST(test_text_in_tables),
		TEST(test_order),
	};

	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
