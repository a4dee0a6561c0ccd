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

/* The value of a numeric attribute of any width: the kernel's headers and the kernel disagree about
 * some. False if A is NULL or no number. */
bool netlink_number(struct nlattr *a, uint64_t *ret);
/* The text of A, cut to SIZE - 1 bytes and terminated. False if A is NULL. */
bool netlink_text(struct nlattr *a, char *buffer, size_t size);
