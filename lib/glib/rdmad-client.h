/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-device.h"
#include "rdmad-port.h"

G_BEGIN_DECLS

/**
 * RdmadClient:
 *
 * A copy of what `rdmad(8)` publishes, kept current: the devices, the ports, and signals when they
 * change.
 *
 * The daemon looks at the hardware when something has happened, and publishes together all that it
 * then found to be different. The client reports it together too: first all objects take their new
 * values, then the `notify` signals and those of the client for the single objects are sent, then
 * one [signal@Client::changed] with the list of it all. No handler sees half of a change. A handler
 * may call what it likes, and wait for answers: changes that this brings are reported when all
 * handlers have been called.
 *
 * The daemon may come later than the client, end, and be started anew. While there is none,
 * [property@Client:connected] is %FALSE and the objects keep their last values. When it is back,
 * what differs from before is reported, once, and what does not differ is not. Transitions in
 * between cannot be known. Only the bus is not to be lost: after that the client stays unconnected.
 *
 * A client and its objects belong to the main context that was the thread's default when the client
 * was initialized: signals are sent from there, and functions are to be called there only.
 */
#define RDMAD_TYPE_CLIENT (rdmad_client_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadClient, rdmad_client, RDMAD, CLIENT, GObject)

/**
 * rdmad_client_new:
 * @cancellable: (nullable): to give up
 * @callback: (scope async) (closure user_data): called when the client has all objects
 * @user_data: for @callback
 *
 * Makes a client on the system bus. That no daemon is running and none can be started is no error:
 * the client is not connected then. For another bus use g_async_initable_new_async() with
 * [property@Client:bus-address] or [property@Client:connection].
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_new(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_new_finish: (constructor)
 * @result: what the callback got
 * @error: why there is no client: an error of the bus
 *
 * Ends what [func@Client.new] began.
 *
 * Returns: (transfer full): the client
 */
RDMAD_GLIB_PUBLIC
RdmadClient *rdmad_client_new_finish(GAsyncResult *result, GError **error);

/**
 * rdmad_client_new_sync: (constructor)
 * @cancellable: (nullable): to give up
 * @error: as that of [ctor@Client.new_finish]
 *
 * The same, waiting until the client has all objects.
 *
 * Returns: (transfer full): the client
 */
RDMAD_GLIB_PUBLIC
RdmadClient *rdmad_client_new_sync(GCancellable *cancellable, GError **error);

/**
 * rdmad_client_get_connected:
 * @self: a client
 *
 * Whether there is a daemon to follow.
 *
 * Returns: whether the daemon is there and the objects are as it publishes them
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_get_connected(RdmadClient *self);

/**
 * rdmad_client_get_connection:
 * @self: a client
 *
 * The connection that the client uses.
 *
 * Returns: (nullable) (transfer none): its connection to the bus; %NULL before it is initialized
 */
RDMAD_GLIB_PUBLIC
GDBusConnection *rdmad_client_get_connection(RdmadClient *self);

/**
 * rdmad_client_get_bus_address:
 * @self: a client
 *
 * The bus that the client was made for.
 *
 * Returns: (nullable): the address of the bus that was asked for
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_client_get_bus_address(RdmadClient *self);

/**
 * rdmad_client_list_devices:
 * @self: a client
 *
 * All devices.
 *
 * Returns: (transfer container) (element-type RdmadDevice): all devices, sorted by index
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_list_devices(RdmadClient *self);

/**
 * rdmad_client_list_ports:
 * @self: a client
 *
 * All ports.
 *
 * Returns: (transfer container) (element-type RdmadPort): all ports, sorted by the index of the
 *   device and the number of the port
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_list_ports(RdmadClient *self);

/**
 * rdmad_client_get_device:
 * @self: a client
 * @name: the name of a device, or its path on the bus
 *
 * Looks among the devices that the client has.
 *
 * Returns: (nullable) (transfer none): the device; %NULL if there is none of that name
 */
RDMAD_GLIB_PUBLIC
RdmadDevice *rdmad_client_get_device(RdmadClient *self, const char *name);

/**
 * rdmad_client_get_port:
 * @self: a client
 * @name: `mlx5_0/1`, `mlx5_0` if that device has one port, or the path of the port on the bus
 *
 * Looks among the ports that the client has. For network interfaces, GUIDs and addresses see
 * [method@Client.find_port_async].
 *
 * Returns: (nullable) (transfer none): the port; %NULL if there is none of that name
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_get_port(RdmadClient *self, const char *name);

/**
 * rdmad_client_find_port_async:
 * @self: a client
 * @lookup: what @text is
 * @text: what to look for
 * @cancellable: (nullable): to give up
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: for @callback
 *
 * Asks the daemon for a port.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_find_port_async(RdmadClient *self, RdmadLookup lookup, const char *text,
				  GCancellable *cancellable, GAsyncReadyCallback callback,
				  gpointer user_data);

/**
 * rdmad_client_find_port_finish:
 * @self: a client
 * @result: what the callback got
 * @ret_gid_index: (out) (optional): where in the port's GID table the address is; 0 for other
 * look-ups
 * @error: why there is no port: %RDMAD_SERVICE_ERROR_NOT_FOUND, %RDMAD_SERVICE_ERROR_AMBIGUOUS,
 *   %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT or an error of the bus
 *
 * Ends what [method@Client.find_port_async] began.
 *
 * Returns: (transfer full): the port
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_find_port_finish(RdmadClient *self, GAsyncResult *result,
					 guint *ret_gid_index, GError **error);

/**
 * rdmad_client_find_port_sync:
 * @self: a client
 * @lookup: what @text is
 * @text: what to look for
 * @ret_gid_index: (out) (optional): where in the port's GID table the address is; 0 for other
 * look-ups
 * @cancellable: (nullable): to give up
 * @error: as that of [method@Client.find_port_finish]
 *
 * The same, waiting for the answer. Changes that the daemon announced before it answered are
 * signalled from within.
 *
 * Returns: (transfer full): the port
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_find_port_sync(RdmadClient *self, RdmadLookup lookup, const char *text,
				       guint *ret_gid_index, GCancellable *cancellable,
				       GError **error);

/**
 * rdmad_client_refresh_async:
 * @self: a client
 * @cancellable: (nullable): to give up
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: for @callback
 *
 * Lets the daemon read everything afresh. When @callback is called, the objects have what it found.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_refresh_async(RdmadClient *self, GCancellable *cancellable,
				GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_refresh_finish:
 * @self: a client
 * @result: what the callback got
 * @error: why it was not done: an #RdmadServiceError or an error of the bus
 *
 * Ends what [method@Client.refresh_async] began.
 *
 * Returns: whether it was done
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_refresh_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_refresh_sync:
 * @self: a client
 * @cancellable: (nullable): to give up
 * @error: as that of [method@Client.refresh_finish]
 *
 * The same, waiting for the answer. What has changed is signalled from within.
 *
 * Returns: whether it was done
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_refresh_sync(RdmadClient *self, GCancellable *cancellable, GError **error);

G_END_DECLS
