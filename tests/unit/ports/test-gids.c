/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The GID table of a port that was read from the bus. That of a port of the core is read by the
 * tests of the judge. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
#include "gid.h"
#include "gids.h"

#define ENTRY "(ussssa{sv})"

/* A port whose GIDs are the entries of M, which has them all. */
static Object *port_with(sd_bus_message *m)
{
	Object *o;

	assert_int_equal(object_new("/org/rdma/device/0/port/1", &o), 0);
	message_seal(m);
	assert_true(object_read_row(o, PORT_ATTR_gids, m) >= 0);
	sd_bus_message_unref(m);
	return o;
}

static void test_entries(_unused_ void **state)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	sd_bus_message *m = message_new();
	const GidEntry *e;
	GidWalk w;
	size_t n;

	assert_true(sd_bus_message_append(m, "v", "a" ENTRY, 4, 3, "fe80::1", "RoCE v1", "eth0", "",
					  0, 5, "no GID", "RoCE v2", "eth0", "", 0, 7,
					  "0000:0000:0000:0000:0000:ffff:c000:0201", "RoCE v2",
					  "eth0.5", "", 2, "Ifindex", "u", 4, "VlanId", "u", 5, 9,
					  "2001:db8::1", "of later", "", "", 1, "Namespace", "s",
					  "other") >= 0);
	o = port_with(m);
	assert_true(object_count(o, PORT_ATTR_gids, &n));
	assert_int_equal(n, 4);
	w = gid_walk(o);
	e = gid_next(&w);
	assert_non_null(e);
	assert_int_equal(e->index, 3);
	assert_int_equal(e->type, GID_TYPE_ROCE_V1);
	assert_string_equal(e->netdev, "eth0");
	assert_true(gid_is_link_local(e->gid) && !gid_is_ipv4(e->gid));
	assert_int_equal(e->ifindex + e->vlan_id + e->namespace, 0);
	/* the second is passed over */
	e = gid_next(&w);
	assert_non_null(e);
	assert_int_equal(e->index, 7);
	assert_int_equal(e->type, GID_TYPE_ROCE_V2);
	assert_string_equal(e->netdev, "eth0.5");
	assert_true(gid_is_ipv4(e->gid));
	assert_int_equal(e->ifindex, 4);
	assert_int_equal(e->vlan_id, 5);
	e = gid_next(&w);
	assert_non_null(e);
	assert_int_equal(e->index, 9);
	assert_int_equal(e->type, _GID_TYPE_MAX);
	assert_int_equal(e->namespace, GID_NAMESPACE_OTHER);
	assert_null(gid_next(&w));
	assert_null(gid_next(&w));
}

static void test_none(_unused_ void **state)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	sd_bus_message *m = message_new();
	size_t n = 7;
	GidWalk w;

	assert_int_equal(object_new("/org/rdma/device/0/port/1", &o), 0);
	w = gid_walk(o);
	assert_null(gid_next(&w));
	assert_false(object_count(o, PORT_ATTR_gids, &n));
	assert_int_equal(n, 7);
	object_free(o);
	assert_true(sd_bus_message_append(m, "v", "a" ENTRY, 0) >= 0);
	o = port_with(m);
	w = gid_walk(o);
	assert_null(gid_next(&w));
	assert_true(object_count(o, PORT_ATTR_gids, &n));
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
