/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the driver of a network interface counts by names of its own, as "ethtool -S" prints it. A
 * port of InfiniBand has no interface to which the questions of query-ethtool.h apply: those of
 * IPoIB on it have no such operations, and some have these. Only an ioctl has the values. To ask
 * takes no privilege. The kernel holds the RTNL lock while the driver asks its firmware.
 */

#include "port.h"

/* Whether a driver, by its RDMA_DRIVER_*, has a row in the table of drivers that are asked. */
bool driver_stats_knows(int64_t driver_id);
/* Asks the IPoIB interface IFINDEX of a port with that driver, and supplies CorrectedBits and
 * PhyLinkDowns of S.
 * -EOPNOTSUPP: the interface has no such statistics. -EAGAIN: they are other ones meanwhile.
 * Another negative errno: that of the kernel. */
int driver_stats_supply(int64_t driver_id, uint32_t ifindex, PortSnapshot *s);
