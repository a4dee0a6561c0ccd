/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which network interfaces are on a port, and by which other names and IP addresses they, and so
 * the port, are found. Each is a table of the port: a new one in *RET, or NULL if it is empty. S
 * has the GIDs of the port, and what netlink says of its own interface. A negative errno.
 */

#include "query-target.h"

/* The port's own interface, and on InfiniBand the IPoIB interfaces whose hardware address has the
 * GUID of the port. */
int interfaces_read_netdevs(Target *t, const PortSnapshot *s, Table **ret);
/* The indices of those of IPoIB, ROOM at most, for a query that has not read the GIDs of PORT.
 * Returns how many there are. */
size_t interfaces_find_ipoib(Target *t, uint32_t port, uint32_t *ret, size_t room);
/* The alternative names of those, NETDEV_ALTNAMES_MAX of each. */
int interfaces_read_altnames(Target *t, const PortSnapshot *s, Table **ret);
/* Their IP addresses, after interfaces_read_netdevs(), whose table is in S. A port that has GIDs of
 * RoCE has them there, and nothing is read. */
int interfaces_read_addresses(Target *t, const PortSnapshot *s, Table **ret);
