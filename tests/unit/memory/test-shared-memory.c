/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shared memory from both sides: what the daemon writes is what librdmad reads. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "compat.h"
#include "memory-fixture.h"
#include "memory-layout.h"

static bool is_old_kernel; /* before Linux 6.3 */
static unsigned int n_refused;

int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags)
{
	assert_int_equal(flags & ~MFD_NOEXEC_SEAL, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!is_old_kernel || !(flags & MFD_NOEXEC_SEAL))
		return __real_memfd_create(name, flags);
	n_refused++;
	errno = EINVAL;
	return -1;
}

static struct rdmad_port read_found(const struct rdmad *r, const char *name)
{
	struct rdmad_port p = {};

	assert_int_equal(rdmad_read(r, fixture_find(r, name), &p), 0);
	return p;
}

static void test_fields(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 2, PROTOCOL_INFINIBAND), 2);
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_handle h;
	struct rdmad_hot hot;
	struct rdmad_port port;

	fixture_put(f, p, fixture_all_fields());
	h = fixture_find(r, "mlx5_0/2");
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
	/* of the interface, which this port does not have, the cache says that it is not valid */
#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	assert_int_equal(RDMAD_VALID(port.hot, NAME),                                              \
			 mask_has(&p->now.valid, PORT_ATTR_##attribute));
#include "memory-fields.def"
	assert_false(RDMAD_VALID(port.hot, IFINDEX));
	assert_false(RDMAD_VALID(port.hot, NETDEV));
	assert_int_equal(port.hot.valid >> _RDMAD_FIELD_MAX, 0);
	assert_int_equal(rdmad_read_hot(r, h, &hot), 0);
	assert_memory_equal(&hot, &port.hot, sizeof(hot));
	rdmad_close(r);
}

/* A finding with the same verdict is another record too. */
static void test_health(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_port port;

	fixture_put(f, p, fixture_all_fields());
	for (unsigned int i = 0; i < 3; i++) {
		const FindingEntry flap = {.check = "flap", .severity = VERDICT_WARNING};
		_cleanup_(port_change_done) PortChange change = {};
		Table *findings = i < 2 ? table_new(&flap, 1, sizeof(flap)) : NULL;

		port_change_done(&change);
		cache_apply_port_health(p, VERDICT_WARNING, 0, findings, true, 1000, &change);
		assert_int_equal(change.op, i == 1 ? CACHE_UNCHANGED : CACHE_CHANGED);
		shared_memory_count(&change);
		shared_memory_put(f->memory, p, false);
		assert_int_equal(rdmad_read(r, fixture_find(r, "mlx5_0/1"), &port), 0);
		assert_int_equal(port.health, 2);
		assert_int_equal(port.rest_generation, i < 2 ? 1 : 2);
	}
	rdmad_close(r);
}

static void test_unknown_is_said(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "rocep1", 1, PROTOCOL_ROCE), 1);
	PortSnapshot s = fixture_roce_port("eth0"), wide;
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_port port;
	struct ibv_port_attr a;
	_cleanup_(port_change_done) PortChange change = {};

	/* the first query failed: only the number of the port is known */
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no", 0, 1000, &change);
	shared_memory_put(f->memory, p, true);
	assert_int_equal(rdmad_read(r, fixture_find(r, "rocep1/1"), &port), 0);
	assert_int_equal(port.hot.flags, RDMAD_PORT_PRESENT | RDMAD_PORT_STALE);
	assert_int_equal(port.hot.valid, 0);
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "rocep1/1"), &a), -ENODATA);

	fixture_put(f, p, s);
	assert_int_equal(rdmad_read(r, fixture_find(r, "eth0"), &port), 0);
	assert_true(RDMAD_VALID(port.hot, STATE));
	assert_true(RDMAD_VALID(port.hot, NETDEV));
	assert_string_equal(port.netdev, "eth0");
	assert_int_equal(port.ifindex, 6);
	/* the device could not be opened: what verbs would say is not known, and not 0 */
	assert_int_equal(port.hot.flags, RDMAD_PORT_PRESENT);
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "rocep1/1"), &a), -ENODATA);
	/* the link is down: the MTU is what the driver said, and is not valid */
	assert_false(RDMAD_VALID(port.hot, ACTIVE_MTU));
	assert_int_equal(port.hot.active_mtu, 3);
	assert_false(RDMAD_VALID(port.hot, LID));
	assert_false(RDMAD_VALID(port.hot, MAX_MTU));

	/* a number that is too large for its field is not there, and neither is its lower byte */
	wide = fixture_roce_port("eth0");
	PORT_SUPPLY(&wide, phys_state, 0x105);
	fixture_put(f, p, wide);
	assert_int_equal(rdmad_read(r, fixture_find(r, "eth0"), &port), 0);
	assert_false(RDMAD_VALID(port.hot, PHYS_STATE));
	assert_int_equal(port.hot.phys_state, 0);
	rdmad_close(r);
}

