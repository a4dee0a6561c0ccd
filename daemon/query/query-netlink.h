/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions over netlink, one after the other on one socket: send, and hand each message of the
 * answer to a handler. */

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "util.h"

typedef struct Netlink {
	int fd;
	uint32_t sequence;
} Netlink;

#define NETLINK_CLOSED                                                                             \
	{                                                                                          \
		.fd = -EBADF                                                                       \
	}

/* 0 or a negative errno; the answer goes on to its end whatever the handler returns, and the first
 * error counts. */
typedef int (*NetlinkHandler)(const struct nlmsghdr *message, void *userdata);

/* Opens N if it is closed. -EPROTONOSUPPORT if the kernel has no such protocol (NETLINK_RDMA
 * without ib_core). */
int netlink_open(Netlink *n, int protocol);
void netlink_close(Netlink *n);

/* Sends REQUEST, which this frees, and waits for the whole answer. */
int netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
