/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Which device or port an object is. Lists of objects are sorted by place. */
typedef struct Place {
	guint32 index; /* the kernel's index of the device */
	guint32 port;  /* the number of the port, plus 1; 0: the device itself */
} Place;

/* The place of the object path PATH. FALSE: PATH is neither a device's nor a port's. */
gboolean place_parse(const char *path, Place *ret);
/* To be freed with g_free(). */
char *place_to_path(Place place);
/* Less than, equal to or greater than 0, as A is before, at or behind B. */
static inline int place_compare(Place a, Place b)
{
	return a.index != b.index ? (a.index < b.index ? -1 : 1)
				  : (a.port > b.port) - (a.port < b.port);
}
