/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ib_core of older kernels, from 5.10 on, lacks or calls otherwise. Kbuild looks for each of these in the headers and
 * defines SIM_HAVE_*: kernels of distributions have parts of later versions, so the number of the version says little.
 */
#ifndef RDMA_SIM_COMPAT_H
#define RDMA_SIM_COMPAT_H

#include <net/devlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* The number of a port in ib_device_ops: u32, and u8 before 5.13. */
typedef typeof(__builtin_choose_expr(
	__builtin_types_compatible_p(typeof(((struct ib_device_ops *)0)->query_pkey),
				     int (*)(struct ib_device *, u32, u16, u16 *)),
	(u32)0, (u8)0)) sim_port_num;

/* What rdma_alloc_hw_stats_struct() takes an array of: before 5.16 these are names. */
#ifdef SIM_HAVE_STAT_DESC
typedef const struct rdma_stat_desc sim_stat_desc;
#define SIM_STAT_DESC(text) { .name = text }
#define SIM_OPTIONAL_DESC(text) { .name = text, .flags = IB_STAT_FLAG_OPTIONAL }
#else
typedef const char *const sim_stat_desc;
#define SIM_STAT_DESC(text) text
#define SIM_OPTIONAL_DESC SIM_STAT_DESC
#endif

/* Before 5.14 one operation is for the counters of the device, port 0, and for those of a port. */
#ifndef SIM_HAVE_PORT_STATS
#define alloc_hw_port_stats alloc_hw_stats
#endif

/* What create_cq() takes last: before 6.11 it is the udata, then what holds it. Since 7.0 there is one for processes alone. */
#ifdef SIM_HAVE_USER_CQ
#define SIM_CREATE_CQ create_user_cq
#else
#define SIM_CREATE_CQ create_cq
#endif
typedef typeof(*__builtin_choose_expr(
	__builtin_types_compatible_p(typeof(((struct ib_device_ops *)0)->SIM_CREATE_CQ),
				     int (*)(struct ib_cq *, const struct ib_cq_init_attr *,
					     struct ib_udata *)),
	(struct ib_udata *)0, (struct uverbs_attr_bundle *)0)) sim_cq_context;
#define sim_cq_udata(context)                                                                      \
	__builtin_choose_expr(                                                                     \
		__builtin_types_compatible_p(sim_cq_context, struct ib_udata), (void *)(context),  \
		&((struct uverbs_attr_bundle *)(void *)(context))->driver_udata)

/* What reg_user_mr() has since 6.17. */
#ifdef SIM_HAVE_DMAH
#define SIM_DMAH struct ib_dmah *dmah,
#else
#define SIM_DMAH
#endif

static inline void sim_device_group_set(struct ib_device *ibdev,
					const struct attribute_group *group)
{
#ifdef SIM_HAVE_DEVICE_GROUP
	ibdev->ops.device_group = group;
#else
	rdma_set_device_sysfs_group(ibdev, group);
#endif
}

/* Before 5.15 the parent is named when an instance is registered. */
static inline struct devlink *sim_devlink_alloc(const struct devlink_ops *ops, size_t size,
						struct device *parent)
{
#ifdef SIM_HAVE_DEVLINK_PARENT
	return devlink_alloc(ops, size, parent);
#else
	return devlink_alloc(ops, size);
#endif
}

static inline int sim_devlink_register(struct devlink *devlink, struct device *parent)
{
#ifdef SIM_HAVE_DEVLINK_PARENT
	devlink_register(devlink);
	return 0;
#else
	return devlink_register(devlink, parent);
#endif
}

/* Before 6.18 the time between two recoveries, here 0, is an argument. */
static inline struct devlink_health_reporter *
sim_reporter_create(struct devlink *devlink, const struct devlink_health_reporter_ops *ops)
{
#ifdef SIM_HAVE_DEFAULT_PERIOD
	return devlink_health_reporter_create(devlink, ops, NULL);
#else
	return devlink_health_reporter_create(devlink, ops, 0, NULL);
#endif
}

#ifndef SIM_HAVE_DEV_ADDR_MOD	/* Linux 5.15 */
static inline void dev_addr_mod(struct net_device *ndev, unsigned int offset, const void *address, size_t len)
{
	memcpy(ndev->dev_addr + offset, address, len);
}
#endif

/* The method of mlx5 is as old as 5.14. Its numbers are those of include/uapi/rdma, which cannot change. */
#ifndef SIM_HAVE_MLX5_QUERY_PORT
enum {
	MLX5_IB_METHOD_QUERY_PORT = 1U << UVERBS_ID_NS_SHIFT,
};

enum {
	MLX5_IB_ATTR_QUERY_PORT_PORT_NUM = 1U << UVERBS_ID_NS_SHIFT,
	MLX5_IB_ATTR_QUERY_PORT,
};

enum {
	MLX5_IB_UAPI_QUERY_PORT_VPORT = 1 << 0,
	MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID = 1 << 1,
	MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0 = 1 << 4,
	MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID = 1 << 5,
};

struct mlx5_ib_uapi_query_port {
	__aligned_u64 flags;
	__u16 vport;
	__u16 vport_vhca_id;
	__u16 esw_owner_vhca_id;
	__u16 rsvd0;
	__aligned_u64 vport_steering_icm_rx;
	__aligned_u64 vport_steering_icm_tx;
	struct {
		__u32 value;
		__u32 mask;
	} reg_c0;
};
#endif

#endif
