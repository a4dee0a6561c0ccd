/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls that a client makes to the daemon. */

#include "client-call.h"

#include "client-follow.h"
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
		       GVariant *arguments, int timeout_msec, GCancellable *cancellable,
		       GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GDBusMessage) m = new_call(path, interface, method, arguments);
	g_autoptr(GTask) task = g_task_new(c, cancellable, callback, user_data);

	g_task_set_source_tag(task, client_call_async);
	g_dbus_connection_send_message_with_reply(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
						  timeout_msec, NULL, cancellable, on_answered,
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
			       const char *method, GVariant *arguments, int timeout_msec,
			       const char *signature, GCancellable *cancellable, GError **error)
{
	g_autoptr(GDBusMessage) m = new_call(path, interface, method, arguments);
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_sync(
		c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, timeout_msec, NULL, cancellable,
		error);

	if (!reply)
		return NULL;
	client_take_answer(c, reply);
	return reply_check(reply, signature, error) ? g_steal_pointer(&reply) : NULL;
}
