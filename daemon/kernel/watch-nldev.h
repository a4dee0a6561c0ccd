/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The RDMA devices as nldev (NETLINK_RDMA) lists them, and from kernel 6.12 on the announcements
 * that one has come, gone or changed its name. The watcher asks for devices only, never for ports,
 * for which the driver would query its hardware.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchNldev WatchNldev;

/* HANDLER is called with USERDATA. -ENOMEM. */
int watch_nldev_new(sd_event *event, const WatchHandler *handler, void *userdata, WatchNldev **ret);
void watch_nldev_free(WatchNldev *w);
DEFINE_CLEANUP(WatchNldev, watch_nldev_free);

/*
 * Begins to listen to announcements. 1 if it listens now. 0 if there is nothing to listen to: the
 * RDMA modules are not loaded (call again when a device has come), or the kernel makes no
 * announcements. Otherwise a negative errno.
 */
int watch_nldev_listen(WatchNldev *w);
/* Stops listening: while a NETLINK_RDMA socket is open, ib_core cannot be unloaded. */
void watch_nldev_release(WatchNldev *w);
/* What the kernel says of RDMA as a whole, as the last watch_nldev_listen() has found it. Nothing
 * before the modules were loaded. */
void watch_nldev_status(const WatchNldev *w, SourceStatus *ret);

/* The devices that exist now: a new array for device_array_free(), empty without the RDMA modules,
 * and in *RET_LEFT_OUT how many are not in it, because of their names (nldev_parse_device()). Or a
 * negative errno; -EAGAIN: the list changed each time that it was read. */
int watch_nldev_enumerate(DeviceSnapshot **ret, size_t *ret_n, size_t *ret_left_out);

/* The functions below are for the tests and the fuzzer. */

/* Reads an announcement: 1 with *RET; 0 if nothing follows from it; -EBADMSG. *RET_GOING: the
 * device is being removed. */
int watch_nldev_parse(struct nlmsghdr *message, Event *ret, bool *ret_going);

/* An answer of the kernel, put together from its datagrams. */
typedef struct NldevAnswer {
	DeviceSnapshot *devices;
	size_t n, n_left_out;
	SourceStatus status; /* in the answer to SYS_GET */
	bool interrupted;    /* the list changed while the kernel wrote it: ask again */
} NldevAnswer;

/* Takes one datagram. 1 if the answer is complete, 0 if more must follow, or a negative errno: the
 * kernel's, or -EBADMSG. */
int nldev_answer_take(NldevAnswer *a, void *datagram, size_t n);
void nldev_answer_done(NldevAnswer *a);
