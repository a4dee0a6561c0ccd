/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shared memory from both sides: what the daemon writes is what librdmad reads, and neither a
 * hostile reader nor a dead writer does harm.
 *
 * Above 600 lines: one memory, and each of its fields, its ends and its attackers is a test.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "memory-layout.h"
#include "rdmad.h"
#include "shared-memory.h"

#define CAPACITY 2U

typedef struct Test {
	sd_event *event;
	Cache cache;
	SharedMemory *memory;
} Test;

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(Test));

	/* as in the daemon */
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(t);
	assert_true(sd_event_new(&t->event) >= 0);
	assert_int_equal(shared_memory_new(t->event, CAPACITY, &t->memory), 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	if (t->memory)
		shared_memory_free(t->memory);
	cache_done(&t->cache);
	sd_event_unref(t->event);
	free(t);
	return 0;
}

static Device *add_device(Test *t, uint32_t index, const char *name, uint32_t ports,
			  const char *protocol)
{
	DeviceSnapshot s = {};
	AttrMask changed;
	Device *d = NULL;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, ports);
	DEVICE_SUPPLY(&s, node_type, 1);
	DEVICE_SUPPLY_TEXT(&s, dev_protocol, protocol);
	assert_true(cache_apply_device(&t->cache, &s, 0, &d, &changed) >= 0);
	return d;
}

/* Every field that a port can have, each with another value. */
static PortSnapshot all_fields(void)
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

static PortSnapshot roce_port(const char *netdev)
{
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, 1);
	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY(&s, active_mtu, 3);
	PORT_SUPPLY(&s, ifindex, 6);
	PORT_SUPPLY_TEXT(&s, netdev, netdev);
	return s;
}

static void put(Test *t, Port *p, PortSnapshot s)
{
	PortChange change;

	cache_apply_port(p, &s, false, 0, 1234567, &change);
	p->published = true;
	shared_memory_put(t->memory, p, change.op != CACHE_UNCHANGED);
}

static struct rdmad *open_as(Test *t, uid_t uid)
{
	struct rdmad *r = NULL;
	int memory, changed;

	assert_int_equal(shared_memory_open(t->memory, uid, &memory, &changed), 0);
	assert_int_equal(rdmad_open_fd(memory, changed, &r), 0);
	return r;
}

static struct rdmad_handle find(const struct rdmad *r, const char *name)
{
	struct rdmad_handle h = {};
	int e = rdmad_find(r, name, &h);

	if (e < 0)
		fail_msg("%s: %s", name, rdmad_strerror(e));
	return h;
}

static struct rdmad_port read_found(const struct rdmad *r, const char *name)
{
	struct rdmad_port p = {};

	assert_int_equal(rdmad_read(r, find(r, name), &p), 0);
	return p;
}

/* Lets the daemon's event loop do what it has to do. */
static void run(Test *t)
{
	while (sd_event_run(t->event, 0) > 0)
		;
}

