/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "place.h"

#include "names.h"
#include "port-name.h"

gboolean place_parse(const char *path, Place *ret)
{
	uint32_t device, port;

	if (object_path_parse(path, &device, &port) < 0)
		return FALSE;
	*ret = (Place){device, port == PORT_NUMBER_NONE ? 0 : port + 1};
	return TRUE;
}

char *place_to_path(Place place)
{
	char path[RDMAD_PATH_MAX];

	return g_strdup(object_path_put(place.index,
					place.port == 0 ? PORT_NUMBER_NONE : place.port - 1, path));
}
