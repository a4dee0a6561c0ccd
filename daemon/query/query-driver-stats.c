/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-driver-stats.h"

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "query-ifname.h"

/* More than a driver has: mlx5 has some hundred, and a hundred more for each of 256 channels. */
#define STATS_MAX 32768U

/*
 * The statistics of drivers that are rows of a port.
 *
 * mlx5 (drivers/net/ethernet/mellanox/mlx5/core of the kernel; read as of 5.15, and what was sent
 * until June 2026): ipoib/ipoib.c has the group "phy" of en_stats.c in mlx5i_stats_grps. That has
 * link_down_events_phy, and if firmware has the group of the register (ppcnt_statistical_group)
 * rx_corrected_bits_phy, and rx_pcs_symbol_err_phy and rx_err_lane_0_phy to 3 beside it.
 * mlx5i_ethtool_ops in ipoib/ethtool.c has get_ethtool_stats, and neither get_fecparam nor
 * get_fec_stats or get_eth_phy_stats. What is made for another P_Key (mlx5i_pkey_ethtool_ops) has
 * none of these.
 */
static const struct {
	int64_t driver_id;
	const char *name;
	PortAttr row;
} stats[] = {{RDMA_DRIVER_MLX5, "rx_corrected_bits_phy", PORT_ATTR_fec_corrected_bits},
	     {RDMA_DRIVER_MLX5, "link_down_events_phy", PORT_ATTR_phy_link_downs}};

/* Where among all statistics of an interface these are; NOWHERE: it has no such one. */
typedef uint32_t Places[ARRAY_SIZE(stats)];
#define NOWHERE UINT32_MAX

bool driver_stats_knows(int64_t driver_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(stats); i++)
		if (stats[i].driver_id == driver_id)
			return true;
	return false;
}

typedef struct Interface {
	int fd; /* any socket */
	uint32_t index;
	char name[IF_NAMESIZE];
} Interface;

static int ask(const Interface *i, void *command)
{
	struct ifreq request = {.ifr_data = command};

	text_copy(request.ifr_name, sizeof(request.ifr_name), i->name);
	return ioctl(i->fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

/* How many statistics there are. */
static int count(const Interface *i, uint32_t *ret)
{
	/* The header ends in a flexible array: clang has no structures with such a member inside.
	 */
	_Alignas(struct ethtool_sset_info)
		uint8_t buffer[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)] = {};
	struct ethtool_sset_info *info = (struct ethtool_sset_info *)(void *)buffer;
	int r;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1U << ETH_SS_STATS;
	r = ask(i, info);
	if (r < 0)
		return r;
	/* the kernel warns of a question for the names of none */
	if (!info->sset_mask || info->data[0] == 0)
		return -EOPNOTSUPP;
	if (info->data[0] > STATS_MAX)
		return -E2BIG;
	*ret = info->data[0];
	return 0;
}

/* Where the statistics of the driver are among the N; -EOPNOTSUPP: it has none of them. */
static int find(const Interface *i, uint32_t n, int64_t driver_id, Places ret)
{
	/* If there are other ones by now, a kernel before 6.19 writes them all. */
	_cleanup_free_ struct ethtool_gstrings *names =
		malloc(sizeof(*names) + (size_t)STATS_MAX * ETH_GSTRING_LEN);
	int r;

	for (size_t a = 0; a < ARRAY_SIZE(stats); a++)
		ret[a] = NOWHERE;
	if (!names)
		return -ENOMEM;
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	r = ask(i, names);
	if (r < 0)
		return r;
	if (names->len != n)
		return -EAGAIN;
	r = -EOPNOTSUPP;
	for (size_t a = 0; a < ARRAY_SIZE(stats); a++)
		for (uint32_t k = 0; stats[a].driver_id == driver_id && k < n; k++)
			if (strncmp((const char *)names->data + (size_t)k * ETH_GSTRING_LEN,
				    stats[a].name, ETH_GSTRING_LEN) == 0) {
				ret[a] = k;
				r = 0;
			}
	return r;
}

/* Supplies what is at PLACES among the N statistics. */
static int read_values(const Interface *i, uint32_t n, const Places places, PortSnapshot *s)
{
	_cleanup_free_ struct ethtool_stats *values =
		malloc(sizeof(*values) + STATS_MAX * sizeof(values->data[0]));
	char name[IF_NAMESIZE];
	int r;

	if (!values)
		return -ENOMEM;
	*values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
	r = ask(i, values);
	/* The kernel takes names only, and another interface may have this one meanwhile. */
	if (r == 0)
		r = ifname_of(i->index, name);
	if (r < 0)
		return r;
	if (values->n_stats != n || !streq(name, i->name))
		return -EAGAIN;
	/* mlx5 says 0 where its firmware does not answer, as that of a virtual function does not,
	 * and of a link without FEC: it counts only what has counted. */
	for (size_t a = 0; a < ARRAY_SIZE(stats); a++)
		if (places[a] != NOWHERE && values->data[places[a]] > 0)
			port_supply_number(s, stats[a].row, values->data[places[a]]);
	return 0;
}

int driver_stats_supply(int64_t driver_id, uint32_t ifindex, PortSnapshot *s)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	Interface i = {.fd = fd, .index = ifindex};
	Places places;
	uint32_t n;
	int r = fd < 0 ? -errno : ifname_of(ifindex, i.name);

	if (r == 0)
		r = count(&i, &n);
	if (r == 0)
		r = find(&i, n, driver_id, places);
	if (r == 0)
		r = read_values(&i, n, places, s);
	return r;
}
