/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A unit that starts after a port is active, or after all configured ports are: a drop-in file that
 * wants rdma-wait-online@PORT.service or rdma-wait-online.service, see rdma-wait-online.service(8).
 */

#include <stddef.h>

/*
 * Writes such a drop-in below DIRECTORY, the first argument of a generator (systemd.generator(7)),
 * for UNIT. PORT is any name that "rdmactl wait" understands, or NULL for all configured ports. A
 * second one for the same unit adds to the first. Returns 0, or a negative errno: -EINVAL if PORT
 * cannot be in the name of a unit, and what the file system says.
 */
int order_write(const char *directory, const char *unit, const char *port);

/*
 * The unit of the mount point PATH: "/srv/data-1" is srv-data\x2d1.mount (systemd.unit(5)). It is
 * written to RET, of SIZE bytes. Returns 0, or -EINVAL if PATH is not absolute, has "..", or is too
 * long.
 */
int order_mount_unit(const char *path, char *ret, size_t size);
