/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "property-name.h"

char *property_name(const char *name)
{
	GString *s = g_string_new(NULL);

	for (const char *p = name; *p; p++) {
		/* a word begins at a capital letter that does not follow another: RegC0Value is
		 * reg-c0-value */
		if (p > name && g_ascii_isupper(*p) && !g_ascii_isupper(p[-1]))
			g_string_append_c(s, '-');
		g_string_append_c(s, g_ascii_tolower(*p));
	}
	return g_string_free(s, FALSE);
}
