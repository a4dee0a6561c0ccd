// SPDX-License-Identifier: GPL-2.0-only
/*
 * What processes make on a device: protection domains, completion queues and queue pairs. They move no data, but
 * they are counted, and netlink says whose they are. Their private interface is that of rxe, so librxe makes them:
 * it maps each of its queues, which is a page here in which nothing has room.
 *
 * There is no post_send() but that of mad.c, so without mad=1 ib_core shows the device to none of the kernel's own clients.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/rdma_user_rxe.h>

#include "rdma_sim.h"

#define FIRST_QPN	16	/* 0 and 1 are those of the SM and of general services */
#define LOG2_ELEMENT	6

struct sim_pd {
	struct ib_pd ibpd;
};

/* The library of another driver would take the answers for those of its own. */
static bool is_for_librxe(struct ib_device *ibdev)
{
	return to_sim(ibdev)->opt.driver_id == RDMA_DRIVER_RXE;
}

static int sim_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return udata && !is_for_librxe(pd->device) ? -EOPNOTSUPP : 0;
}

static int sim_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/*
 * mmap() of a queue that librxe was told of: a page of its own, which goes when it is unmapped. It begins with the binary
 * logarithm of the size of an element, which has to hold an ib_uverbs_wc, and with a mask of the indices. With 0 a queue is
 * full for who adds and empty for who takes.
 */
static int sim_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct page *page;
	int ret;

	BUILD_BUG_ON(sizeof(struct ib_uverbs_wc) > 1 << LOG2_ELEMENT);

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	*(u32 *)page_address(page) = LOG2_ELEMENT;
	ret = vm_insert_page(vma, vma->vm_start, page);
	put_page(page);
	return ret;
}

/* CONTEXT is NULL for a queue of the kernel's. */
int sim_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, sim_cq_context *context)
{
	struct sim_cq *sim_cq = container_of(cq, struct sim_cq, ibcq);
	struct rxe_create_cq_resp resp = { .mi.size = PAGE_SIZE };
	struct ib_udata *udata = sim_cq_udata(context);

	/* ib_mad wants some more than a process may have. */
	if (!attr->cqe || attr->cqe > (context ? SIM_MAX_CQE : 2 * SIM_MAX_CQE))
		return -EINVAL;
	spin_lock_init(&sim_cq->lock);
	cq->cqe = attr->cqe;
	if (!context)
		return kfifo_alloc(&sim_cq->done, attr->cqe, GFP_KERNEL);
	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
}

static int sim_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	kfifo_free(&container_of(cq, struct sim_cq, ibcq)->done);
	return 0;
}

/* Whatever else the kernel may want, only QP0 and QP1 are made for it: their types are their numbers. */
static int special_qp_init(struct sim_qp *qp, const struct ib_qp_init_attr *attr)
{
	BUILD_BUG_ON(IB_QPT_SMI != 0 || IB_QPT_GSI != 1);

	if (attr->qp_type != IB_QPT_SMI && attr->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	qp->ibqp.qp_num = attr->qp_type;
	qp->ibqp.port = attr->port_num;	/* ib_core notes it too, but for that of 5.10 */
	return kfifo_alloc(&qp->buffers, attr->cap.max_recv_wr, GFP_KERNEL);
}

static int sim_qp_init(struct sim_dev *sd, struct sim_qp *qp, const struct ib_qp_init_attr *attr,
		       struct ib_udata *udata)
{
	struct rxe_create_qp_resp resp = { .rq_mi.size = PAGE_SIZE, .sq_mi.size = PAGE_SIZE };
	int qpn, ret;

	mutex_init(&qp->lock);
	qp->state = IB_QPS_RESET;
	if (!udata)
		return special_qp_init(qp, attr);
	if (attr->srq || (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UC &&
			  attr->qp_type != IB_QPT_UD))
		return -EOPNOTSUPP;
	qpn = ida_alloc_range(&sd->qpns, FIRST_QPN, FIRST_QPN + SIM_MAX_QPS - 1, GFP_KERNEL);
	if (qpn < 0)
		return qpn == -ENOSPC ? -ENOMEM : qpn;
	ret = ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
	if (ret) {
		ida_free(&sd->qpns, qpn);
		return ret;
	}
	qp->ibqp.qp_num = qpn;
	return 0;
}

#ifdef SIM_HAVE_QP_SIZE
static int sim_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return sim_qp_init(to_sim(ibqp->device), container_of(ibqp, struct sim_qp, ibqp), attr, udata);
}

