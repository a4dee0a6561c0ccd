// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of the Gaudi (hbl) interface as hbldv_query_port() needs, and the
 * trap in it: a device has one user context, and a second open is refused.
 */
#include <rdma/uverbs_ioctl.h>

#include "rdma_sim.h"

#define UVERBS_MODULE_NAME rdma_sim
#include <rdma/uverbs_named_ioctl.h>

void sim_hbl_port_init(struct sim_port *port)
{
	port->hbl = (struct hbl_uapi_query_port_out) {
		.max_num_of_qps = 1000 + port->num,
		.max_cq_size = 8192,
		.max_num_of_cqs = 5,
		.max_num_of_usr_fifos = 4,
		.nic_macro_idx = (port->num - 1) / 2,
		.nic_phys_port_idx = (port->num - 1) % 2,
	};
}

static int sim_hbl_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct sim_dev *sd = to_sim(uctx->device);
	struct hbl_uapi_alloc_ucontext_req req = {};
	struct hbl_uapi_alloc_ucontext_resp resp = {};
	int ret;

	ret = ib_copy_from_udata(&req, udata, min(udata->inlen, sizeof(req)));
	if (ret)
		return ret;
	if (atomic_cmpxchg(&sd->contexts, 0, 1))
		return -EBUSY;
	resp.ports_mask = req.ports_mask ?: GENMASK_ULL(min(sd->opt.ports, 63U), 1);
	ret = ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
	if (ret)
		atomic_dec(&sd->contexts);
	return ret;
}

static int UVERBS_HANDLER(HBL_IB_METHOD_QUERY_PORT)(struct uverbs_attr_bundle *attrs)
{
	struct hbl_uapi_query_port_out out;
	struct hbl_uapi_query_port_in in;
	struct ib_ucontext *uctx;
	struct sim_port *port;
	int ret;

	uctx = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(uctx))
		return PTR_ERR(uctx);
	ret = uverbs_copy_from(&in, attrs, HBL_IB_ATTR_QUERY_PORT_IN);
	if (ret)
		return ret;
	if (!rdma_is_port_valid(uctx->device, in.port_num))
		return -EINVAL;
	port = sim_port(uctx->device, in.port_num);

	spin_lock(&port->dev->lock);
	port->calls[SIM_CALL_DV]++;
	spin_unlock(&port->dev->lock);
	ret = sim_port_fault(port);
	if (ret)
		return ret;
	spin_lock(&port->dev->lock);
	out = port->hbl;
	spin_unlock(&port->dev->lock);
	return uverbs_copy_to_struct_or_zero(attrs, HBL_IB_ATTR_QUERY_PORT_OUT, &out, sizeof(out));
}

DECLARE_UVERBS_NAMED_METHOD(HBL_IB_METHOD_QUERY_PORT,
			    UVERBS_ATTR_PTR_IN(HBL_IB_ATTR_QUERY_PORT_IN,
					       UVERBS_ATTR_STRUCT(struct hbl_uapi_query_port_in,
								  reserved),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(HBL_IB_ATTR_QUERY_PORT_OUT,
						UVERBS_ATTR_STRUCT(struct hbl_uapi_query_port_out,
								   reserved),
						UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(HBL_IB_OBJECT_QUERY_PORT, &UVERBS_METHOD(HBL_IB_METHOD_QUERY_PORT));

static const struct uapi_definition sim_hbl_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(HBL_IB_OBJECT_QUERY_PORT),
	{},
};

static const struct ib_device_ops sim_hbl_ops = {
	.alloc_ucontext = sim_hbl_alloc_ucontext,
};

void sim_hbl_setup(struct sim_dev *sd)
{
	ib_set_device_ops(&sd->ibdev, &sim_hbl_ops);
	sd->ibdev.driver_def = sim_hbl_definitions;
}
