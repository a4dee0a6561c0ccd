/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the judge says of ports and devices. */

#include "cache.h"

/* Puts FINDINGS, which it takes, into *NOW; returns the table that is not needed any more. */
static Table *take_findings(Table **now, Table *findings, bool *ret_changes)
{
	Table *old = *now;

	*ret_changes = !table_equal(old, findings);
	if (!*ret_changes)
		return findings;
	*now = findings;
	return old;
}

void cache_apply_port_health(Port *p, AttrVerdict health, Table *findings, uint64_t now,
			     PortChange *ret)
{
	Table *left;
	bool changes;

	*ret = (PortChange){.port = p, .cause = CHANGE_JUDGED, .was = p->now, .when_usec = now};
	mask_set(&ret->changed, PORT_ATTR_health, p->now.values.health != health);
	p->now.values.health = health;
	left = take_findings(&p->now.tables[PORT_TABLE_FINDINGS], findings, &changes);
	mask_set(&ret->changed, PORT_ATTR_findings, changes);
	if (changes)
		ret->tables = 1U << PORT_TABLE_FINDINGS;
	else
		table_free(left);
	ret->op = mask_is_empty(&ret->changed) ? CACHE_UNCHANGED : CACHE_CHANGED;
	p->health_generation += ret->op == CACHE_CHANGED;
}

void cache_apply_device_health(Device *d, AttrVerdict health, Table *findings, uint64_t now,
			       DeviceChange *ret)
{
	Table *left;
	bool changes;

	*ret = (DeviceChange){.device = d, .cause = CHANGE_JUDGED, .was = d->now, .when_usec = now};
	mask_set(&ret->changed, DEVICE_ATTR_health, d->now.values.health != health);
	d->now.values.health = health;
	left = take_findings(&d->now.tables[DEVICE_TABLE_FINDINGS], findings, &changes);
	mask_set(&ret->changed, DEVICE_ATTR_findings, changes);
	if (changes)
		ret->tables = 1U << DEVICE_TABLE_FINDINGS;
	else
		table_free(left);
	ret->op = mask_is_empty(&ret->changed) ? CACHE_UNCHANGED : CACHE_CHANGED;
}
