/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limits of a device, as ibv_query_device_ex() says them. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-limits.h"

/* Every row is filled, and none of another interface. */
static void test_all(_unused_ void **state)
{
	const struct ibv_context context = {.num_comp_vectors = 63};
	const struct ibv_device_attr_ex a = {.hca_core_clock = 1};
	DeviceSnapshot s = {};
	unsigned int n = 0;

	assert_int_equal(device_interfaces(&s), 1U << INTERFACE_DEVICE);
	limits_supply(&context, &a, &s);
	for (DeviceAttr i = 0; i < _DEVICE_ATTR_MAX; i++) {
		bool is_limit = device_attributes[i].interface == INTERFACE_DEVICE_LIMITS;

		if (mask_has(&s.supplied, i) != is_limit)
			fail_msg("%s", device_attributes[i].field);
		n += is_limit;
	}
	assert_true(n >= 45);
	device_derive(&s);
	for (DeviceAttr i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (device_attributes[i].interface == INTERFACE_DEVICE_LIMITS &&
		    !mask_has(&s.valid, i))
			fail_msg("%s", device_attributes[i].field);
	assert_int_equal(device_interfaces(&s),
			 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_LIMITS);
	assert_int_equal(s.values.num_comp_vectors, 63);
}

static uint64_t number(const DeviceSnapshot *s, DeviceAttr a)
{
	AttrValue v;

	assert_int_equal(attr_publish(&device_attributes[a], &s->values, &v), 0);
	return v.kind == ATTR_VALUE_U64 ? v.u64 : v.u32;
}

/* The values are those of the field, and what is negative is nothing. */
static void test_values(_unused_ void **state)
{
	const struct ibv_context context = {};
	struct ibv_device_attr_ex a = {
		.orig_attr = {.max_mr_size = UINT64_MAX,
			      .page_size_cap = 0xfffff000,
			      .max_qp = 262144,
			      .max_sge = -1,
			      .atomic_cap = IBV_ATOMIC_GLOB,
			      .max_pkeys = 128,
			      .local_ca_ack_delay = 16},
		.odp_caps = {.general_caps = 3, .per_transport_caps = {1, 2, 4}},
		.xrc_odp_caps = 8,
		.tso_caps = {.max_tso = 262144, .supported_qpts = 0x100},
		.rss_caps = {.rx_hash_fields_mask = UINT64_C(1) << 40, .rx_hash_function = 1},
		.packet_pacing_caps = {.qp_rate_limit_max = 100000000},
		.tm_caps = {.max_num_tags = 127},
		.max_dm_size = 131072,
	};
	static const struct {
		DeviceAttr attr;
		uint64_t value;
	} cases[] = {
		{DEVICE_ATTR_max_mr_size, UINT64_MAX},
		{DEVICE_ATTR_page_size_cap, 0xfffff000},
		{DEVICE_ATTR_max_qp, 262144},
		{DEVICE_ATTR_max_sge, 0},
		{DEVICE_ATTR_max_pkeys, 128},
		{DEVICE_ATTR_local_ca_ack_delay, 16},
		{DEVICE_ATTR_odp_general_caps, 3},
		{DEVICE_ATTR_odp_rc_caps, 1},
		{DEVICE_ATTR_odp_uc_caps, 2},
		{DEVICE_ATTR_odp_ud_caps, 4},
		{DEVICE_ATTR_odp_xrc_caps, 8},
		{DEVICE_ATTR_max_tso, 262144},
		{DEVICE_ATTR_tso_qpts, 0x100},
		{DEVICE_ATTR_rx_hash_fields_mask, UINT64_C(1) << 40},
		{DEVICE_ATTR_rx_hash_function, 1},
		{DEVICE_ATTR_qp_rate_limit_max, 100000000},
		{DEVICE_ATTR_tm_max_num_tags, 127},
		{DEVICE_ATTR_max_dm_size, 131072},
	};
	DeviceSnapshot s = {};
	AttrValue v;

	limits_supply(&context, &a, &s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (number(&s, cases[i].attr) != cases[i].value)
			fail_msg("%s", device_attributes[cases[i].attr].field);
	assert_int_equal(attr_publish(&device_attributes[DEVICE_ATTR_atomic_cap], &s.values, &v),
			 0);
	assert_string_equal(v.text, "global");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests_name("query-limits", tests, NULL, NULL);
}
