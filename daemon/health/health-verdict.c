/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How well something is, by what is kept of it. */

#include "health-private.h"

AttrVerdict health_of_port(const Port *p, Table **ret_findings)
{
	const DeviceSnapshot *d = &p->device->now;
	bool is_stale = p->now.values.stale || d->values.stale;
	AttrVerdict v;

	*ret_findings = NULL;
	if (!p->health)
		return VERDICT_UNKNOWN;
	v = kept_tell(&p->device->health->kept, p->health->object, is_stale, ret_findings);
	return is_stale || !mask_has(&p->now.valid, PORT_ATTR_state) ? VERDICT_UNKNOWN : v;
}

AttrVerdict health_of_device(const Device *d, Table **ret_findings)
{
	bool is_stale = d->now.values.stale;
	AttrVerdict v;

	*ret_findings = NULL;
	if (!d->health)
		return VERDICT_UNKNOWN;
	v = kept_tell(&d->health->kept, d->health->object, is_stale, ret_findings);
	return is_stale || !d->now.is_read ? VERDICT_UNKNOWN : v;
}

/* The worse of both: what is not known may be better or worse than what is to be looked at, and
 * nobody knows that it is well. */
static AttrVerdict worse(AttrVerdict a, AttrVerdict b)
{
	static const unsigned int order[_VERDICT_MAX] = {
		[VERDICT_OK] = 0,
		[VERDICT_WARNING] = 1,
		[VERDICT_UNKNOWN] = 2,
		[VERDICT_CRITICAL] = 3,
	};

	return order[a] >= order[b] ? a : b;
}

AttrVerdict health_of_machine(const Health *h, Table **ret_findings)
{
	AttrVerdict worst = kept_tell(&h->kept, NULL, false, ret_findings);

	for (size_t i = 0; i < h->cache->n_devices; i++) {
		const Device *d = h->cache->devices[i];

		worst = worse(worst, d->now.values.health);
		for (uint32_t k = 0; k < d->n_ports; k++)
			worst = worse(worst, d->ports[k]->now.values.health);
	}
	return worst;
}

bool health_acknowledge(Health *h, Port *p, const char *check, const char *text, uint64_t now)
{
	KeptList *kept = p->device->health ? &p->device->health->kept : NULL;
	bool of_device, of_port;

	if (!kept || !p->health)
		return false;
	of_port = kept_acknowledge(kept, p->health->object, check, text, now);
	of_device = kept_acknowledge(kept, p->device->health->object, check, text, now);
	(void)fit_look(h, p->device, now);
	return of_port || of_device;
}
