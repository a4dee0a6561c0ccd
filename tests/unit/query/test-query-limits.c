/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limits of a device, as ibv_query_device_ex() says them. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <inttypes.h>

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

/* Where libibverbs has each limit, and whether it is an int, which may be negative. */
#define LIMITS                                                                                     \
	LIMIT(max_mr_size, a.orig_attr.max_mr_size, false)                                         \
	LIMIT(page_size_cap, a.orig_attr.page_size_cap, false)                                     \
	LIMIT(max_mr, a.orig_attr.max_mr, true)                                                    \
	LIMIT(max_mw, a.orig_attr.max_mw, true)                                                    \
	LIMIT(max_pd, a.orig_attr.max_pd, true)                                                    \
	LIMIT(max_fmr, a.orig_attr.max_fmr, true)                                                  \
	LIMIT(max_map_per_fmr, a.orig_attr.max_map_per_fmr, true)                                  \
	LIMIT(max_ah, a.orig_attr.max_ah, true)                                                    \
	LIMIT(max_qp, a.orig_attr.max_qp, true)                                                    \
	LIMIT(max_qp_wr, a.orig_attr.max_qp_wr, true)                                              \
	LIMIT(max_sge, a.orig_attr.max_sge, true)                                                  \
	LIMIT(max_sge_rd, a.orig_attr.max_sge_rd, true)                                            \
	LIMIT(max_cq, a.orig_attr.max_cq, true)                                                    \
	LIMIT(max_cqe, a.orig_attr.max_cqe, true)                                                  \
	LIMIT(num_comp_vectors, context.num_comp_vectors, true)                                    \
	LIMIT(max_srq, a.orig_attr.max_srq, true)                                                  \
	LIMIT(max_srq_wr, a.orig_attr.max_srq_wr, true)                                            \
	LIMIT(max_srq_sge, a.orig_attr.max_srq_sge, true)                                          \
	LIMIT(max_qp_rd_atom, a.orig_attr.max_qp_rd_atom, true)                                    \
	LIMIT(max_res_rd_atom, a.orig_attr.max_res_rd_atom, true)                                  \
	LIMIT(max_qp_init_rd_atom, a.orig_attr.max_qp_init_rd_atom, true)                          \
	LIMIT(max_ee, a.orig_attr.max_ee, true)                                                    \
	LIMIT(max_rdd, a.orig_attr.max_rdd, true)                                                  \
	LIMIT(max_ee_rd_atom, a.orig_attr.max_ee_rd_atom, true)                                    \
	LIMIT(max_ee_init_rd_atom, a.orig_attr.max_ee_init_rd_atom, true)                          \
	LIMIT(atomic_cap, a.orig_attr.atomic_cap, false)                                           \
	LIMIT(max_raw_ipv6_qp, a.orig_attr.max_raw_ipv6_qp, true)                                  \
	LIMIT(max_raw_ethy_qp, a.orig_attr.max_raw_ethy_qp, true)                                  \
	LIMIT(max_mcast_grp, a.orig_attr.max_mcast_grp, true)                                      \
	LIMIT(max_mcast_qp_attach, a.orig_attr.max_mcast_qp_attach, true)                          \
	LIMIT(max_total_mcast_qp_attach, a.orig_attr.max_total_mcast_qp_attach, true)              \
	LIMIT(max_pkeys, a.orig_attr.max_pkeys, false)                                             \
	LIMIT(local_ca_ack_delay, a.orig_attr.local_ca_ack_delay, false)                           \
	LIMIT(odp_general_caps, a.odp_caps.general_caps, false)                                    \
	LIMIT(odp_rc_caps, a.odp_caps.per_transport_caps.rc_odp_caps, false)                       \
	LIMIT(odp_uc_caps, a.odp_caps.per_transport_caps.uc_odp_caps, false)                       \
	LIMIT(odp_ud_caps, a.odp_caps.per_transport_caps.ud_odp_caps, false)                       \
	LIMIT(odp_xrc_caps, a.xrc_odp_caps, false)                                                 \
	LIMIT(completion_timestamp_mask, a.completion_timestamp_mask, false)                       \
	LIMIT(hca_core_clock, a.hca_core_clock, false)                                             \
	LIMIT(max_dm_size, a.max_dm_size, false)                                                   \
	LIMIT(max_cq_count, a.cq_mod_caps.max_cq_count, false)                                     \
	LIMIT(max_cq_period, a.cq_mod_caps.max_cq_period, false)                                   \
	LIMIT(pci_atomic_fetch_add, a.pci_atomic_caps.fetch_add, false)                            \
	LIMIT(pci_atomic_swap, a.pci_atomic_caps.swap, false)                                      \
	LIMIT(pci_atomic_compare_swap, a.pci_atomic_caps.compare_swap, false)                      \
	LIMIT(raw_packet_caps, a.raw_packet_caps, false)                                           \
	LIMIT(max_tso, a.tso_caps.max_tso, false)                                                  \
	LIMIT(tso_qpts, a.tso_caps.supported_qpts, false)                                          \
	LIMIT(rss_qpts, a.rss_caps.supported_qpts, false)                                          \
	LIMIT(max_rwq_indirection_tables, a.rss_caps.max_rwq_indirection_tables, false)            \
	LIMIT(max_rwq_indirection_table_size, a.rss_caps.max_rwq_indirection_table_size, false)    \
	LIMIT(rx_hash_fields_mask, a.rss_caps.rx_hash_fields_mask, false)                          \
	LIMIT(rx_hash_function, a.rss_caps.rx_hash_function, false)                                \
	LIMIT(max_wq_type_rq, a.max_wq_type_rq, false)                                             \
	LIMIT(qp_rate_limit_min, a.packet_pacing_caps.qp_rate_limit_min, false)                    \
	LIMIT(qp_rate_limit_max, a.packet_pacing_caps.qp_rate_limit_max, false)                    \
	LIMIT(packet_pacing_qpts, a.packet_pacing_caps.supported_qpts, false)                      \
	LIMIT(tm_max_rndv_hdr_size, a.tm_caps.max_rndv_hdr_size, false)                            \
	LIMIT(tm_max_num_tags, a.tm_caps.max_num_tags, false)                                      \
	LIMIT(tm_flags, a.tm_caps.flags, false)                                                    \
	LIMIT(tm_max_ops, a.tm_caps.max_ops, false)                                                \
	LIMIT(tm_max_sge, a.tm_caps.max_sge, false)

