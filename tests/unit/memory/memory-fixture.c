/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "memory-fixture.h"

#include <signal.h>

int fixture_setup(void **state)
{
	Fixture *f = calloc(1, sizeof(Fixture));

	/* as in the daemon */
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(f);
	assert_true(sd_event_new(&f->event) >= 0);
	assert_int_equal(shared_memory_new(f->event, FIXTURE_CAPACITY, &f->memory), 0);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	Fixture *f = *state;

	shared_memory_free(f->memory);
	cache_done(&f->cache);
	sd_event_unref(f->event);
	free(f);
	return 0;
}

Device *fixture_add_device(Fixture *f, uint32_t index, const char *name, uint32_t ports,
			   AttrProtocol protocol)
{
	DeviceSnapshot s = {};
	DeviceChange device_change;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, ports);
	DEVICE_SUPPLY(&s, node_type, 1);
	DEVICE_SUPPLY(&s, dev_protocol, protocol);
	assert_true(cache_apply_device(&f->cache, &s, CHANGE_LIST, 0, &device_change) >= 0);
	device_change_done(&device_change);
	return device_change.device;
}

PortSnapshot fixture_all_fields(void)
{
	const GidEntry gid = {.gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 1}};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, 4);
	PORT_SUPPLY(&s, phys_state, 5);
	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, max_mtu, 5);
	PORT_SUPPLY(&s, active_mtu, 4);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 128);
	PORT_SUPPLY(&s, active_speed_ex, 256);
	PORT_SUPPLY(&s, max_msg_sz, 1U << 30);
	PORT_SUPPLY(&s, gid_tbl_len, 70000);
	PORT_SUPPLY(&s, pkey_tbl_len, 128);
	PORT_SUPPLY(&s, port_cap_flags, 0x2651e84a);
	PORT_SUPPLY(&s, port_cap_flags2, 0x32);
	PORT_SUPPLY(&s, flags, 1);
	PORT_SUPPLY(&s, lid, 17);
	PORT_SUPPLY(&s, lmc, 3);
	PORT_SUPPLY(&s, sm_lid, 9);
	PORT_SUPPLY(&s, sm_sl, 2);
	PORT_SUPPLY(&s, subnet_timeout, 18);
	PORT_SUPPLY(&s, init_type_reply, 7);
	PORT_SUPPLY(&s, max_vl_num, 4);
	PORT_SUPPLY(&s, subnet_prefix, UINT64_C(0xfe80000000000001));
	PORT_SUPPLY(&s, bad_pkey_cntr, 11);
	PORT_SUPPLY(&s, qkey_viol_cntr, 12);
	s.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	return s;
}

PortSnapshot fixture_roce_port(const char *netdev)
{
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, 1);
	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY(&s, active_mtu, 3);
	PORT_SUPPLY(&s, ifindex, 6);
	PORT_SUPPLY_TEXT(&s, netdev, netdev);
	return s;
}

void fixture_put(Fixture *f, Port *p, PortSnapshot s)
{
	PortChange change;

	s.parts = READ_ALL;
	cache_apply_port(p, &s, 0, 1234567, &change);
	port_change_done(&change);
	p->published = true;
	shared_memory_put(f->memory, p, change.op != CACHE_UNCHANGED);
}

struct rdmad *fixture_open(Fixture *f, uid_t uid)
{
	struct rdmad *r = NULL;
	int memory, changed;

	assert_int_equal(shared_memory_open(f->memory, uid, &memory, &changed), 0);
	assert_int_equal(rdmad_open_fd(memory, changed, &r), 0);
	return r;
}

struct rdmad_handle fixture_find(const struct rdmad *r, const char *name)
{
	struct rdmad_handle h = {};
	int e = rdmad_find(r, name, &h);

	if (e < 0)
		fail_msg("%s: %s", name, rdmad_strerror(e));
	return h;
}

void fixture_run(Fixture *f)
{
	while (sd_event_run(f->event, 0) > 0)
		;
}
