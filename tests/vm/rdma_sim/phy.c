// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the interfaces that ports are bound to say to ethtool of their PHY: why
 * the link is down, how often it was lost, what forward error correction has
 * done, which frames have paused it, and the memory of the module in the cage.
 * An interface that looks like one of IPoIB has statistics instead, with the
 * names that mlx5 gives them. "set" changes it, and nobody is told.
 *
 * The core calls all of these under the RTNL.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "rdma_sim.h"

static int get_link_ext_state(struct net_device *ndev, struct ethtool_link_ext_state_info *info)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port || netif_carrier_ok(ndev) || port->phy.state == SIM_PHY_SILENT)
		return -ENODATA;
	info->link_ext_state = port->phy.state;
	info->__link_ext_substate = port->phy.substate;
	return 0;
}

static int get_link_ksettings(struct net_device *ndev, struct ethtool_link_ksettings *settings)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port || !port->phy.modes)
		return -EOPNOTSUPP;
	settings->base.autoneg = AUTONEG_ENABLE;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.speed = netif_carrier_ok(ndev) ? port->phy.speed : (u32)SPEED_UNKNOWN;
	bitmap_from_u64(settings->link_modes.supported, port->phy.modes);
	bitmap_from_u64(settings->link_modes.advertising, port->phy.advertised);
	bitmap_from_u64(settings->link_modes.lp_advertising, port->phy.partner);
	return 0;
}

static int get_fecparam(struct net_device *ndev, struct ethtool_fecparam *fec)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return -ENODEV;
	fec->fec = ETHTOOL_FEC_AUTO;
	fec->active_fec = netif_carrier_ok(ndev) ? port->phy.fec : 0;
	return 0;
}

#ifdef SIM_HAVE_MODULE_EEPROM
/* The halves of pages that a module here has: those that rdmad-cable reads, in the same order. */
static const struct {
	u8 address, page, offset;
} sim_module_pages[SIM_MODULE_PAGES] = {
	{ 0x50, 0x00, 0 }, { 0x50, 0x00, 128 }, { 0x50, 0x03, 128 }, { 0x50, 0x01, 128 },
	{ 0x50, 0x02, 128 }, { 0x50, 0x11, 128 }, { 0x51, 0x00, 0 },
};

/* Any bytes of one half; those of a half that a module here has not are 0. */
static int get_module_eeprom_by_page(struct net_device *ndev,
				     const struct ethtool_module_eeprom *page,
				     struct netlink_ext_ack *extack)
{
	struct sim_port *port = sim_netdev_port(ndev);
	u32 i, half = page->offset & 128;

	if (!port)
		return -EIO;
	if (port->phy.module_error)
		return -(int)port->phy.module_error;
	port->phy.module_reads++;
	memset(page->data, 0, page->length);
	for (i = 0; i < SIM_MODULE_PAGES; i++)
		if (sim_module_pages[i].address == page->i2c_address &&
		    sim_module_pages[i].page == page->page && sim_module_pages[i].offset == half)
			memcpy(page->data, &port->phy.module[128 * i + (page->offset & 127)],
			       page->length);
	return page->length;
}
#endif

#ifdef SIM_HAVE_LINK_EXT_STATS
static void get_link_ext_stats(struct net_device *ndev, struct ethtool_link_ext_stats *stats)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (port)
		stats->link_down_events = port->phy.downs;
}
#endif

#ifdef SIM_HAVE_FEC_STATS
#ifdef SIM_HAVE_FEC_HIST
static void get_fec_stats(struct net_device *ndev, struct ethtool_fec_stats *stats,
			  struct ethtool_fec_hist *hist)
#else
static void get_fec_stats(struct net_device *ndev, struct ethtool_fec_stats *stats)
#endif
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return;
	stats->corrected_blocks.total = port->phy.corrected;
	stats->uncorrectable_blocks.total = port->phy.uncorrectable;
	stats->corrected_bits.total = port->phy.corrected_bits;
}
#endif

/* Without it the core does not ask for the statistics. */
static void get_pauseparam(struct net_device *ndev, struct ethtool_pauseparam *pause)
{
	pause->rx_pause = 1;
}

static void get_pause_stats(struct net_device *ndev, struct ethtool_pause_stats *stats)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (port)
		stats->rx_pause_frames = port->phy.rx_pauses;
}

#ifdef SIM_HAVE_FEC_STATS /* of the same kernel */
static void get_eth_ctrl_stats(struct net_device *ndev, struct ethtool_eth_ctrl_stats *stats)
{
	struct sim_port *port = sim_netdev_port(ndev);

	if (!port)
		return;
	stats->MACControlFramesTransmitted = port->phy.tx_controls;
	stats->MACControlFramesReceived = port->phy.rx_controls;
}
#endif

static const struct ethtool_ops sim_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_pauseparam = get_pauseparam,
	.get_pause_stats = get_pause_stats,
	.get_link_ext_state = get_link_ext_state,
	.get_fecparam = get_fecparam,
#ifdef SIM_HAVE_MODULE_EEPROM
	.get_module_eeprom_by_page = get_module_eeprom_by_page,
#endif
#ifdef SIM_HAVE_LINK_EXT_STATS
	.get_link_ext_stats = get_link_ext_stats,
#endif
#ifdef SIM_HAVE_FEC_STATS
	.get_fec_stats = get_fec_stats,
	.get_eth_ctrl_stats = get_eth_ctrl_stats,
#endif
};

/* In the place of what the interface's own driver says. */
void sim_phy_attach(struct sim_port *port, struct net_device *ndev)
{
	ASSERT_RTNL();
	if (!port->dev->opt.phy)
		return;
	port->phy.own_ops = ndev->ethtool_ops;
	ndev->ethtool_ops = &sim_ethtool_ops;
}

void sim_phy_detach(struct sim_port *port, struct net_device *ndev)
{
	ASSERT_RTNL();
	if (ndev->ethtool_ops == &sim_ethtool_ops)
		ndev->ethtool_ops = port->phy.own_ops;
}

static const char sim_ipoib_stats[][ETH_GSTRING_LEN] = {
	"rx_packets", "link_down_events_phy", "rx_pcs_symbol_err_phy", "rx_corrected_bits_phy",
};

static int get_sset_count(struct net_device *ndev, int sset)
{
	return sset == ETH_SS_STATS ? (int)ARRAY_SIZE(sim_ipoib_stats) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	memcpy(data, sim_ipoib_stats, sizeof(sim_ipoib_stats));
}

static void get_ethtool_stats(struct net_device *ndev, struct ethtool_stats *stats, u64 *data)
{
	const struct sim_port *port = *(struct sim_port **)netdev_priv(ndev);
	const u64 values[ARRAY_SIZE(sim_ipoib_stats)] = {
		1, port->phy.downs, 2, port->phy.corrected_bits,
	};

	memcpy(data, values, sizeof(values));
}

static const struct ethtool_ops sim_ipoib_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
};

/* Of an interface with room for a pointer, before it is registered. */
void sim_phy_attach_ipoib(struct sim_port *port, struct net_device *ndev)
{
	*(struct sim_port **)netdev_priv(ndev) = port;
	if (port->dev->opt.phy)
		ndev->ethtool_ops = &sim_ipoib_ethtool_ops;
}
