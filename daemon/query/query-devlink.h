/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The health of a function as its driver reports it: the health reporters of devlink
 * (DEVLINK_CMD_HEALTH_REPORTER_GET, net/devlink/health.c). The kernel keeps the reports: no driver
 * is asked. But the kernel holds the lock of an instance while its driver loads, unloads or writes
 * firmware, and a question waits for that. So the caller must have no context open that the driver
 * could wait for.
 */

#include "devlink-parse.h"
#include "port.h"
#include "query-genl.h"

/* The instance of the parent of the device, if there is one: DEVICE is the directory of the device
 * in sysfs, and PARENT the path of its parent. */
bool devlink_handle(int device, const char *parent, DevlinkHandle *ret);
/* The reporters of the instance H, of which G is the family, as a new table of HealthEntry, those
 * of the instance before those of its ports; NULL if it has none. -EOPNOTSUPP: the kernel has no
 * devlink. -ENODEV: there is no such instance. Another negative errno. */
int devlink_read_health(Genl *g, const DevlinkHandle *h, Table **ret);

/* Reads one message about a reporter. -EBADMSG; -ENOENT if it is of another instance than H. */
int devlink_parse_reporter(const struct nlmsghdr *message, const DevlinkHandle *h,
			   HealthEntry *ret);
