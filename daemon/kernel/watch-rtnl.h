/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reports changes of links, addresses and priorities (DCB) of the network interfaces that belong to
 * RDMA ports, from rtnetlink.
 *
 * It only listens. The kernel carries out a request to rtnetlink in the sender's context, where it
 * waits for the RTNL lock. Somebody may hold that lock while a driver talks to its firmware.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchRtnl WatchRtnl;

/* HANDLER is called with USERDATA. SYSFS is "/sys"; another directory in tests. -ENOMEM. */
int watch_rtnl_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchRtnl **ret);
void watch_rtnl_free(WatchRtnl *w);
DEFINE_CLEANUP(WatchRtnl, watch_rtnl_free);

/* Begins to listen. Does nothing if it listens already: so it may be called again after it failed,
 * or after the socket broke later. */
int watch_rtnl_listen(WatchRtnl *w);

/* From now on the interfaces of the port are those that NOW names: its own, those of its GIDs, its
 * bond and the members of that. For a port with InfiniBand GIDs every IPoIB interface counts too.
 * NULL: it has none. */
void watch_rtnl_port(WatchRtnl *w, uint32_t device, uint32_t port, const PortSnapshot *now);
/* The device is gone: forgets its interfaces. */
void watch_rtnl_forget(WatchRtnl *w, uint32_t device);

/* Takes one message and reports: 0, or -EBADMSG. For the tests and the fuzzer. */
int watch_rtnl_message(WatchRtnl *w, struct nlmsghdr *message);
