// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of the mlx5 interface as libmlx5 needs to open a device and to ask
 * for mlx5dv_query_port(): a context without doorbells, and the method.
 */
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "rdma_sim.h"

#define UVERBS_MODULE_NAME rdma_sim
#include <rdma/uverbs_named_ioctl.h>

/* As on a switchdev port. flags=0 is a port in legacy mode. */
void sim_mlx5_port_init(struct sim_port *port)
{
	port->mlx5 = (struct mlx5_ib_uapi_query_port) {
		.flags = MLX5_IB_UAPI_QUERY_PORT_VPORT |
			 MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID |
			 MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0 |
			 MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID,
		.vport = port->num - 1,
		.vport_vhca_id = 100 + port->num,
		.esw_owner_vhca_id = 7,
		.reg_c0 = { .value = port->num << 16, .mask = 0xffff0000 },
	};
}

static int sim_mlx5_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct sim_dev *sd = to_sim(uctx->device);
	struct mlx5_ib_alloc_ucontext_req_v2 req = {};
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = 1024,
		.bf_reg_size = 512,
		.cache_line_size = 64,
		.max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 1024,
		.max_recv_wr = 1024,
		.max_srq_recv_wr = 1024,
		.num_ports = sd->opt.ports,
		.log_uar_size = PAGE_SHIFT,
		.num_uars_per_page = 1,
		/* tot_bfregs stays 0: then libmlx5 maps nothing */
	};
	int ret;

	if (udata->inlen < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	ret = ib_copy_from_udata(&req, udata, min(udata->inlen, sizeof(req)));
	if (ret)
		return ret;
	if (req.flags & MLX5_IB_ALLOC_UCTX_DEVX)
		return -EOPNOTSUPP;	/* libmlx5 tries again without */

	resp.cqe_version = min_t(u8, req.max_cqe_version, 1);
	resp.response_length = min(udata->outlen, sizeof(resp));
	ret = ib_copy_to_udata(udata, &resp, resp.response_length);
	if (ret)
		return ret;
	atomic_inc(&sd->contexts);
	return 0;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_QUERY_PORT)(struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ib_uapi_query_port info;
	struct ib_ucontext *uctx;
	struct sim_port *port;
	u32 num;
	int ret;

	uctx = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(uctx))
		return PTR_ERR(uctx);
	ret = uverbs_copy_from(&num, attrs, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	if (ret)
		return ret;
	if (!rdma_is_port_valid(uctx->device, num))
		return -EINVAL;
	port = sim_port(uctx->device, num);

	spin_lock(&port->dev->lock);
	port->calls[SIM_CALL_DV]++;
	spin_unlock(&port->dev->lock);
	ret = sim_port_fault(port);
	if (ret)
		return ret;
	spin_lock(&port->dev->lock);
	info = port->mlx5;
	spin_unlock(&port->dev->lock);
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_PORT, &info, sizeof(info));
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_QUERY_PORT,
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM,
					       UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PORT,
						UVERBS_ATTR_STRUCT(struct mlx5_ib_uapi_query_port,
								   reg_c0),
						UA_MANDATORY));

ADD_UVERBS_METHODS(sim_mlx5_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(MLX5_IB_METHOD_QUERY_PORT));

static const struct uapi_definition sim_mlx5_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &sim_mlx5_methods),
	{},
};

static const struct ib_device_ops sim_mlx5_ops = {
	.alloc_ucontext = sim_mlx5_alloc_ucontext,
};

void sim_mlx5_setup(struct sim_dev *sd)
{
	ib_set_device_ops(&sd->ibdev, &sim_mlx5_ops);
	sd->ibdev.driver_def = sim_mlx5_definitions;
}
