/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* EFA, the adapter of Amazon's cloud: the limits of its queues and what it can do beyond send and
 * receive. */

#include <infiniband/efadv.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "query-dv.h"

/* Where inline_buf_size_ex is in struct efadv_device_attr, whose header may not know it. */
#define EXTENDED_OFFSET (offsetof(struct efadv_device_attr, inline_buf_size) + sizeof(uint16_t))

static bool matches(const PolicyDevice *d)
{
	return d->driver_id == RDMA_DRIVER_EFA;
}

/* libefa has read these when the context was opened: this does not ask the firmware. The function
 * fills as much of the structure as there is room for, and has no flags: a field that an older
 * library does not know is 0. */
static int query_device(struct ibv_context *context, DeviceSnapshot *s)
{
	struct efadv_device_attr info = {};
	uint16_t inline_buf_size_ex;
	int r = efadv_query_device(context, &info, sizeof(info));

	if (r != 0)
		return r > 0 ? -r : -EIO;
	DEVICE_SUPPLY(s, efa_caps, info.device_caps);
	DEVICE_SUPPLY(s, max_rdma_size, info.max_rdma_size);
	DEVICE_SUPPLY(s, max_sq_wr, info.max_sq_wr);
	DEVICE_SUPPLY(s, max_rq_wr, info.max_rq_wr);
	DEVICE_SUPPLY(s, max_sq_sge, info.max_sq_sge);
	DEVICE_SUPPLY(s, max_rq_sge, info.max_rq_sge);
	DEVICE_SUPPLY(s, inline_buf_size, info.inline_buf_size);
	/* Before rdma-core 63 these two bytes are reserved, and 0. */
	memcpy(&inline_buf_size_ex, (const char *)&info + EXTENDED_OFFSET,
	       sizeof(inline_buf_size_ex));
	DEVICE_SUPPLY(s, inline_buf_size_ex, inline_buf_size_ex);
	return 0;
}

const DvProvider dv_efa = {
	.name = "efa",
	.matches = matches,
	.device_interface = INTERFACE_DEVICE_EFA,
	.query_device = query_device,
};
