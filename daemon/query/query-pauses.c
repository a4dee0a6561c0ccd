/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-pauses.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "netlink-value.h"

/* Linux 5.13; newer than the headers of Debian 11 */
#define STATS_GET	32
#define STATS_GET_REPLY 33
enum { STATS_HEADER = 2, STATS_GROUPS, STATS_GROUP, STATS_LAST = STATS_GROUP };
enum { GROUP_STAT = 4 };
enum { CONTROL_TX, CONTROL_RX };
#define GROUP_CONTROL 2 /* the bit of the statistics of MAC control frames */

int pauses_parse(const struct nlmsghdr *message, void *pauses)
{
	PauseFrames *ret = pauses;
	struct nlattr *a[ETHTOOL_A_PAUSE_STATS + 1], *stat[ETHTOOL_A_PAUSE_STAT_RX_FRAMES + 1] = {};
	int r = genl_parse(message, ETHTOOL_MSG_PAUSE_GET_REPLY, a, ETHTOOL_A_PAUSE_STATS);

	if (r < 0)
		return r;
	if (a[ETHTOOL_A_PAUSE_STATS] && nla_parse_nested(stat, ETHTOOL_A_PAUSE_STAT_RX_FRAMES,
							 a[ETHTOOL_A_PAUSE_STATS], NULL) < 0)
		return -EBADMSG;
	ret->tx = netlink_number_or_max(stat[ETHTOOL_A_PAUSE_STAT_TX_FRAMES]);
	ret->rx = netlink_number_or_max(stat[ETHTOOL_A_PAUSE_STAT_RX_FRAMES]);
	return 0;
}

/* Each statistic is in a nest of its own. */
int pauses_parse_control(const struct nlmsghdr *message, void *pauses)
{
	PauseFrames *ret = pauses;
	struct nlattr *a[STATS_LAST + 1], *nest;
	int r = genl_parse(message, STATS_GET_REPLY, a, STATS_LAST), left;

	if (r < 0)
		return r;
	ret->tx_control = ret->rx_control = UINT64_MAX;
	if (!a[STATS_GROUP])
		return 0;
	nla_for_each_nested(nest, a[STATS_GROUP], left)
	{
		if (nla_type(nest) != GROUP_STAT)
			continue;
		if (nla_find(nla_data(nest), nla_len(nest), CONTROL_TX))
			ret->tx_control = netlink_number_or_max(
				nla_find(nla_data(nest), nla_len(nest), CONTROL_TX));
		if (nla_find(nla_data(nest), nla_len(nest), CONTROL_RX))
			ret->rx_control = netlink_number_or_max(
				nla_find(nla_data(nest), nla_len(nest), CONTROL_RX));
	}
	return 0;
}

/* Asks for the statistics of MAC control frames. */
static int ask_control(Genl *g, uint32_t ifindex, PauseFrames *f)
{
	const uint32_t group = 1U << GROUP_CONTROL;
	struct nl_msg *m = genl_ethtool_request(g, STATS_GET, STATS_HEADER, ifindex, 0);
	struct nlattr *bits;

	if (!m)
		return -ENOMEM;
	bits = nla_nest_start(m, STATS_GROUPS | NLA_F_NESTED);
	nla_put_flag(m, ETHTOOL_A_BITSET_NOMASK);
	nla_put_u32(m, ETHTOOL_A_BITSET_SIZE, GROUP_CONTROL + 1);
	nla_put(m, ETHTOOL_A_BITSET_VALUE, sizeof(group), &group);
	nla_nest_end(m, bits);
	return netlink_ask(&g->netlink, m, pauses_parse_control, f);
}

int pauses_get(Genl *g, uint32_t ifindex, PauseFrames *ret)
{
	PauseFrames f = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	int r = genl_open(g, ETHTOOL_GENL_NAME);

	if (r < 0)
		return r;
	/* most drivers have one of the two, or none */
	(void)genl_ethtool_ask(g, ETHTOOL_MSG_PAUSE_GET, ifindex, pauses_parse, &f);
	(void)ask_control(g, ifindex, &f);
	*ret = f;
	return 0;
}
