/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The speeds that a network interface and the other end of its link can have: the link modes of
 * ethtool's family of generic netlink. To ask takes no privilege. The kernel holds the RTNL lock
 * while the driver asks its firmware.
 */

#include "port.h"
#include "query-genl.h"

/* Reads an answer, in which sets are bytes or lists of bits, as a NetlinkHandler: supplies the rows
 * of a PortSnapshot that it has. -EBADMSG: none of them. */
int link_modes_take(const struct nlmsghdr *message, void *port);
/* Asks the family, which is open, for the interface IFINDEX, and supplies these rows. A negative
 * errno: that of the kernel. */
int link_modes_read(Genl *g, uint32_t ifindex, PortSnapshot *s);
