/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions that GLib of Debian 11 (2.66) does not have. */

#include <glib-object.h>
#include <string.h>

#if !GLIB_CHECK_VERSION(2, 70, 0)
#define G_DEFINE_FINAL_TYPE	      G_DEFINE_TYPE
#define G_DEFINE_FINAL_TYPE_WITH_CODE G_DEFINE_TYPE_WITH_CODE
#define g_source_set_static_name      g_source_set_name
#endif

#if !GLIB_CHECK_VERSION(2, 68, 0)
static inline void compat_replace(GString *text, const char *find, const char *replace,
				  unsigned int limit)
{
	gsize at = 0;

	for (unsigned int n = 0; limit == 0 || n < limit; n++) {
		const char *found = strstr(text->str + at, find);

		if (!found)
			return;
		at = (gsize)(found - text->str);
		g_string_erase(text, (gssize)at, (gssize)strlen(find));
		g_string_insert(text, (gssize)at, replace);
		at += strlen(replace);
	}
}
#define g_string_replace compat_replace

typedef GPtrArray GStrvBuilder;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GStrvBuilder, g_ptr_array_unref)
#define g_strv_builder_new() g_ptr_array_new_with_free_func(g_free)

static inline void g_strv_builder_add(GStrvBuilder *b, const char *text)
{
	g_ptr_array_add(b, g_strdup(text));
}

static inline GStrv g_strv_builder_end(GStrvBuilder *b)
{
	g_ptr_array_add(b, NULL);
	return (GStrv)g_ptr_array_steal(b, NULL);
}
#endif
