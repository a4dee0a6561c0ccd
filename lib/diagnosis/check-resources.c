/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device of which programs cannot create any more. */

#include "check-parts.h"
#include "checks.h"

/* In percent. Ours: nobody has published one. Drivers keep a few for themselves, so that programs
 * get none before all are in use. */
#define FULL_PERCENT 95U

static const struct {
	DeviceAttr in_use, most;
	const char *words;
} resources[] = {
	{DEVICE_ATTR_qp_count, DEVICE_ATTR_max_qp, "queue pairs"},
	{DEVICE_ATTR_cq_count, DEVICE_ATTR_max_cq, "completion queues"},
	{DEVICE_ATTR_srq_count, DEVICE_ATTR_max_srq, "shared receive queues"},
	{DEVICE_ATTR_mr_count, DEVICE_ATTR_max_mr, "memory regions"},
	{DEVICE_ATTR_pd_count, DEVICE_ATTR_max_pd, "protection domains"},
};

void look_at_resources(CheckRun *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		uint64_t in_use, most;

		if (check_number(r->device, resources[i].in_use, &in_use) &&
		    check_number(r->device, resources[i].most, &most) && most > 0 &&
		    in_use >= most / 100 * FULL_PERCENT + most % 100 * FULL_PERCENT / 100)
			check_find(r, &device_attributes[resources[i].in_use],
				   "%" PRIu64 " of %" PRIu64
				   " %s are in use: programs can hardly create more",
				   in_use, most, resources[i].words);
	}
}
