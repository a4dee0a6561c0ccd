/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The P_Key tables of a device, each of whose entries is a file in sysfs. Netlink does not have
 * them, and ibv_query_pkey() reads these files, too. The kernel asks the driver for each read,
 * which with InfiniBand is a firmware command: its own cache of P_Keys is not shown to anybody.
 *
 * To open and close a file costs three times as much as to read it. So the files of a table that
 * has changed stay open for the next change. They do not keep the device: when it goes, reading
 * them fails.
 */

#include "table.h"

/* A process keeps so many files open at most: the kernel has a page for each. */
#define PKEY_FILES_MAX 512U

/* The open files of one port */
typedef struct PkeyFiles {
	int *fds; /* [n], that of entry N is at N; NULL: none is open */
	uint32_t n;
} PkeyFiles;

/* Zero-initialise. */
typedef struct DevicePkeys {
	PkeyFiles *ports; /* [n], port N is at N */
	uint32_t n;
} DevicePkeys;

/* Closes the files. */
void pkeys_done(DevicePkeys *k);
/* Opens the files of the table of PORT, to stay open. DEVICE is its directory in sysfs. Opens none
 * if they are too many. */
void pkeys_keep(DevicePkeys *k, int device, uint32_t port);
/* As sysfs_read_pkeys(), from the open files. -ENOENT if there are none; after another error there
 * are none any more. */
int pkeys_read(DevicePkeys *k, uint32_t port, Table **ret);
