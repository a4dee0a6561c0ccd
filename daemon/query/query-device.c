/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-device.h"

#include <fcntl.h>

#include "log.h"
#include "pci-control.h"
#include "query-function.h"
#include "query-resources.h"
#include "query-sysfs.h"
#include "row-set.h"

static void query_chardevs(Target *t, DeviceSnapshot *s)
{
	ChardevEntry verbs = {
		.class = "verbs", .major = t->chardev.major, .minor = t->chardev.minor};

	if (target_sysfs(t) < 0 || t->querier->classes < 0)
		return;
	snprintf(verbs.path, sizeof(verbs.path), "/dev/infiniband/%s", t->chardev.name);
	if (sysfs_read_chardevs(t->sysfs, t->querier->classes, t->name,
				t->has_chardev ? &verbs : NULL,
				&s->tables[DEVICE_TABLE_CHARDEVS]) == 0)
		mask_set(&s->supplied, DEVICE_ATTR_chardevs, true);
}

/* WHAT was asked for ROWS, and has answered R. If that is an error, only these attributes are
 * missing. */
static void note_answer(const Target *t, DeviceSnapshot *s, const char *what, int r, AttrMask rows)
{
	if (!dv_has_failed(r))
		return;
	log_debug("%s: %s: %s", t->name, what, strerror(-r));
	s->unanswered = mask_or(s->unanswered, mask_without(rows, s->supplied));
}

static _always_inline_ bool is_of_verbs(const Attribute *a)
{
	return a->source == SOURCE_VERBS;
}

/* How many resources are in use changes all the time. */
static _always_inline_ bool is_of_resources(const Attribute *a)
{
	return a->source == SOURCE_NLDEV && a->class == CLASS_COUNTER;
}

static void query_context(Target *t, DeviceSnapshot *s)
{
	const DvProvider *dv = t->known->dv;
	unsigned int cap_flags;

	note_answer(t, s, "verbs", verbs_query_device(t->context, s, &cap_flags),
		    device_rows(is_of_verbs));
	gpudirect_supply_dma_buf(t->context, &t->known->dma_buf, s);
	if (dv && dv->query_device)
		note_answer(t, s, dv->name, dv->query_device(t->context, s), dv_device_rows(dv));
}

/* Whether the kernel tells the querier of changes, and if not, why. */
static void supply_events(const Target *t, DeviceSnapshot *s)
{
	bool held = contexts_holds(t->querier->contexts, t->device);
	const Unavailable *why = t->known->policy == POLICY_HOLD
					 ? open_error_find(t->open_error)->why
					 : t->known->why_polled;

	DEVICE_SUPPLY(s, events, held ? EVENTS_VERBS : EVENTS_POLLED);
	DEVICE_SUPPLY_TEXT(s, events_reason, held ? "" : why->code);
}

void device_query(Target *t, DeviceSnapshot *s)
{
	_cleanup_close_ int controls = sysfs_open_directory(AT_FDCWD, PCI_CONTROLS);
	AttrPath parent;

	s->values = t->nldev.values;
	texts_hold(s->values.texts);
	s->supplied = t->nldev.supplied;
	if (t->known->verbs.driver_id >= 0)
		DEVICE_SUPPLY(s, driver_id, (uint32_t)t->known->verbs.driver_id);
	sysfs_supply_device(target_sysfs(t), s);
	if (function_find(target_sysfs(t), t->name, parent) == 0)
		function_supply(t->sysfs, parent, s);
	gpudirect_supply_peers(s);
	accelerators_refresh(&t->querier->accelerators);
	accelerators_supply(&t->querier->accelerators, controls, s);
	query_chardevs(t, s);
	if (t->has_health) {
		s->tables[DEVICE_TABLE_HEALTH] = steal_pointer(&t->health);
		mask_set(&s->supplied, DEVICE_ATTR_health_reporters, true);
	}
	note_answer(t, s, "resources", resources_get_summary(&t->querier->nldev, t->device, s),
		    device_rows(is_of_resources));
	supply_events(t, s);
	if (t->context)
		query_context(t, s);
	else if (!t->is_isolated)
		s->open_error = target_obstacle(t);
}
