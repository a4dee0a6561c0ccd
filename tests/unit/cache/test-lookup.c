/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which names find which device or port. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "lookup.h"
#include "test-cache.h"

/* A port of RoCE on eth0: 10.0.0.1 is in four entries of its GID table. */
static Port *add_roce(Cache *c, uint32_t device, const char *name)
{
	const GidEntry gids[] = {
		{.index = 1,
		 .type = GID_TYPE_ROCE_V1,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0"},
		/* the interface of the port comes before the index */
		{.index = 2,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0.6"},
		{.index = 3,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0"},
		{.index = 5,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0.5"},
	};
	const NetdevEntry netdev = {.ifindex = 4, .name = "eth0"};
	Port *port = device_port(add_device(c, device, name, 1, 1), 1);
	PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, 2);
	s.tables[PORT_TABLE_GIDS] = table_new(gids, ARRAY_SIZE(gids), sizeof(gids[0]));
	s.tables[PORT_TABLE_NETDEVS] = table_new(&netdev, 1, sizeof(netdev));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	PORT_SUPPLY_TEXT(&s, netdev, "eth0");
	apply(port, s, 0);
	return port;
}

/* The GID that holds IP address TEXT, its port in *RET and its index in *RET_INDEX. -EEXIST if
 * several ports have it. */
static int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
				 Port **ret, uint32_t *ret_index)
{
	const FindKey key = {.text = text, .by = FIND_GID, .type = type, .netdev = netdev};
	FoundPort found;
	FindKind by;
	size_t n;
	int r = lookup_find(c, &key, &found, 1, &n, &by);

	if (r < 0)
		return r;
	if (n > 1)
		return -EEXIST;
	*ret = found.port;
	*ret_index = found.gid->index;
	return 0;
}

static void test_names(void **state)
{
	Cache *c = *state;
	Device *two = add_device(c, 1, "mlx5_0", 2, 1);
	Port *roce = add_roce(c, 2, "rxe/odd"), *p;
	uint32_t index;

	apply(two->ports[1], ib_port(ACTIVE), 0);

	assert_ptr_equal(lookup_device(c, "mlx5_0"), two);
	assert_null(lookup_device(c, "mlx5_1"));
	assert_int_equal(lookup_port(c, "mlx5_0/2", &p), 0);
	assert_ptr_equal(p, two->ports[1]);
	assert_int_equal(lookup_port(c, "mlx5_0", &p), -EEXIST);
	assert_int_equal(lookup_port(c, "mlx5_0/3", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0/0", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0/1025", &p), -EINVAL);
	assert_int_equal(lookup_port(c, "mlx5_0/x", &p), -EINVAL);
	assert_int_equal(lookup_port(c, "mlx5_0/0x2", &p), -EINVAL);
	assert_int_equal(lookup_port(c, "mlx5_0/02", &p), -EINVAL);
	/* names may hold anything: the last slash counts */
	assert_int_equal(lookup_port(c, "rxe/odd/1", &p), 0);
	assert_ptr_equal(p, roce);
	assert_int_equal(lookup_port(c, "eth0", &p), 0);
	assert_int_equal(lookup_port(c, "eth0.5", &p), 0);
	assert_int_equal(lookup_port(c, "0002:c903:0000:0001", &p), 0);
	assert_ptr_equal(p, two->ports[1]);
	assert_int_equal(lookup_port(c, "", &p), -EINVAL);
	assert_int_equal(lookup_port(c, "nothing", &p), -ENOENT);
	assert_int_equal(lookup_port_by(c, "nothing", FIND_PORT_GUID, &p), -EINVAL);

	assert_int_equal(lookup_gid_by_address(c, "10.0.0.1", _GID_TYPE_MAX, NULL, &p, &index), 0);
	assert_int_equal(index, 3);
	assert_int_equal(lookup_gid_by_address(c, "10.0.0.1", GID_TYPE_ROCE_V1, NULL, &p, &index),
			 0);
	assert_int_equal(index, 1);
	assert_int_equal(
		lookup_gid_by_address(c, "::ffff:10.0.0.1", _GID_TYPE_MAX, "eth0.5", &p, &index),
		0);
	assert_int_equal(index, 5);
	assert_int_equal(lookup_gid_by_address(c, "10.0.0.2", _GID_TYPE_MAX, NULL, &p, &index),
			 -ENOENT);
	assert_int_equal(lookup_gid_by_address(c, "10.0.0", _GID_TYPE_MAX, NULL, &p, &index),
			 -EINVAL);
}

/* "mlx5_0:1", as other programs write it. A GUID comes first, and what is no number is no port. */
static void test_colon(void **state)
{
	Cache *c = *state;
	Device *two = add_device(c, 1, "mlx5_0", 2, 1);
	Device *odd = add_device(c, 2, "0002:c903:0000", 1000, 1);
	PortSnapshot s = ib_port(ACTIVE);
	Port *p;

	s.tables[PORT_TABLE_GIDS]->entries[offsetof(GidEntry, gid) + 14] = 0x10;
	s.tables[PORT_TABLE_GIDS]->entries[offsetof(GidEntry, gid) + 15] = 0;
	apply(two->ports[1], s, 0);
	assert_int_equal(lookup_port(c, "mlx5_0:2", &p), 0);
	assert_ptr_equal(p, two->ports[1]);
	assert_int_equal(lookup_port(c, "0002:c903:0000:1000", &p), 0);
	assert_ptr_equal(p, two->ports[1]);
	assert_int_equal(lookup_port(c, "0002:c903:0000/1000", &p), 0);
	assert_ptr_equal(p, device_port_called(odd, 1000));
	assert_int_equal(lookup_port(c, "mlx5_0:3", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0:02", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0:", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0:2/1", &p), -ENOENT);
}

/* What two ports have names neither of them. */
static void test_ambiguous(void **state)
{
	Cache *c = *state;
	const GidEntry gid = {.index = 1,
			      .type = GID_TYPE_ROCE_V2,
			      .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
			      .netdev = "bond0"};
	Port *p;
	uint32_t index;

	for (uint32_t i = 1; i <= 2; i++) {
		char name[] = {'r', 'x', 'e', (char)('0' + i), '\0'};
		PortSnapshot s = {};

		PORT_SUPPLY(&s, link_layer, 2);
		s.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
		mask_set(&s.supplied, PORT_ATTR_gids, true);
		apply(device_port(add_device(c, i, name, 1, 1), 1), s, 0);
		assert_int_equal(lookup_port_by(c, "bond0", FIND_NETDEV, &p), i == 1 ? 0 : -EEXIST);
		assert_int_equal(
			lookup_gid_by_address(c, "10.0.0.1", _GID_TYPE_MAX, NULL, &p, &index),
			i == 1 ? 0 : -EEXIST);
	}
	assert_int_equal(lookup_port(c, "bond0", &p), -EEXIST);
	for (uint32_t i = 3; i <= 4; i++)
		apply(device_port(add_device(c, i, "mlx5_0", 1, 1), 1), ib_port(ACTIVE), 0);
	assert_int_equal(lookup_port_by(c, "0002:c903:0000:0001", FIND_PORT_GUID, &p), -EEXIST);
	assert_int_equal(lookup_port(c, "0002:c903:0000:0001", &p), -EEXIST);
}

/* An object has one path: another way to write its numbers is the path of nothing. */
static void test_paths(void **state)
{
	static const char *const none[] = {"",
					   "/org/rdma",
					   "/org/rdma/device",
					   "/org/rdma/device/",
					   "/org/rdma/device/1",
					   "/org/rdma/device/00",
					   "/org/rdma/device/0x0",
					   "/org/rdma/device/+0",
					   "/org/rdma/device/ 0",
					   "/org/rdma/device/4294967296",
					   "/org/rdma/device/18446744073709551616",
					   "/org/rdma/device/0/port/4294967297",
					   "/org/rdma/device/0000000000000000",
					   "/org/rdma/device/0/",
					   "/org/rdma/device/0/1",
					   "/org/rdma/device/0/port/",
					   "/org/rdma/device/0/port/0",
					   "/org/rdma/device/0/port/01",
					   "/org/rdma/device/0/port/0x1",
					   "/org/rdma/device/0/port/3",
					   "/org/rdma/device/0/port/1/",
					   "/org/rdma/device/00/port/1",
					   "/org/rdma/device/0x0/port/1"};
	Device *d = add_device(*state, 0, "mlx5_0", 2, 1), *device;
	Port *port;

	for (uint32_t n = 1; n <= 2; n++)
		device_port(d, n)->published = true;
	d->published = true;
	assert_int_equal(lookup_path(*state, "/org/rdma/device/0", &device, &port), 0);
	assert_ptr_equal(device, d);
	assert_null(port);
	assert_int_equal(lookup_path(*state, "/org/rdma/device/0/port/2", &device, &port), 0);
	assert_ptr_equal(device, d);
	assert_ptr_equal(port, d->ports[1]);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (lookup_path(*state, none[i], &device, &port) != -ENOENT)
			fail_msg("%s answers", none[i]);

	/* what is not published has no object */
	device_port(d, 2)->published = false;
	assert_int_equal(lookup_path(*state, "/org/rdma/device/0/port/2", &device, &port), -ENOENT);
	d->published = false;
	assert_int_equal(lookup_path(*state, "/org/rdma/device/0", &device, &port), -ENOENT);
}

/* The same look-ups, by going through all ports. */

static bool has_netdev(const Port *p, const char *name)
{
	TABLE_FOREACH(NetdevEntry, n, p->now.tables[PORT_TABLE_NETDEVS])
		if (streq(n->name, name))
			return true;
	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS])
		if (streq(g->netdev, name))
			return true;
	return false;
}

static bool has_guid(const Port *p, const char *text)
{
	uint64_t guid;

	assert_int_equal(guid_parse(text, &guid), 0);
	return mask_has(&p->now.valid, PORT_ATTR_port_guid) && p->now.values.port_guid == guid;
}

static bool has_address(const Port *p, const char *text)
{
	uint8_t gid[16];

	assert_int_equal(gid_parse(text, gid), 0);
	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS])
		if (memcmp(g->gid, gid, sizeof(gid)) == 0)
			return true;
	return false;
}

