/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the watchers of the kernel share: whom they report to, and how they read a netlink socket
 * without ever waiting or trusting what comes. Each watcher owns its sockets and their event
 * sources and reports from the event loop only.
 */

#include <linux/netlink.h>

#include "event.h"
#include "util.h"

typedef struct WatchHandler {
	void (*event)(void *userdata, const Event *event);
	/* The kernel takes the device away, or at least its uverbs node, and may wait until nobody
	 * holds it open. */
	void (*going)(void *userdata, uint32_t device);
} WatchHandler;

/* Enough for the largest datagram of the kernel: its dumps never use more than 32 KiB at once. */
#define WATCH_DATAGRAM_MAX (32U * 1024)
/* Datagrams per turn of the event loop: the other sources have their turn in a storm. */
#define WATCH_BATCH 64U
/* The default of 208 KiB holds 221 uevents or nldev notifications; this was enough for 1024 devices
 * at once. */
#define WATCH_RECEIVE_BYTES (8 * 1024 * 1024)

/* Opens a socket of PROTOCOL that does not block, with its own port id. Returns the descriptor. */
int watch_netlink_open(int protocol, int *ret_fd);
/* As many of WATCH_RECEIVE_BYTES as the kernel grants: without CAP_NET_ADMIN net.core.rmem_max is
 * the limit. */
void watch_enlarge_buffer(int fd);

/*
 * Receives one datagram into the SIZE bytes at BUFFER, which is aligned for struct nlmsghdr. Only
 * the kernel's: others are dropped. 0 with *RET_N; -EAGAIN if there is none; -ENOBUFS if the kernel
 * had to drop some, or this one did not fit; or another negative errno.
 */
int watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);

/*
 * Receives at most WATCH_BATCH datagrams and calls MESSAGE for each message. What was lost, or is
 * unreadable (MESSAGE returns -EBADMSG), is reported as REASON_OVERRUN. 0, or a negative errno that
 * makes the socket useless.
 */
typedef int (*WatchMessage)(void *watch, struct nlmsghdr *message);
int watch_netlink_dispatch(int fd, WatchMessage message, void *watch, const WatchHandler *handler,
			   void *userdata);
/* The same for one datagram of N bytes. */
void watch_netlink_parse(void *datagram, size_t n, WatchMessage message, void *watch,
			 const WatchHandler *handler, void *userdata);
void watch_overrun(const WatchHandler *handler, void *userdata);
