/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The names by which people and programs say which port they mean: "mlx5_0/1" is port 1 of device
 * mlx5_0, and so is "mlx5_0:1". The name of a device that has one port, the name of a network
 * interface and a port GUID name a port too. This is about the text alone: whether there is such a
 * port says the cache. The paths of objects are here too.
 */

#include "attribute.h"

/* Room for the longest name ("DEVICE/1024") and its terminator, in bytes. */
#define PORT_NAME_MAX 72U

/* The most ports that one wait may name, in rdmad.conf or on D-Bus: each of them costs a look-up by
 * name whenever a name comes or goes. */
#define WAIT_PORTS_MAX 64U

/*
 * Splits NAME at its last '/' (the name of a device may have one too) into the name of the device
 * and the number of the port: decimal, from 0 to RDMA_PORT_MAX, without leading zeros. A name
 * without '/' has no number: then *RET_NUMBER is PORT_NUMBER_NONE and RET_DEVICE is not written.
 * -EINVAL: no port can have that name.
 */
#define PORT_NUMBER_NONE UINT32_MAX
int port_name_split(const char *name, AttrText ret_device, uint32_t *ret_number);
/* The same, but at the last ':', as NCCL, UCX, Open MPI and perftest write it. A GUID can look like
 * this too. */
int port_name_split_colon(const char *name, AttrText ret_device, uint32_t *ret_number);

/* Whether a port can have the name NAME: port_name_split() takes it, it is not too long, and it has
 * nothing that text_sanitize() would change, so it can be repeated to whoever asks. */
bool port_name_is_valid(const char *name);

/*
 * The paths of the objects on the bus: /org/rdma/device/DEVICE, and
 * /org/rdma/device/DEVICE/port/PORT. An object has one path: its numbers are decimal, without a
 * sign, a space or a zero in front.
 */

/* The rest of PATH behind the device, if PATH begins with the path of a device, *RET_DEVICE. NULL:
 * PATH does not. */
const char *object_path_device(const char *path, uint32_t *ret_device);
/* The numbers of the object at PATH; *RET_PORT is PORT_NUMBER_NONE if it is a device. -EINVAL: no
 * object has that path. */
int object_path_parse(const char *path, uint32_t *ret_device, uint32_t *ret_port);
/* Writes the path of port PORT of DEVICE to RET, which has room for RDMAD_PATH_MAX bytes; with
 * PORT_NUMBER_NONE that of the device. Returns RET. */
const char *object_path_put(uint32_t device, uint32_t port, char *ret);