static int search(const Cache *c, bool (*has)(const Port *p, const char *name), const char *name,
		  Port **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_devices; i++)
		for (uint32_t k = 0; k < c->devices[i]->n_ports; k++)
			if (has(c->devices[i]->ports[k], name)) {
				*ret = c->devices[i]->ports[k];
				n++;
			}
	return n == 0 ? -ENOENT : n > 1 ? -EEXIST : 0;
}

static const char *const devices[] = {"mlx5_0", "mlx5_1", "rxe0"};
static const char *const netdevs[] = {"eth0", "eth1", "eth0.5"};
static const char *const guids[] = {"0202:c903:0000:0001", "0000:ffff:0a00:0001"};
static const char *const addresses[] = {"10.0.0.1", "10.0.0.2", "fe80::202:c903:0:1"};

static int lookup_address(const Cache *c, const char *text, Port **ret)
{
	uint32_t index;

	return lookup_gid_by_address(c, text, _GID_TYPE_MAX, NULL, ret, &index);
}

static int lookup_netdev(const Cache *c, const char *text, Port **ret)
{
	const FindKey key = {.text = text, .by = FIND_NETDEV, .type = _GID_TYPE_MAX};
	FindKind by = FIND_NETDEV;
	size_t n;

	(void)lookup_find(c, &key, NULL, 0, &n, &by);
	return by == FIND_NETDEV ? lookup_port_by(c, text, by, ret) : -ENOENT;
}

