/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "place.h"

#include "names.h"
#include "util.h"

static gboolean parse_number(const char **text, guint32 *ret)
{
	char *end;
	guint64 n;

	if (!g_ascii_isdigit(**text) || (**text == '0' && g_ascii_isdigit((*text)[1])))
		return FALSE;
	n = g_ascii_strtoull(*text, &end, 10);
	if (n > G_MAXUINT32)
		return FALSE;
	*text = end;
	*ret = (guint32)n;
	return TRUE;
}

gboolean place_parse(const char *path, Place *ret)
{
	const char *p = startswith(path, RDMAD_DEVICE_PREFIX "/");
	Place place = {};

	if (!p || !parse_number(&p, &place.index))
		return FALSE;
	if (*p) {
		p = startswith(p, "/port/");
		if (!p || !parse_number(&p, &place.port) || *p || ++place.port == 0)
			return FALSE;
	}
	*ret = place;
	return TRUE;
}

char *place_to_path(Place place)
{
	return place.port == 0 ? g_strdup_printf(RDMAD_DEVICE_PREFIX "/%u", place.index)
			       : g_strdup_printf(RDMAD_DEVICE_PREFIX "/%u/port/%u", place.index,
						 place.port - 1);
}
