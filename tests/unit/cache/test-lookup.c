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

static void test_names(void **state)
{
	Cache *c = *state;
	Device *two = add_device(c, 1, "mlx5_0", 2, 1), *d;
	Port *roce = device_port(add_device(c, 2, "rxe/odd", 1, 1), 1), *p;
	const GidEntry gids[] = {
		{.index = 1,
		 .type = GID_TYPE_ROCE_V1,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0"},
		{.index = 3,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0"},
		{.index = 5,
		 .type = GID_TYPE_ROCE_V2,
		 .gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
		 .netdev = "eth0.5"},
	};
	const NetdevEntry netdev = {4, "eth0"};
	PortSnapshot s = {};
	uint32_t index;

	PORT_SUPPLY(&s, link_layer, 2);
	s.tables[PORT_TABLE_GIDS] = table_new(gids, ARRAY_SIZE(gids), sizeof(gids[0]));
	s.tables[PORT_TABLE_NETDEVS] = table_new(&netdev, 1, sizeof(netdev));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	apply(roce, s, 0);
	apply(two->ports[1], ib_port(ACTIVE), 0);

	assert_int_equal(lookup_device(c, "mlx5_0", &d), 0);
	assert_int_equal(lookup_device(c, "mlx5_1", &d), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0/2", &p), 0);
	assert_ptr_equal(p, two->ports[1]);
	assert_int_equal(lookup_port(c, "mlx5_0", &p), -EEXIST);
	assert_int_equal(lookup_port(c, "mlx5_0/3", &p), -ENOENT);
	assert_int_equal(lookup_port(c, "mlx5_0/0", &p), -EINVAL);
	assert_int_equal(lookup_port(c, "mlx5_0/255", &p), -EINVAL);
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
	assert_int_equal(lookup_port_by_guid(c, "nothing", &p), -EINVAL);

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
		assert_int_equal(lookup_port_by_netdev(c, "bond0", &p), i == 1 ? 0 : -EEXIST);
		assert_int_equal(
			lookup_gid_by_address(c, "10.0.0.1", _GID_TYPE_MAX, NULL, &p, &index),
			i == 1 ? 0 : -EEXIST);
	}
	assert_int_equal(lookup_port(c, "bond0", &p), -EEXIST);
	for (uint32_t i = 3; i <= 4; i++)
		apply(device_port(add_device(c, i, "mlx5_0", 1, 1), 1), ib_port(ACTIVE), 0);
	assert_int_equal(lookup_port_by_guid(c, "0002:c903:0000:0001", &p), -EEXIST);
	assert_int_equal(lookup_port(c, "0002:c903:0000:0001", &p), -EEXIST);
}

/* An object has one path: another way to write its numbers is the path of nothing. */
static void test_paths(void **state)
{
	static const char *const none[] = {
		"",
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
		"/org/rdma/device/0x0/port/1",
	};
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_names),
		TEST(test_ambiguous),
		TEST(test_paths),
	};

	return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