static void test_ibv_port_attr(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	struct ibv_port_attr a;

	fixture_put(f, p, fixture_all_fields());
	memset(&a, 0xff, sizeof(a));
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "mlx5_0"), &a), 0);
	assert_int_equal(a.state, IBV_PORT_ACTIVE);
	assert_int_equal(a.max_mtu, IBV_MTU_4096);
	assert_int_equal(a.active_mtu, IBV_MTU_2048);
	assert_int_equal(a.gid_tbl_len, 70000);
	assert_int_equal(a.port_cap_flags, 0x2651e84a);
	assert_int_equal(a.max_msg_sz, 1U << 30);
	assert_int_equal(a.bad_pkey_cntr, 11);
	assert_int_equal(a.qkey_viol_cntr, 12);
	assert_int_equal(a.pkey_tbl_len, 128);
	assert_int_equal(a.lid, 17);
	assert_int_equal(a.sm_lid, 9);
	assert_int_equal(a.lmc, 3);
	assert_int_equal(a.max_vl_num, 4);
	assert_int_equal(a.sm_sl, 2);
	assert_int_equal(a.subnet_timeout, 18);
	assert_int_equal(a.init_type_reply, 7);
	assert_int_equal(a.active_width, 2);
	assert_int_equal(a.active_speed, 128);
	assert_int_equal(a.phys_state, 5);
	assert_int_equal(a.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(a.flags, 1);
	assert_int_equal(a.port_cap_flags2, 0x32);
	rdmad_close(r);
}

/* The program was built with a struct ibv_port_attr of another size than the library. */
static void test_other_sizes(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	struct {
		struct ibv_port_attr a;
		uint32_t active_speed_ex; /* unless A has it */
		char later[16];
	} b;
	struct rdmad_handle h;

	fixture_put(f, p, fixture_all_fields());
	h = fixture_find(r, "mlx5_0");

	/* larger: the fields that the library does not know become 0 */
	memset(&b, 0xff, sizeof(b));
	assert_int_equal(rdmad_query_port_size(r, h, &b.a, sizeof(b)), 0);
	assert_int_equal(b.a.port_cap_flags2, 0x32);
	if (sizeof(struct ibv_port_attr) == offsetof(struct rdmad_verbs, active_speed_ex))
		assert_int_equal(b.active_speed_ex, 256);
	for (size_t i = 0; i < sizeof(b.later); i++)
		assert_int_equal(b.later[i], 0);

	/* smaller: nothing is written behind its end */
	memset(&b, 0xff, sizeof(b));
	assert_int_equal(rdmad_query_port_size(r, h, &b.a, offsetof(struct ibv_port_attr, flags)),
			 0);
	assert_int_equal(b.a.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(b.a.flags, 0xff);
	rdmad_close(r);
}

/* The LID that ibv_query_port() would say of port P, which has this LID on Omni-Path. */
static uint16_t query_opa_lid(Fixture *f, Port *p, uint32_t lid)
{
	PortSnapshot s = fixture_all_fields();
	struct rdmad *r = fixture_open(f, 0);
	struct ibv_port_attr a;
	struct rdmad_port record;

	s.values.lid = lid;
	fixture_put(f, p, s);
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "hfi1_0"), &a), 0);
	assert_int_equal(a.sm_lid, 9);
	assert_int_equal(rdmad_read(r, fixture_find(r, "hfi1_0"), &record), 0);
	assert_int_equal(record.hot.lid, lid);
	rdmad_close(r);
	return a.lid;
}

