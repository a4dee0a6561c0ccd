/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client's construction, and what it has. */

#include "client-follow.h"
#include "client-objects.h"
#include "client-private.h"
#include "object-private.h"

static void initable_init(GInitableIface *interface);
static void async_initable_init(GAsyncInitableIface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE(RdmadClient, rdmad_client, G_TYPE_OBJECT,
			      G_IMPLEMENT_INTERFACE(G_TYPE_INITABLE, initable_init)
				      G_IMPLEMENT_INTERFACE(G_TYPE_ASYNC_INITABLE,
							    async_initable_init))

enum { PROP_BUS_ADDRESS = 1, PROP_CONNECTION, PROP_CONNECTED, N_PROPERTIES };

static void rdmad_client_init(RdmadClient *c)
{
	c->objects = g_ptr_array_new_with_free_func(g_object_unref);
	g_queue_init(&c->incoming);
	g_queue_init(&c->pending);
	(void)RDMAD_SERVICE_ERROR; /* registers the errors */
}

static void rdmad_client_dispose(GObject *object)
{
	RdmadClient *c = RDMAD_CLIENT(object);

	client_detach(c);
	for (guint i = 0; i < c->objects->len; i++)
		rdmad_object_orphan(c->objects->pdata[i]);
	g_ptr_array_set_size(c->objects, 0);
	G_OBJECT_CLASS(rdmad_client_parent_class)->dispose(object);
}

static void rdmad_client_finalize(GObject *object)
{
	RdmadClient *c = RDMAD_CLIENT(object);

	g_ptr_array_unref(c->objects);
	g_clear_object(&c->connection);
	g_free(c->bus_address);
	G_OBJECT_CLASS(rdmad_client_parent_class)->finalize(object);
}

static void rdmad_client_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
	RdmadClient *c = RDMAD_CLIENT(object);

	switch (id) {
	case PROP_BUS_ADDRESS:
		g_value_set_string(value, c->bus_address);
		break;
	case PROP_CONNECTION:
		g_value_set_object(value, c->connection);
		break;
	case PROP_CONNECTED:
		g_value_set_boolean(value, c->synced);
		break;
	default:
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
	}
}

static void rdmad_client_set_property(GObject *object, guint id, const GValue *value,
				      GParamSpec *pspec)
{
	RdmadClient *c = RDMAD_CLIENT(object);

	switch (id) {
	case PROP_BUS_ADDRESS:
		c->bus_address = g_value_dup_string(value);
		break;
	case PROP_CONNECTION:
		c->connection = g_value_dup_object(value);
		break;
	default:
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
	}
}

