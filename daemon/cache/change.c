/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "change.h"

#include "cache.h"
#include "decode.h"

void port_change_keep(PortChange *c)
{
	c->was = c->port->now;
	texts_hold(c->was.values.texts);
}

void device_change_keep(DeviceChange *c)
{
	c->was = c->device->now;
	texts_hold(c->was.values.texts);
}

void port_change_done(PortChange *c)
{
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (c->tables >> t & 1)
			table_free(c->was.tables[t]);
	c->tables = 0;
	texts_release(c->was.values.texts);
	c->was.values.texts = NULL;
}

void device_change_done(DeviceChange *c)
{
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		if (c->tables >> t & 1)
			table_free(c->was.tables[t]);
	c->tables = 0;
	texts_release(c->was.values.texts);
	c->was.values.texts = NULL;
}

bool port_change_is_of_state(const PortChange *c)
{
	const PortSnapshot *is = &c->port->now;

	return mask_has(&c->was.valid, PORT_ATTR_state) && mask_has(&is->valid, PORT_ATTR_state) &&
	       c->was.values.state != is->values.state;
}

EventReason port_change_reason(const PortChange *c)
{
	return port_change_is_of_state(c)
		       ? event_reason_of_state(c->reasons,
					       c->port->now.values.state == PORT_STATE_ACTIVE)
		       : event_reason_to_publish(c->reasons);
}
