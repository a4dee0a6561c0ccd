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
 * The drivers, each with its name of how many bits FEC has corrected.
 *
 * mlx5 (drivers/net/ethernet/mellanox/mlx5/core of the kernel; read as of 5.15, and what was sent
 * until June 2026): ipoib/ipoib.c has the group "phy" of en_stats.c in mlx5i_stats_grps. That has
 * the name if firmware has the group of the register (ppcnt_statistical_group), and
 * rx_pcs_symbol_err_phy and rx_err_lane_0_phy to 3 beside it. mlx5i_ethtool_ops in ipoib/ethtool.c
 * has get_ethtool_stats, and neither get_fecparam nor get_fec_stats or get_eth_phy_stats. What is
 * made for another P_Key (mlx5i_pkey_ethtool_ops) has none of these.
 */
static const struct {
	int64_t driver_id;
	const char *corrected_bits;
} drivers[] = {{RDMA_DRIVER_MLX5, "rx_corrected_bits_phy"}};

static const char *name_of_bits(int64_t driver_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i].driver_id == driver_id)
			return drivers[i].corrected_bits;
	return NULL;
}

bool driver_stats_knows(int64_t driver_id)
{
	return name_of_bits(driver_id);
}

typedef struct Interface {
	int fd; /* any socket */
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

/* Which of the N statistics has the name STAT. */
static int find(const Interface *i, uint32_t n, const char *stat, uint32_t *ret)
{
	/* If there are other ones by now, a kernel before 6.19 writes them all. */
	_cleanup_free_ struct ethtool_gstrings *names =
		malloc(sizeof(*names) + (size_t)STATS_MAX * ETH_GSTRING_LEN);
	int r;

	if (!names)
		return -ENOMEM;
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	r = ask(i, names);
	if (r < 0)
		return r;
	if (names->len != n)
		return -EAGAIN;
	for (uint32_t k = 0; k < n; k++)
		if (strncmp((const char *)names->data + (size_t)k * ETH_GSTRING_LEN, stat,
			    ETH_GSTRING_LEN) == 0) {
			*ret = k;
			return 0;
		}
	return -EOPNOTSUPP;
}

/* The value of number K of the N statistics. */
static int read_value(const Interface *i, uint32_t n, uint32_t k, uint64_t *ret)
{
	_cleanup_free_ struct ethtool_stats *values =
		malloc(sizeof(*values) + STATS_MAX * sizeof(values->data[0]));
	int r;

	if (!values)
		return -ENOMEM;
	*values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
	r = ask(i, values);
	if (r < 0)
		return r;
	if (values->n_stats != n)
		return -EAGAIN;
	*ret = values->data[k];
	return 0;
}

static int get(uint32_t ifindex, const char *stat, uint64_t *ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	Interface i = {.fd = fd};
	char name[IF_NAMESIZE];
	uint64_t value;
	uint32_t n, k;
	int r = fd < 0 ? -errno : ifname_of(ifindex, i.name);

	if (r == 0)
		r = count(&i, &n);
	if (r == 0)
		r = find(&i, n, stat, &k);
	if (r == 0)
		r = read_value(&i, n, k, &value);
	/* The kernel takes names only, and another interface may have this one meanwhile. */
	if (r == 0)
		r = ifname_of(ifindex, name);
	if (r < 0)
		return r;
	if (!streq(name, i.name))
		return -EAGAIN;
	*ret = value;
	return 0;
}

int driver_stats_supply(int64_t driver_id, uint32_t ifindex, PortSnapshot *s)
{
	const char *stat = name_of_bits(driver_id);
	uint64_t bits;
	int r = stat ? get(ifindex, stat, &bits) : -EOPNOTSUPP;

	/* mlx5 says 0 where its firmware does not answer, as that of a virtual function does not,
	 * and of a link without FEC: it counts only what has counted. */
	if (r == 0 && bits > 0)
		PORT_SUPPLY(s, fec_corrected_bits, bits);
	return r;
}