static int lookup_guid(const Cache *c, const char *text, Port **ret)
{
	return lookup_port_by(c, text, FIND_PORT_GUID, ret);
}

static int lookup_altname(const Cache *c, const char *text, Port **ret)
{
	return lookup_port_by(c, text, FIND_ALTNAME, ret);
}

static int lookup_kernel_address(const Cache *c, const char *text, Port **ret)
{
	return lookup_port_by(c, text, FIND_ADDRESS, ret);
}

static bool has_altname(const Port *p, const char *name)
{
	TABLE_FOREACH(AltnameEntry, a, p->now.tables[PORT_TABLE_ALTNAMES])
		if (streq(a->name, name))
			return true;
	return false;
}

/* The GIDs here have no type of RoCE. */
static bool has_kernel_address(const Port *p, const char *text)
{
	uint8_t address[16];

	assert_int_equal(gid_parse(text, address), 0);
	TABLE_FOREACH(AddressEntry, a, p->now.tables[PORT_TABLE_ADDRESSES])
		TABLE_FOREACH(NetdevEntry, n, p->now.tables[PORT_TABLE_NETDEVS])
			if (n->ifindex == a->ifindex && memcmp(a->address, address, 16) == 0)
				return true;
	return false;
}

static bool is_in_addresses(const Port *p, const uint8_t address[16])
{
	TABLE_FOREACH(AddressEntry, a, p->now.tables[PORT_TABLE_ADDRESSES])
		if (memcmp(a->address, address, 16) == 0)
			return true;
	return false;
}

