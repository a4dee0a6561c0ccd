/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-dv.h"

static const DvProvider *const providers[] = {
	&dv_efa,
	&dv_hbl,
	&dv_hns,
	&dv_mlx5,
};

const DvProvider *dv_find(const PolicyDevice *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++)
		if (providers[i]->matches(d))
			return providers[i];
	return NULL;
}

const DvProvider *dv_find_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++)
		if (streq(providers[i]->name, name))
			return providers[i];
	return NULL;
}

AttrMask dv_port_rows(const DvProvider *dv)
{
	AttrMask rows = {};

	MASK_FOREACH(a, port_rows_of(READ_DIRECT))
	mask_set(&rows, a, port_attributes[a].interface == dv->interface);
	return rows;
}

AttrMask dv_device_rows(const DvProvider *dv)
{
	AttrMask rows = {};

	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		mask_set(&rows, a,
			 device_attributes[a].source == SOURCE_DV &&
				 device_attributes[a].interface == dv->device_interface);
	return rows;
}
