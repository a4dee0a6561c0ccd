/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What port_derive() makes of what the sources supplied. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "decode.h"
#include "port.h"

/* A port of an InfiniBand device with these N entries in its GID table, derived. */
static PortSnapshot port_with_gids(const GidEntry *gids, size_t n)
{
	const DeviceSnapshot device = {.values.node_type = NODE_TYPE_CA};
	PortSnapshot s = {.tables[PORT_TABLE_GIDS] = table_new(gids, n, sizeof(*gids))};

	assert_non_null(s.tables[PORT_TABLE_GIDS]);
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_INFINIBAND);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	port_derive(&s, &device);
	return s;
}

/* The port GUID is the lower half of GID 0. Behind it there may be alias GUIDs. */
static void test_port_guid(void **state)
{
	const GidEntry gids[] = {
		{.index = 0, .gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 1}},
		{.index = 1, .gid = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0, 0, 2}},
	};
	PortSnapshot s = port_with_gids(gids, ARRAY_SIZE(gids));

	(void)state;
	assert_true(mask_has(&s.valid, PORT_ATTR_port_guid));
	assert_int_equal(s.values.port_guid, UINT64_C(0x0002c90300000001));
	port_snapshot_done(&s);

	/* without GID 0 nobody knows it */
	s = port_with_gids(&gids[1], 1);
	assert_false(mask_has(&s.supplied, PORT_ATTR_port_guid));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_port_guid), "not reported");
	port_snapshot_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_guid),
	};

	return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
