/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * RDMA devices as the kernel's nldev names them: the list of those that exist, and from kernel 6.12
 * the announcements of their coming and going. Hides NETLINK_RDMA. Asks for devices only, never for
 * ports: that would run a query of the driver.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchNldev WatchNldev;

int watch_nldev_new(sd_event *event, const WatchHandler *handler, void *userdata, WatchNldev **ret);
WatchNldev *watch_nldev_free(WatchNldev *w);
DEFINE_CLEANUP(WatchNldev, watch_nldev_free);

/*
 * Begins to listen where there is something to hear. 1 if it listens now, 0 if not: the RDMA
 * modules are not loaded (no error; call again when a device has come), or the kernel has no
 * announcements. Otherwise a negative errno.
 */
int watch_nldev_listen(WatchNldev *w);
/* Stops to listen: an open NETLINK_RDMA socket keeps ib_core from being unloaded. */
void watch_nldev_release(WatchNldev *w);
/* Whether the kernel announces devices: what the last watch_nldev_listen() that found the modules
 * saw. */
bool watch_nldev_monitor_mode(const WatchNldev *w);

/* The devices that exist now, none without the RDMA modules. */
int watch_nldev_enumerate(DeviceSnapshot **ret, size_t *ret_n);

/*
 * For the tests and the fuzzer.
 *
 * An announcement: 1 with *RET; 0 if it is of no interest; -EBADMSG. *RET_GOING: it is the device's
 * last.
 */
int watch_nldev_parse(struct nlmsghdr *message, Event *ret, bool *ret_going);

/* An answer of the kernel, put together from its datagrams. */
typedef struct NldevAnswer {
	DeviceSnapshot *devices;
	size_t n, allocated;
	bool monitor_mode;
	bool interrupted; /* the list changed while it was written: ask again */
} NldevAnswer;

/* 1 if the answer is complete, 0 if more must follow, or a negative errno: the kernel's, or
 * -EBADMSG. */
int nldev_answer_take(NldevAnswer *a, void *datagram, size_t n);
void nldev_answer_done(NldevAnswer *a);
