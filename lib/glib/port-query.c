/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The raw fields of a port. */

#include "client-call.h"
#include "names.h"
#include "object-private.h"

static GVariant *query_arguments(gint64 max_age_usec)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (max_age_usec >= 0)
		g_variant_builder_add(&options, "{sv}", "max-age-usec",
				      g_variant_new_uint64((guint64)max_age_usec));
	return g_variant_new("(a{sv})", &options);
}

static void on_query_answered(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;

	reply = client_call_finish(RDMAD_CLIENT(client), result, "(a{sv})", &error);
	if (reply)
		g_task_return_pointer(task,
				      g_variant_get_child_value(g_dbus_message_get_body(reply), 0),
				      (GDestroyNotify)g_variant_unref);
	else
		g_task_return_error(task, error);
}

void rdmad_port_query_async(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
			    GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	RdmadClient *client;
	GError *error = NULL;

	g_return_if_fail(RDMAD_IS_PORT(self));
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_port_query_async);
	client = client_of_object(RDMAD_OBJECT(self), &error);
	if (!client) {
		g_task_return_error(task, error);
		return;
	}
	client_call_async(client, rdmad_object_get_object_path(RDMAD_OBJECT(self)),
			  RDMAD_INTERFACE_PORT, "Query", query_arguments(max_age_usec), cancellable,
			  on_query_answered, g_steal_pointer(&task));
}

GVariant *rdmad_port_query_finish(RdmadPort *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

GVariant *rdmad_port_query_sync(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
				GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;
	RdmadClient *client;

	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	client = client_of_object(RDMAD_OBJECT(self), error);
	if (!client)
		return NULL;
	reply = client_call_sync(client, rdmad_object_get_object_path(RDMAD_OBJECT(self)),
				 RDMAD_INTERFACE_PORT, "Query", query_arguments(max_age_usec),
				 "(a{sv})", cancellable, error);
	return reply ? g_variant_get_child_value(g_dbus_message_get_body(reply), 0) : NULL;
}
