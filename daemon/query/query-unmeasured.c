/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-unmeasured.h"

#include <limits.h>
#include <rdma/ib_user_ioctl_verbs.h>

#define NEVER UINT_MAX

static const struct {
	int64_t driver_id;
	const char *kernel_driver;
	unsigned int until; /* KERNEL() */
	PortAttr row;
} rows[] = {
#define UNMEASURED(driver, name, until, field) {driver, name, until, PORT_ATTR_##field},
#include "unmeasured.def"
#undef UNMEASURED
};

AttrMask unmeasured_rows(const PolicyDevice *d)
{
	AttrMask m = {};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool concerned = d->driver_id >= 0 ? d->driver_id == rows[i].driver_id
						   : streq(d->kernel_driver, rows[i].kernel_driver);

		if (concerned && d->kernel < rows[i].until)
			mask_set(&m, rows[i].row, true);
	}
	return m;
}

void unmeasured_drop(const AttrMask *unmeasured, PortSnapshot *s)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		if (!mask_has(unmeasured, a))
			continue;
		attr_clear(&port_attributes[a], &s->values);
		mask_set(&s->supplied, a, false);
	}
	s->unmeasured = *unmeasured;
}
