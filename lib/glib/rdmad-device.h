/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-object.h"

G_BEGIN_DECLS

/**
 * RdmadDevice:
 *
 * An RDMA device: `org.rdma.Device` on the bus.
 */
#define RDMAD_TYPE_DEVICE (rdmad_device_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadDevice, rdmad_device, RDMAD, DEVICE, RdmadObject)

/**
 * rdmad_device_list_ports:
 * @self: a device
 *
 * The ports of a device.
 *
 * Returns: (transfer container) (element-type RdmadPort): its ports, sorted by number
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_device_list_ports(RdmadDevice *self);

G_END_DECLS
