/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reports that devlink has news about the health of the function that an RDMA device is on: a
 * reporter had an error, or the driver has recovered from it; or the instance has just been made,
 * which some drivers do after their RDMA device. The watcher only listens: the kernel would carry
 * out a query under the lock of the instance.
 */

#include <systemd/sd-event.h>

#include "devlink-parse.h"
#include "genl.h"
#include "source.h"
#include "watch.h"

typedef struct WatchDevlink WatchDevlink;

/* HANDLER is called with USERDATA. SYSFS is "/sys"; another directory in tests. -ENOMEM. */
int watch_devlink_new(sd_event *event, const char *sysfs, const WatchHandler *handler,
		      void *userdata, WatchDevlink **ret);
void watch_devlink_free(WatchDevlink *w);
DEFINE_CLEANUP(WatchDevlink, watch_devlink_free);

/* Begins to listen. Does nothing if it listens already, or if the kernel has been found to have no
 * devlink. 0, or a negative errno. */
int watch_devlink_listen(WatchDevlink *w);
/* These N devices exist now. */
void watch_devlink_devices(WatchDevlink *w, const DeviceSnapshot *devices, size_t n);

/* Takes one message and reports: 0, or -EBADMSG. For the tests and the fuzzer. */
int watch_devlink_message(WatchDevlink *w, struct nlmsghdr *message);
/* The numbers that the messages have. The same. */
void watch_devlink_set_family(WatchDevlink *w, const GenlFamily *family);
