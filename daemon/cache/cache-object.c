/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cache-object.h"

unsigned int cache_object_interfaces(const CacheObject *o)
{
	return o->port ? port_interfaces(&o->port->now) : device_interfaces(&o->device->now);
}

const Table *cache_object_table(const CacheObject *o, size_t a)
{
	AttrType type = o->rows[a].type;
	PortTable of_port = o->port ? attr_port_table(type) : _PORT_TABLE_MAX;
	DeviceTable of_device = o->port ? _DEVICE_TABLE_MAX : attr_device_table(type);

	return of_port < _PORT_TABLE_MAX       ? o->port->now.tables[of_port]
	       : of_device < _DEVICE_TABLE_MAX ? o->device->now.tables[of_device]
					       : NULL;
}

const Unavailable *cache_object_unavailable(const CacheObject *o, size_t a)
{
	return o->port ? port_unavailable(&o->port->now, (PortAttr)a)
		       : device_unavailable(&o->device->now, (DeviceAttr)a);
}

const char *cache_object_path(const CacheObject *o, char *ret)
{
	return o->port ? port_path(o->port, ret) : device_path(o->device, ret);
}