static void assert_same(const Cache *c,
			int (*look_up)(const Cache *c, const char *text, Port **ret),
			bool (*has)(const Port *p, const char *name), const char *name)
{
	Port *found = NULL, *expected = NULL;
	int r = search(c, has, name, &expected);

	assert_int_equal(look_up(c, name, &found), r);
	if (r == 0)
		assert_ptr_equal(found, expected);
}

static void assert_all_found(const Cache *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(netdevs); i++)
		assert_same(c, lookup_netdev, has_netdev, netdevs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(guids); i++)
		assert_same(c, lookup_guid, has_guid, guids[i]);
	for (size_t i = 0; i < ARRAY_SIZE(netdevs); i++)
		assert_same(c, lookup_altname, has_altname, netdevs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		assert_same(c, lookup_kernel_address, has_kernel_address, addresses[i]);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		uint8_t gid[16];

		assert_same(c, lookup_address, has_address, addresses[i]);
		assert_int_equal(gid_parse(addresses[i], gid), 0);
		for (size_t k = 0; k < c->n_devices; k++)
			for (uint32_t n = 0; n < c->devices[k]->n_ports; n++) {
				const Port *p = c->devices[k]->ports[n];

				assert_int_equal(lookup_has_address(p, gid),
						 has_address(p, addresses[i]) ||
							 is_in_addresses(p, gid));
			}
	}
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		Device *first = NULL;

		for (size_t k = c->n_devices; k > 0; k--)
			if (streq(TEXT_OF(&c->devices[k - 1]->now.values, name), devices[i]))
				first = c->devices[k - 1];
		assert_ptr_equal(lookup_device(c, devices[i]), first);
	}
}

/* What lookup_port() finds by each name. */
#define N_NAMES                                                                                    \
	(ARRAY_SIZE(devices) * 3 + ARRAY_SIZE(netdevs) + ARRAY_SIZE(guids) + ARRAY_SIZE(addresses))

static void find_all(const Cache *c, const void *ret[N_NAMES])
{
	size_t n = 0;
	Port *p;

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		for (unsigned int k = 0; k < 3; k++) {
			char name[16];

			snprintf(name, sizeof(name), k ? "%s/%u" : "%s", devices[i], k);
			ret[n++] = lookup_port(c, name, &p) == 0 ? p : NULL;
		}
	for (size_t i = 0; i < ARRAY_SIZE(netdevs); i++)
		ret[n++] = lookup_port(c, netdevs[i], &p) == 0 ? p : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(guids); i++)
		ret[n++] = lookup_port(c, guids[i], &p) == 0 ? p : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		ret[n++] = lookup_port(c, addresses[i], &p) == 0 ? p : NULL;
}