static void test_fields(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "mlx5_0", 2, "ib"), 2);
	struct rdmad *r = open_as(t, 0);
	struct rdmad_handle h;
	struct rdmad_hot hot;
	struct rdmad_port port;

	put(t, p, all_fields());
	h = find(r, "mlx5_0/2");
	assert_int_equal(rdmad_read(r, h, &port), 0);
	assert_int_equal(port.hot.flags, RDMAD_PORT_PRESENT | RDMAD_PORT_KNOWN);
	assert_int_equal(port.hot.device_index, 3);
	assert_int_equal(port.hot.port_num, 2);
	assert_int_equal(port.hot.generation, 1);
	assert_int_equal(port.hot.last_query, 1234567);
	assert_int_equal(port.hot.state, 4);
	assert_int_equal(port.hot.phys_state, 5);
	assert_int_equal(port.hot.link_layer, 1);
	assert_int_equal(port.hot.protocol, PROTOCOL_INFINIBAND);
	assert_int_equal(port.hot.max_mtu, 5);
	assert_int_equal(port.hot.active_mtu, 4);
	assert_int_equal(port.hot.active_width, 2);
	assert_int_equal(port.hot.active_speed, 128);
	assert_int_equal(port.hot.link_speed, 256);
	assert_int_equal(port.hot.lid, 17);
	assert_int_equal(port.hot.sm_lid, 9);
	assert_int_equal(port.hot.lmc, 3);
	assert_int_equal(port.hot.sm_sl, 2);
	assert_int_equal(port.hot.subnet_timeout, 18);
	assert_int_equal(port.hot.init_type_reply, 7);
	assert_int_equal(port.verbs.port_cap_flags, 0x2651e84a);
	assert_int_equal(port.verbs.port_cap_flags2, 0x32);
	assert_int_equal(port.verbs.max_msg_sz, 1U << 30);
	assert_int_equal(port.verbs.gid_tbl_len, 70000);
	assert_int_equal(port.verbs.pkey_tbl_len, 128);
	assert_int_equal(port.verbs.bad_pkey_cntr, 11);
	assert_int_equal(port.verbs.qkey_viol_cntr, 12);
	assert_int_equal(port.verbs.active_speed_ex, 256);
	assert_int_equal(port.verbs.max_vl_num, 4);
	assert_int_equal(port.verbs.flags, 1);
	assert_int_equal(port.rate, UINT64_C(800000000000));
	assert_int_equal(port.port_guid, UINT64_C(0x0002c90300000001));
	assert_int_equal(port.subnet_prefix, UINT64_C(0xfe80000000000001));
	assert_int_equal(port.gid_generation, 1);
	assert_string_equal(port.device_name, "mlx5_0");
	assert_string_equal(port.netdev, "");
	/* all but the interface, of which an InfiniBand port without IPoIB has none */
	assert_int_equal(port.hot.valid, ((UINT64_C(1) << _RDMAD_FIELD_MAX) - 1) &
						 ~(UINT64_C(1) << RDMAD_FIELD_IFINDEX) &
						 ~(UINT64_C(1) << RDMAD_FIELD_NETDEV));
	assert_int_equal(rdmad_read_hot(r, h, &hot), 0);
	assert_memory_equal(&hot, &port.hot, sizeof(hot));
	rdmad_close(r);
}

static void test_unknown_is_said(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "rocep1", 1, "roce"), 1);
	PortSnapshot s = roce_port("eth0"), wide;
	struct rdmad *r = open_as(t, 0);
	struct rdmad_port port;
	struct ibv_port_attr a;
	PortChange change;

	/* known by its number only: what is it that the first query failed */
	cache_apply_port_error(p, "no", &change);
	shared_memory_put(t->memory, p, true);
	assert_int_equal(rdmad_read(r, find(r, "rocep1/1"), &port), 0);
	assert_int_equal(port.hot.flags, RDMAD_PORT_PRESENT | RDMAD_PORT_STALE);
	assert_int_equal(port.hot.valid, 0);
	assert_int_equal(rdmad_query_port(r, find(r, "rocep1/1"), &a), -ENODATA);

	put(t, p, s);
	assert_int_equal(rdmad_read(r, find(r, "eth0"), &port), 0);
	assert_true(RDMAD_VALID(port.hot, STATE));
	assert_true(RDMAD_VALID(port.hot, NETDEV));
	assert_string_equal(port.netdev, "eth0");
	assert_int_equal(port.ifindex, 6);
	/* the link is down: the MTU means nothing, but the driver did say that */
	assert_false(RDMAD_VALID(port.hot, ACTIVE_MTU));
	assert_int_equal(port.hot.active_mtu, 3);
	assert_false(RDMAD_VALID(port.hot, LID));
	assert_false(RDMAD_VALID(port.hot, MAX_MTU));

	/* what does not go into the record is not there, and not its lower half */
	wide = roce_port("eth0");
	PORT_SUPPLY(&wide, phys_state, 0x105);
	put(t, p, wide);
	assert_int_equal(rdmad_read(r, find(r, "eth0"), &port), 0);
	assert_false(RDMAD_VALID(port.hot, PHYS_STATE));
	assert_int_equal(port.hot.phys_state, 0);
	rdmad_close(r);
}

