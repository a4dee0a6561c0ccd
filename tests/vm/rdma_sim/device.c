// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a device: made from the words of an "add", registered, taken off
 * the list, released from whatever waits in it, unregistered.
 */
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "rdma_sim.h"

#define SIM_GUID	0x0002c90300000000ULL	/* of devices made without guid= */

DEFINE_MUTEX(sim_lock);		/* see rdma_sim.h */
LIST_HEAD(sim_devices);
static u32 sim_ndevices;	/* under sim_lock */
static u32 sim_serial;		/* under sim_lock; distinguishes GUIDs and parents */

/*
 * By ibdev.name, an array that ib_core keeps up to date on a rename, and not
 * dev_name(), whose string a rename may free under our eyes.
 */
struct sim_dev *sim_device_find(const char *name)
{
	struct sim_dev *sd;

	lockdep_assert_held(&sim_lock);
	list_for_each_entry(sd, &sim_devices, list)
		if (!strcmp(sd->ibdev.name, name))
			return sd;
	return NULL;
}

static int sim_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	const struct sim_options *opt = &to_sim(ibdev)->opt;

	*attr = (struct ib_device_attr) {
		.fw_ver = (u64)opt->fw[0] << 32 | opt->fw[1] << 16 | opt->fw[2],
		.sys_image_guid = opt->image_guid ? cpu_to_be64(opt->image_guid) :
						    ibdev->node_guid,
		.vendor_id = opt->vendor,
		.vendor_part_id = opt->part,
		.hw_ver = opt->hw_rev,
		.max_mr_size = U64_MAX,
		.page_size_cap = PAGE_SIZE,
		.max_qp = SIM_MAX_QPS,
		.max_qp_wr = 1024,
		.max_cq = 1024,
		.max_cqe = SIM_MAX_CQE,
		.max_mr = 1024,
		.max_pd = 1024,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_pkeys = opt->pkeys,
		.device_cap_flags = IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_SYS_IMAGE_GUID,
	};
	return 0;
}

static int sim_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void sim_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	const struct sim_options *opt = &to_sim(ibdev)->opt;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", opt->fw[0], opt->fw[1], opt->fw[2]);
}

static int sim_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	atomic_inc(&to_sim(uctx->device)->contexts);
	return 0;
}

static void sim_dealloc_ucontext(struct ib_ucontext *uctx)
{
	atomic_dec(&to_sim(uctx->device)->contexts);
}

/* There is nothing mapped that would have to be torn away. */
static void sim_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct sim_dev *sd = rdma_device_to_drv_device(dev, struct sim_dev, ibdev);

	return sysfs_emit(buf, "%s\n", sd->opt.hca_type);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct sim_dev *sd = rdma_device_to_drv_device(dev, struct sim_dev, ibdev);

	return sysfs_emit(buf, "%x\n", sd->opt.hw_rev);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct sim_dev *sd = rdma_device_to_drv_device(dev, struct sim_dev, ibdev);

	return sysfs_emit(buf, "%s\n", sd->opt.board_id);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *sim_attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group sim_attribute_group = {
	.attrs = sim_attributes,
};

struct sim_ucontext {
	struct ib_ucontext ibucontext;
};

static const struct ib_device_ops sim_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,

	.alloc_ucontext = sim_alloc_ucontext,
	.dealloc_ucontext = sim_dealloc_ucontext,
	.get_dev_fw_str = sim_get_dev_fw_str,
	.modify_device = sim_modify_device,
	.query_device = sim_query_device,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, sim_ucontext, ibucontext),
};

static const struct ib_device_ops sim_disassociate_ops = {
	.disassociate_ucontext = sim_disassociate_ucontext,
};

/* The first to set an operation wins, so the special come before the general. */
static void sim_device_setup(struct sim_dev *sd, u32 nth)
{
	const struct sim_options *opt = &sd->opt;
	struct ib_device *ibdev = &sd->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	switch (opt->driver) {
	case SIM_DRIVER_PLAIN:
		break;
	case SIM_DRIVER_MLX5:
		sim_mlx5_setup(sd);
		break;
	case SIM_DRIVER_HBL:
		sim_hbl_setup(sd);
		ibdev->node_type = RDMA_NODE_UNSPECIFIED;
		break;
	}
	if (opt->links[0] == SIM_LINK_IWARP)
		ibdev->node_type = RDMA_NODE_RNIC;

	ib_set_device_ops(ibdev, &sim_device_ops);
	ib_set_device_ops(ibdev, &sim_port_ops);
	ib_set_device_ops(ibdev, &sim_hw_ops);
	if (opt->pma != SIM_PMA_NONE)
		ib_set_device_ops(ibdev, &sim_pma_ops);
	if (!opt->nodisassoc)
		ib_set_device_ops(ibdev, &sim_disassociate_ops);
	sim_resources_setup(sd);
	if (opt->mad)
		ib_set_device_ops(ibdev, &sim_mad_ops);
	sim_device_group_set(ibdev, &sim_attribute_group);
	/* Before 5.11 only the commands that a driver names can be used. */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_GET_CONTEXT) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_DEVICE) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_PORT);
	ibdev->ops.driver_id = opt->driver_id;
	ibdev->ops.uverbs_abi_ver = opt->abi;

	ibdev->phys_port_cnt = opt->ports;
	ibdev->num_comp_vectors = 1;
	ibdev->node_guid = cpu_to_be64(opt->guid ? opt->guid + ((u64)nth << 16) :
						   SIM_GUID + ((u64)sim_serial << 16));
	snprintf(ibdev->node_desc, sizeof(ibdev->node_desc), "rdma_sim %u", sim_serial);
}

