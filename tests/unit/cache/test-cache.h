/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A cache to test with, its devices, and answers for its ports. Include after cmocka.h. */

#include "cache.h"
#include "event.h"

enum { DOWN = 1, INIT, ARMED, ACTIVE };

/* Applies S, which an enumeration brings, or with a time the device itself. */
static inline int apply_device(Cache *c, DeviceSnapshot *s, uint64_t now, Device **ret,
			       AttrMask *ret_changed)
{
	_cleanup_(device_change_done) DeviceChange change = {};
	int r = cache_apply_device(c, s, now ? CHANGE_ANSWER : CHANGE_LIST, now, &change);

	*ret = change.device;
	*ret_changed = change.changed;
	return r;
}

/* Adds a device with PORTS ports, as an enumeration brings it. */
static inline Device *add_device(Cache *c, uint32_t index, const char *name, uint32_t ports,
				 uint32_t node_type)
{
	DeviceSnapshot s = {};
	AttrMask changed;
	Device *d = NULL;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, ports);
	DEVICE_SUPPLY(&s, node_type, node_type);
	assert_int_equal(apply_device(c, &s, 0, &d, &changed), CACHE_ADDED);
	assert_int_equal(d->n_ports, ports);
	return d;
}

/* An InfiniBand port as a query brings it. */
static inline PortSnapshot ib_port(uint32_t state)
{
	const GidEntry gid = {.gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 1}};
	const PkeyEntry pkey = {.pkey = 0xffff};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY(&s, phys_state, 5);
	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, lid, 17);
	PORT_SUPPLY(&s, lmc, 1);
	PORT_SUPPLY(&s, sm_lid, 1);
	PORT_SUPPLY(&s, sm_sl, 0);
	PORT_SUPPLY(&s, active_mtu, 5);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 128);
	PORT_SUPPLY(&s, active_speed_ex, 256);
	PORT_SUPPLY(&s, port_cap_flags, 1U << 25 | 1U << 23);
	PORT_SUPPLY(&s, bad_pkey_cntr, 1);
	s.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	s.tables[PORT_TABLE_PKEYS] = table_new(&pkey, 1, sizeof(pkey));
	mask_set(&s.supplied, PORT_ATTR_pkeys, true);
	return s;
}

/* Takes S, an answer to a question asked for REASONS (mask of REASON_BIT). */
static inline PortChange apply(Port *p, PortSnapshot s, uint32_t reasons)
{
	PortChange change;

	s.parts = READ_ALL;
	cache_apply_port(p, &s, reasons, 1000, &change);
	port_change_done(&change);
	return change;
}

/* The state of a test is a cache. */
static inline int setup(void **state)
{
	*state = calloc(1, sizeof(Cache));
	return *state ? 0 : -1;
}

static inline int teardown(void **state)
{
	cache_done(*state);
	free(*state);
	return 0;
}
