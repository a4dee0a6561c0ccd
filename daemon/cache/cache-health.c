/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the judge says of ports and devices. */

#include "cache.h"

/* Puts FINDINGS, which it takes, into *NOW, if they are other ones: then the old ones are those of
 * the change. */
static bool take_findings(Table **now, Table *findings)
{
	if (table_equal(*now, findings)) {
		table_free(findings);
		return false;
	}
	*now = findings;
	return true;
}

void cache_apply_port_health(Port *p, AttrVerdict health, Table *findings, uint64_t now,
			     PortChange *ret)
{
	*ret = (PortChange){.port = p, .cause = CHANGE_JUDGED, .was = p->now, .when_usec = now};
	mask_set(&ret->changed, PORT_ATTR_health, p->now.values.health != health);
	p->now.values.health = health;
	if (take_findings(&p->now.tables[PORT_TABLE_FINDINGS], findings)) {
		mask_set(&ret->changed, PORT_ATTR_findings, true);
		ret->tables = 1U << PORT_TABLE_FINDINGS;
	}
	ret->op = mask_is_empty(&ret->changed) ? CACHE_UNCHANGED : CACHE_CHANGED;
	p->health_generation += ret->op == CACHE_CHANGED;
}

void cache_apply_device_health(Device *d, AttrVerdict health, Table *findings, uint64_t now,
			       DeviceChange *ret)
{
	*ret = (DeviceChange){.device = d, .cause = CHANGE_JUDGED, .was = d->now, .when_usec = now};
	mask_set(&ret->changed, DEVICE_ATTR_health, d->now.values.health != health);
	d->now.values.health = health;
	if (take_findings(&d->now.tables[DEVICE_TABLE_FINDINGS], findings)) {
		mask_set(&ret->changed, DEVICE_ATTR_findings, true);
		ret->tables = 1U << DEVICE_TABLE_FINDINGS;
	}
	ret->op = mask_is_empty(&ret->changed) ? CACHE_UNCHANGED : CACHE_CHANGED;
}
