/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HiSilicon's adapter: which algorithms for congestion control it has. libhns has had the function
 * and a header for it since rdma-core 52, which Debian 12 does not have. Hence dlopen() and a
 * structure of our own. libibverbs has loaded the library already when a context is open: no other
 * code comes into the process.
 */

#include <dlfcn.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "query-dv.h"

/* struct hnsdv_context of hnsdv_query_device(3) */
typedef struct HnsDevice {
	uint64_t comp_mask; /* which of the members below have a value */
	uint64_t flags;
	uint8_t congest_type;
	uint8_t reserved[7];
} HnsDevice;

_Static_assert(sizeof(HnsDevice) == 24, "not the layout of HNS_1.0");

#define HNS_MASK_CONGEST_TYPE (UINT64_C(1) << 0)

typedef int (*HnsQuery)(struct ibv_context *context, HnsDevice *ret);

/* The function, NULL where libhns has none. */
static HnsQuery find_query(void)
{
	static HnsQuery query;
	static bool tried;
	void *library;

	if (tried)
		return query;
	tried = true;
	library = dlopen("libhns.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library)
		*(void **)&query = dlvsym(library, "hnsdv_query_device", "HNS_1.0");
	return query;
}

static bool matches(const PolicyDevice *d)
{
	return d->driver_id == RDMA_DRIVER_HNS;
}

/* libhns has read it when the context was opened: this does not ask the firmware. */
static int query_device(struct ibv_context *context, DeviceSnapshot *s)
{
	HnsQuery query = find_query();
	HnsDevice info = {};
	int r = query ? query(context, &info) : EOPNOTSUPP;

	if (r != 0)
		return r > 0 ? -r : -EIO;
	if (info.comp_mask & HNS_MASK_CONGEST_TYPE)
		DEVICE_SUPPLY(s, congest_type, info.congest_type);
	return 0;
}

const DvProvider dv_hns = {
	.name = "hns",
	.matches = matches,
	.device_interface = INTERFACE_DEVICE_HNS,
	.query_device = query_device,
};