static void sim_qp_free(struct sim_qp *qp)
{
}
#else
static struct ib_qp *sim_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct sim_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int ret;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	ret = sim_qp_init(to_sim(pd->device), qp, attr, udata);
	if (ret) {
		kfree(qp);
		return ERR_PTR(ret);
	}
	return &qp->ibqp;
}

static void sim_qp_free(struct sim_qp *qp)
{
	kfree(qp);
}
#endif

/* ib_core notes the port of a queue pair, by which netlink lists it. */
static int sim_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct sim_qp *qp = container_of(ibqp, struct sim_qp, ibqp);
	enum ib_qp_state from, to;
	int ret = -EINVAL;

	mutex_lock(&qp->lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (ib_modify_qp_is_ok(from, to, ibqp->qp_type, mask)) {
		qp->state = to;
		ret = 0;
	}
	mutex_unlock(&qp->lock);
	return ret;
}

static int sim_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	struct sim_qp *qp = container_of(ibqp, struct sim_qp, ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	mutex_lock(&qp->lock);
	attr->qp_state = qp->state;
	mutex_unlock(&qp->lock);
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = ibqp->port;
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	return 0;
}

static int sim_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sim_qp *qp = container_of(ibqp, struct sim_qp, ibqp);

	if (ibqp->qp_num >= FIRST_QPN)
		ida_free(&to_sim(ibqp->device)->qpns, ibqp->qp_num);
	kfifo_free(&qp->buffers);
	sim_qp_free(qp);
	return 0;
}

static const struct ib_device_ops sim_resource_ops = {
	.alloc_pd = sim_alloc_pd,
	.dealloc_pd = sim_dealloc_pd,
	.mmap = sim_mmap,
	.SIM_CREATE_CQ = sim_create_cq,
	.destroy_cq = sim_destroy_cq,
	.create_qp = sim_create_qp,
	.modify_qp = sim_modify_qp,
	.query_qp = sim_query_qp,
	.destroy_qp = sim_destroy_qp,

	INIT_RDMA_OBJ_SIZE(ib_pd, sim_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_cq, sim_cq, ibcq),
#ifdef SIM_HAVE_QP_SIZE
	INIT_RDMA_OBJ_SIZE(ib_qp, sim_qp, ibqp),
#endif
};

/* For librxe, and with mad=1 for the kernel. */
void sim_resources_setup(struct sim_dev *sd)
{
	if (!is_for_librxe(&sd->ibdev) && !sd->opt.mad)
		return;
	ib_set_device_ops(&sd->ibdev, &sim_resource_ops);
	/* Before 5.11 only the commands that a driver names can be used. */
	sd->ibdev.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_ALLOC_PD) |
				     BIT_ULL(IB_USER_VERBS_CMD_DEALLOC_PD) |
				     BIT_ULL(IB_USER_VERBS_CMD_CREATE_CQ) |
				     BIT_ULL(IB_USER_VERBS_CMD_DESTROY_CQ) |
				     BIT_ULL(IB_USER_VERBS_CMD_CREATE_QP) |
				     BIT_ULL(IB_USER_VERBS_CMD_MODIFY_QP) |
				     BIT_ULL(IB_USER_VERBS_CMD_QUERY_QP) |
				     BIT_ULL(IB_USER_VERBS_CMD_DESTROY_QP);
}