/* A LID of Omni-Path has 32 bits, and the one in struct ibv_port_attr 16. From 0xc000 on 16 bits
 * mean a multicast LID. */
static void test_omni_path_lid(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 4, "hfi1_0", 1, PROTOCOL_OPA), 1);

	assert_int_equal(query_opa_lid(f, p, 0xbfff), 0xbfff);
	assert_int_equal(query_opa_lid(f, p, 0xc000), 0);
	assert_int_equal(query_opa_lid(f, p, 0x1c000), 0);
}

/* What ibv_query_port() would fail at is a failure here, and not the values from before. */
static void test_query_fails(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	struct ibv_port_attr a;
	_cleanup_(port_change_done) PortChange change = {};

	fixture_put(f, p, fixture_all_fields());
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no answer", 0, 1000, &change);
	shared_memory_put(f->memory, p, true);
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "mlx5_0"), &a), -EIO);
	rdmad_close(r);
}

static void test_find(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", 2, PROTOCOL_INFINIBAND);
	Device *roce = fixture_add_device(f, 7, "mlx5_01", 1, PROTOCOL_ROCE);
	struct rdmad *old = fixture_open(f, 0), *r;
	struct rdmad_handle h;
	const NetdevEntry ipoib[] = {{.ifindex = 9, .name = "ib0"},
				     {.ifindex = 10, .name = "ib0.8001"}};
	PortSnapshot s = fixture_all_fields();

	s.tables[PORT_TABLE_NETDEVS] = table_new(ipoib, 2, sizeof(ipoib[0]));
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	fixture_put(f, device_port(d, 1), s);
	fixture_put(f, device_port(d, 2), fixture_all_fields());
	fixture_put(f, device_port(roce, 1), fixture_roce_port("eth0"));
	assert_int_equal(rdmad_find(old, "mlx5_0/1", &h), -ESTALE);
	r = fixture_open(f, 0);
	assert_int_equal(read_found(r, "mlx5_0/2").hot.port_num, 2);
	assert_int_equal(read_found(r, "mlx5_0:2").hot.port_num, 2);
	assert_int_equal(rdmad_find(r, "mlx5_0;2", &h), -ENOENT);
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
	/* a device without a name has no name to be found by */
	fixture_put(f, device_port(fixture_add_device(f, 9, "", 1, PROTOCOL_INFINIBAND), 1),
		    fixture_all_fields());
	assert_int_equal(rdmad_find(r, "/1", &h), -ENOENT);
	rdmad_close(r);
	rdmad_close(old);
}

