/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds devices and ports in the cache by the names that people and programs have for them. */

#include "cache.h"

/* -ENOENT: nothing has that name. -EEXIST: more than one has. -EINVAL: it is no such name at all.
 */
int lookup_device(const Cache *c, const char *name, Device **ret);
/* An interface on the port (a netdev of an Ethernet port, an IPoIB interface) or one that its GIDs
 * belong to (VLANs). */
int lookup_port_by_netdev(const Cache *c, const char *netdev, Port **ret);
int lookup_port_by_guid(const Cache *c, const char *guid, Port **ret);
/* "mlx5_0/1"; "mlx5_0" if that has one port (-EEXIST if more); a netdev; a port GUID. */
int lookup_port(const Cache *c, const char *text, Port **ret);

/*
 * The GID that holds IP address TEXT: of TYPE if that is not _GID_TYPE_MAX and on NETDEV if that is
 * not NULL. Prefers RoCE v2, then v1, then the lowest index. -EEXIST if several ports have it.
 */
int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
			  Port **ret, uint32_t *ret_index);

/* The object at PATH, which is written as device_path() or port_path() writes it: *RET_PORT is the
 * port, or NULL if it is the device itself. -ENOENT: no object that is on the bus has that path. */
int lookup_path(const Cache *c, const char *path, Device **ret_device, Port **ret_port);
