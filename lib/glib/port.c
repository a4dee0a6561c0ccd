/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "client-private.h"
#include "names.h"

struct _RdmadPort {
	RdmadObject parent_instance;
};

G_DEFINE_FINAL_TYPE(RdmadPort, rdmad_port, RDMAD_TYPE_OBJECT)

static void rdmad_port_class_init(RdmadPortClass *class)
{
	rdmad_object_class_install(RDMAD_OBJECT_CLASS(class), port_attributes, _PORT_ATTR_MAX);

	/**
	 * RdmadPort::state-changed:
	 * @self: the port
	 * @state: the state that it has now
	 * @old_state: the state that it had before
	 * @reason: what made the daemon look, such as `port-active`
	 *
	 * The daemon has seen a transition of the state. It says so for each, even if the next has
	 * come before the properties could show it.
	 */
	g_signal_new("state-changed", RDMAD_TYPE_PORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 3, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING);
	/**
	 * RdmadPort::subnet-reconfigured:
	 * @self: the port
	 * @reason: what made the daemon look, such as `sm-change`
	 *
	 * The subnet manager has changed the port's configuration.
	 */
	g_signal_new("subnet-reconfigured", RDMAD_TYPE_PORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void rdmad_port_init(RdmadPort *self G_GNUC_UNUSED)
{
}

RdmadDevice *rdmad_port_find_device(RdmadPort *self)
{
	RdmadClient *client;
	Place place;

	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	client = rdmad_object_get_client(RDMAD_OBJECT(self));
	place = rdmad_object_get_place(RDMAD_OBJECT(self));
	place.number = 0;
	return client ? (RdmadDevice *)rdmad_client_get_object(client, place) : NULL;
}

static GVariant *query_arguments(gint64 max_age_usec)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (max_age_usec >= 0)
		g_variant_builder_add(&options, "{sv}", "max-age-usec",
				      g_variant_new_uint64((guint64)max_age_usec));
	return g_variant_new("(a{sv})", &options);
}

static gboolean check_client(RdmadPort *self, GError **error)
{
	if (rdmad_object_get_client(RDMAD_OBJECT(self)))
		return TRUE;
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE, "%s is no more",
		    rdmad_object_get_name(RDMAD_OBJECT(self)));
	return FALSE;
}

static void on_query_answered(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;

	reply = rdmad_client_call_finish(RDMAD_CLIENT(client), result, "(a{sv})", &error);
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
	GError *error = NULL;

	g_return_if_fail(RDMAD_IS_PORT(self));
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_port_query_async);
	if (!check_client(self, &error)) {
		g_task_return_error(task, error);
		return;
	}
	rdmad_client_call_async(rdmad_object_get_client(RDMAD_OBJECT(self)),
				rdmad_object_get_object_path(RDMAD_OBJECT(self)),
				RDMAD_INTERFACE_PORT, "Query", query_arguments(max_age_usec),
				cancellable, on_query_answered, g_steal_pointer(&task));
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

	g_return_val_if_fail(RDMAD_IS_PORT(self), NULL);
	if (!check_client(self, error))
		return NULL;
	reply = rdmad_client_call_sync(rdmad_object_get_client(RDMAD_OBJECT(self)),
				       rdmad_object_get_object_path(RDMAD_OBJECT(self)),
				       RDMAD_INTERFACE_PORT, "Query", query_arguments(max_age_usec),
				       "(a{sv})", cancellable, error);
	return reply ? g_variant_get_child_value(g_dbus_message_get_body(reply), 0) : NULL;
}
