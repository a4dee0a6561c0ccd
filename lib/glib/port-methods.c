/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods of a port. */

#include "entries.h"
#include "method.h"
#include "names.h"
#include "rdmad-port.h"
#include "util.h"

/* Query */

static gpointer take_fields(const Answer *a, _unused_ GError **error)
{
	return g_variant_get_child_value(a->body, 0);
}

static const Method query = {RDMAD_INTERFACE_PORT,
			     "Query",
			     "(a{sv})",
			     take_fields,
			     (GDestroyNotify)g_variant_unref,
			     FALSE};

static GVariant *query_arguments(gint64 max_age_usec)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (max_age_usec >= 0)
		g_variant_builder_add(&options, "{sv}", "max-age-usec",
				      g_variant_new_uint64((guint64)max_age_usec));
	return g_variant_new("(a{sv})", &options);
}

METHOD_FUNCTIONS(rdmad_port_query, RdmadPort, RDMAD_IS_PORT, GVariant *, query, TRUE,
		 query_arguments(max_age_usec), gint64 max_age_usec)

/* GetHistory */

static const Method get_history = {RDMAD_INTERFACE_PORT,
				   "GetHistory",
				   "(a" ENTRY_TRANSITION ")",
				   entries_take_transitions,
				   (GDestroyNotify)g_ptr_array_unref,
				   FALSE};

METHOD_FUNCTIONS(rdmad_port_get_history, RdmadPort, RDMAD_IS_PORT, GPtrArray *, get_history, TRUE,
		 method_no_options())

/* Acknowledge */

static const Method acknowledge = {RDMAD_INTERFACE_PORT, "Acknowledge", "()",
				   method_take_nothing,	 NULL,		FALSE};

static GVariant *acknowledge_arguments(const char *check, const char *text)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (text)
		g_variant_builder_add(&options, "{sv}", "text", g_variant_new_string(text));
	return g_variant_new("(sa{sv})", check, &options);
}

METHOD_FUNCTIONS(rdmad_port_acknowledge, RdmadPort, RDMAD_IS_PORT, gboolean, acknowledge, check,
		 acknowledge_arguments(check, text), const char *check, const char *text)
