// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one port answers to ib_core, and how it fails to.
 */
#include <linux/sched.h>

#include "rdma_sim.h"

void sim_port_init(struct sim_port *port, struct sim_dev *sd, u32 num)
{
	const struct sim_options *opt = &sd->opt;
	struct ib_port_attr *attr = &port->attr;

	port->dev = sd;
	port->num = num;
	port->link = opt->links[min(num, opt->nlinks) - 1];
	port->pkeys = sd->pkeys + (size_t)(num - 1) * opt->pkeys;
	port->gids = sd->gids + (size_t)(num - 1) * opt->gids;

	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = opt->gids;
	attr->pkey_tbl_len = opt->pkeys;
	attr->max_msg_sz = 1 << 30;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_HDR;
	port->port_speed = 2000;
	if (opt->pkeys)
		port->pkeys[0] = 0xffff;

	port->phy.state = SIM_PHY_SILENT;
	switch (port->link) {
	case SIM_LINK_IB:
		attr->lid = num;
		attr->sm_lid = 1;
		attr->max_vl_num = 4;
		attr->subnet_timeout = 18;
		attr->port_cap_flags = IB_UVERBS_PCF_AUTO_MIGR_SUP |
				       IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP |
				       IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP | IB_UVERBS_PCF_CM_SUP |
				       IB_UVERBS_PCF_CLIENT_REG_SUP;
		port->gids[0].global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
		port->gids[0].global.interface_id =
			cpu_to_be64(be64_to_cpu(sd->ibdev.node_guid) + num);
		port->far.type = RDMA_NODE_IB_SWITCH;
		port->far.port = 1;
		port->far.widths = IB_WIDTH_1X | IB_WIDTH_4X;
		port->far.speeds = IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR | IB_SPEED_FDR | IB_SPEED_EDR |
				   IB_SPEED_HDR;
		break;
	case SIM_LINK_ETH:
		port->ip_gids = 1;
		break;
	case SIM_LINK_IWARP:
		break;
	}
	sim_mlx5_port_init(port);
	sim_hbl_port_init(port);
}

/* Queries for ib_core: those of its work queue, and those made while registering. */
static bool asked_by_kernel(const struct sim_dev *sd)
{
	return (current->flags & PF_KTHREAD) || !sd->registered;
}

static bool delay_over(struct sim_port *port)
{
	return READ_ONCE(port->dev->dead) || !READ_ONCE(port->delay_ms);
}

static bool hang_over(struct sim_port *port)
{
	return READ_ONCE(port->dev->dead) || !READ_ONCE(port->hang);
}

static int wait_as_told(struct sim_port *port, u32 delay_ms, u8 hang)
{
	wait_queue_head_t *wait = &port->dev->wait;
	long left;

	if (delay_ms) {
		left = wait_event_killable_timeout(*wait, delay_over(port),
						   msecs_to_jiffies(delay_ms));
		if (left < 0)
			return -EINTR;
	}
	if (hang == SIM_HANG_UNINTERRUPTIBLE)
		wait_event(*wait, hang_over(port));
	else if (hang && wait_event_killable(*wait, hang_over(port)))
		return -EINTR;
	return READ_ONCE(port->dev->dead) ? -ENODEV : 0;
}

/*
 * Delay, then hang, then fail, as the port is set to. Returns 0 or the errno
 * to give to the caller.
 */
int sim_port_fault(struct sim_port *port)
{
	struct sim_dev *sd = port->dev;
	u32 delay_ms;
	int ret = 0;
	u8 hang;

	spin_lock(&sd->lock);
	if (sd->dead || (port->user_only && asked_by_kernel(sd)))
		goto out;
	delay_ms = port->delay_ms;
	hang = port->hang;
	if (delay_ms || hang) {
		port->waiting++;
		spin_unlock(&sd->lock);
		ret = wait_as_told(port, delay_ms, hang);
		spin_lock(&sd->lock);
		port->waiting--;
	}
	if (!ret && port->fail) {
		ret = -(int)port->fail;
		if (port->fail_count && !--port->fail_count)
			port->fail = 0;
	}
	if (ret)
		port->calls[SIM_CALL_FAULT]++;
out:
	spin_unlock(&sd->lock);
	return ret;
}

/*
 * Under sd->lock, so that whoever sees new values can rely on the event being
 * queued already, and so that none comes after ib_unregister_device().
 */
void sim_dispatch(struct sim_dev *sd, u32 port, u32 event)
{
	struct ib_event ev = {
		.device = &sd->ibdev,
		.element.port_num = port,
		.event = event,
	};

	lockdep_assert_held(&sd->lock);
	if (sd->registered)
		ib_dispatch_event(&ev);
}

