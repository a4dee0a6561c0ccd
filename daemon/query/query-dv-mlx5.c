/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mlx5: which virtual port of the embedded switch a port is, of which only switchdev has all; and
 * what the device can do beyond verbs. */

#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "query-dv.h"

static bool matches(const PolicyDevice *d)
{
	return d->driver_id == RDMA_DRIVER_MLX5;
}

/* libmlx5 copies the whole structure whatever the flags say, and a port in legacy mode has no flag
 * and no error. */
static int query_port(struct ibv_context *context, uint32_t port, PortSnapshot *s)
{
#ifdef RDMAD_HAVE_MLX5DV_QUERY_PORT
	struct mlx5dv_port info = {};
	int r = mlx5dv_query_port(context, port, &info);

	if (r != 0)
		return r > 0 ? -r : -EIO;
	if (info.flags & MLX5DV_QUERY_PORT_VPORT)
		PORT_SUPPLY(s, vport, info.vport);
	if (info.flags & MLX5DV_QUERY_PORT_VPORT_VHCA_ID)
		PORT_SUPPLY(s, vport_vhca_id, info.vport_vhca_id);
	if (info.flags & MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID)
		PORT_SUPPLY(s, esw_owner_vhca_id, info.esw_owner_vhca_id);
	if (info.flags & MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_RX)
		PORT_SUPPLY(s, vport_steering_icm_rx, info.vport_steering_icm_rx);
	if (info.flags & MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_TX)
		PORT_SUPPLY(s, vport_steering_icm_tx, info.vport_steering_icm_tx);
	if (info.flags & MLX5DV_QUERY_PORT_VPORT_REG_C0) {
		PORT_SUPPLY(s, reg_c0_value, info.reg_c0.value);
		PORT_SUPPLY(s, reg_c0_mask, info.reg_c0.mask);
	}
	return 0;
#else
	/* rdma-core 34 and older: the port has no interface of mlx5 */
	(void)context, (void)port, (void)s;
	return -EOPNOTSUPP;
#endif
}

/* libmlx5 has read these when the context was opened: this does not ask the firmware. */
static int query_device(struct ibv_context *context, DeviceSnapshot *s)
{
	struct mlx5dv_context info = {.comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS};
	int r = mlx5dv_query_device(context, &info);

	if (r != 0)
		return r > 0 ? -r : -EIO;
	DEVICE_SUPPLY(s, mlx5_flags, (uint32_t)info.flags);
	if (info.comp_mask & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS)
		DEVICE_SUPPLY(s, num_lag_ports, info.num_lag_ports);
	return 0;
}

const DvProvider dv_mlx5 = {
	.name = "mlx5",
	.matches = matches,
	.interface = INTERFACE_MLX5,
	.query_port = query_port,
	.device_interface = INTERFACE_DEVICE_MLX5,
	.query_device = query_device,
};
