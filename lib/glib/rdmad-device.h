/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-object.h"

G_BEGIN_DECLS

/**
 * RdmadDevice:
 *
 * An RDMA device. On the bus it is an object with the interface `org.rdma.Device`.
 */
#define RDMAD_TYPE_DEVICE (rdmad_device_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadDevice, rdmad_device, RDMAD, DEVICE, RdmadObject)

/**
 * rdmad_device_list_ports:
 * @self: a device
 *
 * Lists the ports of a device.
 *
 * Returns: (transfer container) (element-type RdmadPort): its ports, sorted by number; none if the
 *   device has been removed
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_device_list_ports(RdmadDevice *self);

G_END_DECLS
