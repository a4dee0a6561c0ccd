/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts a client: connects to the bus, asks it for the signals of the daemon, and asks the daemon
 * for all objects, in this order. So it gets a signal for each change after the answer.
 *
 * When the bus has gone, the client is started again, each RECONNECT_SEC until the bus is there. A
 * new start needs another connection, so a client uses none that belongs to the program or is
 * shared with it.
 */

#include "client-start.h"

#include "client-follow.h"
#include "client-private.h"
#include "names.h"
#include "reply.h"
#include "util.h"

#define CONNECTION_FLAGS                                                                           \
	(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |                                           \
	 G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION)

/* How long the client waits before it tries to connect again. */
#define RECONNECT_SEC 1

static const char *const matches[] = {
	"type='signal',sender='" BUS_NAME "',interface='" BUS_NAME "',path='" BUS_PATH
	"',member='NameOwnerChanged',arg0='" RDMAD_BUS_NAME "'",
	"type='signal',sender='" RDMAD_BUS_NAME "',path_namespace='" RDMAD_ROOT_PATH "'",
};

/* The messages to the bus, each sent when the one before is answered: AddMatch for each rule,
 * and last the call for all objects. */
#define START_MESSAGES (G_N_ELEMENTS(matches) + 1)

static GDBusMessage *match_call(const char *method, size_t i)
{
	GDBusMessage *m = g_dbus_message_new_method_call(BUS_NAME, BUS_PATH, BUS_NAME, method);

	g_dbus_message_set_body(m, g_variant_new("(s)", matches[i]));
	return m;
}

/* Message I of a start. */
static GDBusMessage *start_message(RdmadClient *c, guint i)
{
	if (i >= G_N_ELEMENTS(matches))
		return client_objects_call();
	c->matches |= 1U << i;
	return match_call("AddMatch", i);
}

/* Takes in the answer to message I. */
static gboolean take_start_reply(RdmadClient *c, guint i, GDBusMessage *reply, GError **error)
{
	if (i >= G_N_ELEMENTS(matches))
		return client_take_objects(c, reply, error);
	if (reply_check(reply, "()", error))
		return TRUE;
	c->matches &= ~(1U << i);
	return FALSE;
}

/* The bus counts how often a connection has added a rule. Another client may have added the same
 * rules on this connection, so only those are removed that this client has added. */
static void remove_matches(RdmadClient *c)
{
	for (size_t i = 0; i < G_N_ELEMENTS(matches); i++) {
		g_autoptr(GDBusMessage) m = NULL;

		if (!(c->matches >> i & 1))
			continue;
		m = match_call("RemoveMatch", i);
		g_dbus_message_set_flags(m, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
		g_dbus_connection_send_message(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
					       NULL, NULL);
	}
	c->matches = 0;
}

static void stop_reconnect(RdmadClient *c)
{
	if (!c->reconnect)
		return;
	g_source_destroy(c->reconnect);
	g_clear_pointer(&c->reconnect, g_source_unref);
}

/* Ends that C follows the daemon. */
static void stop_following(RdmadClient *c)
{
	client_detach(c);
	remove_matches(c);
}

void client_stop(RdmadClient *c)
{
	stop_reconnect(c);
	stop_following(c);
}

static gboolean on_reconnect(gpointer user_data);

/* Makes C try to connect again after a while. CONTEXT is that of C. */
static void reconnect_later(RdmadClient *c, GMainContext *context)
{
	if (c->reconnect)
		return;
	c->reconnect = g_timeout_source_new_seconds(RECONNECT_SEC);
	g_source_set_callback(c->reconnect, on_reconnect, c, NULL);
	g_source_attach(c->reconnect, context);
}

/* The connection has been closed. While a start is under way, that fails. */
static void on_lost(RdmadClient *c)
{
	if (c->own_connection && c->initialized && !c->starting)
		reconnect_later(c, c->context);
}

static gboolean begin_start(RdmadClient *c, GError **error)
{
	if (c->starting) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_PENDING,
			    "The client is being initialized");
		return FALSE;
	}
	c->starting = TRUE;
	return TRUE;
}

