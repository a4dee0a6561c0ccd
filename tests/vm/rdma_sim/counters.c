// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two kinds of counters: hw_counters (netlink and sysfs) and those which
 * ib_core reads through performance management (PMA) datagrams for counters/.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "rdma_sim.h"

static sim_stat_desc hw_descs[SIM_HW_MAX] = {
#define X(id) [SIM_HW_##id] = SIM_STAT_DESC(#id),
	SIM_HW_COUNTERS(X)
#undef X
#define X(id) [SIM_HW_##id] = SIM_OPTIONAL_DESC(#id),
	SIM_HW_OPTIONAL(X)
#undef X
};

static const struct {
	u16 offset;		/* in bits; 0: not there */
	u16 ext_offset;
	u8 bits;
} pma_fields[SIM_PMA_MAX] = {
#define X(name, bits_, offset_, ext_offset_) \
	[SIM_PMA_##name] = { .offset = offset_, .ext_offset = ext_offset_, .bits = bits_ },
	SIM_PMA_COUNTERS(X)
#undef X
};

static struct rdma_hw_stats *sim_alloc_hw_port_stats(struct ib_device *ibdev, sim_port_num num)
{
	struct rdma_hw_stats *stats;

	if (!num)
		return NULL;	/* no counters of the whole device */
	stats = rdma_alloc_hw_stats_struct(hw_descs, SIM_HW_MAX, RDMA_HW_STATS_DEFAULT_LIFESPAN);
#ifdef SIM_HAVE_STAT_DESC
#define X(id) if (stats) set_bit(SIM_HW_##id, stats->is_disabled);
	SIM_HW_OPTIONAL(X)
#undef X
#endif
	return stats;
}

#ifdef SIM_HAVE_STAT_DESC
static int sim_modify_hw_stat(struct ib_device *ibdev, u32 num, unsigned int index, bool enable)
{
	return 0;	/* ib_core notes which are on */
}
#endif

static int sim_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			    sim_port_num num, int index)
{
	struct sim_port *port;

	if (!num)
		return -EINVAL;
	port = sim_port(ibdev, num);
	spin_lock(&port->dev->lock);
	port->calls[SIM_CALL_HW]++;
	memcpy(stats->value, port->hw, sizeof(port->hw));
	spin_unlock(&port->dev->lock);
	return SIM_HW_MAX;
}

/* BITS are 4 or whole bytes. A value without room becomes the largest: counters of this kind stop there, they do not wrap. */
void sim_put_bits(u8 *data, u16 offset, u8 bits, u64 value)
{
	__be64 be;
	u8 *at = data + offset / 8;

	if (bits < 64)
		value = min(value, BIT_ULL(bits) - 1);
	if (bits == 4) {
		*at |= offset % 8 ? value : value << 4;
		return;
	}
	be = cpu_to_be64(value << (64 - bits));
	memcpy(at, &be, bits / 8);
}

/* Returns whether there is such an attribute. DATA must be 0. */
bool sim_pma_fill(const u64 *values, enum sim_pma_class has, __be16 attr_id, u8 *data)
{
	struct ib_class_port_info *info = (void *)data;
	bool ext = attr_id == IB_PMA_PORT_COUNTERS_EXT;
	int i;

	if (attr_id == IB_PMA_CLASS_PORT_INFO) {
		if (has == SIM_PMA_EXT)
			info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH | IB_PMA_CLASS_CAP_XMIT_WAIT;
		else if (has == SIM_PMA_NOIETF)
			info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
		return true;
	}
	if (!ext && attr_id != IB_PMA_PORT_COUNTERS)
		return false;
	for (i = 0; i < SIM_PMA_MAX; i++) {
		if (ext && pma_fields[i].ext_offset)
			sim_put_bits(data, pma_fields[i].ext_offset, 64, values[i]);
		else if (!ext && pma_fields[i].offset)
			sim_put_bits(data, pma_fields[i].offset, pma_fields[i].bits, values[i]);
	}
	return true;
}

static int sim_process_mad(struct ib_device *ibdev, int flags, sim_port_num num,
			   const struct ib_wc *wc, const struct ib_grh *grh,
			   const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
			   u16 *pkey_index)
{
	struct sim_port *port = sim_port(ibdev, num);
	bool known;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;	/* no reply: ib_core says EINVAL */

	memset(out->data, 0, sizeof(out->data));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	spin_lock(&port->dev->lock);
	known = sim_pma_fill(port->pma, port->dev->opt.pma, in->mad_hdr.attr_id, out->data + SIM_PMA_DATA);
	port->calls[SIM_CALL_PMA] += known;
	spin_unlock(&port->dev->lock);
	return IB_MAD_RESULT_SUCCESS | (known ? IB_MAD_RESULT_REPLY : 0);
}

const struct ib_device_ops sim_hw_ops = {
	.alloc_hw_port_stats = sim_alloc_hw_port_stats,
	.get_hw_stats = sim_get_hw_stats,
#ifdef SIM_HAVE_STAT_DESC
	.modify_hw_stat = sim_modify_hw_stat,
#endif
};

const struct ib_device_ops sim_pma_ops = {
	.process_mad = sim_process_mad,
};
