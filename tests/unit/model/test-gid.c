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

static GidChoice choice(const char *address, GidType type, GidWhere where, uint32_t index)
{
	GidChoice c = {.type = type, .where = where, .index = index};

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
		assert_true(
			gid_is_link_local(
				choice(cases[i].address, GID_TYPE_ROCE_V2, GID_WHERE_OWN, 0).gid) ==
			cases[i].local);
}

/* From the best to the worst: each is better than all that follow it. */
static void test_order(void **state)
{
	const GidChoice order[] = {
		choice("192.0.2.7", GID_TYPE_ROCE_V2, GID_WHERE_OWN, 3),
		choice("192.0.2.8", GID_TYPE_ROCE_V2, GID_WHERE_OWN, 5),
		choice("2001:db8::1", GID_TYPE_ROCE_V2, GID_WHERE_OWN, 2),
		choice("2001:db8::9", GID_TYPE_ROCE_V2, GID_WHERE_ABOVE, 1),
		choice("192.0.2.9", GID_TYPE_ROCE_V2, GID_WHERE_VLAN, 1),
		choice("169.254.0.1", GID_TYPE_ROCE_V2, GID_WHERE_OWN, 1),
		choice("fe80::1", GID_TYPE_ROCE_V2, GID_WHERE_OWN, 1),
		choice("fe80::2", GID_TYPE_ROCE_V2, GID_WHERE_VLAN, 0),
		choice("192.0.2.7", GID_TYPE_ROCE_V1, GID_WHERE_OWN, 2),
		choice("fe80::1", GID_TYPE_ROCE_V1, GID_WHERE_OWN, 0),
		choice("fe80::1", GID_TYPE_IB, GID_WHERE_OWN, 0),
		choice("2001:db8::1", GID_TYPE_IB, GID_WHERE_OWN, 1),
		choice("192.0.2.7", GID_TYPE_ROCE_V2, GID_WHERE_NAMESPACE, 3),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			int r = gid_compare(&order[i], &order[k]);

			assert_true(i < k ? r < 0 : i > k ? r > 0 : r == 0);
		}
}

