/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds devices and ports in the cache by the names that people and programs have for them, whether
 * they are on the bus yet or not; only lookup_path() finds nothing but what is on the bus.
 *
 * 0, with the device or port in *RET. -ENOENT: nothing has that name. -EEXIST: more than one has.
 * -EINVAL: the text cannot be such a name at all.
 */

#include "cache.h"

/* By the name of the device, such as "mlx5_0". Never -EEXIST or -EINVAL. */
int lookup_device(const Cache *c, const char *name, Device **ret);
/* By the name of an interface that is on the port (a network interface of an Ethernet port, an
 * IPoIB interface) or that one of its GIDs belongs to (a VLAN). */
int lookup_port_by_netdev(const Cache *c, const char *netdev, Port **ret);
/* By the port GUID, in any form that guid_parse() takes. */
int lookup_port_by_guid(const Cache *c, const char *guid, Port **ret);
/* By any name: "mlx5_0/1", the name of a device that has one port (-EEXIST if it has more), the
 * name of an interface, a port GUID, or "mlx5_0:1", in this order. */
int lookup_port(const Cache *c, const char *text, Port **ret);

/*
 * The GID that holds IP address TEXT, its port in *RET and its index in *RET_INDEX: of TYPE if that
 * is not _GID_TYPE_MAX, and of interface NETDEV if that is not NULL. Of several on one port RoCE v2
 * comes before v1, then the lowest index. -EEXIST if several ports have it.
 */
int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
			  Port **ret, uint32_t *ret_index);

/* Whether GID is in the GID table of P: without going through the table. */
bool lookup_has_gid(const Port *p, const uint8_t gid[16]);

/* The object at PATH, which is written as device_path() or port_path() writes it: *RET_PORT is the
 * port, or NULL if it is the device itself. -ENOENT: no object that is on the bus has that path. */
int lookup_path(const Cache *c, const char *path, Device **ret_device, Port **ret_port);
