/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "devlink-parse.h"

#include <linux/genetlink.h>

#include "netlink-value.h"

struct nl_msg *devlink_ask_family(void)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);

	if (!m)
		return NULL;
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_string(m, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
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

int devlink_parse_family(const struct nlmsghdr *message, DevlinkFamily *ret)
{
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	struct nlattr *a[CTRL_ATTR_MAX + 1];
	DevlinkFamily f = {};
	uint64_t id;

	if (m->nlmsg_type != GENL_ID_CTRL ||
	    nlmsg_parse(m, sizeof(struct genlmsghdr), a, CTRL_ATTR_MAX, NULL) < 0 ||
	    !netlink_number(a[CTRL_ATTR_FAMILY_ID], &id) || id < GENL_MIN_ID || id > UINT16_MAX)
		return -EBADMSG;
	f.id = (uint16_t)id;
	if (a[CTRL_ATTR_MCAST_GROUPS])
		f.group = find_group(a[CTRL_ATTR_MCAST_GROUPS], DEVLINK_GENL_MCGRP_CONFIG_NAME);
	*ret = f;
	return 0;
}

int devlink_parse(const struct nlmsghdr *message, DevlinkAttributes ret, uint8_t *ret_command,
		  DevlinkHandle *ret_handle)
{
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	DevlinkHandle h = {};

	if (nlmsg_parse(m, sizeof(struct genlmsghdr), ret, DEVLINK_ATTR_MAX, NULL) < 0 ||
	    !netlink_text(ret[DEVLINK_ATTR_BUS_NAME], h.bus, sizeof(h.bus)) ||
	    !netlink_text(ret[DEVLINK_ATTR_DEV_NAME], h.device, sizeof(h.device)))
		return -EBADMSG;
	*ret_command = ((const struct genlmsghdr *)nlmsg_data(m))->cmd;
	*ret_handle = h;
	return 0;
}
