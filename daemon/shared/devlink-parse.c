/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "devlink-parse.h"

#include <linux/genetlink.h>

#include "netlink-value.h"

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
