// SPDX-License-Identifier: GPL-2.0-only
/*
 * Management packets (MADs), on InfiniBand ports of a device with mad=1. The kernel makes queue pairs 0 and 1 of each port, and what
 * it posts to them is what umad sends. At the other end of the link is the node that the keys far.* of the port describe. It answers
 * who it is, over one hop, and what its port has counted. All other packets are lost.
 *
 * A packet is answered while it is posted. There is no DMA: the device has none, so ib_core gives it addresses of the kernel.
 */
#include <linux/slab.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>

#include "rdma_sim.h"

struct sim_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
};

union packet {
	struct ib_mad mad;
	struct ib_smp smp;	/* as long */
};

static void fill_node_info(const struct sim_far *far, u8 *data)
{
	sim_put_bits(data, 0, 8, 1);	/* versions of packets */
	sim_put_bits(data, 8, 8, 1);
	sim_put_bits(data, 16, 8, far->type);
	sim_put_bits(data, 32, 64, far->system);
	sim_put_bits(data, 96, 64, far->guid);
	sim_put_bits(data, 288, 8, far->port);
}

/* A switch has its LID at port 0. Returns whether the node has port NUM. */
static bool fill_port_info(const struct sim_far *far, u32 num, u8 *data)
{
	u8 with_lid = far->type == RDMA_NODE_IB_SWITCH ? 0 : far->port;

	if (num == with_lid)
		sim_put_bits(data, 128, 16, far->lid);
	if (num == far->port) {
		sim_put_bits(data, 232, 8, far->widths);
		/* SDR to QDR, FDR to NDR, and XDR; FDR10 is not here */
		sim_put_bits(data, 284, 4, far->speeds & 0x7);
		sim_put_bits(data, 504, 8, far->speeds >> 4 & 0xf);
		sim_put_bits(data, 448, 8, far->speeds >> 8 & 0x1);
	}
	return num == with_lid || num == far->port;
}

static bool answer_smp(const struct sim_far *far, struct ib_smp *smp)
{
	u16 status = 0;

	if (smp->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE || smp->hop_cnt != 1)
		return false;
	memset(smp->data, 0, sizeof(smp->data));
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_INFO:
		fill_node_info(far, smp->data);
		break;
	case IB_SMP_ATTR_NODE_DESC:
		memcpy(smp->data, far->desc, IB_DEVICE_NODE_DESC_MAX);
		break;
	case IB_SMP_ATTR_PORT_INFO:
		if (!fill_port_info(far, be32_to_cpu(smp->attr_mod), smp->data))
			status = IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
		break;
	default:
		status = IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
	/* It goes back the way that it came: the hop is the first again. */
	smp->status = IB_SMP_DIRECTION | cpu_to_be16(status);
	smp->return_path[1] = far->port;
	return true;
}

