/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device of which programs cannot create any more, and a port that gets no more addresses. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"

/* Ours: nobody has published one. Drivers keep a few for themselves, so that programs get none
 * before all are in use. */
#define FREE_PART 20U

/* A table with fewer entries is that of a driver with one address. */
#define GIDS_LEAST 4U

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
		    in_use + most / FREE_PART >= most)
			check_find(r, &device_attributes[resources[i].in_use],
				   "%" PRIu64 " of %" PRIu64
				   " %s are in use: programs can hardly create more",
				   in_use, most, resources[i].words);
	}
}

/* Linux adds an entry for each version of RoCE, two for an address mostly, and only logs that there
 * was no room. */
void look_for_full_gids(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_gids];
	uint64_t most;
	size_t n;

	if (!object_count(r->port, PORT_ATTR_gids, &n) || n < GIDS_LEAST - 1 ||
	    !check_is_in_use(r) || !streq(object_text(r->port, PORT_ATTR_protocol), "roce") ||
	    !check_number(r->port, PORT_ATTR_gid_tbl_len, &most) || most < GIDS_LEAST ||
	    n + MAX(most / FREE_PART, 1U) < most || check_is_expected(r, row))
		return;
	check_find(r, row,
		   "%zu of %" PRIu64
		   " entries of the GID table are in use: the next address may get none",
		   n, most);
}
