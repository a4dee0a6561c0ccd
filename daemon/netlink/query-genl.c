/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-genl.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

/* The version of devlink and of ethtool, which no kernel has looked at. */
#define FAMILY_VERSION 1

static int on_family(const struct nlmsghdr *message, void *userdata)
{
	return genl_parse_family(message, NULL, userdata);
}

int genl_open(Genl *g, const char *name)
{
	struct nl_msg *m;
	int r = netlink_open(&g->netlink, NETLINK_GENERIC);

	if (r < 0 || g->is_known)
		return r < 0 ? r : g->family.id ? 0 : -EOPNOTSUPP;
	m = genl_ask_family(name);
	if (!m)
		return -ENOMEM;
	r = netlink_ask(&g->netlink, m, on_family, &g->family);
	g->is_known = r == 0 || r == -ENOENT;
	return r == -ENOENT ? -EOPNOTSUPP : r;
}

void genl_done(Genl *g)
{
	netlink_close(&g->netlink);
}

int genl_parse(const struct nlmsghdr *message, uint8_t command, struct nlattr **ret, int last)
{
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);

	if (!nlmsg_valid_hdr(m, sizeof(struct genlmsghdr)) ||
	    ((const struct genlmsghdr *)nlmsg_data(m))->cmd != command ||
	    nlmsg_parse(m, sizeof(struct genlmsghdr), ret, last, NULL) < 0)
		return -EBADMSG;
	return 0;
}

struct nl_msg *genl_request(const Genl *g, uint8_t command, int flags)
{
	struct genlmsghdr header = {.cmd = command, .version = FAMILY_VERSION};
	struct nl_msg *m = nlmsg_alloc_simple(g->family.id, flags);

	if (m)
		nlmsg_append(m, &header, sizeof(header), NLMSG_ALIGNTO);
	return m;
}

struct nl_msg *genl_ethtool_request(const Genl *g, uint8_t command, int header, uint32_t ifindex,
				    uint32_t flags)
{
	struct nl_msg *m = genl_request(g, command, 0);
	struct nlattr *nest;

	if (!m)
		return NULL;
	/* The kernel wants the flag, which libnl sets by itself since 3.5. */
	nest = nla_nest_start(m, header | NLA_F_NESTED);
	nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
	nla_put_u32(m, ETHTOOL_A_HEADER_FLAGS, flags);
	nla_nest_end(m, nest);
	return m;
}

int genl_ethtool_ask(Genl *g, uint8_t command, uint32_t ifindex, NetlinkHandler handler,
		     void *userdata)
{
	/* a kernel that has no statistics for it refuses the flag with -EINVAL */
	static const uint32_t flags[] = {ETHTOOL_FLAG_STATS, 0};
	int r = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(flags) && r == -EINVAL; i++) {
		struct nl_msg *m = genl_ethtool_request(g, command, ETHTOOL_A_LINKSTATE_HEADER,
							ifindex, flags[i]);

		if (!m)
			return -ENOMEM;
		r = netlink_ask(&g->netlink, m, handler, userdata);
	}
	return r;
}