/* After a first start that has failed C is as it was before. Later ones are tried again. */
static void end_start(RdmadClient *c, gboolean success)
{
	c->starting = FALSE;
	if (success) {
		c->initialized = TRUE;
		if (g_dbus_connection_is_closed(c->connection))
			on_lost(c);
		return;
	}
	stop_following(c);
	if (!c->own_connection || c->initialized)
		return;
	c->own_connection = FALSE;
	g_clear_object(&c->connection);
	g_object_notify(G_OBJECT(c), "connection");
}

/* Takes over CONNECTION, which was not given by the program. */
static void set_own_connection(RdmadClient *c, GDBusConnection *connection)
{
	g_clear_object(&c->connection);
	c->connection = connection;
	c->own_connection = TRUE;
	g_object_notify(G_OBJECT(c), "connection");
}

/* The address of the bus to connect to, to be freed. */
static char *get_address(RdmadClient *c, GError **error)
{
	return c->bus_address ? g_strdup(c->bus_address)
			      : g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, NULL, error);
}

static gboolean connect_sync(RdmadClient *c, GCancellable *cancellable, GError **error)
{
	g_autofree char *address = NULL;
	GDBusConnection *connection;

	if (c->connection)
		return TRUE;
	address = get_address(c, error);
	if (!address)
		return FALSE;
	connection = g_dbus_connection_new_for_address_sync(address, CONNECTION_FLAGS, NULL,
							    cancellable, error);
	if (!connection) {
		g_prefix_error(error, "The bus %s: ", address);
		return FALSE;
	}
	set_own_connection(c, connection);
	return TRUE;
}

