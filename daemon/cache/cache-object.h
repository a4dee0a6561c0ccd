/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A device or a port of the cache as rows of its attribute table: for what is done with both in the
 * same way. */

#include "cache.h"

typedef struct CacheObject {
	const Device *device;
	const Port *port; /* NULL: the object is DEVICE */
	const Attribute *rows;
	size_t n_rows;
	const void *values; /* of the rows */
	const AttrMask *valid;
} CacheObject;

static inline CacheObject cache_object_of_device(const Device *d)
{
	return (CacheObject){
		d, NULL, device_attributes, _DEVICE_ATTR_MAX, &d->now.values, &d->now.valid};
}

static inline CacheObject cache_object_of_port(const Port *p)
{
	return (CacheObject){p->device,	   p, port_attributes, _PORT_ATTR_MAX, &p->now.values,
			     &p->now.valid};
}

/* The interfaces that the object has, as a mask of 1 << AttrInterface. */
unsigned int cache_object_interfaces(const CacheObject *o);
/* The table that row A is; NULL: it has no entries, or the row is no table. */
const Table *cache_object_table(const CacheObject *o, size_t a);
/* Why row A has no value; NULL: it has one. */
const Unavailable *cache_object_unavailable(const CacheObject *o, size_t a);
/* As port_path(). */
const char *cache_object_path(const CacheObject *o, char *ret);
