/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-vfs.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>

#include "netlink-value.h"
#include "query-netdev.h"
#include "query-sysfs.h"

/* "02:00:00:00:00:01". An InfiniBand function has GUIDs in place of a MAC address. */
static void put_address(const struct ifla_vf_mac *mac, VfEntry *e)
{
	for (unsigned int i = 0; i < 6; i++)
		snprintf(e->address + 3 * i, sizeof(e->address) - 3 * i, "%02x%s", mac->mac[i],
			 i < 5 ? ":" : "");
}

/* mlx5 keeps the GUIDs that were set and says 0 for those that were not (Linux 5.5, and in its
 * stable versions). Both are numbers of the host. */
static int parse_vf(struct nlattr *info, uint16_t type, VfEntry *ret)
{
	struct nlattr *tb[IFLA_VF_MAX + 1];
	struct ifla_vf_link_state link;
	struct ifla_vf_guid node, port;
	struct ifla_vf_trust trust;
	struct ifla_vf_mac mac;
	VfEntry e = {.trust = UINT32_MAX};

	if (nla_parse_nested(tb, IFLA_VF_MAX, info, NULL) < 0 ||
	    !netlink_structure(tb[IFLA_VF_MAC], &mac, sizeof(mac)))
		return -EBADMSG;
	e.number = mac.vf;
	if (netlink_structure(tb[IFLA_VF_LINK_STATE], &link, sizeof(link)))
		e.policy = link.link_state;
	if (netlink_structure(tb[IFLA_VF_TRUST], &trust, sizeof(trust)))
		e.trust = trust.setting == UINT32_MAX ? UINT32_MAX : trust.setting != 0;
	if (netlink_structure(tb[IFLA_VF_IB_NODE_GUID], &node, sizeof(node)) &&
	    netlink_structure(tb[IFLA_VF_IB_PORT_GUID], &port, sizeof(port))) {
		e.has_guids = 1;
		e.node_guid = node.guid;
		e.port_guid = port.guid;
	}
	if (type == ARPHRD_ETHER)
		put_address(&mac, &e);
	*ret = e;
	return 0;
}

static int parse_list(struct nlattr *list, uint16_t type, VfList *ret)
{
	struct nlattr *a;
	int left, r;

	nla_for_each_nested(a, list, left)
	{
		if (nla_type(a) != IFLA_VF_INFO)
			continue;
		if (ret->n == VFS_MAX)
			return -EMSGSIZE;
		r = parse_vf(a, type, &ret->entries[ret->n]);
		if (r < 0)
			return r;
		if (ret->n > 0 && ret->entries[ret->n].number <= ret->entries[ret->n - 1].number)
			return -EBADMSG;
		ret->n++;
	}
	return 0;
}

/* Whether the list ends before the last of N functions. Its length has 16 bits, and the kernel
 * writes what is left of a greater one (rtnl_fill_vf() of its net/core/rtnetlink.c, seen on 6.1
 * and 6.12): of 260 functions 64 are in it. */
static bool is_cut(const VfList *l, uint64_t n)
{
	return n > (l->n > 0 ? (uint64_t)l->entries[l->n - 1].number + 1 : 0);
}

int vfs_parse(const struct nlmsghdr *message, void *list)
{
	VfList *ret = list;
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	const struct ifinfomsg *info = nlmsg_data(m);
	struct nlattr *tb[IFLA_MAX + 1];
	uint64_t n;
	int r = 0;

	if (message->nlmsg_type != RTM_NEWLINK || nlmsg_datalen(m) < (int)sizeof(*info) ||
	    nlmsg_parse(m, sizeof(*info), tb, IFLA_MAX, NULL) < 0)
		return -EBADMSG;
	ret->n = 0;
	if (tb[IFLA_VFINFO_LIST])
		r = parse_list(tb[IFLA_VFINFO_LIST], info->ifi_type, ret);
	if (tb[IFLA_VFINFO_LIST] && r == 0 && netlink_number(tb[IFLA_NUM_VF], &n) && is_cut(ret, n))
		r = -EMSGSIZE;
	if (r < 0)
		ret->n = 0;
	return r;
}

static int ask(Netlink *n, uint32_t ifindex, VfList *ret)
{
	struct ifinfomsg info = {.ifi_index = (int)ifindex};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	/* the statistics would be more than half of the answer */
	nla_put_u32(m, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	return netlink_ask(n, m, vfs_parse, ret);
}

/* Each of the interfaces may be the one that tells of the functions: 0 after that one. -ENODATA:
 * none does. Else the first error. */
static int ask_any(Netlink *n, const Table *netdevs, VfList *ret)
{
	int first = 0;

	TABLE_FOREACH(NetdevEntry, e, netdevs) {
		int r = ask(n, e->ifindex, ret);

		if (r == 0 && ret->n > 0)
			return 0;
		if (first == 0)
			first = r;
	}
	return first < 0 ? first : -ENODATA;
}

int vfs_read(Netlink *n, int device, const Table *netdevs, Table **ret)
{
	_cleanup_free_ VfList *list = NULL;
	uint64_t enabled;
	int r = sysfs_read_number(device, "device/sriov_numvfs", UINT32_MAX, &enabled);

	*ret = NULL;
	/* A function without such a file is no physical function. */
	if (r == -ENOENT || r == -ENOTDIR || (r == 0 && enabled == 0))
		return 0;
	if (r < 0)
		return r;
	list = calloc(1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	r = netdev_open(n);
	if (r == 0)
		r = ask_any(n, netdevs, list);
	return r < 0 ? r : table_make(list->entries, list->n, sizeof(VfEntry), ret);
}
