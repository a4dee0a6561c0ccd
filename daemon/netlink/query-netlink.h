/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions over netlink, one after the other on one socket: send, and hand each message of the
 * answer to a handler. */

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "util.h"

/* How often a dump is asked for if it is interrupted each time. */
#define NETLINK_DUMPS 5U

typedef struct Netlink {
	int fd;		   /* negative: closed */
	uint32_t sequence; /* number of the last question */
	/* CLOCK_MONOTONIC: after this the rest of an answer is not waited for; 0: it always is */
	uint64_t deadline_usec;
	/* NULL, or whether something else waits: the same as if the deadline had come */
	bool (*gives_way)(void *userdata);
	void *userdata;
} Netlink;

#define NETLINK_CLOSED                                                                             \
	{                                                                                          \
		.fd = -EBADF                                                                       \
	}

/* Takes one message of an answer. Returns 0 or a negative errno. All messages are handed over in
 * any case, and the first error is that of the question. */
typedef int (*NetlinkHandler)(const struct nlmsghdr *message, void *userdata);

/* Of an answer that says enough by being there. */
int netlink_ignore(const struct nlmsghdr *message, void *userdata);

/* Opens N if it is closed. -EPROTONOSUPPORT if the kernel has no such protocol (NETLINK_RDMA
 * without ib_core). */
int netlink_open(Netlink *n, int protocol);
/* Closes N if it is open. */
void netlink_close(Netlink *n);

/* Sends REQUEST, which this frees, and waits for the whole answer. 0, or a negative errno: that of
 * the kernel, of the socket, or of HANDLER. -EINTR: a dump is not complete, because what it is
 * about changed meanwhile; ask again. -ETIME: the deadline came, or N gives way, before the end of
 * a dump; then N has to be closed, because the kernel has not finished with it. */
int netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
