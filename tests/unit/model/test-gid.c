/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which GID of a port a program should use. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "gid.h"
#include "util.h"

static GidChoice choice(const char *address, GidType type, bool own_netdev, uint32_t index)
{
	GidChoice c = {.type = type, .own_netdev = own_netdev, .index = index};

	assert_int_equal(gid_parse(address, c.gid), 0);
	return c;
}

static void test_link_local(void **state)
{
	static const struct {
		const char *address;
		bool local;
	} cases[] = {
		{"fe80::1", true},	{"febf:ffff::1", true},	 {"fec0::1", false},
		{"2001:db8::1", false}, {"169.254.17.1", true},	 {"169.253.17.1", false},
		{"192.0.2.7", false},	{"254.128.17.1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(gid_is_link_local(
				    choice(cases[i].address, GID_TYPE_ROCE_V2, true, 0).gid) ==
			    cases[i].local);
}

/* From the best to the worst: each is better than all that follow it. */
static void test_order(void **state)
{
	const GidChoice order[] = {
		choice("192.0.2.7", GID_TYPE_ROCE_V2, true, 3),
		choice("192.0.2.8", GID_TYPE_ROCE_V2, true, 5),
		choice("2001:db8::1", GID_TYPE_ROCE_V2, true, 2),
		choice("192.0.2.9", GID_TYPE_ROCE_V2, false, 1),
		choice("169.254.0.1", GID_TYPE_ROCE_V2, true, 1),
		choice("fe80::1", GID_TYPE_ROCE_V2, true, 1),
		choice("fe80::2", GID_TYPE_ROCE_V2, false, 0),
		choice("192.0.2.7", GID_TYPE_ROCE_V1, true, 2),
		choice("fe80::1", GID_TYPE_ROCE_V1, true, 0),
		choice("2001:db8::1", GID_TYPE_IB, true, 1),
		choice("fe80::1", GID_TYPE_IB, true, 0),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			int r = gid_compare(&order[i], &order[k]);

			assert_true(i < k ? r < 0 : i > k ? r > 0 : r == 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_local),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