static int sim_parent_get(struct sim_dev *sd)
{
	const struct sim_options *opt = &sd->opt;

	if (!strcmp(opt->parent, "none"))
		return 0;
	if (!strcmp(opt->parent, "platform")) {
		struct platform_device *pdev = platform_device_alloc("rdma_sim", sim_serial);
		int ret;

		if (!pdev)
			return -ENOMEM;
		if (opt->numa != U32_MAX)
			set_dev_node(&pdev->dev, opt->numa);
		ret = platform_device_add(pdev);
		if (ret) {
			platform_device_put(pdev);
			return ret;
		}
		sd->pdev = pdev;
		sd->parent = get_device(&pdev->dev);
	} else {
		sd->parent = bus_find_device_by_name(&pci_bus_type, NULL, opt->parent);
		if (!sd->parent)
			return -ENODEV;
	}
	sd->ibdev.dev.parent = sd->parent;
	return 0;
}

/* Of a device that is not, or no longer, registered. */
static void sim_device_free(struct sim_dev *sd)
{
	struct platform_device *pdev = sd->pdev;
	struct device *parent = sd->parent;

	sim_netdev_release(sd);
	sim_pf_del(sd);
	ida_destroy(&sd->qpns);
	kvfree(sd->ports);
	kvfree(sd->gids);
	kvfree(sd->pkeys);
	ib_dealloc_device(&sd->ibdev);
	put_device(parent);
	if (pdev)
		platform_device_unregister(pdev);
}

/* ABOVE is NULL, or the device of which the new one is a plane. */
int sim_device_add(const struct sim_options *opt, u32 nth, struct sim_dev *above,
		   struct list_head *made)
{
	struct sim_dev *sd;
	int ret;
	u32 i;

	lockdep_assert_held(&sim_lock);
	sd = ib_alloc_device(sim_dev, ibdev);
	if (!sd)
		return -ENOMEM;
	sim_serial++;
	sd->opt = *opt;
	sd->above = above;
	spin_lock_init(&sd->lock);
	ida_init(&sd->qpns);
	init_waitqueue_head(&sd->wait);
	INIT_LIST_HEAD(&sd->bound);

	ret = -ENOMEM;
	sd->ports = kvcalloc(opt->ports, sizeof(*sd->ports), GFP_KERNEL);
	sd->gids = kvcalloc(array_size(opt->ports, opt->gids), sizeof(*sd->gids), GFP_KERNEL);
	sd->pkeys = kvcalloc(array_size(opt->ports, opt->pkeys), sizeof(*sd->pkeys), GFP_KERNEL);
	if (!sd->ports || !sd->gids || !sd->pkeys)
		goto free;
	sim_device_setup(sd, nth);
	sim_planes_setup(sd);
	for (i = 0; i < opt->ports; i++)
		sim_port_init(&sd->ports[i], sd, i + 1);
	ret = sim_parent_get(sd);
	if (ret)
		goto free;
	ret = sim_pf_add(sd);
	if (ret)
		goto free;
	ret = sim_netdev_bind(sd);
	if (ret)
		goto free;
	ret = ib_register_device(&sd->ibdev, opt->name, NULL);
	if (ret) {
		ret = ret == -ENFILE ? -EEXIST : ret;
		goto free;
	}
	ret = sim_devlink_add(sd);
	if (ret) {
		ib_unregister_device(&sd->ibdev);
		goto free;
	}
	spin_lock(&sd->lock);
	sd->registered = true;
	spin_unlock(&sd->lock);
	sim_ndevices++;
	list_add_tail(&sd->list, made);
	if (above)
		above->plane = sd;
	return 0;
free:
	sim_device_free(sd);
	return ret;
}

/* All of opt->count devices, or none. */
int sim_devices_add(const struct sim_options *opt)
{
	LIST_HEAD(made);
	int ret = 0;
	u32 i;

	lockdep_assert_held(&sim_lock);
	if (opt->count > SIM_MAX_DEVICES - sim_ndevices)
		return -ENOSPC;
	for (i = 0; i < opt->count && !ret; i++)
		ret = sim_device_add(opt, i, NULL, &made);
	if (ret) {
		sim_ndevices -= i - 1;
		sim_devices_destroy(&made);
	} else {
		list_splice_tail(&made, &sim_devices);
	}
	return ret;
}

/*
 * Takes one device, or with NULL all, off the list: no command finds it any
 * more. Of all, planes stay in it: ib_core removes each with the device above.
 */
void sim_devices_take(struct sim_dev *sd, struct list_head *ret_taken)
{
	struct sim_dev *next;

	lockdep_assert_held(&sim_lock);
	if (sd) {
		list_move_tail(&sd->list, ret_taken);
		sim_ndevices--;
	} else {
		list_for_each_entry_safe(sd, next, &sim_devices, list)
			if (!sd->above) {
				list_move_tail(&sd->list, ret_taken);
				sim_ndevices--;
			}
	}
}

/*
 * Unregistration waits for queries, so let those go first. It also waits for
 * open contexts if the device was made with nodisassoc=1: "del" calls this
 * without sim_lock.
 */
void sim_devices_destroy(struct list_head *taken)
{
	struct sim_dev *sd, *next;

	list_for_each_entry(sd, taken, list) {
		spin_lock(&sd->lock);
		sd->registered = false;
		sd->dead = true;
		spin_unlock(&sd->lock);
		wake_up_all(&sd->wait);
	}
	list_for_each_entry_safe(sd, next, taken, list) {
		list_del(&sd->list);
		sim_devlink_del(sd);
		ib_unregister_device(&sd->ibdev);
		sim_device_free(sd);
	}
}
