// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data Center Bridging of the interfaces that ports are bound to: as of a
 * driver that takes every setting. Who set it is told, as by any driver, with
 * a message of rtnetlink; what "set" changes is not.
 *
 * The core calls all of these under the RTNL.
 */
#include <linux/dcbnl.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

#include "rdma_sim.h"

#define SELECTORS_MAX	4	/* bytes of sim_port.dcb_trust */

static int get_ets(struct net_device *ndev, struct ieee_ets *ets)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return -ENODEV;
	*ets = port->ets;
	return 0;
}

static int set_ets(struct net_device *ndev, struct ieee_ets *ets)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return -ENODEV;
	port->ets = *ets;
	port->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	return 0;
}

static int get_pfc(struct net_device *ndev, struct ieee_pfc *pfc)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return -ENODEV;
	*pfc = port->pfc;
	return 0;
}

static int set_pfc(struct net_device *ndev, struct ieee_pfc *pfc)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return -ENODEV;
	port->pfc = *pfc;
	port->pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS;
	return 0;
}

static u8 get_dcbx(struct net_device *ndev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

#ifdef SIM_HAVE_APPTRUST
/* As most drivers, it says nothing of trust unless it was told what to say. */
static int get_trust(struct net_device *ndev, u8 *selectors, int *ret_n)
{
	struct sim_port *port = sim_netdev_port(ndev);
	int i, n = 0;

	for (i = SELECTORS_MAX - 1; port && i >= 0; i--)
		if (port->dcb_trust >> (8 * i) & U8_MAX)
			selectors[n++] = port->dcb_trust >> (8 * i) & U8_MAX;
	*ret_n = n;
	return n ? 0 : -EOPNOTSUPP;
}
#endif

static const struct dcbnl_rtnl_ops sim_dcbnl_ops = {
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.getdcbx = get_dcbx,
#ifdef SIM_HAVE_APPTRUST
	.dcbnl_getapptrust = get_trust,
#endif
};

/* Leaves an interface alone whose own driver has it. */
void sim_dcb_attach(struct sim_port *port, struct net_device *ndev)
{
	ASSERT_RTNL();
	if (!port->dev->opt.dcb || ndev->dcbnl_ops)
		return;
	port->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	port->pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS;
	ndev->dcbnl_ops = &sim_dcbnl_ops;
}

void sim_dcb_detach(struct net_device *ndev)
{
	ASSERT_RTNL();
	if (ndev->dcbnl_ops == &sim_dcbnl_ops)
		ndev->dcbnl_ops = NULL;
}