static void test_ibv_port_attr(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "mlx5_0", 1, "ib"), 1);
	PortSnapshot opa = all_fields();
	struct rdmad *r = open_as(t, 0);
	struct {
		struct ibv_port_attr a;
		uint32_t
			active_speed_ex; /* what rdma-core has added, whether or not we have that */
		char newer[16];
	} b;
	struct rdmad_handle h;
	PortChange change;

	put(t, p, all_fields());
	h = find(r, "mlx5_0");
	memset(&b, 0xff, sizeof(b));
	assert_int_equal(rdmad_query_port_size(r, h, &b.a, sizeof(b)), 0);
	assert_int_equal(b.a.state, IBV_PORT_ACTIVE);
	assert_int_equal(b.a.max_mtu, IBV_MTU_4096);
	assert_int_equal(b.a.active_mtu, IBV_MTU_2048);
	assert_int_equal(b.a.gid_tbl_len, 70000);
	assert_int_equal(b.a.port_cap_flags, 0x2651e84a);
	assert_int_equal(b.a.max_msg_sz, 1U << 30);
	assert_int_equal(b.a.bad_pkey_cntr, 11);
	assert_int_equal(b.a.qkey_viol_cntr, 12);
	assert_int_equal(b.a.pkey_tbl_len, 128);
	assert_int_equal(b.a.lid, 17);
	assert_int_equal(b.a.sm_lid, 9);
	assert_int_equal(b.a.lmc, 3);
	assert_int_equal(b.a.max_vl_num, 4);
	assert_int_equal(b.a.sm_sl, 2);
	assert_int_equal(b.a.subnet_timeout, 18);
	assert_int_equal(b.a.init_type_reply, 7);
	assert_int_equal(b.a.active_width, 2);
	assert_int_equal(b.a.active_speed, 128);
	assert_int_equal(b.a.phys_state, 5);
	assert_int_equal(b.a.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(b.a.flags, 1);
	assert_int_equal(b.a.port_cap_flags2, 0x32);
	/* a program with a newer verbs.h gets what there is, and zeros in what we do not know */
	if (sizeof(struct ibv_port_attr) == offsetof(struct rdmad_verbs, active_speed_ex))
		assert_int_equal(b.active_speed_ex, 256);
	for (size_t i = 0; i < sizeof(b.newer); i++)
		assert_int_equal(b.newer[i], 0);

	/* one with an older one nothing behind its structure */
	memset(&b, 0xff, sizeof(b));
	assert_int_equal(rdmad_query_port_size(r, h, &b.a, offsetof(struct ibv_port_attr, flags)),
			 0);
	assert_int_equal(b.a.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(b.a.flags, 0xff);

	/* a LID of Omni-Path for which verbs has no room */
	cache_remove_device(&t->cache, p->device);
	p = device_port(add_device(t, 4, "hfi1_0", 1, "opa"), 1);
	opa.values.lid = 0x1c000;
	put(t, p, opa);
	assert_int_equal(rdmad_query_port(r, find(r, "hfi1_0"), &b.a), 0);
	assert_int_equal(b.a.lid, 0);
	assert_int_equal(b.a.sm_lid, 9);

	/* what ibv_query_port() would fail at is a failure here, not the values from before */
	cache_apply_port_error(p, "no answer", &change);
	shared_memory_put(t->memory, p, true);
	assert_int_equal(rdmad_query_port(r, find(r, "hfi1_0"), &b.a), -EIO);
	rdmad_close(r);
}

static void test_find(void **state)
{
	Test *t = *state;
	Device *d = add_device(t, 3, "mlx5_0", 2, "ib");
	Device *roce = add_device(t, 7, "mlx5_01", 1, "roce");
	struct rdmad *old = open_as(t, 0), *r;
	struct rdmad_handle h;
	const NetdevEntry ipoib[] = {{9, "ib0"}, {10, "ib0.8001"}};
	PortSnapshot s = all_fields();

	s.tables[PORT_TABLE_NETDEVS] = table_new(ipoib, 2, sizeof(ipoib[0]));
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	put(t, device_port(d, 1), s);
	put(t, device_port(d, 2), all_fields());
	put(t, device_port(roce, 1), roce_port("eth0"));
	assert_int_equal(rdmad_find(old, "mlx5_0/1", &h), -ESTALE);
	r = open_as(t, 0);
	assert_int_equal(read_found(r, "mlx5_0/2").hot.port_num, 2);
	assert_int_equal(read_found(r, "mlx5_01").hot.device_index, 7);
	assert_int_equal(read_found(r, "mlx5_01/1").hot.device_index, 7);
	assert_int_equal(read_found(r, "eth0").hot.device_index, 7);
	assert_int_equal(read_found(r, "ib0").hot.port_num, 1);
	assert_int_equal(rdmad_find(r, "mlx5_0", &h), -EEXIST);
	assert_int_equal(rdmad_find(r, "mlx5_0/3", &h), -ENOENT);
	assert_int_equal(rdmad_find(r, "mlx5", &h), -ENOENT);
	assert_int_equal(rdmad_find(r, "mlx5_0/", &h), -ENOENT);
	assert_int_equal(rdmad_find(r, "/1", &h), -ENOENT);
	assert_int_equal(rdmad_find(r, "", &h), -ENOENT);
	rdmad_close(r);
	rdmad_close(old);
}

static void test_ports_come_and_go(void **state)
{
	Test *t = *state;
	Device *d = add_device(t, 3, "mlx5_0", 1, "ib");
	struct rdmad *r = open_as(t, 0);
	struct rdmad_handle first, second, h = RDMAD_HANDLE_FIRST;
	struct rdmad_port port;
	uint32_t generation = rdmad_ports_generation(r);

	assert_int_equal(rdmad_next(r, &h), 0);
	put(t, device_port(d, 1), all_fields());
	assert_int_not_equal(rdmad_ports_generation(r), generation);
	generation = rdmad_ports_generation(r);
	first = find(r, "mlx5_0");
	put(t, device_port(d, 1), roce_port(""));
	assert_int_equal(rdmad_ports_generation(r), generation);
	assert_int_equal(rdmad_next(r, &h), 1);
	assert_true(h.port == first.port && h.slot == first.slot);
	assert_int_equal(rdmad_next(r, &h), 0);

	/* a rename leaves the handle alone */
	text_copy(device_port(d, 1)->now.values.device_name, sizeof(AttrText), "ibp1");
	shared_memory_put(t->memory, device_port(d, 1), true);
	assert_int_not_equal(rdmad_ports_generation(r), generation);
	assert_int_equal(rdmad_read(r, first, &port), 0);
	assert_string_equal(port.device_name, "ibp1");

	/* another port in the same slot is not mistaken for it */
	generation = rdmad_ports_generation(r);
	shared_memory_remove(t->memory, device_port(d, 1));
	assert_int_not_equal(rdmad_ports_generation(r), generation);
	assert_int_equal(rdmad_read(r, first, &port), -ENODEV);
	assert_int_equal(rdmad_read_hot(r, first, &port.hot), -ENODEV);
	put(t, device_port(add_device(t, 4, "mlx5_1", 1, "ib"), 1), all_fields());
	second = find(r, "mlx5_1");
	assert_int_equal(second.slot, first.slot);
	assert_int_equal(rdmad_read(r, first, &port), -ENODEV);
	assert_int_equal(rdmad_read(r, second, &port), 0);
	second.slot = UINT32_MAX;
	assert_int_equal(rdmad_read(r, second, &port), -ENODEV);
	rdmad_close(r);
}

static void test_growth(void **state)
{
	Test *t = *state;
	Device *d = add_device(t, 3, "mlx5_0", 200, "ib");
	struct rdmad *r, *now;
	struct rdmad_handle h, next = RDMAD_HANDLE_FIRST;
	struct rdmad_port port;

	for (uint32_t i = 1; i <= CAPACITY; i++)
		put(t, device_port(d, i), all_fields());
	r = open_as(t, 0);
	h = find(r, "mlx5_0/1");
	assert_int_equal(rdmad_wait(r, 0), 0);
	for (uint32_t i = CAPACITY + 1; i <= 200; i++)
		put(t, device_port(d, i), all_fields());
	assert_int_equal(rdmad_read(r, h, &port), -ESTALE);
	assert_int_equal(rdmad_read_hot(r, h, &port.hot), -ESTALE);
	assert_int_equal(rdmad_find(r, "mlx5_0/1", &h), -ESTALE);
	assert_int_equal(rdmad_next(r, &next), -ESTALE);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ESTALE);
	/* only what came from a bus can be opened anew */
	assert_int_equal(rdmad_reopen(r), -EOPNOTSUPP);
	rdmad_close(r);

	now = open_as(t, 0);
	assert_int_equal(rdmad_read(now, h, &port), 0);
	assert_int_equal(port.hot.lid, 17);
	for (uint32_t i = 1; i <= 200; i++) {
		assert_int_equal(rdmad_next(now, &next), 1);
		assert_int_equal(rdmad_read(now, next, &port), 0);
		assert_int_equal(port.hot.port_num, i);
	}
	assert_int_equal(rdmad_next(now, &next), 0);
	rdmad_close(now);
}