/* Another value for each, as large as the field can have without a sign. */
#define VALUE(field, number) ((UINT64_MAX >> (65 - 8 * sizeof(field))) - (number))

/* Each is in its own row, and in no other. */
static void test_each(_unused_ void **state)
{
	struct ibv_context context = {};
	struct ibv_device_attr_ex a = {};
	DeviceSnapshot s = {};
	AttrMask seen = {};
	unsigned int n = 0;

#define LIMIT(attribute, field, is_int) field = (__typeof__(field))VALUE(field, ++n);
	LIMITS
#undef LIMIT
	limits_supply(&context, &a, &s);
	n = 0;
#define LIMIT(attribute, field, is_int)                                                            \
	if ((uint64_t)s.values.attribute != VALUE(field, ++n))                                     \
		fail_msg(#attribute ": %" PRIu64, (uint64_t)s.values.attribute);                   \
	mask_set(&seen, DEVICE_ATTR_##attribute, true);
	LIMITS
#undef LIMIT
	for (DeviceAttr i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (mask_has(&seen, i) !=
		    (device_attributes[i].interface == INTERFACE_DEVICE_LIMITS))
			fail_msg("%s has no line above", device_attributes[i].field);
}

/* What is negative is nothing. */
static void test_negative(_unused_ void **state)
{
	struct ibv_context context = {};
	struct ibv_device_attr_ex a = {};
	DeviceSnapshot s = {};

#define LIMIT(attribute, field, is_int)                                                            \
	if (is_int)                                                                                \
		field = (__typeof__(field))-1;
	LIMITS
#undef LIMIT
	limits_supply(&context, &a, &s);
#define LIMIT(attribute, field, is_int)                                                            \
	if (s.values.attribute != 0)                                                               \
		fail_msg(#attribute ": %" PRIu64, (uint64_t)s.values.attribute);
	LIMITS
#undef LIMIT
}

static void test_names(_unused_ void **state)
{
	const struct ibv_context context = {};
	const struct ibv_device_attr_ex a = {.orig_attr.atomic_cap = IBV_ATOMIC_GLOB};
	DeviceSnapshot s = {};
	AttrValue v;

	limits_supply(&context, &a, &s);
	assert_int_equal(attr_publish(&device_attributes[DEVICE_ATTR_atomic_cap], &s.values, &v),
			 0);
	assert_string_equal(v.text, "global");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("query-limits", tests, NULL, NULL);
}
