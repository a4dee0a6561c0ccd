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

void rdmad_port_query_async(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
			    GAsyncReadyCallback callback, gpointer user_data)
{
	g_return_if_fail(RDMAD_IS_PORT(self));
	method_call_async(&query, self, query_arguments(max_age_usec), cancellable, callback,
			  user_data);
}

GVariant *rdmad_port_query_finish(RdmadPort *self, GAsyncResult *result, GError **error)
{
	return method_call_finish(&query, self, result, error);
}

GVariant *rdmad_port_query_sync(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
				GError **error)
{
	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	return method_call_sync(&query, self, query_arguments(max_age_usec), cancellable, error);
}

/* GetHistory */

static const Method get_history = {RDMAD_INTERFACE_PORT,
				   "GetHistory",
				   "(a" ENTRY_TRANSITION ")",
				   entries_take_transitions,
				   (GDestroyNotify)g_ptr_array_unref,
				   FALSE};

void rdmad_port_get_history_async(RdmadPort *self, GCancellable *cancellable,
				  GAsyncReadyCallback callback, gpointer user_data)
{
	g_return_if_fail(RDMAD_IS_PORT(self));
	method_call_async(&get_history, self, method_no_options(), cancellable, callback,
			  user_data);
}

GPtrArray *rdmad_port_get_history_finish(RdmadPort *self, GAsyncResult *result, GError **error)
{
	return method_call_finish(&get_history, self, result, error);
}

GPtrArray *rdmad_port_get_history_sync(RdmadPort *self, GCancellable *cancellable, GError **error)
{
	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	return method_call_sync(&get_history, self, method_no_options(), cancellable, error);
}
