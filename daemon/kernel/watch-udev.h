/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Uevents of RDMA devices and their character devices: from the kernel, and again from udev when it
 * has set permissions and names.
 *
 * The watcher remembers which character device belongs to which RDMA device, because the uevent of
 * a removal does not say so any more. This uevent is the only warning: a driver such as rxe waits
 * inside `rdma link delete` until every context is closed.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchUdev WatchUdev;

/* HANDLER is called with USERDATA. SYSFS is "/sys"; another directory in tests. -ENOMEM. */
int watch_udev_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchUdev **ret);
void watch_udev_free(WatchUdev *w);
DEFINE_CLEANUP(WatchUdev, watch_udev_free);

/* Begins to listen to the kernel and to udev. 0 if at least one of them works. Logs what does not.
 */
int watch_udev_listen(WatchUdev *w);
/* These N devices exist now: finds out which character devices are theirs. If one of them has been
 * told to go, REASON_DEVICE comes again after a while, until it has gone or ten seconds are over.
 */
void watch_udev_devices(WatchUdev *w, const DeviceSnapshot *devices, size_t n);
/* Whether that is so. For the tests. */
bool watch_udev_is_leaving(const WatchUdev *w);

/*
 * Takes one uevent, with ACTION and DEVPATH as the kernel writes them. FIRST: it is the kernel's,
 * and not the same again from udev. For the tests and the fuzzer.
 */
void watch_udev_uevent(WatchUdev *w, bool first, const char *action, const char *subsystem,
		       const char *devpath);
