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

#define CONNECTION_FLAGS                                                                           \
	(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |                                           \
	 G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION)

/* Whether C has started, so that there is nothing to do. */
static gboolean has_started(RdmadClient *c)
{
	return c->channel && !c->starting;
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

/* After a start that has failed C is as it was before. */
static void end_start(RdmadClient *c, gboolean success)
{
	c->starting = FALSE;
	if (success)
		return;
	client_detach(c);
	if (!c->own_connection)
		return;
	c->own_connection = FALSE;
	g_clear_object(&c->connection);
	g_object_notify(G_OBJECT(c), "connection");
}

/* Takes over CONNECTION, which the client has made. */
static void set_own_connection(RdmadClient *c, GDBusConnection *connection)
{
	c->connection = connection;
	c->own_connection = TRUE;
	g_object_notify(G_OBJECT(c), "connection");
}

static gboolean connect_sync(RdmadClient *c, GCancellable *cancellable, GError **error)
{
	GDBusConnection *connection;

	if (c->connection)
		return TRUE;
	connection = c->bus_address ? g_dbus_connection_new_for_address_sync(c->bus_address,
									     CONNECTION_FLAGS, NULL,
									     cancellable, error)
				    : g_bus_get_sync(G_BUS_TYPE_SYSTEM, cancellable, error);
	if (!connection)
		return FALSE;
	set_own_connection(c, connection);
	return TRUE;
}

static gboolean start_sync(RdmadClient *c, GCancellable *cancellable, GError **error)
{
	if (!connect_sync(c, cancellable, error) || !client_attach(c, error))
		return FALSE;
	for (guint i = 0; i < START_MESSAGES; i++) {
		g_autoptr(GDBusMessage) m = NULL, reply = NULL;

		if (g_cancellable_set_error_if_cancelled(cancellable, error))
			return FALSE;
		m = client_start_message(c, i);
		reply = g_dbus_connection_send_message_with_reply_sync(
			c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE, -1, NULL, cancellable,
			error);
		if (!reply || !client_take_start_reply(c, i, reply, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
	RdmadClient *c = RDMAD_CLIENT(initable);
	gboolean success;

	if (has_started(c))
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

	if (!reply || !client_take_start_reply(c, i, reply, &error)) {
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

/* Sends the one whose number is the data of the task. */
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
	m = client_start_message(c, GPOINTER_TO_UINT(g_task_get_task_data(task)));
	g_dbus_connection_send_message_with_reply(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
						  -1, NULL, cancellable, on_start_reply,
						  g_steal_pointer(&task));
}

static void start_async(GTask *owned_task)
{
	g_autoptr(GTask) task = owned_task;
	GError *error = NULL;

	if (client_attach(g_task_get_source_object(task), &error))
		send_start_message(g_steal_pointer(&task));
	else
		fail_start(task, error);
}

static void on_connection(_unused_ GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadClient *c = g_task_get_source_object(task);
	GError *error = NULL;
	GDBusConnection *connection =
		c->bus_address ? g_dbus_connection_new_for_address_finish(result, &error)
			       : g_bus_get_finish(result, &error);

	if (!connection) {
		fail_start(task, error);
		return;
	}
	set_own_connection(c, connection);
	start_async(g_steal_pointer(&task));
}

static void init_async(GAsyncInitable *initable, int priority, GCancellable *cancellable,
		       GAsyncReadyCallback callback, gpointer user_data)
{
	RdmadClient *c = RDMAD_CLIENT(initable);
	g_autoptr(GTask) task = g_task_new(initable, cancellable, callback, user_data);
	GError *error = NULL;

	g_task_set_source_tag(task, init_async);
	g_task_set_priority(task, priority);
	/* the calls look at it; a client that has started has started */
	g_task_set_check_cancellable(task, FALSE);
	if (has_started(c))
		g_task_return_boolean(task, TRUE);
	else if (!begin_start(c, &error))
		g_task_return_error(task, error);
	else if (c->connection)
		start_async(g_steal_pointer(&task));
	else if (c->bus_address)
		g_dbus_connection_new_for_address(c->bus_address, CONNECTION_FLAGS, NULL,
						  cancellable, on_connection,
						  g_steal_pointer(&task));
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