static void test_ports_come_and_go(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND);
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_handle first, second, h = RDMAD_HANDLE_FIRST;
	struct rdmad_port port;
	uint32_t generation = rdmad_ports_generation(r);

	assert_int_equal(rdmad_next(r, &h), 0);
	fixture_put(f, device_port(d, 1), fixture_all_fields());
	/* each time it grows by one */
	assert_int_equal(rdmad_ports_generation(r), ++generation);
	first = fixture_find(r, "mlx5_0");
	fixture_put(f, device_port(d, 1), fixture_roce_port(""));
	assert_int_equal(rdmad_ports_generation(r), generation);
	assert_int_equal(rdmad_next(r, &h), 1);
	assert_true(h.port == first.port && h.slot == first.slot);
	assert_int_equal(rdmad_next(r, &h), 0);

	/* the handle is good after a rename */
	attr_set_text(&port_attributes[PORT_ATTR_device_name], &device_port(d, 1)->now.values,
		      "ibp1");
	shared_memory_put(f->memory, device_port(d, 1), true);
	assert_int_equal(rdmad_ports_generation(r), ++generation);
	assert_int_equal(rdmad_read(r, first, &port), 0);
	assert_string_equal(port.device_name, "ibp1");

	/* another port in the same slot is not mistaken for it */
	shared_memory_remove(f->memory, device_port(d, 1));
	assert_int_equal(rdmad_ports_generation(r), ++generation);
	assert_int_equal(rdmad_read(r, first, &port), -ENODEV);
	assert_int_equal(rdmad_read_hot(r, first, &port.hot), -ENODEV);
	fixture_put(f, device_port(fixture_add_device(f, 4, "mlx5_1", 1, PROTOCOL_INFINIBAND), 1),
		    fixture_all_fields());
	second = fixture_find(r, "mlx5_1");
	assert_int_equal(second.slot, first.slot);
	assert_int_equal(rdmad_read(r, first, &port), -ENODEV);
	assert_int_equal(rdmad_read(r, second, &port), 0);
	second.slot = UINT32_MAX;
	assert_int_equal(rdmad_read(r, second, &port), -ENODEV);
	rdmad_close(r);
}

/* The name of the interface is one of the names that a port is found by. */
static void test_new_netdev_name(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 7, "mlx5_1", 1, PROTOCOL_ROCE), 1);
	struct rdmad *r = fixture_open(f, 0);
	uint32_t generation;

	fixture_put(f, p, fixture_roce_port("eth0"));
	generation = rdmad_ports_generation(r);
	fixture_put(f, p, fixture_roce_port("eth1"));
	assert_int_not_equal(rdmad_ports_generation(r), generation);
	assert_int_equal(read_found(r, "eth1").hot.device_index, 7);
	rdmad_close(r);
}

/* A port that takes the slot of one that has gone does not hide the ports in the slots after it. */
static void test_slot_is_taken_again(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", 2, PROTOCOL_INFINIBAND);
	Device *later = fixture_add_device(f, 4, "mlx5_1", 1, PROTOCOL_INFINIBAND);
	struct rdmad *r = fixture_open(f, 0);

	fixture_put(f, device_port(d, 1), fixture_all_fields());
	fixture_put(f, device_port(d, 2), fixture_all_fields());
	shared_memory_remove(f->memory, device_port(d, 1));
	fixture_put(f, device_port(later, 1), fixture_all_fields());
	assert_int_equal(fixture_find(r, "mlx5_1").slot, 0);
	assert_int_equal(fixture_find(r, "mlx5_0/2").slot, 1);
	rdmad_close(r);
}

static void test_growth(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", 200, PROTOCOL_INFINIBAND);
	struct rdmad *r, *now;
	struct rdmad_handle h, next = RDMAD_HANDLE_FIRST;
	struct pollfd pipe = {};
	struct rdmad_port port;

	for (uint32_t i = 1; i <= FIXTURE_CAPACITY; i++)
		fixture_put(f, device_port(d, i), fixture_all_fields());
	r = fixture_open(f, 0);
	pipe.fd = rdmad_fd(r);
	h = fixture_find(r, "mlx5_0/1");
	assert_int_equal(rdmad_wait(r, 0), 0);
	for (uint32_t i = FIXTURE_CAPACITY + 1; i <= 200; i++)
		fixture_put(f, device_port(d, i), fixture_all_fields());
	assert_int_equal(rdmad_read(r, h, &port), -ESTALE);
	assert_int_equal(rdmad_read_hot(r, h, &port.hot), -ESTALE);
	assert_int_equal(rdmad_find(r, "mlx5_0/1", &h), -ESTALE);
	assert_int_equal(rdmad_next(r, &next), -ESTALE);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ESTALE);
	assert_int_equal(poll(&pipe, 1, 0), 1);
	assert_true(pipe.revents & POLLHUP);
	/* only what came from a bus can be opened anew */
	assert_int_equal(rdmad_reopen(r), -EOPNOTSUPP);
	rdmad_close(r);

	now = fixture_open(f, 0);
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

