/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the judge says of ports and devices, and the rails of ports. */

#include "cache.h"

/* Puts FINDINGS into *NOW if they are OTHERS: then the old ones are those of the change. Else frees
 * them. */
static void take_findings(Table **now, Table *findings, bool others)
{
	if (others)
		*now = findings;
	else
		table_free(findings);
}

/* Whether A and B are the same findings, in any words. */
static bool are_alike(const Table *a, const Table *b)
{
	const FindingEntry *other = b ? (const void *)b->entries : NULL;

	if (!a || !b || a->n != b->n)
		return a == b;
	TABLE_FOREACH(FindingEntry, e, a) {
		FindingEntry same_words = *other++;

		memcpy(same_words.text, e->text, sizeof(e->text));
		if (memcmp(&same_words, e, sizeof(*e)) != 0)
			return false;
	}
	return true;
}

static bool are_others(const Table *was, const Table *is, bool details)
{
	return details ? !table_equal(was, is) : !are_alike(was, is);
}

void cache_apply_port_health(Port *p, AttrVerdict health, uint64_t fit_since, Table *findings,
			     bool details, uint64_t now, PortChange *ret)
{
	Table **findings_now = &p->now.tables[PORT_TABLE_FINDINGS];
	bool is_other = p->now.values.health != health;
	uint64_t fit_was = p->now.values.fit_since;
	bool is_fit_other = fit_was != fit_since && (details || !fit_was || !fit_since);
	bool others = are_others(*findings_now, findings, details);

	*ret = (PortChange){.port = p, .cause = CHANGE_JUDGED, .when_usec = now};
	/* most are well, and stay so */
	if (is_other || is_fit_other || others) {
		ret->op = CACHE_CHANGED;
		port_change_keep(ret);
	}
	mask_set(&ret->changed, PORT_ATTR_health, is_other);
	mask_set(&ret->changed, PORT_ATTR_fit_since, is_fit_other);
	mask_set(&ret->changed, PORT_ATTR_findings, others);
	ret->tables = (unsigned int)others << PORT_TABLE_FINDINGS;
	p->now.values.health = health;
	if (is_fit_other)
		p->now.values.fit_since = fit_since;
	p->fit_downs = p->history.link_downs;
	take_findings(findings_now, findings, others);
}

void cache_apply_port_rail(Port *p, const PortRail *rail, uint64_t now, PortChange *ret)
{
	*ret = (PortChange){
		.port = p, .cause = CHANGE_JUDGED, .op = CACHE_CHANGED, .when_usec = now};
	port_change_keep(ret);
	p->now.rail = *rail;
	port_derive(&p->now, &p->device->now);
	ret->changed = port_diff(&ret->was, &p->now);
	mask_set(&ret->changed, PORT_ATTR_unavailable, port_reasons_differ(&ret->was, &p->now));
}

void cache_apply_device_health(Device *d, AttrVerdict health, Table *findings, bool details,
			       uint64_t now, DeviceChange *ret)
{
	Table **findings_now = &d->now.tables[DEVICE_TABLE_FINDINGS];
	bool is_other = d->now.values.health != health;
	bool others = are_others(*findings_now, findings, details);

	*ret = (DeviceChange){.device = d, .cause = CHANGE_JUDGED, .when_usec = now};
	if (is_other || others) {
		ret->op = CACHE_CHANGED;
		device_change_keep(ret);
	}
	mask_set(&ret->changed, DEVICE_ATTR_health, is_other);
	mask_set(&ret->changed, DEVICE_ATTR_findings, others);
	ret->tables = (unsigned int)others << DEVICE_TABLE_FINDINGS;
	d->now.values.health = health;
	take_findings(findings_now, findings, others);
}
