/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-device.h"

#include "query-sysfs.h"

void device_query(Target *t, DeviceSnapshot *s)
{
	unsigned int cap_flags;

	s->values = t->nldev.values;
	s->supplied = t->nldev.supplied;
	if (t->verbs.driver_id >= 0)
		DEVICE_SUPPLY(s, driver_id, (uint32_t)t->verbs.driver_id);
	sysfs_supply_device(t->sysfs, s);
	if (t->sysfs >= 0 && t->worker->classes >= 0 &&
	    sysfs_read_chardevs(t->sysfs, t->worker->classes, s->values.name, &s->chardevs) == 0)
		mask_set(&s->supplied, DEVICE_ATTR_chardevs, true);
	if (t->context)
		(void)verbs_query_device(t->context, s, &cap_flags);
}
