/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Links and addresses of the network interfaces that belong to RDMA ports. Hides rtnetlink, and how
 * an interface relates to a port.
 *
 * It only listens. A request to rtnetlink is carried out in the sender's context and waits for
 * RTNL, which somebody may hold while a driver talks to its firmware.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchRtnl WatchRtnl;

/* SYSFS is "/sys" but in tests. */
int watch_rtnl_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchRtnl **ret);
WatchRtnl *watch_rtnl_free(WatchRtnl *w);
DEFINE_CLEANUP(WatchRtnl, watch_rtnl_free);

/* Does nothing if it listens already: after a failure, then or later, it may be tried again. */
int watch_rtnl_listen(WatchRtnl *w);

/* The interfaces of this port: its netdevs and those of its GIDs. A port with InfiniBand GIDs hears
 * of every IPoIB interface too. */
void watch_rtnl_port(WatchRtnl *w, uint32_t device, uint32_t port, const Table *netdevs,
		     const Table *gids);
/* The device is gone. */
void watch_rtnl_forget(WatchRtnl *w, uint32_t device);

/* Takes one message and reports: 0, or -EBADMSG. For the tests and the fuzzer. */
int watch_rtnl_message(WatchRtnl *w, struct nlmsghdr *message);
