/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The virtual functions of a physical one as its host has configured them: rtnetlink says it of the
 * network interfaces of the physical function, IPoIB among them. */

#include "port.h"
#include "query-netlink.h"

/* More virtual functions than any physical one has of which rtnetlink can say it: the attribute
 * with all of them has 64 KiB at most. */
#define VFS_MAX 1024U

/*
 * The virtual functions of a port as a new table of VfEntry, in the order of their numbers; NULL if
 * it has none. DEVICE is its directory in sysfs, and NETDEVS are its network interfaces, of which
 * the first one that tells of virtual functions is taken. Those that the driver says nothing of are
 * left out. -ENODATA: there are virtual functions, and no interface tells of them. -EMSGSIZE: more
 * than rtnetlink can tell of, or nothing of the last one, which looks the same.
 */
int vfs_read(Netlink *n, int device, const Table *netdevs, Table **ret);

typedef struct VfList {
	VfEntry entries[VFS_MAX];
	size_t n;
} VfList;

/* A NetlinkHandler: reads one message (RTM_NEWLINK) into a VfList, which has none if there are
 * none; after an error too. -EBADMSG; -EMSGSIZE: as above, or more than it has room for. */
int vfs_parse(const struct nlmsghdr *message, void *list);
