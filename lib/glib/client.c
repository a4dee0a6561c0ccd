/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The class of clients: properties, signals, and functions that show what a client has. */

#include "client-objects.h"
#include "client-private.h"
#include "client-start.h"
#include "compat-glib.h"
#include "object-private.h"

G_DEFINE_FINAL_TYPE_WITH_CODE(RdmadClient, rdmad_client, G_TYPE_OBJECT,
			      G_IMPLEMENT_INTERFACE(G_TYPE_INITABLE, client_initable_init)
				      G_IMPLEMENT_INTERFACE(G_TYPE_ASYNC_INITABLE,
							    client_async_initable_init))

enum { PROP_BUS_ADDRESS = 1, PROP_CONNECTION, PROP_CONNECTED, N_PROPERTIES };

static void rdmad_client_init(RdmadClient *c)
{
	c->objects = g_ptr_array_new_with_free_func(g_object_unref);
	g_queue_init(&c->incoming);
	g_queue_init(&c->pending);
	(void)RDMAD_SERVICE_ERROR; /* registers the errors with GDBus */
}

static void rdmad_client_dispose(GObject *object)
{
	RdmadClient *c = RDMAD_CLIENT(object);

	client_stop(c);
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

static void install_device_signals(void)
{
	/**
	 * RdmadClient::device-added:
	 * @self: the client
	 * @device: the device
	 *
	 * A device has been added.
	 */
	g_signal_new("device-added", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_DEVICE);
	/**
	 * RdmadClient::device-removed:
	 * @self: the client
	 * @device: the device, with its last values
	 *
	 * A device has been removed. Its ports were reported as removed before.
	 */
	g_signal_new("device-removed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_DEVICE);
	/**
	 * RdmadClient::device-changed:
	 * @self: the client
	 * @device: the device
	 * @properties: the names of the properties whose values have changed
	 *
	 * A device has changed.
	 */
	g_signal_new("device-changed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 2, RDMAD_TYPE_DEVICE, G_TYPE_STRV);
}

static void install_port_signals(void)
{
	/**
	 * RdmadClient::port-added:
	 * @self: the client
	 * @port: the port
	 *
	 * A port has been added.
	 */
	g_signal_new("port-added", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_PORT);
	/**
	 * RdmadClient::port-removed:
	 * @self: the client
	 * @port: the port, with its last values
	 *
	 * A port has been removed.
	 */
	g_signal_new("port-removed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 1, RDMAD_TYPE_PORT);
	/**
	 * RdmadClient::port-changed:
	 * @self: the client
	 * @port: the port
	 * @properties: the names of the properties whose values have changed
	 *
	 * A port has changed. Properties that only count changes, such as `config-generation`, are
	 * not among @properties. They have a `notify` signal.
	 */
	g_signal_new("port-changed", RDMAD_TYPE_CLIENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
		     G_TYPE_NONE, 2, RDMAD_TYPE_PORT, G_TYPE_STRV);
}

static void install_changed_signal(void)
{
	/**
	 * RdmadClient::changed:
	 * @self: the client
	 * @changes: (element-type RdmadChange): all changes that the daemon has found at one time,
	 *   or all differences since the last daemon
	 *
	 * Something has changed. This signal follows those for the single objects.
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
	 * The connection to the bus. If none is given, the client makes one when it is initialized,
	 * and another one when that has been closed.
	 */
	g_object_class_install_property(
		object_class, PROP_CONNECTION,
		g_param_spec_object("connection", NULL, NULL, G_TYPE_DBUS_CONNECTION,
				    G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY |
					    G_PARAM_STATIC_STRINGS));
	/**
	 * RdmadClient:connected:
	 *
	 * Whether the daemon is running and the objects are as it publishes them.
	 */
	g_object_class_install_property(object_class, PROP_CONNECTED,
					g_param_spec_boolean("connected", NULL, NULL, FALSE,
							     G_PARAM_READABLE |
								     G_PARAM_EXPLICIT_NOTIFY |
								     G_PARAM_STATIC_STRINGS));
	install_device_signals();
	install_port_signals();
	install_changed_signal();
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
