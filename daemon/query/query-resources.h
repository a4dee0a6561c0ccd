/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What nldev says of the resources of a device that are in use: how many there are of each kind,
 * and whose queue pairs they are. Both need no capability.
 *
 * How many: RDMA_NLDEV_CMD_RES_GET, from the lists of the kernel. The driver is not asked.
 */

#include "query-nldev.h"

/* Supplies the counts of resources of the device with that kernel index. */
int resources_get_summary(Netlink *n, uint32_t index, DeviceSnapshot *s);

/* Reads one message, for the tests too: supplies what it has of the kinds that are known here.
 * -EBADMSG if it is no such message. */
int resources_parse_summary(const struct nlmsghdr *message, DeviceSnapshot *s);