static void test_place(void **state)
{
	static const struct {
		const char *netdev;
		uint32_t vlan_id, namespace;
		const char *port_netdev, *port_master;
		GidWhere where;
	} cases[] = {
		{"eth0", 0, 0, "eth0", "", GID_WHERE_OWN},
		/* the port of a rxe on a VLAN */
		{"eth0.5", 5, 0, "eth0.5", "", GID_WHERE_OWN},
		{"bond0", 0, 0, "eth0", "bond0", GID_WHERE_OWN},
		{"bond0.66", 66, 0, "eth0", "bond0", GID_WHERE_VLAN},
		{"bond0", 0, 0, "eth0", "", GID_WHERE_ABOVE},
		{"macvlan0", 0, 0, "eth0", "bond0", GID_WHERE_ABOVE},
		{"", 0, 0, "", "", GID_WHERE_OWN},
		{"", 0, 0, "eth0", "", GID_WHERE_ABOVE},
		{"", 0, GID_NAMESPACE_OTHER, "", "", GID_WHERE_NAMESPACE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(gid_where(cases[i].netdev, cases[i].vlan_id, cases[i].namespace,
					   cases[i].port_netdev, cases[i].port_master),
				 cases[i].where);
}

static void test_zone(void **state)
{
	uint8_t gid[16];
	const char *zone;

	(void)state;
	assert_int_equal(gid_parse_zone("fe80::1%eth3", gid, &zone), 0);
	assert_string_equal(zone, "eth3");
	assert_int_equal(gid_parse_zone("192.0.2.7", gid, &zone), 0);
	assert_null(zone);
	assert_int_equal(gid_parse_zone("fe80::1%", gid, &zone), -EINVAL);
	assert_int_equal(gid_parse_zone("%eth3", gid, &zone), -EINVAL);
	assert_int_equal(gid_parse_zone("eth3", gid, &zone), -EINVAL);
	assert_true(gid_zone_fits(NULL, "eth3", 3));
	assert_true(gid_zone_fits("eth3", "eth3", 0));
	assert_true(gid_zone_fits("3", "eth3", 3));
	assert_false(gid_zone_fits("eth2", "eth3", 3));
	assert_false(gid_zone_fits("0", "", 0));
}

static void test_subnet(void **state)
{
	static const struct {
		const char *subnet, *address;
		bool inside;
	} cases[] = {
		{"192.0.2.0/24", "192.0.2.255", true},
		{"192.0.2.0/24", "192.0.3.0", false},
		{"192.0.2.9/24", "192.0.2.1", true},
		{"192.0.2.8/30", "192.0.2.11", true},
		{"192.0.2.8/30", "192.0.2.12", false},
		{"0.0.0.0/0", "198.51.100.1", true},
		{"0.0.0.0/0", "2001:db8::1", false},
		{"192.0.2.7/32", "192.0.2.6", false},
		{"192.0.2.9/255.255.255.252", "192.0.2.11", true},
		{"192.0.2.9/255.255.255.252", "192.0.2.12", false},
		{"192.0.2.9/0.0.0.0", "198.51.100.1", true},
		{"192.0.2.9/255.255.255.255", "192.0.2.8", false},
		{"2001:db8::/33", "2001:db8:7fff::", true},
		{"2001:db8::/33", "2001:db8:8000::", false},
		{"::/0", "2001:db8::1", true},
		{"2001:db8::1/128", "2001:db8::1", true},
	};
	static const char *const bad[] = {"192.0.2.0",	    "192.0.2.0/33", "192.0.2.0/", "/24",
					  "2001:db8::/129", "192.0.2.0/-1", "mlx5_0/1",
					  "192.0.2.0/255.0.255.0", "2001:db8::/255.0.0.0",
					  "192.0.2.0/::ffff:255.0.0.0", "192.0.2.0/0.0.0.255"};
	uint8_t subnet[16], gid[16];
	unsigned int bits;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(gid_parse_subnet(cases[i].subnet, subnet, &bits), 0);
		assert_int_equal(gid_parse(cases[i].address, gid), 0);
		assert_true(gid_in_subnet(gid, subnet, bits) == cases[i].inside);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(gid_parse_subnet(bad[i], subnet, &bits), -EINVAL);
}

static void test_hw_address(void **state)
{
	static const char *const bad[] = {
		"",
		"00:00:5e:00:53",
		"00:00:5e:00:53:71:01",
		"0:0:5e:0:53:71",
		"00005e0053",
		"00005e00537",
		"0000.5e0053.71",
		"00005e005371:",
		"0:1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:0:1:2:3:4:5",
		"00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f:10:11:12:13:14",
		"0000.5e00.5371.",
		"0000:5e00:5371",
		"00.00.5e.00.53.71",
		"00:00-5e:00:53:71",
		"00:00:5e:00:53:7g",
		"00:00:5e:00:53:71:",
	};
	static const char *const forms[] = {"00:00:5E:00:53:71", "00-00-5e-00-53-71",
					    "0000.5e00.5371", "00005e005371"};
	uint8_t address[HW_ADDRESS_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		memset(address, 0, sizeof(address));
		assert_int_equal(hw_address_parse(forms[i], address), 6);
		assert_memory_equal(address, "\x00\x00\x5e\x00\x53\x71", 6);
	}
	assert_int_equal(hw_address_parse("80:00:02:08:fe:80:00:00:00:00:00:00:"
					  "f4:52:14:03:00:7b:cb:a1",
					  address),
			 20);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(hw_address_parse(bad[i], address), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_local), cmocka_unit_test(test_order),
		cmocka_unit_test(test_place),	   cmocka_unit_test(test_zone),
		cmocka_unit_test(test_subnet),	   cmocka_unit_test(test_hw_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
