/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values from libibverbs, through an open context. */

#include <infiniband/verbs.h>

#include "port.h"

/* The properties of a device that decide how its ports' values are understood. */
typedef struct VerbsDevice {
	unsigned int cap_flags; /* IBV_DEVICE_*; 0 if not known */
	int64_t driver_id;	/* negative if not known */
	bool opa;		/* Omni-Path: LIDs of 32 bits, for which verbs has only 16 */
	bool incomplete;	/* netlink says something that belongs to READ_VERBS and verbs has
				   no room for */
} VerbsDevice;

/* Supplies the rows of S with source VERBS, limits included, and the capabilities of the device. */
int verbs_query_device(struct ibv_context *context, DeviceSnapshot *s, unsigned int *ret_cap_flags);
/* ibv_query_port() has 8 bits for the number of the port. */
#define VERBS_PORT_MAX 255U
/* PORT is at most VERBS_PORT_MAX. Notes in D->incomplete what netlink had said in S and verbs does
 * not say. */
int verbs_query_port(struct ibv_context *context, uint32_t port, VerbsDevice *d, PortSnapshot *s);

/* The GIDs of all ports of a device. ENTRIES is NULL if they were not read, do not fit one answer,
 * or the kernel cannot give them at once. */
typedef struct VerbsGids {
	struct ibv_gid_entry *entries;
	size_t n;
} VerbsGids;

/* Reads the GIDs of all ports at once. EXPECTED is how many there were last time: the kernel fills
 * as much memory as there is room for, so the room shall not be much larger. */
int verbs_read_gids(struct ibv_context *context, size_t expected, VerbsGids *ret);
/* Reads the GIDs of one port, entry by entry. LENGTH is that of its table. */
int verbs_read_port_gids(struct ibv_context *context, uint32_t port, uint32_t length,
			 VerbsGids *ret);
/* The table of one port from them, sorted by index. Each entry has the index of its interface in
 * whatever network namespace, and no name: see gids_complete(). */
int verbs_gid_table(const VerbsGids *gids, uint32_t port, Table **ret);
static inline void verbs_gids_done(VerbsGids *g)
{
	free(g->entries);
	*g = (VerbsGids){};
}
