/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Uevents of RDMA devices and their character devices, from the kernel itself and again when udev
 * has done its part (permissions, names).
 *
 * Knows which character device belongs to which RDMA device, because the uevent of a removal no
 * longer says it, and a driver like rxe waits inside `rdma link delete` until every context is
 * closed: the uevent is all the warning there is.
 */

#include <systemd/sd-event.h>

#include "source.h"
#include "watch.h"

typedef struct WatchUdev WatchUdev;

/* SYSFS is "/sys" but in tests. */
int watch_udev_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchUdev **ret);
WatchUdev *watch_udev_free(WatchUdev *w);
DEFINE_CLEANUP(WatchUdev, watch_udev_free);

/* 0 if at least one of the two groups is heard. Logs. */
int watch_udev_listen(WatchUdev *w);
/* These devices exist now: finds out which character devices are theirs. */
void watch_udev_devices(WatchUdev *w, const DeviceSnapshot *devices, size_t n);

/*
 * One uevent, ACTION and DEVPATH as the kernel writes them. FIRST: from the group that hears of it
 * first. For the tests and the fuzzer.
 */
void watch_udev_uevent(WatchUdev *w, bool first, const char *action, const char *subsystem,
		       const char *devpath);