static int sim_query_port(struct ib_device *ibdev, sim_port_num num, struct ib_port_attr *attr)
{
	struct sim_port *port = sim_port(ibdev, num);
	struct sim_dev *sd = port->dev;
	struct ib_port_attr core = *attr;
	int ret;

	spin_lock(&sd->lock);
	port->calls[asked_by_kernel(sd) ? SIM_CALL_QUERY_KERNEL : SIM_CALL_QUERY_USER]++;
	spin_unlock(&sd->lock);

	ret = sim_port_fault(port);
	if (ret)
		return ret;

	spin_lock(&sd->lock);
	*attr = port->attr;
	attr->ip_gids = port->ip_gids;
	/* Left at 0, ib_core takes the prefix of the last entry of the table. */
	if (port->link == SIM_LINK_IB && !attr->subnet_prefix)
		attr->subnet_prefix = be64_to_cpu(port->gids[0].global.subnet_prefix);
	spin_unlock(&sd->lock);

	/* For iWARP, ib_core has computed these from the netdev. */
	if (port->link == SIM_LINK_IWARP) {
		attr->state = core.state;
		attr->phys_state = core.phys_state;
		attr->max_mtu = core.max_mtu;
		attr->active_mtu = core.active_mtu;
	}
	return 0;
}

#ifdef SIM_HAVE_PORT_SPEED
static int sim_query_port_speed(struct ib_device *ibdev, u32 num, u64 *speed)
{
	struct sim_port *port = sim_port(ibdev, num);
	int ret = sim_port_fault(port);

	if (ret)
		return ret;
	spin_lock(&port->dev->lock);
	*speed = port->port_speed;
	spin_unlock(&port->dev->lock);
	return 0;
}
#endif

static int sim_query_pkey(struct ib_device *ibdev, sim_port_num num, u16 index, u16 *pkey)
{
	struct sim_port *port = sim_port(ibdev, num);
	struct sim_dev *sd = port->dev;

	if (index >= sd->opt.pkeys)
		return -EINVAL;
	spin_lock(&sd->lock);
	port->calls[SIM_CALL_PKEY]++;
	*pkey = port->pkeys[index];
	spin_unlock(&sd->lock);
	return 0;
}

static int sim_query_gid(struct ib_device *ibdev, sim_port_num num, int index, union ib_gid *gid)
{
	struct sim_port *port = sim_port(ibdev, num);
	struct sim_dev *sd = port->dev;

	if (index < 0 || index >= sd->opt.gids)
		return -EINVAL;
	spin_lock(&sd->lock);
	port->calls[SIM_CALL_GID]++;
	*gid = port->gids[index];
	spin_unlock(&sd->lock);
	return 0;
}

/* ib_core keeps the RoCE table; hardware would be told here. */
static int sim_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int sim_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static enum rdma_link_layer sim_get_link_layer(struct ib_device *ibdev, sim_port_num num)
{
	return sim_port(ibdev, num)->link == SIM_LINK_IB ? IB_LINK_LAYER_INFINIBAND :
							    IB_LINK_LAYER_ETHERNET;
}

/*
 * No SA capability, and without mad=1 no MAD and no CM: nothing could be sent,
 * and the kernel's own clients would only time out.
 */
static int sim_get_port_immutable(struct ib_device *ibdev, sim_port_num num,
				  struct ib_port_immutable *immutable)
{
	static const u32 caps[] = {
		[SIM_LINK_IB] = RDMA_CORE_CAP_PROT_IB,
		[SIM_LINK_ETH] = RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP,
		[SIM_LINK_IWARP] = RDMA_CORE_CAP_PROT_IWARP,
	};
	struct sim_port *port = sim_port(ibdev, num);

	immutable->pkey_tbl_len = port->dev->opt.pkeys;
	immutable->gid_tbl_len = port->dev->opt.gids;
	immutable->core_cap_flags = caps[port->link];
	if (port->dev->opt.grh)
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	if (sim_port_has_mads(port)) {
		/* Since 6.11 a port without CM has no QP1. */
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI | RDMA_CORE_CAP_IB_CM;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	return 0;
}

const struct ib_device_ops sim_port_ops = {
	.add_gid = sim_add_gid,
	.del_gid = sim_del_gid,
	.get_link_layer = sim_get_link_layer,
	.get_port_immutable = sim_get_port_immutable,
	.query_gid = sim_query_gid,
	.query_pkey = sim_query_pkey,
	.query_port = sim_query_port,
#ifdef SIM_HAVE_PORT_SPEED
	.query_port_speed = sim_query_port_speed,
#endif
};
