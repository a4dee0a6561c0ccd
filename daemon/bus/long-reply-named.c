/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-named.h"

#include "bus-property.h"
#include "bus-shown.h"
#include "names.h"

/* Adds the row of the property NAME to *RET. */
static bool add_row(const Attribute *rows, size_t n_rows, const char *name, AttrMask *ret)
{
	for (size_t a = 0; a < n_rows; a++)
		if (rows[a].interface != INTERFACE_RAW && streq(rows[a].name, name)) {
			mask_set(ret, a, true);
			return true;
		}
	return false;
}

static int add_property(const char *name, LongReplyQuestion *q, sd_bus_error *error)
{
	if (add_row(port_attributes, _PORT_ATTR_MAX, name, &q->rows) ||
	    add_row(device_attributes, _DEVICE_ATTR_MAX, name, &q->device_rows))
		return 0;
	return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
				 "Option \"properties\": no port or device has a property \"%s\"",
				 BUS_SHOW(name));
}

int long_reply_name(LongReplyQuestion *q, const BusTexts *names, sd_bus_error *error)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && names->texts && names->texts[i]; i++)
		r = add_property(names->texts[i], q, error);
	return r;
}

static void put_named_rows(BusWriter *w, const CacheObject *o, AttrMask rows)
{
	unsigned int interfaces = cache_object_interfaces(o);

	MASK_FOREACH(a, mask_and(rows, *o->valid))
	if (interfaces >> o->rows[a].interface & 1)
		bus_put_property(w, o, a);
}

void long_reply_put_named(BusWriter *w, const LongReplyQuestion *q, const Port *p)
{
	const CacheObject port = cache_object_of_port(p),
			  device = cache_object_of_device(p->device);

	put_named_rows(w, &port, q->rows);
	if (p->device->published)
		put_named_rows(w, &device, q->device_rows);
}