/* The ports generation goes on in the larger memory: a reader that compares it with the one from
 * before sees that ports have come. */
static void test_growth_keeps_ports_generation(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", 2 * FIXTURE_CAPACITY, PROTOCOL_INFINIBAND);
	struct rdmad *r = fixture_open(f, 0), *now;
	uint32_t i, full;

	for (i = 1; i <= FIXTURE_CAPACITY; i++)
		fixture_put(f, device_port(d, i), fixture_all_fields());
	full = rdmad_ports_generation(r);
	/* as many ports again: had it begun at 0 it would now be the same number */
	for (; i <= 2 * FIXTURE_CAPACITY; i++)
		fixture_put(f, device_port(d, i), fixture_all_fields());
	now = fixture_open(f, 0);
	assert_int_equal(rdmad_ports_generation(r), full);
	assert_int_not_equal(rdmad_ports_generation(now), full);
	rdmad_close(now);
	rdmad_close(r);
}

/* Without a descriptor for a larger memory a port is missing, until there is one. */
static void test_growth_fails(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 3, "mlx5_0", FIXTURE_CAPACITY + 1, PROTOCOL_INFINIBAND);
	struct rdmad *r = fixture_open(f, 0);
	struct rlimit before, none;
	struct rdmad_handle h;

	for (uint32_t i = 1; i <= FIXTURE_CAPACITY; i++)
		fixture_put(f, device_port(d, i), fixture_all_fields());
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fixture_put(f, device_port(d, FIXTURE_CAPACITY + 1), fixture_all_fields());
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rdmad_find(r, "mlx5_0/3", &h), -ENOENT);
	assert_int_equal(read_found(r, "mlx5_0/2").hot.port_num, 2);

	fixture_put(f, device_port(d, FIXTURE_CAPACITY + 1), fixture_all_fields());
	assert_int_equal(rdmad_find(r, "mlx5_0/3", &h), -ESTALE);
	rdmad_close(r);
	r = fixture_open(f, 0);
	assert_int_equal(read_found(r, "mlx5_0/3").hot.port_num, 3);
	rdmad_close(r);
}

static int setup_old_kernel(void **state)
{
	is_old_kernel = true;
	return fixture_setup(state);
}

static int teardown_old_kernel(void **state)
{
	is_old_kernel = false;
	return fixture_teardown(state);
}

static void test_old_kernel(void **state)
{
	assert_int_equal(n_refused, 1);
	rdmad_close(fixture_open(*state, 0));
}

static void test_end(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_handle h;
	struct rdmad_hot hot;

	fixture_put(f, p, fixture_all_fields());
	/* a time of more than a second */
	assert_int_equal(rdmad_wait(r, 3 * USEC_PER_SEC / 2), 1);
	assert_int_equal(rdmad_wait(r, 0), 0);
	h = fixture_find(r, "mlx5_0");
	f->memory = shared_memory_free(f->memory);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	assert_int_equal(rdmad_read_hot(r, h, &hot), -ENOTCONN);
	rdmad_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fields, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_health, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_unknown_is_said, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_ibv_port_attr, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_other_sizes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_omni_path_lid, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_query_fails, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_find, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_ports_come_and_go, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_new_netdev_name, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_slot_is_taken_again, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_growth_fails, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_growth, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_growth_keeps_ports_generation, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_old_kernel, setup_old_kernel,
						teardown_old_kernel),
		cmocka_unit_test_setup_teardown(test_end, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