static bool answer_pma(const struct sim_far *far, struct ib_mad *mad)
{
	u8 *data = mad->data + SIM_PMA_DATA;
	u8 num = data[1];

	if (mad->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return false;
	memset(mad->data, 0, sizeof(mad->data));
	if (mad->mad_hdr.attr_id != IB_PMA_CLASS_PORT_INFO) {
		if (num != far->port)
			mad->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
		data[1] = num;
	}
	if (!sim_pma_fill(far->pma, SIM_PMA_EXT, mad->mad_hdr.attr_id, data))
		mad->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	return true;
}

/* Makes an answer of PACKET, which the kernel has posted to queue pair QPN of PORT for DLID. Returns whether there is one. */
static bool answer(struct sim_port *port, u32 qpn, u32 dlid, union packet *packet)
{
	const struct sim_far *far = &port->far;
	bool answers = false;

	spin_lock(&port->dev->lock);
	if (far->guid && port->attr.phys_state == IB_PORT_PHYS_STATE_LINK_UP &&
	    packet->mad.mad_hdr.method == IB_MGMT_METHOD_GET)
		answers = qpn ? dlid == far->lid && answer_pma(far, &packet->mad) :
				answer_smp(far, &packet->smp);
	spin_unlock(&port->dev->lock);
	packet->mad.mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return answers;
}

static void gather(const struct ib_send_wr *wr, union packet *packet)
{
	size_t at = 0, n;
	int i;

	for (i = 0; i < wr->num_sge; i++, at += n) {
		n = min_t(size_t, wr->sg_list[i].length, sizeof(*packet) - at);
		memcpy((u8 *)packet + at, (void *)(uintptr_t)wr->sg_list[i].addr, n);
	}
}

static struct sim_cq *cq_of(struct sim_qp *qp)
{
	return container_of(qp->ibqp.recv_cq, struct sim_cq, ibcq);
}

/* Under the lock of the completion queue, which is that of both directions. */
static bool send_one(struct sim_qp *qp, const struct ib_send_wr *wr)
{
	struct sim_port *port = sim_port(qp->ibqp.device, qp->ibqp.port);
	struct sim_ah *ah = container_of(ud_wr(wr)->ah, struct sim_ah, ibah);
	u32 dlid = rdma_ah_get_dlid(&ah->attr);
	struct sim_cq *cq = cq_of(qp);
	struct ib_wc wc = {
		.wr_cqe = wr->wr_cqe,
		.opcode = IB_WC_SEND,
		.qp = &qp->ibqp,
		.port_num = port->num,
	};
	union packet packet = {};
	struct sim_buffer buffer;

	if (kfifo_avail(&cq->done) < 2)
		return false;
	kfifo_put(&cq->done, wc);
	gather(wr, &packet);
	if (!answer(port, qp->ibqp.qp_num, dlid, &packet) || !kfifo_get(&qp->buffers, &buffer))
		return true;	/* sent, and lost */
	memset(buffer.to, 0, sizeof(struct ib_grh));
	memcpy(buffer.to + sizeof(struct ib_grh), &packet, sizeof(packet));
	wc.wr_cqe = buffer.cqe;
	wc.opcode = IB_WC_RECV;
	wc.byte_len = sizeof(struct ib_grh) + sizeof(packet);
	wc.src_qp = qp->ibqp.qp_num;
	wc.slid = dlid;
	kfifo_put(&cq->done, wc);
	return true;
}

static int sim_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **ret_bad)
{
	struct sim_qp *qp = container_of(ibqp, struct sim_qp, ibqp);
	struct sim_cq *cq = cq_of(qp);
	unsigned long flags;
	bool tell;

	spin_lock_irqsave(&cq->lock, flags);
	while (wr && kfifo_initialized(&qp->buffers) && send_one(qp, wr))
		wr = wr->next;
	tell = cq->armed && !kfifo_is_empty(&cq->done);
	if (tell)
		cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (tell)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	*ret_bad = wr;
	return wr ? -ENOMEM : 0;
}

static int sim_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **ret_bad)
{
	struct sim_qp *qp = container_of(ibqp, struct sim_qp, ibqp);
	struct sim_buffer buffer;
	unsigned long flags;

	spin_lock_irqsave(&cq_of(qp)->lock, flags);
	for (; wr && kfifo_initialized(&qp->buffers); wr = wr->next) {
		buffer = (struct sim_buffer){ wr->wr_cqe, (void *)(uintptr_t)wr->sg_list->addr };
		if (!kfifo_put(&qp->buffers, buffer))
			break;
	}
	spin_unlock_irqrestore(&cq_of(qp)->lock, flags);
	*ret_bad = wr;
	return wr ? -ENOMEM : 0;
}

static int sim_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct sim_cq *cq = container_of(ibcq, struct sim_cq, ibcq);
	unsigned long flags;
	int i = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (i < n && kfifo_get(&cq->done, &wc[i]))
		i++;
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

static int sim_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags what)
{
	struct sim_cq *cq = container_of(ibcq, struct sim_cq, ibcq);
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = what & IB_CQ_REPORT_MISSED_EVENTS && !kfifo_is_empty(&cq->done);
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

static int sim_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	container_of(ibah, struct sim_ah, ibah)->attr = *init->ah_attr;
	return 0;
}

static int sim_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = container_of(ibah, struct sim_ah, ibah)->attr;
	return 0;
}

static int sim_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

/* The kernel wants one for each protection domain; its key is of no use here. */
static struct ib_mr *sim_get_dma_mr(struct ib_pd *pd, int access)
{
	return kzalloc(sizeof(struct ib_mr), GFP_KERNEL) ?: ERR_PTR(-ENOMEM);
}

static int sim_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static struct ib_mr *sim_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int access, SIM_DMAH
				     struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* With these, and those of resource.c, ib_core shows the device to the kernel's own clients. */
const struct ib_device_ops sim_mad_ops = {
	.create_ah = sim_create_ah,
	.create_cq = sim_create_cq,
	.dereg_mr = sim_dereg_mr,
	.destroy_ah = sim_destroy_ah,
	.get_dma_mr = sim_get_dma_mr,
	.poll_cq = sim_poll_cq,
	.post_recv = sim_post_recv,
	.post_send = sim_post_send,
	.query_ah = sim_query_ah,
	.reg_user_mr = sim_reg_user_mr,
	.req_notify_cq = sim_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, sim_ah, ibah),
};
