/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The limits of a device: the rows of org.rdma.Device.Limits. */

#include <infiniband/verbs.h>

#include "port.h"

/* Supplies all of these rows from A, what ibv_query_device_ex() says of CONTEXT. */
void limits_supply(const struct ibv_context *context, const struct ibv_device_attr_ex *a,
		   DeviceSnapshot *s);
