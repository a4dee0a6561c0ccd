// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports over network interfaces (RoCE, iWARP): binding, and following the
 * interface's carrier, MTU and end as a driver does.
 *
 * The notifier runs under the RTNL, and registration takes the RTNL under
 * sim_lock; so the devices that have netdevs stand in a list of their own.
 */
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_addr.h>

#include "rdma_sim.h"

static DEFINE_MUTEX(sim_bound_lock);
static LIST_HEAD(sim_bound);	/* under sim_bound_lock */

/*
 * ib_core's GID table holds an iWARP port's netdev until the device goes. So
 * the device goes with its netdev, as with the real drivers; not right away,
 * because here is the RTNL.
 */
static void remove_orphans(struct work_struct *work)
{
	struct sim_dev *sd, *next;
	LIST_HEAD(taken);

	mutex_lock(&sim_lock);
	list_for_each_entry_safe(sd, next, &sim_devices, list)
		if (READ_ONCE(sd->orphan))
			sim_devices_take(sd, &taken);
	mutex_unlock(&sim_lock);
	sim_devices_destroy(&taken);
}

static DECLARE_WORK(sim_orphans, remove_orphans);

static void follow_mtu(struct sim_port *port, const struct net_device *ndev)
{
	spin_lock(&port->dev->lock);
	port->attr.active_mtu = iboe_get_mtu(ndev->mtu);
	spin_unlock(&port->dev->lock);
}

static void follow_carrier(struct sim_port *port, bool up)
{
	struct ib_port_attr *attr = &port->attr;
	struct sim_dev *sd = port->dev;

	spin_lock(&sd->lock);
	if (up == (attr->state != IB_PORT_ACTIVE)) {
		attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
		attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
		sim_dispatch(sd, port->num, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	}
	spin_unlock(&sd->lock);
}

static bool is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

static int bind_port(struct sim_port *port, const char *name)
{
	struct net_device *ndev = __dev_get_by_name(current->nsproxy->net_ns, name);
	int ret;

	if (!ndev)
		return -ENODEV;
	ret = ib_device_set_netdev(&port->dev->ibdev, ndev, port->num);
	if (ret)
		return ret;
	port->dev->ndevs[port->num - 1] = ndev;
	sim_dcb_attach(port, ndev);
	sim_phy_attach(port, ndev);
	strscpy(port->netdev, name, sizeof(port->netdev));
	follow_mtu(port, ndev);
	follow_carrier(port, is_up(ndev));
	if (port->link == SIM_LINK_IWARP)
		memcpy(port->gids[0].raw, ndev->dev_addr, ETH_ALEN);
	return 0;
}

/* Before registration. On error the caller frees the device, which unbinds. */
int sim_netdev_bind(struct sim_dev *sd)
{
	const struct sim_options *opt = &sd->opt;
	int ret = 0;
	u32 i;

	if (!opt->nnetdevs)
		return 0;
	rtnl_lock();
	for (i = 0; i < opt->nnetdevs && !ret; i++)
		if (opt->netdevs[i][0])
			ret = bind_port(&sd->ports[i], opt->netdevs[i]);
	if (!ret) {
		mutex_lock(&sim_bound_lock);
		list_add_tail(&sd->bound, &sim_bound);
		mutex_unlock(&sim_bound_lock);
	}
	rtnl_unlock();
	return ret;
}

/* ib_core itself lets go of the netdevs of a device that it frees. */
void sim_netdev_release(struct sim_dev *sd)
{
	u32 i;

	if (!sd->opt.nnetdevs)
		return;
	rtnl_lock();
	mutex_lock(&sim_bound_lock);
	list_del_init(&sd->bound);
	mutex_unlock(&sim_bound_lock);
	/* What has gone is not among them; what is left cannot go while here is the RTNL. */
	for (i = 0; i < sd->opt.nnetdevs; i++)
		if (sd->ndevs[i]) {
			sim_dcb_detach(sd->ndevs[i]);
			sim_phy_detach(&sd->ports[i], sd->ndevs[i]);
		}
	rtnl_unlock();
}

/* The port that NDEV is bound to; NULL. Valid under the RTNL. Linux 7.3 asks an interface for the
 * state of its link without the RTNL: no test removes a device while that runs. */
struct sim_port *sim_netdev_port(const struct net_device *ndev)
{
	struct sim_port *port = NULL;
	struct sim_dev *sd;
	u32 i;

	mutex_lock(&sim_bound_lock);
	list_for_each_entry(sd, &sim_bound, bound)
		for (i = 0; i < sd->opt.nnetdevs && !port; i++)
			if (sd->ndevs[i] == ndev)
				port = &sd->ports[i];
	mutex_unlock(&sim_bound_lock);
	return port;
}

static void port_event(struct sim_port *port, struct net_device *ndev, unsigned long event)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		follow_carrier(port, is_up(ndev));
		break;
	case NETDEV_CHANGEMTU:
		follow_mtu(port, ndev);
		break;
	case NETDEV_CHANGENAME:
		spin_lock(&port->dev->lock);
		strscpy(port->netdev, ndev->name, sizeof(port->netdev));
		spin_unlock(&port->dev->lock);
		break;
	case NETDEV_UNREGISTER:
		sim_dcb_detach(ndev);
		sim_phy_detach(port, ndev);
		ib_device_set_netdev(&port->dev->ibdev, NULL, port->num);
		spin_lock(&port->dev->lock);
		port->netdev[0] = '\0';
		spin_unlock(&port->dev->lock);
		follow_carrier(port, false);
		if (port->link == SIM_LINK_IWARP) {
			WRITE_ONCE(port->dev->orphan, true);
			schedule_work(&sim_orphans);
		}
		break;
	}
}

static int sim_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct sim_dev *sd;
	u32 i;

	mutex_lock(&sim_bound_lock);
	list_for_each_entry(sd, &sim_bound, bound)
		for (i = 0; i < sd->opt.nnetdevs; i++)
			if (sd->ndevs[i] == ndev) {
				port_event(&sd->ports[i], ndev, event);
				if (event == NETDEV_UNREGISTER)
					sd->ndevs[i] = NULL;
			}
	mutex_unlock(&sim_bound_lock);
	return NOTIFY_DONE;
}

static struct notifier_block sim_netdev_notifier = {
	.notifier_call = sim_netdev_event,
};

int sim_netdev_init(void)
{
	return register_netdevice_notifier(&sim_netdev_notifier);
}

void sim_netdev_exit(void)
{
	unregister_netdevice_notifier(&sim_netdev_notifier);
	cancel_work_sync(&sim_orphans);
}