static void test_end(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "mlx5_0", 1, "ib"), 1);
	struct rdmad *r = open_as(t, 0);
	struct rdmad_handle h;
	struct rdmad_hot hot;

	put(t, p, all_fields());
	assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	h = find(r, "mlx5_0");
	t->memory = shared_memory_free(t->memory);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	assert_int_equal(rdmad_read_hot(r, h, &hot), -ENOTCONN);
	rdmad_close(r);
}

static void test_notices(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "mlx5_0", 1, "ib"), 1);
	struct rdmad *r = open_as(t, 0), *other = open_as(t, 0);
	struct pollfd fd = {.fd = rdmad_fd(r), .events = POLLIN};

	assert_int_equal(rdmad_wait(r, 0), 0);
	put(t, p, all_fields());
	assert_int_equal(poll(&fd, 1, -1), 1);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(rdmad_wait(r, 0), 0);
	/* read again, and nothing is different */
	put(t, p, all_fields());
	run(t);
	assert_int_equal(rdmad_wait(r, 0), 0);
	/* who did not look meanwhile hears once */
	assert_int_equal(rdmad_wait(other, 0), 1);
	assert_int_equal(rdmad_wait(other, 0), 0);
	/* what comes after the first in one iteration is not lost */
	put(t, p, roce_port("eth0"));
	put(t, p, roce_port("eth1"));
	(void)rdmad_wait(r, 0);
	put(t, p, roce_port("eth2"));
	run(t);
	assert_int_equal(rdmad_wait(r, 0), 1);
	assert_int_equal(rdmad_wait(r, 0), 0);
	rdmad_close(r);
	rdmad_close(other);
}

