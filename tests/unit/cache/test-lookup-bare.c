/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A port is found by its interface while no table of it is there. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "lookup.h"
#include "test-cache.h"

static void have(Port *p, const char *netdev, uint32_t ifindex)
{
	PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY_TEXT(&s, netdev, netdev);
	PORT_SUPPLY(&s, ifindex, ifindex);
	apply(p, s, 0);
}

/* The interface of the port that TEXT finds by BY; "none": no port has it. */
static const char *found(const Cache *c, const char *text, FindKind by)
{
	const FindKey key = {.text = text, .by = by, .type = _GID_TYPE_MAX};
	FindKind is_by;
	FoundPort port;
	size_t n;

	if (lookup_find(c, &key, &port, 1, &n, &is_by) == -ENOENT)
		return "none";
	assert_int_equal(n, 1);
	return port.netdev;
}

static void test_bare(void **state)
{
	Cache *c = *state;
	Port *p = device_port(add_device(c, 1, "mlx5_0", 1, 1), 1);

	have(p, "eth7", 7);
	assert_string_equal(found(c, "eth7", FIND_NETDEV), "eth7");
	assert_string_equal(found(c, "7", FIND_IFINDEX), "eth7");
	/* what goes is found no more */
	have(p, "eth8", 7);
	assert_string_equal(found(c, "eth7", FIND_NETDEV), "none");
	assert_string_equal(found(c, "7", FIND_IFINDEX), "eth8");
	have(p, "eth8", 8);
	assert_string_equal(found(c, "7", FIND_IFINDEX), "none");
	assert_string_equal(found(c, "8", FIND_IFINDEX), "eth8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bare, setup, teardown),
	};

	return cmocka_run_group_tests_name("lookup-bare", tests, NULL, NULL);
}
