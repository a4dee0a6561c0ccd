/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The common part of the watchers of the kernel: the handler of their reports, and the reading of a
 * netlink socket. They never wait, and check everything that they read. Each watcher owns its
 * sockets and their event sources, and reports from the event loop only.
 */

#include <linux/netlink.h>

#include "event.h"
#include "util.h"

typedef struct WatchHandler {
	/* Something may have changed. */
	void (*event)(void *userdata, const Event *event);
	/* The kernel is removing the device with that index, or at least its uverbs node. It may
	 * wait until nobody has the device open any more. */
	void (*going)(void *userdata, uint32_t device);
} WatchHandler;

/* Enough for the largest datagram of the kernel: its dumps never use more than 32 KiB at once. */
#define WATCH_DATAGRAM_MAX (32U * 1024)
/* Datagrams that are read in one turn of the event loop, so that the other sources have their turn
 * too when very many come. */
#define WATCH_BATCH 64U
/* The default of 208 KiB holds 221 uevents or nldev notifications; this was enough for 1024 devices
 * at once. */
#define WATCH_RECEIVE_BYTES (8 * 1024 * 1024)

/* Opens a socket of PROTOCOL that does not block, with its own port id. The caller closes *RET_FD.
 */
int watch_netlink_open(int protocol, int *ret_fd);
/* As many of WATCH_RECEIVE_BYTES as the kernel grants: without CAP_NET_ADMIN net.core.rmem_max is
 * the limit. */
void watch_enlarge_buffer(int fd);

/*
 * Receives one datagram into the SIZE bytes at BUFFER, which is aligned for struct nlmsghdr.
 * Datagrams that are not from the kernel are dropped. 0 with *RET_N; -EAGAIN if there is none;
 * -ENOBUFS if the kernel had to drop some, or this one did not fit; or another negative errno.
 */
int watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);

/* Takes one message. -EBADMSG if it cannot be understood; other values do not matter. */
typedef int (*WatchMessage)(void *watch, struct nlmsghdr *message);
/*
 * Receives at most WATCH_BATCH datagrams and calls MESSAGE with WATCH for each message. If messages
 * were lost or cannot be understood, reports REASON_OVERRUN. 0, or a negative errno: the socket is
 * of no use any more.
 */
int watch_netlink_dispatch(int fd, WatchMessage message, void *watch, const WatchHandler *handler,
			   void *userdata);
/* The same for one datagram of N bytes. */
void watch_netlink_parse(void *datagram, size_t n, WatchMessage message, void *watch,
			 const WatchHandler *handler, void *userdata);
/* Reports that events were lost: REASON_OVERRUN for all devices. */
void watch_overrun(const WatchHandler *handler, void *userdata);
