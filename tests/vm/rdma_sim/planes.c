// SPDX-License-Identifier: GPL-2.0-only
/*
 * The planes of an adapter (SMI sub-devices, kernel 6.11): "rdma dev add NAME type SMI parent PARENT" makes a device below one
 * that was added with planes=N. It has N ports and no uverbs node, and it goes with its parent.
 */
#include "rdma_sim.h"

#ifdef SIM_HAVE_SUB_DEVICES

/*
 * One for each parent. ib_core of 6.12.117 and 7.3.4 swaps two arguments of list_add_tail(): with a second device below one parent
 * its list is corrupt, and the kernel stops when one of them is removed.
 */
static struct ib_device *sim_add_sub_dev(struct ib_device *ibdev, enum rdma_nl_dev_type type,
					 const char *name)
{
	struct sim_dev *above = to_sim(ibdev);
	struct sim_options opt = above->opt;
	int ret;

	if (type != RDMA_DEVICE_TYPE_SMI)
		return ERR_PTR(-EOPNOTSUPP);
	opt.ports = opt.planes;
	opt.planes = 0;
	opt.nnetdevs = 0;
	opt.links[0] = SIM_LINK_IB;
	opt.nlinks = 1;
	opt.guid = 0;
	opt.devlink = 0;
	opt.mad = 0;
	strscpy(opt.parent, "none", sizeof(opt.parent));
	strscpy(opt.name, name, sizeof(opt.name));

	if (mutex_lock_killable(&sim_lock))
		return ERR_PTR(-EINTR);
	ret = above->plane ? -EBUSY : sim_device_add(&opt, 0, above, &sim_devices);
	ibdev = ret ? ERR_PTR(ret) : &above->plane->ibdev;
	mutex_unlock(&sim_lock);
	return ibdev;
}

static void sim_del_sub_dev(struct ib_device *ibdev)
{
	struct sim_dev *sd = to_sim(ibdev);
	LIST_HEAD(taken);

	mutex_lock(&sim_lock);
	sd->above->plane = NULL;
	sim_devices_take(sd, &taken);
	mutex_unlock(&sim_lock);
	sim_devices_destroy(&taken);
}

static const struct ib_device_ops sim_planes_ops = {
	.add_sub_dev = sim_add_sub_dev,
	.del_sub_dev = sim_del_sub_dev,
};

void sim_planes_setup(struct sim_dev *sd)
{
	if (sd->above)
		sd->ibdev.type = RDMA_DEVICE_TYPE_SMI;	/* uverbs passes it by */
	else if (sd->opt.planes)
		ib_set_device_ops(&sd->ibdev, &sim_planes_ops);
}

#else

void sim_planes_setup(struct sim_dev *sd)
{
}

#endif
