/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * To which network interfaces the entries of a GID table belong.
 *
 * The table of a port has the GIDs of interfaces in all network namespaces, and verbs gives the
 * index of each interface in its own namespace. The same index means another interface here. So an
 * entry is that of an interface here only if the interface has the name that the kernel gives in
 * sysfs, and is the port's own, or one above it: a VLAN, a bond, a macvlan. The interface of any
 * other entry is left out, and the entry says that it is in another namespace.
 */

#include "table.h"

/* Where to look, and what the entries may belong to. */
typedef struct GidPlace {
	int device;	  /* descriptor of the device's directory in sysfs, may be negative */
	int net;	  /* the same of /sys/class/net */
	uint32_t ifindex; /* the port's own interface, 0: it has none here */
	/* The number of the VLAN of an interface here, 0: of none. NULL: nobody can be asked. */
	uint32_t (*vlan_of)(void *userdata, uint32_t ifindex);
	void *userdata;
} GidPlace;

/* The last table of a port, before and after. As long as it stays the same, nothing is looked up.
 */
typedef struct PortGids {
	Table *raw, *done;
	uint32_t generation; /* Query.links_generation then */
} PortGids;

typedef struct DeviceGids {
	PortGids *ports; /* [n], port N is at N - 1 */
	uint32_t n;
} DeviceGids;

void gids_done(DeviceGids *g);
/* Whether RAW, the table of PORT, is the one that was looked at last, with interfaces of the same
 * GENERATION. If so, a copy of what came of it is in *RET. */
bool gids_recall(const DeviceGids *g, uint32_t port, const Table *raw, uint32_t generation,
		 Table **ret);
/* Keeps both for the next time. Without memory it does not. */
void gids_remember(DeviceGids *g, uint32_t port, const Table *raw, uint32_t generation,
		   const Table *done);
/*
 * Completes the entries of T, the table of PORT, which may be NULL: name and index of an interface
 * are both there, or neither is. An entry needs one of them: the index from verbs, or the name from
 * sysfs. Its VLAN and its namespace are set.
 */
void gids_complete(Table *t, uint32_t port, const GidPlace *place);
