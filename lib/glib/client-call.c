/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls that a client makes to the daemon. */

#include "client-call.h"

#include "client-follow.h"
#include "client-objects.h"
#include "client-private.h"
#include "names.h"
#include "object-private.h"
#include "reply.h"

RdmadClient *client_of_object(RdmadObject *o, GError **error)
{
	RdmadClient *client = rdmad_object_get_client(o);

	if (!client)
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE,
			    "%s has been removed, or its client freed", rdmad_object_get_name(o));
	return client;
}

static GDBusMessage *new_call(const char *path, const char *interface, const char *method,
			      GVariant *arguments)
{
	GDBusMessage *m = g_dbus_message_new_method_call(RDMAD_BUS_NAME, path, interface, method);

	g_dbus_message_set_body(m, arguments);
	return m;
}

static void on_answered(GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	GError *error = NULL;
	GDBusMessage *reply = g_dbus_connection_send_message_with_reply_finish(
		G_DBUS_CONNECTION(source), result, &error);

	if (reply) {
		client_take_answer(g_task_get_source_object(task), reply);
		g_task_return_pointer(task, reply, g_object_unref);
	} else {
		g_task_return_error(task, error);
	}
}

void client_call_async(RdmadClient *c, const char *path, const char *interface, const char *method,
		       GVariant *arguments, GCancellable *cancellable, GAsyncReadyCallback callback,
		       gpointer user_data)
{
	g_autoptr(GDBusMessage) m = new_call(path, interface, method, arguments);
	g_autoptr(GTask) task = g_task_new(c, cancellable, callback, user_data);

	g_task_set_source_tag(task, client_call_async);
	g_dbus_connection_send_message_with_reply(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
						  -1, NULL, cancellable, on_answered,
						  g_steal_pointer(&task));
}

GDBusMessage *client_call_finish(RdmadClient *c, GAsyncResult *result, const char *signature,
				 GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;

	g_return_val_if_fail(g_task_is_valid(result, c), NULL);
	reply = g_task_propagate_pointer(G_TASK(result), error);
	return reply && reply_check(reply, signature, error) ? g_steal_pointer(&reply) : NULL;
}

GDBusMessage *client_call_sync(RdmadClient *c, const char *path, const char *interface,
			       const char *method, GVariant *arguments, const char *signature,
			       GCancellable *cancellable, GError **error)
{
	g_autoptr(GDBusMessage) m = new_call(path, interface, method, arguments);
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_sync(
		c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL, cancellable, error);

	if (!reply)
		return NULL;
	client_take_answer(c, reply);
	return reply_check(reply, signature, error) ? g_steal_pointer(&reply) : NULL;
}

static const struct {
	const char *method, *signature;
} lookups[] = {
	[RDMAD_LOOKUP_NAME] = {"GetPort", "(o)"},
	[RDMAD_LOOKUP_NETDEV] = {"GetPortByNetdev", "(o)"},
	[RDMAD_LOOKUP_GUID] = {"GetPortByGuid", "(o)"},
	[RDMAD_LOOKUP_ADDRESS] = {"GetPortByAddress", "(ou)"},
};

/* The port that REPLY names. If it is a new port, the signal that tells so came before REPLY. */
static RdmadPort *take_port(RdmadClient *c, GDBusMessage *reply, guint *ret_gid_index,
			    GError **error)
{
	GVariant *body = g_dbus_message_get_body(reply);
	RdmadObject *port = NULL;
	const char *path;
	Place place;

	g_variant_get_child(body, 0, "&o", &path);
	if (place_parse(path, &place))
		port = client_get_object(c, place);
	if (!port || !RDMAD_IS_PORT(port)) {
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND,
			    "The port %s is not known to the client", path);
		return NULL;
	}
	*ret_gid_index = 0;
	if (g_variant_n_children(body) > 1)
		g_variant_get_child(body, 1, "u", ret_gid_index);
	return g_object_ref(RDMAD_PORT(port));
}

