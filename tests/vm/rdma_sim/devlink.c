// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devlink instance of the parent of a device, with two health reporters
 * as mlx5 has them: "fw" says what happened and cannot recover, "fw_fatal"
 * recovers by itself. As with mlx5, the instance comes after the RDMA device
 * and goes before it.
 *
 * devlink calls these under the lock of the instance, which a command takes
 * under sim_lock.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <net/devlink.h>

#include "rdma_sim.h"

#define SIM_REPORTERS 2

struct sim_devlink {
	struct devlink_health_reporter *reporters[SIM_REPORTERS];
};

static const struct devlink_ops sim_devlink_ops = {
};

static int recover(struct devlink_health_reporter *reporter, void *priv_ctx,
		   struct netlink_ext_ack *extack)
{
	return 0;
}

static int dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
		void *priv_ctx, struct netlink_ext_ack *extack)
{
	(void)devlink_fmsg_u32_pair_put(fmsg, "syndrome", 8);
	return 0;
}

static const struct devlink_health_reporter_ops reporter_ops[SIM_REPORTERS] = {
	{ .name = "fw", .dump = dump },
	{ .name = "fw_fatal", .recover = recover },
};

static void destroy_reporters(struct sim_devlink *priv)
{
	size_t i;

	for (i = 0; i < SIM_REPORTERS; i++)
		if (!IS_ERR_OR_NULL(priv->reporters[i]))
			devlink_health_reporter_destroy(priv->reporters[i]);
}

static int create_reporters(struct devlink *devlink, struct sim_devlink *priv)
{
	size_t i;

	for (i = 0; i < SIM_REPORTERS; i++) {
		priv->reporters[i] = sim_reporter_create(devlink, &reporter_ops[i]);
		if (IS_ERR(priv->reporters[i]))
			return PTR_ERR(priv->reporters[i]);
	}
	return 0;
}

static struct device_driver sim_driver = {
	.name = "rdma_sim",
};

/*
 * Newer kernels (7.3, not 6.12) want the name of the parent's driver. The
 * parents here have none, so it is there while the instance is made.
 */
static struct devlink *alloc_instance(struct device *parent)
{
	struct device_driver *driver;
	struct devlink *devlink;

	device_lock(parent);
	driver = parent->driver;
	if (!driver)
		parent->driver = &sim_driver;
	devlink = sim_devlink_alloc(&sim_devlink_ops, sizeof(struct sim_devlink), parent);
	parent->driver = driver;
	device_unlock(parent);
	return devlink;
}

/* Of a device whose parent is another's already: devlink has one instance for each. */
int sim_devlink_add(struct sim_dev *sd)
{
	struct sim_devlink *priv;
	struct devlink *devlink;
	int ret;

	if (!sd->opt.devlink)
		return 0;
	devlink = alloc_instance(sd->parent);
	if (!devlink)
		return -ENOMEM;
	priv = devlink_priv(devlink);
	ret = create_reporters(devlink, priv);
	if (!ret)
		ret = sim_devlink_register(devlink, sd->parent);
	if (ret) {
		destroy_reporters(priv);
		devlink_free(devlink);
		return ret;
	}
	sd->devlink = devlink;
	return 0;
}

void sim_devlink_del(struct sim_dev *sd)
{
	if (!sd->devlink)
		return;
	devlink_unregister(sd->devlink);
	destroy_reporters(devlink_priv(sd->devlink));
	devlink_free(sd->devlink);
	sd->devlink = NULL;
}

/* An error of the reporter called NAME, or the end of it. */
int sim_devlink_report(struct sim_dev *sd, const char *name, bool error)
{
	struct sim_devlink *priv;
	size_t i;

	if (!sd->devlink)
		return -EOPNOTSUPP;
	priv = devlink_priv(sd->devlink);
	for (i = 0; i < SIM_REPORTERS; i++) {
		if (strcmp(name, reporter_ops[i].name))
			continue;
		if (error)	/* what it returns is that of the recovery */
			devlink_health_report(priv->reporters[i], "rdma_sim", NULL);
		else
			devlink_health_reporter_state_update(priv->reporters[i],
				DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
		return 0;
	}
	return -EINVAL;
}