static void install_signals(void)
{
	/**
	 * RdmadClient::device-added:
	 * @self: the client
	 * @device: the device
	 *
	 * There is a new device.
	 */
	g_signal_new("device-added", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_DEVICE);
	/**
	 * RdmadClient::device-removed:
	 * @self: the client
	 * @device: the device, with its last values
	 *
	 * A device is no more. Its ports are reported before it.
	 */
	g_signal_new("device-removed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_DEVICE);
	/**
	 * RdmadClient::device-changed:
	 * @self: the client
	 * @device: the device
	 * @properties: the names of the properties that have other values
	 *
	 * A device has changed.
	 */
	g_signal_new("device-changed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 2, RDMAD_TYPE_DEVICE, G_TYPE_STRV);
	/**
	 * RdmadClient::port-added:
	 * @self: the client
	 * @port: the port
	 *
	 * There is a new port.
	 */
	g_signal_new("port-added", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_PORT);
	/**
	 * RdmadClient::port-removed:
	 * @self: the client
	 * @port: the port, with its last values
	 *
	 * A port is no more.
	 */
	g_signal_new("port-removed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_PORT);
	/**
	 * RdmadClient::port-changed:
	 * @self: the client
	 * @port: the port
	 * @properties: the names of the properties that have other values
	 *
	 * A port has changed. Properties that only count changes, such as `config-generation`, have
	 * their `notify` signal and are not among @properties.
	 */
	g_signal_new("port-changed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 2, RDMAD_TYPE_PORT, G_TYPE_STRV);
	/**
	 * RdmadClient::changed:
	 * @self: the client
	 * @changes: (element-type RdmadChange): all that the daemon found to be different, or all
	 * that has become different while there was no daemon
	 *
	 * Something has changed: sent after the signals for the single objects.
	 */
	g_signal_new("changed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, G_TYPE_PTR_ARRAY);
}

static void rdmad_client_class_init(RdmadClientClass *class)
{
	GObjectClass *object_class = G_OBJECT_CLASS(class);

	object_class->dispose = rdmad_client_dispose;
	object_class->finalize = rdmad_client_finalize;
	object_class->get_property = rdmad_client_get_property;
	object_class->set_property = rdmad_client_set_property;

	/**
	 * RdmadClient:bus-address:
	 *
	 * The D-Bus address of the bus to connect to; %NULL for the system bus.
	 */
	g_object_class_install_property(object_class, PROP_BUS_ADDRESS,
					g_param_spec_string("bus-address", NULL, NULL, NULL,
							    G_PARAM_READWRITE |
								    G_PARAM_CONSTRUCT_ONLY |
								    G_PARAM_STATIC_STRINGS));
	/**
	 * RdmadClient:connection:
	 *
	 * The connection to use instead; %NULL until the client has made its own. That to the
	 * system bus is shared with the rest of the program.
	 */
	g_object_class_install_property(
		object_class, PROP_CONNECTION,
		g_param_spec_object("connection", NULL, NULL, G_TYPE_DBUS_CONNECTION,
				    G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY |
					    G_PARAM_STATIC_STRINGS));
	/**
	 * RdmadClient:connected:
	 *
	 * The daemon is there, and the objects are as it publishes them.
	 */
	g_object_class_install_property(object_class, PROP_CONNECTED,
					g_param_spec_boolean("connected", NULL, NULL, FALSE,
							     G_PARAM_READABLE |
								     G_PARAM_EXPLICIT_NOTIFY |
								     G_PARAM_STATIC_STRINGS));
	install_signals();
}

static gboolean init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
	RdmadClient *c = RDMAD_CLIENT(initable);
	g_autoptr(GDBusConnection) connection = NULL;
	g_autoptr(GDBusMessage) reply = NULL;

	if (c->channel)
		return TRUE;
	if (c->connection)
		connection = g_object_ref(c->connection);
	else if (c->bus_address)
		connection = g_dbus_connection_new_for_address_sync(
			c->bus_address,
			G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
				G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
			NULL, cancellable, error);
	else
		connection = g_bus_get_sync(G_BUS_TYPE_SYSTEM, cancellable, error);
	if (!connection || !client_attach(c, connection, error))
		return FALSE;
	for (guint i = 0; i < START_MESSAGES; i++) {
		g_autoptr(GDBusMessage) m = client_start_message(i);

		g_clear_object(&reply);
		reply = g_dbus_connection_send_message_with_reply_sync(
			connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL, cancellable,
			error);
		if (!reply)
			return FALSE;
		if (i < START_MESSAGES - 1 && !client_check_reply(reply, "()", error))
			return FALSE;
	}
	return client_take_objects(c, reply, error);
}

/* An asynchronous start: how many of its answers are to come, and the first error. */
typedef struct Start {
	guint n_waiting;
	GError *error;
} Start;

static void start_free(gpointer data)
{
	Start *start = data;

	g_clear_error(&start->error);
	g_free(start);
}

static void on_started(GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	Start *start = g_task_get_task_data(task);
	g_autoptr(GError) error = NULL;
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_finish(
		G_DBUS_CONNECTION(source), result, &error);

	/* the answers come in the order of the calls: the last has all objects */
	start->n_waiting--;
	if (reply && start->n_waiting > 0)
		(void)client_check_reply(reply, "()", &error);
	else if (reply && !start->error)
		(void)client_take_objects(g_task_get_source_object(task), reply, &error);
	if (error && !start->error)
		start->error = g_steal_pointer(&error);
	if (start->n_waiting > 0)
		return;
	if (start->error)
		g_task_return_error(task, g_steal_pointer(&start->error));
	else
		g_task_return_boolean(task, TRUE);
}

static void start_async(GTask *owned_task, GDBusConnection *connection)
{
	g_autoptr(GTask) task = owned_task;
	RdmadClient *c = g_task_get_source_object(task);
	Start *start = g_new0(Start, 1);

	g_task_set_task_data(task, start, start_free);
	if (!client_attach(c, connection, &start->error)) {
		g_task_return_error(task, g_steal_pointer(&start->error));
		return;
	}
	for (guint i = 0; i < START_MESSAGES; i++) {
		g_autoptr(GDBusMessage) m = client_start_message(i);

		start->n_waiting++;
		g_dbus_connection_send_message_with_reply(
			connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL,
			g_task_get_cancellable(task), on_started, g_object_ref(task));
	}
}

static void on_connection(GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadClient *c = g_task_get_source_object(task);
	g_autoptr(GDBusConnection) connection = NULL;
	GError *error = NULL;

	connection = c->bus_address ? g_dbus_connection_new_for_address_finish(result, &error)
				    : g_bus_get_finish(result, &error);
	if (connection)
		start_async(g_steal_pointer(&task), connection);
	else
		g_task_return_error(task, error);
}

static void init_async(GAsyncInitable *initable, int priority, GCancellable *cancellable,
		       GAsyncReadyCallback callback, gpointer user_data)
{
	RdmadClient *c = RDMAD_CLIENT(initable);
	g_autoptr(GTask) task = g_task_new(initable, cancellable, callback, user_data);

	g_task_set_source_tag(task, init_async);
	g_task_set_priority(task, priority);
	if (c->channel)
		g_task_return_boolean(task, TRUE);
	else if (c->connection)
		start_async(g_steal_pointer(&task), c->connection);
	else if (c->bus_address)
		g_dbus_connection_new_for_address(
			c->bus_address,
			G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
				G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
			NULL, cancellable, on_connection, g_steal_pointer(&task));
	else
		g_bus_get(G_BUS_TYPE_SYSTEM, cancellable, on_connection, g_steal_pointer(&task));
}

static gboolean init_finish(GAsyncInitable *initable, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, initable), FALSE);
	return g_task_propagate_boolean(G_TASK(result), error);
}

static void initable_init(GInitableIface *interface)
{
	interface->init = init_sync;
}

static void async_initable_init(GAsyncInitableIface *interface)
{
	interface->init_async = init_async;
	interface->init_finish = init_finish;
}

void rdmad_client_new(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
	g_async_initable_new_async(RDMAD_TYPE_CLIENT, G_PRIORITY_DEFAULT, cancellable, callback,
				   user_data, NULL);
}

RdmadClient *rdmad_client_new_finish(GAsyncResult *result, GError **error)
{
	g_autoptr(GObject) source = g_async_result_get_source_object(result);

	return (RdmadClient *)g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, error);
}

RdmadClient *rdmad_client_new_sync(GCancellable *cancellable, GError **error)
{
	return g_initable_new(RDMAD_TYPE_CLIENT, cancellable, error, NULL);
}

gboolean rdmad_client_get_connected(RdmadClient *self)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), FALSE);
	return self->synced;
}

GDBusConnection *rdmad_client_get_connection(RdmadClient *self)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	return self->connection;
}

const char *rdmad_client_get_bus_address(RdmadClient *self)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	return self->bus_address;
}

GPtrArray *rdmad_client_list_devices(RdmadClient *self)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	return client_list_devices(self);
}

GPtrArray *rdmad_client_list_ports(RdmadClient *self)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	return client_list_ports(self);
}

RdmadDevice *rdmad_client_get_device(RdmadClient *self, const char *name)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail(name, NULL);
	return (RdmadDevice *)client_find_device(self, name);
}

RdmadPort *rdmad_client_get_port(RdmadClient *self, const char *name)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail(name, NULL);
	return (RdmadPort *)client_find_port(self, name);
}