static void test_many_listeners(void **state)
{
	Test *t = *state;
	Port *p = device_port(add_device(t, 3, "mlx5_0", 1, "ib"), 1);
	struct rdmad *readers[200];

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		readers[i] = open_as(t, (uid_t)i);
	put(t, p, all_fields());
	run(t);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		assert_int_equal(rdmad_wait(readers[i], 0), 1);
	/* some leave, and the others still hear */
	for (size_t i = 0; i < ARRAY_SIZE(readers); i += 3) {
		rdmad_close(readers[i]);
		readers[i] = NULL;
	}
	put(t, p, roce_port("eth0"));
	run(t);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i])
			assert_int_equal(rdmad_wait(readers[i], 0), 1);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		rdmad_close(readers[i]);
}

/* Opens until that fails; returns how many there are, with the error in *RET_ERROR. */
static size_t open_all(Test *t, uid_t uid, int fds[][2], int *ret_error)
{
	size_t n = 0;

	while ((*ret_error = shared_memory_open(t->memory, uid, &fds[n][0], &fds[n][1])) == 0)
		n++;
	return n;
}

static void test_limits(void **state)
{
	static int fds[10000][2];
	Test *t = *state;
	struct rdmad *r;
	size_t n, more;
	int e;

	n = open_all(t, 1000, fds, &e);
	assert_int_equal(e, -EUSERS);
	assert_true(n >= 64);
	/* another user is not concerned, until all of them are */
	r = open_as(t, 1001);
	rdmad_close(r);
	run(t);
	more = open_all(t, 1001, fds + n, &e);
	assert_int_equal(e, -EUSERS);
	assert_int_equal(more, n);
	n += more;
	n += open_all(t, 1002, fds + n, &e);
	n += open_all(t, 1003, fds + n, &e);
	assert_int_equal(open_all(t, 1004, fds + n, &e), 0);
	assert_int_equal(e, -ENFILE);
	/* what is closed makes room */
	while (n > 0) {
		n--;
		close(fds[n][0]);
		close(fds[n][1]);
	}
	run(t);
	assert_true(open_all(t, 1000, fds, &e) >= 64);
}

