/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the PHY of a network interface says: why the link is down, how often it was lost, and what
 * forward error correction (FEC) has to do, by ethtool's family of generic netlink. To ask takes no
 * privilege. The kernel holds the RTNL lock while the driver asks its firmware.
 */

#include "port.h"
#include "query-genl.h"

/* Asks for the interface IFINDEX, and supplies the rows with source ETHTOOL of S. -EOPNOTSUPP: the
 * kernel has no such family. Another negative errno: that of the kernel to the first question that
 * failed; the rows of the others are there. What the driver does not say is no error. */
int ethtool_supply(Genl *g, uint32_t ifindex, PortSnapshot *s);

/* NetlinkHandlers: read an answer into the rows of a PortSnapshot that it has. -EBADMSG: it is
 * damaged, or another one, and nothing is written. */
int ethtool_take_link(const struct nlmsghdr *message, void *port);
int ethtool_take_fec(const struct nlmsghdr *message, void *port);
