/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The speeds that a network interface and the other end of its link can have: the link modes of
 * ethtool's family of generic netlink. To ask takes no privilege. The kernel holds the RTNL lock
 * while the driver asks its firmware.
 */

#include "port.h"
#include "query-genl.h"

/* A set of link modes, by their numbers: link-modes.def. A mode with a higher number is left out.
 */
typedef struct LinkModeSet {
	uint64_t words[4];
} LinkModeSet;

/* The answer to ETHTOOL_MSG_LINKMODES_GET. */
typedef struct LinkModes {
	uint64_t autoneg; /* 1: the ends of the link agree on a mode; UINT64_MAX: not said */
	LinkModeSet supported, advertised;
	LinkModeSet partner; /* what the other end advertises; empty: it is not heard */
} LinkModes;

/* Reads an answer, in which sets are bytes or lists of bits. -EBADMSG. */
int link_modes_parse(const struct nlmsghdr *message, LinkModes *ret);
/* Supplies the rows of S that it has. */
void link_modes_supply(const LinkModes *l, PortSnapshot *s);
/* Asks the family, which is open, for the interface IFINDEX, and supplies these rows. A negative
 * errno: that of the kernel. */
int link_modes_read(Genl *g, uint32_t ifindex, PortSnapshot *s);
