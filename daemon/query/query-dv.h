/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Direct verbs: what the library of a vendor says of a port or device beyond what verbs says. A
 * provider is one file, query-dv-NAME.c, and one row in the list in query-dv.c;
 * docs/design/direct-verbs.md says how to add one.
 */

#include <infiniband/verbs.h>

#include "port.h"
#include "query-policy.h"

/* Either query may be NULL: the library has none. */
typedef struct DvProvider {
	const char *name;
	/* Whether the device is one of this provider's, without asking the device. */
	bool (*matches)(const PolicyDevice *d);
	/* Its interface of a port. Without query_port() it has none. */
	AttrInterface interface;
	/*
	 * Supplies rows with source DV, each only if the device gave a value for it: a port without
	 * any does not have the provider's interface. After a negative errno only these rows are
	 * missing; -EOPNOTSUPP or -EPROTONOSUPPORT: the port has none of them, as the library or
	 * the kernel cannot tell.
	 */
	int (*query_port)(struct ibv_context *context, uint32_t port, PortSnapshot *s);
	/* The same for the device and its rows. */
	AttrInterface device_interface;
	int (*query_device)(struct ibv_context *context, DeviceSnapshot *s);

	/* The device has one user at a time, and its library is not trusted. So it is opened only
	 * if the configuration says so, in a process of its own (query-isolated.h). The functions
	 * below are called there, and are NULL for other providers. */
	bool exclusive;
	/* Whether it makes sense to open DEVICE: the library is there and supports it. */
	bool (*is_usable)(struct ibv_device *device);
	/* Supplies what ERROR, a negative errno of opening the device, says of it. */
	void (*open_failed)(int error, PortSnapshot *s);
} DvProvider;

extern const DvProvider dv_efa, dv_hbl, dv_hns, dv_mlx5;

/* The provider of D, NULL if there is none. */
const DvProvider *dv_find(const PolicyDevice *d);
/* The provider with NAME, NULL if there is none. */
const DvProvider *dv_find_name(const char *name);
/* Whether R, which a query has returned, is an error. -EOPNOTSUPP is none, nor is -EPROTONOSUPPORT,
 * which the kernel says of a method that it does not know: nothing is reported then. */
static inline bool dv_has_failed(int r)
{
	return r < 0 && r != -EOPNOTSUPP && r != -EPROTONOSUPPORT;
}
/* The rows of a port, and of a device, that DV may supply. */
AttrMask dv_port_rows(const DvProvider *dv);
AttrMask dv_device_rows(const DvProvider *dv);
