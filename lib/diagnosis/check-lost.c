/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Adapters that were here since the machine was started, and whose hardware has gone: PCI Express
 * has lost them, or somebody has taken them away. */

#include "check-parts.h"
#include "checks.h"

/* Whether a device is in the place of LOST, or LOST is in another place now: who plugs it in again
 * may have chosen that. */
static bool is_back(const CheckRun *r, const LostDevice *lost)
{
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (!o->is_port &&
		    (streq(object_text(o, DEVICE_ATTR_sysfs_path), lost->path) ||
		     (*lost->guid && streq(object_text(o, DEVICE_ATTR_node_guid), lost->guid))))
			return true;
	}
	return false;
}

/* Whether another adapter of the model is here. A hypervisor takes the only one away, and whoever
 * unloads the driver takes all. */
static bool has_sibling(const CheckRun *r, const LostDevice *lost)
{
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (!o->is_port && !object_is_function(o) &&
		    streq(object_text(o, DEVICE_ATTR_driver), lost->driver) &&
		    streq(object_text(o, DEVICE_ATTR_hca_type), lost->model))
			return true;
	}
	return false;
}

/* Whether A and B are functions of one adapter: in one slot, or, as with Socket Direct, in two. */
static bool share_adapter(const LostDevice *a, const LostDevice *b)
{
	const char *dot = strrchr(a->path, '.');

	return (*a->adapter && driver_tells_adapters(a->driver) && streq(a->adapter, b->adapter)) ||
	       (dot && strncmp(a->path, b->path, (size_t)(dot - a->path) + 1) == 0);
}

/* Whether number N of the lost devices is a function of one before it. */
static bool is_told(const CheckRun *r, size_t n, const LostDevice *lost)
{
	LostDevice other;

	for (size_t i = 0; i < n && r->ask.lost(r->ask.userdata, i, &other); i++)
		if (share_adapter(&other, lost))
			return true;
	return false;
}

void look_for_lost_devices(CheckRun *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_sysfs_path];
	LostDevice lost;

	/* if ports were named, only these are checked */
	if (r->n_names > 0)
		return;
	if (!r->ask.lost) {
		check_find_of_machine(r, row);
		return;
	}
	/* a driver that resets its device has it back soon */
	for (size_t i = 0; r->ask.lost(r->ask.userdata, i, &lost); i++) {
		_cleanup_free_ char *text = NULL;

		if (lost.usec + r->settle_usec > r->now_usec || is_back(r, &lost) ||
		    !has_sibling(r, &lost) || is_told(r, i, &lost))
			continue;
		text = format_time(lost.usec);
		check_find(r, row,
			   "the hardware of %s has gone at %s, and is not back: PCI Express has "
			   "lost it, or "
			   "somebody has taken it away",
			   lost.name, text ? text : "");
	}
}