static gboolean start_sync(RdmadClient *c, GCancellable *cancellable, GError **error)
{
	if (!connect_sync(c, cancellable, error) || !client_attach(c, on_lost, error))
		return FALSE;
	for (guint i = 0; i < START_MESSAGES; i++) {
		g_autoptr(GDBusMessage) m = NULL, reply = NULL;

		if (g_cancellable_set_error_if_cancelled(cancellable, error))
			return FALSE;
		m = start_message(c, i);
		reply = g_dbus_connection_send_message_with_reply_sync(
			c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL, cancellable,
			error);
		if (!reply || !take_start_reply(c, i, reply, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
	RdmadClient *c = (RdmadClient *)initable;
	gboolean success;

	if (c->initialized)
		return TRUE;
	if (!begin_start(c, error))
		return FALSE;
	success = start_sync(c, cancellable, error);
	end_start(c, success);
	return success;
}

/* Takes over ERROR. */
static void fail_start(GTask *task, GError *error)
{
	end_start(g_task_get_source_object(task), FALSE);
	g_task_return_error(task, error);
}

static void send_start_message(GTask *owned_task);

static void on_start_reply(GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadClient *c = g_task_get_source_object(task);
	guint i = GPOINTER_TO_UINT(g_task_get_task_data(task));
	GError *error = NULL;
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_finish(
		G_DBUS_CONNECTION(source), result, &error);

	if (!reply || !take_start_reply(c, i, reply, &error)) {
		fail_start(task, error);
		return;
	}
	if (++i < START_MESSAGES) {
		g_task_set_task_data(task, GUINT_TO_POINTER(i), NULL);
		send_start_message(g_steal_pointer(&task));
		return;
	}
	end_start(c, TRUE);
	g_task_return_boolean(task, TRUE);
}

/* Sends the message of the start whose number is the data of the task. Takes over the task. */
static void send_start_message(GTask *owned_task)
{
	g_autoptr(GTask) task = owned_task;
	RdmadClient *c = g_task_get_source_object(task);
	GCancellable *cancellable = g_task_get_cancellable(task);
	g_autoptr(GDBusMessage) m = NULL;
	GError *error = NULL;

	if (g_cancellable_set_error_if_cancelled(cancellable, &error)) {
		fail_start(task, error);
		return;
	}
	m = start_message(c, GPOINTER_TO_UINT(g_task_get_task_data(task)));
	g_dbus_connection_send_message_with_reply(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
						  -1, NULL, cancellable, on_start_reply,
						  g_steal_pointer(&task));
}

static void start_async(GTask *owned_task)
{
	g_autoptr(GTask) task = owned_task;
	GError *error = NULL;

	if (client_attach(g_task_get_source_object(task), on_lost, &error))
		send_start_message(g_steal_pointer(&task));
	else
		fail_start(task, error);
}

static void on_connection(_unused_ GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	GError *error = NULL;
	GDBusConnection *connection = g_dbus_connection_new_for_address_finish(result, &error);

	if (!connection) {
		g_autofree char *address = get_address(g_task_get_source_object(task), NULL);

		g_prefix_error(&error, "The bus %s: ", address);
		fail_start(task, error);
		return;
	}
	set_own_connection(g_task_get_source_object(task), connection);
	start_async(g_steal_pointer(&task));
}

/* Makes a connection, and starts the client with it. Takes over the task. */
static void connect_async(GTask *owned_task)
{
	g_autoptr(GTask) task = owned_task;
	GCancellable *cancellable = g_task_get_cancellable(task);
	g_autofree char *address = NULL;
	GError *error = NULL;

	address = get_address(g_task_get_source_object(task), &error);
	if (address)
		g_dbus_connection_new_for_address(address, CONNECTION_FLAGS, NULL, cancellable,
						  on_connection, g_steal_pointer(&task));
	else
		fail_start(task, error);
}

static void on_reconnected(GObject *source, GAsyncResult *result, _unused_ gpointer user_data)
{
	g_autoptr(GError) error = NULL;

	if (g_task_propagate_boolean(G_TASK(result), &error))
		return;
	g_debug("Cannot connect to the bus again: %s", error->message);
	reconnect_later(RDMAD_CLIENT(source), g_task_get_context(G_TASK(result)));
}

static gboolean on_reconnect(gpointer user_data)
{
	g_autoptr(RdmadClient) c = g_object_ref(user_data);
	g_autoptr(GMainContext) context = g_main_context_ref(g_source_get_context(c->reconnect));

	stop_reconnect(c);
	stop_following(c);
	c->starting = TRUE;
	g_main_context_push_thread_default(context);
	connect_async(g_task_new(c, NULL, on_reconnected, NULL));
	g_main_context_pop_thread_default(context);
	return G_SOURCE_REMOVE;
}

static void init_async(GAsyncInitable *initable, int priority, GCancellable *cancellable,
		       GAsyncReadyCallback callback, gpointer user_data)
{
	RdmadClient *c = (RdmadClient *)initable;
	g_autoptr(GTask) task = g_task_new(initable, cancellable, callback, user_data);
	GError *error = NULL;

	g_task_set_source_tag(task, init_async);
	g_task_set_priority(task, priority);
	/* Each call looks at the cancellable. If it is cancelled after the last of them, the client
	 * has been started, and the task must not say otherwise. */
	g_task_set_check_cancellable(task, FALSE);
	if (c->initialized)
		g_task_return_boolean(task, TRUE);
	else if (!begin_start(c, &error))
		g_task_return_error(task, error);
	else if (c->connection)
		start_async(g_steal_pointer(&task));
	else
		connect_async(g_steal_pointer(&task));
}

static gboolean init_finish(GAsyncInitable *initable, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, initable), FALSE);
	return g_task_propagate_boolean(G_TASK(result), error);
}

void client_initable_init(GInitableIface *interface)
{
	interface->init = init_sync;
}

void client_async_initable_init(GAsyncInitableIface *interface)
{
	interface->init_async = init_async;
	interface->init_finish = init_finish;
}
