/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "genl.h"

#include <linux/genetlink.h>

#include "netlink-value.h"

struct nl_msg *genl_ask_family(const char *name)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);

	if (!m)
		return NULL;
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_string(m, CTRL_ATTR_FAMILY_NAME, name);
	return m;
}

/* The number of the group called NAME in LIST; 0: it is not there. */
static uint32_t find_group(struct nlattr *list, const char *name)
{
	struct nlattr *entry, *a[CTRL_ATTR_MCAST_GRP_MAX + 1];
	int left;

	nla_for_each_nested(entry, list, left)
	{
		char text[GENL_NAMSIZ];
		uint64_t id;

		if (nla_parse_nested(a, CTRL_ATTR_MCAST_GRP_MAX, entry, NULL) == 0 &&
		    netlink_text(a[CTRL_ATTR_MCAST_GRP_NAME], text, sizeof(text)) &&
		    streq(text, name) && netlink_number(a[CTRL_ATTR_MCAST_GRP_ID], &id) &&
		    id <= INT32_MAX)
			return (uint32_t)id;
	}
	return 0;
}

int genl_parse_family(const struct nlmsghdr *message, const char *group, GenlFamily *ret)
{
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	struct nlattr *a[CTRL_ATTR_MAX + 1];
	GenlFamily f = {};
	uint64_t id;

	if (m->nlmsg_type != GENL_ID_CTRL ||
	    nlmsg_parse(m, sizeof(struct genlmsghdr), a, CTRL_ATTR_MAX, NULL) < 0 ||
	    !netlink_number(a[CTRL_ATTR_FAMILY_ID], &id) || id < GENL_MIN_ID || id > UINT16_MAX)
		return -EBADMSG;
	f.id = (uint16_t)id;
	if (group && a[CTRL_ATTR_MCAST_GROUPS])
		f.group = find_group(a[CTRL_ATTR_MCAST_GROUPS], group);
	*ret = f;
	return 0;
}
