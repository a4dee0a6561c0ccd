// SPDX-License-Identifier: GPL-2.0-only
/*
 * A physical function with virtual ones: a parent on a bus that says how many
 * there are, as the bus of PCI does, and a network interface of its own, which
 * takes all that "ip link set DEV vf N" sets. On InfiniBand the interface looks
 * like one of IPoIB: its hardware address ends in the GID of port 1.
 *
 * The core calls the functions of the interface under the RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "rdma_sim.h"

#define IPOIB_ADDRESS	20
#define IPOIB_MTU	2044

struct sim_vf {
	u8 mac[ETH_ALEN];
	u64 node_guid, port_guid;	/* 0: not set */
	u32 policy;			/* IFLA_VF_LINK_STATE_* */
	bool trusted;
};

struct sim_pf {
	struct device dev;
	struct net_device *ndev;
	u32 n;
	struct sim_vf vfs[];
};

static struct sim_pf *to_pf(struct device *dev)
{
	return container_of(dev, struct sim_pf, dev);
}

static int sim_pf_num_vf(struct device *dev)
{
	return to_pf(dev)->n;
}

static struct bus_type sim_pf_bus = {
	.name = "rdma_sim",
	.num_vf = sim_pf_num_vf,
};

static ssize_t sriov_numvfs_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_pf(dev)->n);
}
static DEVICE_ATTR_RO(sriov_numvfs);

static struct attribute *sim_pf_attrs[] = {
	&dev_attr_sriov_numvfs.attr,
	NULL,
};
ATTRIBUTE_GROUPS(sim_pf);

static void sim_pf_free(struct device *dev)
{
	kfree(to_pf(dev));
}

static struct sim_vf *sim_vf_of(struct net_device *ndev, int number)
{
	struct sim_pf *pf = to_pf(ndev->dev.parent);

	return number >= 0 && (u32)number < pf->n ? &pf->vfs[number] : NULL;
}

static int get_config(struct net_device *ndev, int number, struct ifla_vf_info *info)
{
	struct sim_vf *vf = sim_vf_of(ndev, number);

	if (!vf)
		return -EINVAL;
	info->vf = number;
	memcpy(info->mac, vf->mac, ETH_ALEN);
	info->linkstate = vf->policy;
	info->trusted = vf->trusted;
	return 0;
}

static int set_policy(struct net_device *ndev, int number, int policy)
{
	struct sim_vf *vf = sim_vf_of(ndev, number);

	if (!vf)
		return -EINVAL;
	vf->policy = policy;
	return 0;
}

static int set_trust(struct net_device *ndev, int number, bool trusted)
{
	struct sim_vf *vf = sim_vf_of(ndev, number);

	if (!vf)
		return -EINVAL;
	vf->trusted = trusted;
	return 0;
}

static int get_guid(struct net_device *ndev, int number, struct ifla_vf_guid *node,
		    struct ifla_vf_guid *port)
{
	struct sim_vf *vf = sim_vf_of(ndev, number);

	if (!vf)
		return -EINVAL;
	node->guid = vf->node_guid;
	port->guid = vf->port_guid;
	return 0;
}

static int set_guid(struct net_device *ndev, int number, u64 guid, int type)
{
	struct sim_vf *vf = sim_vf_of(ndev, number);

	if (!vf)
		return -EINVAL;
	if (type == IFLA_VF_IB_NODE_GUID)
		vf->node_guid = guid;
	else
		vf->port_guid = guid;
	return 0;
}

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops sim_pf_ethernet_ops = {
	.ndo_start_xmit = drop,
	.ndo_get_vf_config = get_config,
	.ndo_set_vf_link_state = set_policy,
	.ndo_set_vf_trust = set_trust,
};

static const struct net_device_ops sim_pf_ipoib_ops = {
	.ndo_start_xmit = drop,
	.ndo_get_vf_config = get_config,
	.ndo_set_vf_link_state = set_policy,
	.ndo_set_vf_trust = set_trust,
	.ndo_get_vf_guid = get_guid,
	.ndo_set_vf_guid = set_guid,
};

static void ipoib_setup(struct net_device *ndev)
{
	ndev->type = ARPHRD_INFINIBAND;
	ndev->addr_len = IPOIB_ADDRESS;
	ndev->mtu = IPOIB_MTU;
	ndev->flags = IFF_BROADCAST | IFF_MULTICAST;
}

static int add_netdev(struct sim_dev *sd)
{
	bool is_ib = sd->ports[0].link == SIM_LINK_IB;
	u8 address[IPOIB_ADDRESS] = {};
	struct net_device *ndev;
	int ret;

	ndev = alloc_netdev(sizeof(struct sim_port *), sd->opt.vf_netdev, NET_NAME_USER,
			    is_ib ? ipoib_setup : ether_setup);
	if (!ndev)
		return -ENOMEM;
	ndev->netdev_ops = is_ib ? &sim_pf_ipoib_ops : &sim_pf_ethernet_ops;
	SET_NETDEV_DEV(ndev, &sd->pf->dev);
	memcpy(address + 4, sd->ports[0].gids[0].raw, 16);
	if (is_ib) {
		dev_addr_mod(ndev, 0, address, sizeof(address));
		sim_phy_attach_ipoib(&sd->ports[0], ndev);
	} else {
		eth_hw_addr_random(ndev);
	}
	ret = register_netdev(ndev);
	if (ret)
		free_netdev(ndev);
	else
		sd->pf->ndev = ndev;
	return ret;
}

/* The parent of SD, and its interface. On error the caller frees the device, which calls sim_pf_del(). */
int sim_pf_add(struct sim_dev *sd)
{
	struct sim_pf *pf;
	int ret;
	u32 i;

	if (!sd->opt.vfs)
		return 0;
	pf = kzalloc(struct_size(pf, vfs, sd->opt.vfs), GFP_KERNEL);
	if (!pf)
		return -ENOMEM;
	pf->n = sd->opt.vfs;
	for (i = 0; i < pf->n; i++)
		eth_random_addr(pf->vfs[i].mac);
	pf->dev.bus = &sim_pf_bus;
	pf->dev.groups = sim_pf_groups;
	pf->dev.release = sim_pf_free;
	dev_set_name(&pf->dev, "%s", sd->opt.vf_netdev);
	ret = device_register(&pf->dev);
	if (ret) {
		put_device(&pf->dev);
		return ret;
	}
	sd->pf = pf;
	sd->ibdev.dev.parent = &pf->dev;
	return add_netdev(sd);
}

/* Of a device that is not registered any more. */
void sim_pf_del(struct sim_dev *sd)
{
	if (!sd->pf)
		return;
	if (sd->pf->ndev) {
		/* ib_core would hold it until it frees the device. */
		if (sd->ports[0].link != SIM_LINK_IB)
			ib_device_set_netdev(&sd->ibdev, NULL, 1);
		unregister_netdev(sd->pf->ndev);
		free_netdev(sd->pf->ndev);
	}
	device_unregister(&sd->pf->dev);
	sd->pf = NULL;
}

int sim_pf_init(void)
{
	return bus_register(&sim_pf_bus);
}

void sim_pf_exit(void)
{
	bus_unregister(&sim_pf_bus);
}
