/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-limits.h"

/* Limits are int in verbs, and none is negative. */
#define POSITIVE(n) ((uint32_t)MAX(n, 0))

static void supply_memory_and_queues(const struct ibv_context *context,
				     const struct ibv_device_attr *o, DeviceSnapshot *s)
{
	DEVICE_SUPPLY(s, max_mr_size, o->max_mr_size);
	DEVICE_SUPPLY(s, page_size_cap, o->page_size_cap);
	DEVICE_SUPPLY(s, max_mr, POSITIVE(o->max_mr));
	DEVICE_SUPPLY(s, max_mw, POSITIVE(o->max_mw));
	DEVICE_SUPPLY(s, max_pd, POSITIVE(o->max_pd));
	DEVICE_SUPPLY(s, max_fmr, POSITIVE(o->max_fmr));
	DEVICE_SUPPLY(s, max_map_per_fmr, POSITIVE(o->max_map_per_fmr));
	DEVICE_SUPPLY(s, max_ah, POSITIVE(o->max_ah));
	DEVICE_SUPPLY(s, max_qp, POSITIVE(o->max_qp));
	DEVICE_SUPPLY(s, max_qp_wr, POSITIVE(o->max_qp_wr));
	DEVICE_SUPPLY(s, max_sge, POSITIVE(o->max_sge));
	DEVICE_SUPPLY(s, max_sge_rd, POSITIVE(o->max_sge_rd));
	DEVICE_SUPPLY(s, max_cq, POSITIVE(o->max_cq));
	DEVICE_SUPPLY(s, max_cqe, POSITIVE(o->max_cqe));
	DEVICE_SUPPLY(s, num_comp_vectors, POSITIVE(context->num_comp_vectors));
	DEVICE_SUPPLY(s, max_srq, POSITIVE(o->max_srq));
	DEVICE_SUPPLY(s, max_srq_wr, POSITIVE(o->max_srq_wr));
	DEVICE_SUPPLY(s, max_srq_sge, POSITIVE(o->max_srq_sge));
}

static void supply_operations(const struct ibv_device_attr *o, DeviceSnapshot *s)
{
	DEVICE_SUPPLY(s, max_qp_rd_atom, POSITIVE(o->max_qp_rd_atom));
	DEVICE_SUPPLY(s, max_res_rd_atom, POSITIVE(o->max_res_rd_atom));
	DEVICE_SUPPLY(s, max_qp_init_rd_atom, POSITIVE(o->max_qp_init_rd_atom));
	DEVICE_SUPPLY(s, max_ee, POSITIVE(o->max_ee));
	DEVICE_SUPPLY(s, max_rdd, POSITIVE(o->max_rdd));
	DEVICE_SUPPLY(s, max_ee_rd_atom, POSITIVE(o->max_ee_rd_atom));
	DEVICE_SUPPLY(s, max_ee_init_rd_atom, POSITIVE(o->max_ee_init_rd_atom));
	DEVICE_SUPPLY(s, atomic_cap, (uint32_t)o->atomic_cap);
	DEVICE_SUPPLY(s, max_raw_ipv6_qp, POSITIVE(o->max_raw_ipv6_qp));
	DEVICE_SUPPLY(s, max_raw_ethy_qp, POSITIVE(o->max_raw_ethy_qp));
	DEVICE_SUPPLY(s, max_mcast_grp, POSITIVE(o->max_mcast_grp));
	DEVICE_SUPPLY(s, max_mcast_qp_attach, POSITIVE(o->max_mcast_qp_attach));
	DEVICE_SUPPLY(s, max_total_mcast_qp_attach, POSITIVE(o->max_total_mcast_qp_attach));
	DEVICE_SUPPLY(s, max_pkeys, o->max_pkeys);
	DEVICE_SUPPLY(s, local_ca_ack_delay, o->local_ca_ack_delay);
}

static void supply_extended(const struct ibv_device_attr_ex *a, DeviceSnapshot *s)
{
	DEVICE_SUPPLY(s, odp_general_caps, a->odp_caps.general_caps);
	DEVICE_SUPPLY(s, odp_rc_caps, a->odp_caps.per_transport_caps.rc_odp_caps);
	DEVICE_SUPPLY(s, odp_uc_caps, a->odp_caps.per_transport_caps.uc_odp_caps);
	DEVICE_SUPPLY(s, odp_ud_caps, a->odp_caps.per_transport_caps.ud_odp_caps);
	DEVICE_SUPPLY(s, odp_xrc_caps, a->xrc_odp_caps);
	DEVICE_SUPPLY(s, completion_timestamp_mask, a->completion_timestamp_mask);
	DEVICE_SUPPLY(s, hca_core_clock, a->hca_core_clock);
	DEVICE_SUPPLY(s, max_dm_size, a->max_dm_size);
	DEVICE_SUPPLY(s, max_cq_count, a->cq_mod_caps.max_cq_count);
	DEVICE_SUPPLY(s, max_cq_period, a->cq_mod_caps.max_cq_period);
	DEVICE_SUPPLY(s, pci_atomic_fetch_add, a->pci_atomic_caps.fetch_add);
	DEVICE_SUPPLY(s, pci_atomic_swap, a->pci_atomic_caps.swap);
	DEVICE_SUPPLY(s, pci_atomic_compare_swap, a->pci_atomic_caps.compare_swap);
}

static void supply_offloads(const struct ibv_device_attr_ex *a, DeviceSnapshot *s)
{
	DEVICE_SUPPLY(s, raw_packet_caps, a->raw_packet_caps);
	DEVICE_SUPPLY(s, max_tso, a->tso_caps.max_tso);
	DEVICE_SUPPLY(s, tso_qpts, a->tso_caps.supported_qpts);
	DEVICE_SUPPLY(s, rss_qpts, a->rss_caps.supported_qpts);
	DEVICE_SUPPLY(s, max_rwq_indirection_tables, a->rss_caps.max_rwq_indirection_tables);
	DEVICE_SUPPLY(s, max_rwq_indirection_table_size,
		      a->rss_caps.max_rwq_indirection_table_size);
	DEVICE_SUPPLY(s, rx_hash_fields_mask, a->rss_caps.rx_hash_fields_mask);
	DEVICE_SUPPLY(s, rx_hash_function, a->rss_caps.rx_hash_function);
	DEVICE_SUPPLY(s, max_wq_type_rq, a->max_wq_type_rq);
	DEVICE_SUPPLY(s, qp_rate_limit_min, a->packet_pacing_caps.qp_rate_limit_min);
	DEVICE_SUPPLY(s, qp_rate_limit_max, a->packet_pacing_caps.qp_rate_limit_max);
	DEVICE_SUPPLY(s, packet_pacing_qpts, a->packet_pacing_caps.supported_qpts);
	DEVICE_SUPPLY(s, tm_max_rndv_hdr_size, a->tm_caps.max_rndv_hdr_size);
	DEVICE_SUPPLY(s, tm_max_num_tags, a->tm_caps.max_num_tags);
	DEVICE_SUPPLY(s, tm_flags, a->tm_caps.flags);
	DEVICE_SUPPLY(s, tm_max_ops, a->tm_caps.max_ops);
	DEVICE_SUPPLY(s, tm_max_sge, a->tm_caps.max_sge);
}

void limits_supply(const struct ibv_context *context, const struct ibv_device_attr_ex *a,
		   DeviceSnapshot *s)
{
	supply_memory_and_queues(context, &a->orig_attr, s);
	supply_operations(&a->orig_attr, s);
	supply_extended(a, s);
	supply_offloads(a, s);
}