/* A reader that does with its descriptors whatever the kernel lets it do. */

/* What must fail on the memory, as whoever runs it. Returns the number of the first that did not.
 */
static int attack_memory(int memory)
{
	char path[32], buffer[64] = {};
	struct stat st;
	void *p;
	int fd;

	if (fstat(memory, &st) < 0 || (st.st_mode & 07777) != 0444)
		return 1;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) != MAP_FAILED)
		return 2;
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
	if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0)
		return 3;
	if (madvise(p, 4096, MADV_REMOVE) == 0)
		return 4;
	if (write(memory, buffer, 1) >= 0 || pwrite(memory, buffer, 1, 0) >= 0)
		return 5;
	if (ftruncate(memory, 0) == 0 || ftruncate(memory, st.st_size * 2) == 0)
		return 6;
	if (fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0)
		return 7;
	if (fallocate(memory, 0, 0, st.st_size * 2) == 0)
		return 8;
	if (fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		return 9;
	/* Anew, with more rights: root gets the descriptor, but not past the seals. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	if (open(path, O_RDONLY) < 0)
		return 15;
	fd = open(path, O_RDWR);
	if (fd >= 0 && geteuid() != 0)
		return 10;
	if (fd >= 0 && (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED ||
			write(fd, buffer, 1) >= 0 || ftruncate(fd, 0) == 0 ||
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0))
		return 11;
	fd = open(path, O_RDWR | O_TRUNC);
	if (fd >= 0 || (fstat(memory, &st) == 0 && st.st_size == 0))
		return 12;
	if (geteuid() != 0 && fchmod(memory, 0777) == 0)
		return 13;
	/* These are its own open file's; nobody else sees them. */
	if (flock(memory, LOCK_EX) < 0 || lseek(memory, 100, SEEK_SET) < 0 ||
	    fcntl(memory, F_SETFL, O_APPEND | O_NONBLOCK | O_ASYNC) < 0)
		return 14;
	return 0;
}

