/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The resources of a device that are in use, from nldev: the number of each kind, and the owners of
 * queue pairs. Both need no capability.
 *
 * How many: RDMA_NLDEV_CMD_RES_GET, from the lists of the kernel. The driver is not asked.
 *
 * Whose: RDMA_NLDEV_CMD_RES_QP_GET. The kernel asks the driver about each queue pair
 * (fill_res_qp_entry() in drivers/infiniband/core/nldev.c calls ib_query_qp()), so this may take
 * long, and hang with the firmware. The message says of the owner:
 *
 *   RES_KERN_NAME  a module of the kernel has it
 *   RES_PID        the thread that made it, by its number in the pid namespace of who asks. In most
 *                  programs that is the first thread, whose number is the process
 *   neither        that thread has ended, or its pid namespace is none below that of who asks
 *
 * A queue pair in the state RESET belongs to no port yet, and is not said.
 */

#include "query-nldev.h"

/* Supplies the counts of resources of the device with that kernel index. */
int resources_get_summary(Netlink *n, uint32_t index, DeviceSnapshot *s);

/* The owners of queue pairs on PORT of the device, as a new table of HolderEntry: one entry for
 * each process, part of the kernel, and for all that are not known; NULL if there are none. Of more
 * than TABLE_ENTRIES_MAX - 1 the rest counts as not known. -EINVAL: there is no such device or
 * port. -ETIME: there was no time to read all (query-netlink.h); *RET has those that were read. N
 * is open, is for this question alone, and has to be closed then. */
int resources_get_users(Netlink *n, uint32_t index, uint32_t port, Table **ret);

/* The users that have been read. Zero-initialise. */
typedef struct Holders {
	HolderEntry *entries;
	size_t n;
	size_t last; /* the one that had the last queue pair */
} Holders;

/* A NetlinkHandler: adds the queue pairs of one message to HOLDERS, for the tests too. A message
 * without any is none, and has none; -ENOMEM. */
int resources_parse_users(const struct nlmsghdr *message, void *holders);
void holders_done(Holders *h);

/* The same: supplies what it has of the kinds that are known here to DEVICE, a DeviceSnapshot.
 * -EBADMSG if it is no such message. */
int resources_parse_summary(const struct nlmsghdr *message, void *device);
