/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The P_Key tables of a device, each of whose entries is a file in sysfs. Netlink does not have
 * them, and ibv_query_pkey() reads these files, too. The kernel asks the driver for each read,
 * which with InfiniBand is a firmware command: its own cache of P_Keys is not shown to anybody.
 *
 * The files of a table that has changed stay open for the next change (port-files.h).
 */

#include "port-files.h"
#include "table.h"

/* A process keeps so many of these files open at most. */
#define PKEY_FILES_MAX 512U

/* Closes the files. */
void pkeys_done(DeviceFiles *files);
/* Opens the files of the table of PORT, to stay open. DEVICE is its directory in sysfs. Opens none
 * if they are too many. */
void pkeys_keep(DeviceFiles *files, int device, uint32_t port);
/* As sysfs_read_pkeys(), from the open files. -ENOENT if there are none; after another error there
 * are none any more. */
int pkeys_read(DeviceFiles *files, uint32_t port, Table **ret);