/* What a reader can do to its pipe, all of which is its own business. */
static int attack_pipe(int changed)
{
	char path[32], buffer[65536] = {};
	int fd;

	if (fcntl(changed, F_SETFL, 0) < 0)
		return 20;
	/* it may be refused; if not, it is room that the daemon does not fill */
	(void)fcntl(changed, F_SETPIPE_SZ, 1 << 20);
	if (write(changed, buffer, 1) >= 0)
		return 21;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", changed);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	if (fd >= 0 && geteuid() != 0)
		return 22;
	/* filled to the brim */
	while (fd >= 0 && write(fd, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}

/* Runs the attack as UID in another process, which lives until its *RET_CONTROL is closed. */
static pid_t attack(uid_t uid, int memory, int changed, int *ret_control)
{
	int ready[2], control[2], result;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(control), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char c;

		close(control[1]);
		/* who has changed its user may not look at its /proc/self else */
		result = setuid(uid) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0 ? 99
									  : attack_memory(memory);
		if (result == 0)
			result = attack_pipe(changed);
		if (write(ready[1], &result, sizeof(result)) < 0 || read(control[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &result, sizeof(result)), sizeof(result));
	if (result != 0)
		fail_msg("attack %d of user %d succeeds", result, (int)uid);
	close(ready[0]);
	close(ready[1]);
	close(control[0]);
	*ret_control = control[1];
	return pid;
}

static void hostile(Test *t, uid_t uid)
{
	Port *p = device_port(add_device(t, 3, "mlx5_0", 1, "ib"), 1);
	struct rdmad *good = open_as(t, 1), *later;
	int memory, changed, control, status;
	struct rdmad_port port;
	pid_t pid;

	put(t, p, all_fields());
	assert_int_equal(shared_memory_open(t->memory, uid, &memory, &changed), 0);
	pid = attack(uid, memory, changed, &control);
	close(memory);
	close(changed);

	/* The attacker has blocking descriptors, a lock, and does not read: the writer does not
	 * notice, nor do other readers. */
	for (unsigned int i = 0; i < 10000; i++) {
		put(t, p, i % 2 ? all_fields() : roce_port("eth0"));
		run(t);
	}
	assert_int_equal(rdmad_wait(good, 0), 1);
	assert_int_equal(rdmad_read(good, find(good, "mlx5_0/1"), &port), 0);
	assert_int_equal(port.hot.state, 4);
	later = open_as(t, 2);
	assert_int_equal(rdmad_read(later, find(later, "mlx5_0/1"), &port), 0);
	rdmad_close(later);
	rdmad_close(good);

	close(control);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	run(t);
}

static void test_hostile_same_user(void **state)
{
	hostile(*state, geteuid());
}

static void test_hostile_other_user(void **state)
{
	if (geteuid() != 0)
		skip();
	hostile(*state, 65534);
}

/* The descriptor whose open file the daemon keeps is not the one that readers get. */
static void test_descriptor_of_its_own(void **state)
{
	Test *t = *state;
	int a[2], b[2];

	assert_int_equal(shared_memory_open(t->memory, 0, &a[0], &a[1]), 0);
	assert_int_equal(shared_memory_open(t->memory, 0, &b[0], &b[1]), 0);
	assert_int_equal(fcntl(a[0], F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(lseek(a[0], 100, SEEK_SET), 100);
	assert_int_equal(lseek(b[0], 0, SEEK_CUR), 0);
	assert_int_equal(fcntl(a[0], F_GET_SEALS) &
				 (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL),
			 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	assert_int_equal(fcntl(a[1], F_GETPIPE_SZ), sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < 2; i++) {
		assert_true(fcntl(a[i], F_GETFD) & FD_CLOEXEC);
		close(a[i]);
		close(b[i]);
	}
}

/* What is not ours: files of a size, with a header, and seals as given. */

static int make_file(const struct memory_header *h, size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_true(pwrite(fd, h, MIN(size, sizeof(*h)), 0) >= 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static struct memory_header good_header(void)
{
	struct memory_header h = {.byte_order = MEMORY_BYTE_ORDER,
				  .major = MEMORY_MAJOR,
				  .header_size = 256,
				  .record_size = 256,
				  .capacity = 15};

	memcpy(h.magic, MEMORY_MAGIC, sizeof(h.magic));
	return h;
}

static void assert_opens(struct memory_header h, size_t size, int seals, int expected)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	int fd = make_file(&h, size, seals);
	struct rdmad *r;

	assert_int_equal(rdmad_open_fd(fd, -1, &r), expected);
	if (expected < 0) {
		/* it is still ours */
		assert_int_equal(close(fd), 0);
		return;
	}
	assert_int_equal(rdmad_next(r, &handle), 0);
	assert_int_equal(rdmad_fd(r), -EOPNOTSUPP);
	assert_int_equal(rdmad_wait(r, 0), -EOPNOTSUPP);
	rdmad_close(r);
}

static void test_other_files(void **state)
{
	const struct memory_header good = good_header();
	struct memory_header h;
	struct rdmad *r;
	int zero;

	(void)state;
	assert_opens(good, 4096, F_SEAL_SHRINK, 0);
	assert_opens(good, 4096, 0, -EPERM);
	assert_opens(good, 4095, F_SEAL_SHRINK, -EBADMSG);
	assert_opens(good, 100, F_SEAL_SHRINK, -EBADMSG);
	assert_opens(good, 0, F_SEAL_SHRINK, -EBADMSG);

#define BAD(field, value, expected)                                                                \
	do {                                                                                       \
		h = good;                                                                          \
		h.field = (value);                                                                 \
		assert_opens(h, 4096, F_SEAL_SHRINK, expected);                                    \
	} while (false)
	BAD(magic[0], 'X', -EBADMSG);
	BAD(byte_order, 0x04030201, -EBADMSG);
	BAD(major, MEMORY_MAJOR + 1, -EPROTONOSUPPORT);
	BAD(major, 0, -EPROTONOSUPPORT);
	BAD(header_size, 192, -EBADMSG);
	BAD(header_size, 257, -EBADMSG);
	BAD(header_size, 320, -EBADMSG); /* the records would end behind the file */
	BAD(header_size, UINT32_MAX - 63, -EBADMSG);
	BAD(record_size, 0, -EBADMSG);
	BAD(record_size, 192, -EBADMSG);
	BAD(record_size, 260, -EBADMSG);
	BAD(record_size, 320, -EBADMSG);
	BAD(record_size, UINT32_MAX - 63, -EBADMSG);
	BAD(capacity, 16, -EBADMSG);
	BAD(capacity, 1U << 24, -EBADMSG); /* times 256 is 0 in 32 bits */
	BAD(capacity, UINT32_MAX, -EBADMSG);
	/* what a later minor version may do */
	BAD(minor, 7, 0);
	BAD(n_slots, UINT32_MAX, 0);
#undef BAD
	/* 65536 times 65536 is 0 in 32 bits */
	h = good;
	h.record_size = h.capacity = 65536;
	assert_opens(h, 4096, F_SEAL_SHRINK, -EBADMSG);
	h = good;
	h.record_size = 512;
	h.capacity = 7;
	assert_opens(h, 4096, F_SEAL_SHRINK, 0);

	zero = open("/dev/zero", O_RDONLY);
	assert_int_equal(rdmad_open_fd(zero, -1, &r), -EPERM);
	close(zero);
	assert_int_equal(rdmad_open_fd(-1, -1, &r), -EPERM);
}

/* The daemon dies between the two writes of the sequence. */
static void test_writer_killed(void **state)
{
	struct memory_header h = good_header();
	struct rdmad_port *record, good = {.hot = {.flags = RDMAD_PORT_PRESENT, .port_num = 1}};
	struct rdmad_handle handle = {};
	struct rdmad_port port;
	struct rdmad *r;
	int fd, status, notice[2];
	char *p;
	pid_t pid;

	(void)state;
	h.n_slots = 1;
	text_copy(good.device_name, sizeof(good.device_name), "mlx5_0");
	fd = make_file(&h, 4096, F_SEAL_SHRINK);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	record = (struct rdmad_port *)(p + sizeof(h));
	memcpy(&handle.port, &good.hot.device_index, sizeof(handle.port));
	memory_write(record, &good);
	assert_int_equal(pipe2(notice, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(rdmad_open_fd(fd, notice[0], &r), 0);
	assert_int_equal(rdmad_read(r, handle, &port), 0);

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		__atomic_fetch_add(&record->hot.sequence, 1, __ATOMIC_SEQ_CST);
		record->hot.lid = 42;
		raise(SIGKILL);
	}
	close(notice[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));

	assert_int_equal(rdmad_read(r, handle, &port), -EAGAIN);
	assert_int_equal(rdmad_read_hot(r, handle, &port.hot), -EAGAIN);
	assert_int_equal(rdmad_find(r, "mlx5_0/1", &handle), -EAGAIN);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	munmap(p, 4096);
	rdmad_close(r);
}

static void test_messages(void **state)
{
	(void)state;
	assert_string_equal(rdmad_strerror(-EBADMSG), "the snapshot is damaged");
	assert_string_equal(rdmad_strerror(-ENOSPC), strerror(ENOSPC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ibv_port_attr, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ports_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_growth, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_notices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_listeners, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_same_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_other_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptor_of_its_own, setup, teardown),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_writer_killed),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