static void on_port_found(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadLookup lookup = (RdmadLookup)GPOINTER_TO_UINT(g_task_get_task_data(task));
	g_autoptr(GDBusMessage) reply = NULL;
	RdmadPort *port = NULL;
	GError *error = NULL;
	guint gid_index;

	reply = client_call_finish(RDMAD_CLIENT(client), result, lookups[lookup].signature, &error);
	if (reply)
		port = take_port(RDMAD_CLIENT(client), reply, &gid_index, &error);
	if (!port) {
		g_task_return_error(task, error);
		return;
	}
	g_task_set_task_data(task, GUINT_TO_POINTER(gid_index), NULL);
	g_task_return_pointer(task, port, g_object_unref);
}

static gboolean check_connection(RdmadClient *c, GError **error)
{
	if (c->channel)
		return TRUE;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED, "The client is not initialized");
	return FALSE;
}

void rdmad_client_find_port_async(RdmadClient *self, RdmadLookup lookup, const char *text,
				  GCancellable *cancellable, GAsyncReadyCallback callback,
				  gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	GError *error = NULL;

	g_return_if_fail(RDMAD_IS_CLIENT(self));
	g_return_if_fail((guint)lookup < G_N_ELEMENTS(lookups));
	g_return_if_fail(text);
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_client_find_port_async);
	g_task_set_task_data(task, GUINT_TO_POINTER(lookup), NULL);
	if (!check_connection(self, &error))
		g_task_return_error(task, error);
	else
		client_call_async(self, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				  lookups[lookup].method, g_variant_new("(sa{sv})", text, NULL),
				  cancellable, on_port_found, g_steal_pointer(&task));
}

RdmadPort *rdmad_client_find_port_finish(RdmadClient *self, GAsyncResult *result,
					 guint *ret_gid_index, GError **error)
{
	RdmadPort *port;

	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	port = g_task_propagate_pointer(G_TASK(result), error);
	if (port && ret_gid_index)
		*ret_gid_index = GPOINTER_TO_UINT(g_task_get_task_data(G_TASK(result)));
	return port;
}

RdmadPort *rdmad_client_find_port_sync(RdmadClient *self, RdmadLookup lookup, const char *text,
				       guint *ret_gid_index, GCancellable *cancellable,
				       GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;
	g_autoptr(RdmadClient) keep = NULL;
	RdmadPort *port = NULL;
	guint gid_index;

	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail((guint)lookup < G_N_ELEMENTS(lookups), NULL);
	g_return_val_if_fail(text, NULL);
	if (!check_connection(self, error))
		return NULL;
	keep = g_object_ref(self);
	reply = client_call_sync(self, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				 lookups[lookup].method, g_variant_new("(sa{sv})", text, NULL),
				 lookups[lookup].signature, cancellable, error);
	if (reply)
		port = take_port(self, reply, &gid_index, error);
	if (port && ret_gid_index)
		*ret_gid_index = gid_index;
	return port;
}

static void on_refreshed(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;

	reply = client_call_finish(RDMAD_CLIENT(client), result, "()", &error);
	if (reply)
		g_task_return_boolean(task, TRUE);
	else
		g_task_return_error(task, error);
}

void rdmad_client_refresh_async(RdmadClient *self, GCancellable *cancellable,
				GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	GError *error = NULL;

	g_return_if_fail(RDMAD_IS_CLIENT(self));
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_client_refresh_async);
	if (!check_connection(self, &error))
		g_task_return_error(task, error);
	else
		client_call_async(self, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
				  g_variant_new("(a{sv})", NULL), cancellable, on_refreshed,
				  g_steal_pointer(&task));
}

gboolean rdmad_client_refresh_finish(RdmadClient *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
	return g_task_propagate_boolean(G_TASK(result), error);
}

gboolean rdmad_client_refresh_sync(RdmadClient *self, GCancellable *cancellable, GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;

	g_return_val_if_fail(RDMAD_IS_CLIENT(self), FALSE);
	if (!check_connection(self, error))
		return FALSE;
	reply = client_call_sync(self, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
				 g_variant_new("(a{sv})", NULL), "()", cancellable, error);
	return reply != NULL;
}
