/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Devices and ports from NETLINK_RDMA (nldev). Asking for a port runs the driver's query
 * and can block; asking for a device does not.
 */

#include "nldev-parse.h"
#include "query-netlink.h"

/* Reads the device with that kernel index with nldev_parse_device() into *S, which is overwritten.
 * -ENODEV. */
int nldev_get_device(Netlink *n, uint32_t index, DeviceSnapshot *s);
/* The kernel index of the device that has NAME now; -ENODEV. */
int nldev_find_device(Netlink *n, const char *name, uint32_t *ret);
/* Supplies netdev, state, and of an InfiniBand port also capability mask, subnet prefix and LIDs.
 * This one may block. -EINVAL: there is no such device or port. */
int nldev_get_port(Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s);

/* The uverbs node of a device. */
typedef struct NldevChardev {
	uint32_t driver_id; /* enum rdma_driver_id */
	char name[16];	    /* "uverbs0" */
	uint32_t major, minor;
} NldevChardev;

/* -EOPNOTSUPP or -ENOENT if it has none. */
int nldev_get_chardev(Netlink *n, uint32_t index, NldevChardev *ret);

/* Counters of a port, each with an error until its value is known. */
typedef struct NldevCounters {
	CounterEntry *entries; /* ROOM of them */
	size_t n, room;
} NldevCounters;

/* Adds those counters of PORT to C that somebody has switched on (rdma-statistic(8)): they are not
 * in sysfs. Nothing is asked of the firmware as long as none is on. */
void nldev_get_optional_counters(Netlink *n, uint32_t index, uint32_t port, NldevCounters *c);

/* NetlinkHandlers, for the tests too: read one message into a PortSnapshot, an NldevChardev or
 * NldevCounters. -EBADMSG if it does not identify its object. */
int nldev_parse_port(const struct nlmsghdr *message, void *port);
int nldev_parse_chardev(const struct nlmsghdr *message, void *ret);
/* Which optional counters are on, or the values of all. */
int nldev_parse_counters(const struct nlmsghdr *message, void *counters);