/* An answer with some of the names; often with one of them twice. */
static PortSnapshot random_port(void)
{
	GidEntry gids[3] = {};
	NetdevEntry links[2] = {};
	AltnameEntry altname = {};
	AddressEntry address = {};
	PortSnapshot s = {};
	size_t n_gids = (size_t)rand() % 4, n_links = (size_t)rand() % 3;

	for (size_t i = 0; i < n_gids; i++) {
		gids[i].index = (uint32_t)i;
		assert_int_equal(gid_parse(addresses[rand() % 3], gids[i].gid), 0);
		if (rand() % 3)
			strcpy(gids[i].netdev, netdevs[rand() % 3]);
	}
	for (size_t i = 0; i < n_links; i++)
		strcpy(links[i].name, netdevs[rand() % 3]);
	for (size_t i = 0; i < n_links; i++)
		links[i].ifindex = (uint32_t)rand() % 3;
	strcpy(altname.name, netdevs[rand() % 3]);
	assert_int_equal(gid_parse(addresses[rand() % 3], address.address), 0);
	address.ifindex = 1;
	s.tables[PORT_TABLE_ALTNAMES] = table_new(&altname, (size_t)rand() % 2, sizeof(altname));
	s.tables[PORT_TABLE_ADDRESSES] = table_new(&address, (size_t)rand() % 2, sizeof(address));
	mask_set(&s.supplied, PORT_ATTR_altnames, true);
	mask_set(&s.supplied, PORT_ATTR_addresses, true);
	PORT_SUPPLY(&s, state, ACTIVE);
	PORT_SUPPLY(&s, link_layer, 1 + (uint32_t)rand() % 2);
	s.tables[PORT_TABLE_GIDS] = table_new(gids, n_gids, sizeof(gids[0]));
	s.tables[PORT_TABLE_NETDEVS] = table_new(links, n_links, sizeof(links[0]));
	mask_set(&s.supplied, PORT_ATTR_gids, rand() % 4 > 0);
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	return s;
}

/* A device comes, is renamed, or has another number of ports. */
static void apply_random_device(Cache *c)
{
	DeviceSnapshot s = {};
	AttrMask changed;
	Device *d;
	Port *excess;

	DEVICE_SUPPLY(&s, index, (uint32_t)rand() % 4);
	DEVICE_SUPPLY_TEXT(&s, name, devices[rand() % 3]);
	DEVICE_SUPPLY(&s, port_count, (uint32_t)rand() % 3);
	DEVICE_SUPPLY(&s, node_type, 1);
	assert_true(apply_device(c, &s, 0, &d, &changed) >= 0);
	while ((excess = cache_excess_port(d)))
		cache_remove_port(excess);
}

/* After whatever has happened, each name finds what going through all ports finds; and while the
 * generation is the same it finds what it found before. */
static void test_never_stale(void **state)
{
	const void *was[N_NAMES], *is[N_NAMES];
	/* valgrind is for values that were never written, for which a tenth is enough */
	unsigned int same = 0, steps = getenv("RDMAD_TEST_VALGRIND") ? 2000 : 20000;
	Cache *c = *state;

	srand(1);
	find_all(c, was);
	for (unsigned int i = 0; i < steps; i++) {
		uint64_t generation = c->names_generation;
		Device *d = c->n_devices ? c->devices[(size_t)rand() % c->n_devices] : NULL;

		if (!d || rand() % 8 == 0)
			apply_random_device(c);
		else if (rand() % 16 == 0)
			cache_remove_device(c, d);
		else if (d->n_ports > 0)
			apply(d->ports[(size_t)rand() % d->n_ports], random_port(), 0);
		assert_all_found(c);
		find_all(c, is);
		if (c->names_generation == generation) {
			assert_memory_equal(is, was, sizeof(is));
			same++;
		}
		memcpy(was, is, sizeof(was));
	}
	assert_true(same > 100);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_names), TEST(test_colon),	  TEST(test_ambiguous),
		TEST(test_paths), TEST(test_never_stale),
	};

	return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
