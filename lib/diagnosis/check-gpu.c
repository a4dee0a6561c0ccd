/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The ways between ports and accelerators. Machines with PCI switches have a port below each switch
 * that has accelerators: if one of several lacks a port, an adapter is missing or in another slot.
 * Where all ways go through the processor, as in many virtual machines, nothing is wrong. If a port
 * of such a switch redirects traffic, what is near is as slow as what is far.
 */

#include "check-parts.h"
#include "checks.h"
#include "gpus.h"
#include "list.h"

/* Ours: of two that differ none is the usual one. */
#define NEAR_LEAST 3U

/* How far the nearest port is. */
static Distance find_nearest(const ObjectList *objects, const Gpu *g)
{
	Distance nearest = _DISTANCE_MAX;
	uint64_t hops;

	for (size_t i = 0; i < objects->n; i++)
		if (!objects->items[i]->is_port)
			nearest = MIN(nearest, gpu_distance(objects->items[i], g, &hops));
	return nearest;
}

/* Of the accelerators ALL, the Ith is far while most others of its model are near. NEAREST: how far
 * the nearest port of each is. */
static void judge(CheckRun *r, const Gpus *all, const Distance *nearest, size_t i)
{
	const Gpu *g = &all->items[i];
	size_t n = 0, near = 0;

	for (size_t k = 0; k < all->n; k++) {
		bool is_same = streq(all->items[k].model, g->model);

		n += is_same;
		near += is_same && nearest[k] <= DISTANCE_PXB;
	}
	if (nearest[i] > DISTANCE_PXB && near >= NEAR_LEAST && 2 * near > n)
		check_find(
			r, &device_attributes[DEVICE_ATTR_accelerators],
			"the nearest port of accelerator %zu (%s) is at %s, but %zu of %zu of its "
			"model have one at PXB or nearer",
			i, g->address, distance_name(nearest[i]), near, n);
}

void look_for_far_gpus(CheckRun *r)
{
	_cleanup_free_ Distance *nearest = NULL;
	_cleanup_(gpus_done) Gpus all = {};

	/* if ports were named, only these are checked; and what is near may be in a container */
	if (r->n_names > 0 || (r->ask.hides_devices && r->ask.hides_devices(r->ask.userdata)))
		return;
	if (gpus_find(r->objects, &all) < 0 || !(nearest = calloc(all.n + 1, sizeof(*nearest)))) {
		r->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < all.n; i++)
		nearest[i] = find_nearest(r->objects, &all.items[i]);
	for (size_t i = 0; i < all.n; i++)
		judge(r, &all, nearest, i);
}

void look_at_acs(CheckRun *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_acs_redirects];
	const char *ports = object_text(r->device, DEVICE_ATTR_acs_redirects);
	const char *iommu = object_text(r->device, DEVICE_ATTR_iommu);
	bool translates = startswith(iommu, "DMA");
	ListReader l = list_reader(row->type, ports);
	ListItem item;

	if (list_next(&l, &item) && !check_is_expected(r, row))
		check_find(r, row,
			   "traffic with accelerators below the same switch goes up to the "
			   "processor: ACS redirects it at %s%s%s",
			   ports,
			   translates ? ", and the IOMMU translates its addresses: Iommu is " : "",
			   translates ? iommu : "");
}

/* Whether an accelerator is below the same PCI switch as the device that the run looks at. */
static bool has_near_one(const CheckRun *r)
{
	const Value *all = object_value(r->device, DEVICE_ATTR_accelerators);

	VALUE_FOREACH(entry, all) {
		const char *distance = format_member_text(ATTR_ACCELERATORS, "distance", entry);

		if (streq(distance, distance_name(DISTANCE_PIX)) ||
		    streq(distance, distance_name(DISTANCE_PXB)))
			return true;
	}
	return false;
}

void look_for_gpu_memory(CheckRun *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_dma_buf];
	const Value *dma_buf = object_value(r->device, DEVICE_ATTR_dma_buf);
	ListReader peers = list_reader(ATTR_WORDS, object_text(r->device, DEVICE_ATTR_peer_memory));
	ListItem item;

	/* it is the kernel of all devices: the first of them is enough */
	if (!dma_buf || value_is_true(dma_buf) ||
	    !object_value(r->device, DEVICE_ATTR_peer_memory) || list_next(&peers, &item) ||
	    !has_near_one(r) || check_is_expected(r, row))
		return;
	for (size_t i = 0; i < r->n_devices && r->devices[i] != r->device; i++)
		if (object_value(r->devices[i], DEVICE_ATTR_dma_buf))
			return;
	check_find(r, row,
		   "the kernel cannot register memory of the accelerators below the same switch: "
		   "it has neither DMA-BUF nor a module for it, such as nvidia_peermem");
}
