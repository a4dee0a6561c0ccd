/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-device.h"
#include "rdmad-entries.h"
#include "rdmad-port.h"

G_BEGIN_DECLS

/**
 * RdmadClient:
 *
 * A client has a copy of what `rdmad(8)` publishes, the devices and the ports, keeps it current,
 * and sends signals when something changes.
 *
 * When something has happened, the daemon looks at the hardware and publishes all differences
 * together. The client reports them together too. First all objects take their new values. Then the
 * client sends the `notify` signals of the objects and its own signals for single objects. At the
 * end it sends one [signal@Client::changed] with the list of all changes. So no handler sees a part
 * of a change only.
 *
 * A handler may call any function and may wait for answers. What changes meanwhile is reported
 * after all handlers have returned.
 *
 * The daemon may start later than the client, end, and start again. While there is no daemon,
 * [property@Client:connected] is %FALSE and the objects keep their last values. When the daemon is
 * there again, the client reports each difference once. It cannot know what changed and changed
 * back in between.
 *
 * The bus may go away too, and come back at the same address. The client then makes a new
 * connection; it tries once in a second. For this it has a connection of its own, also to the
 * system bus, and a program that uses it does not end with the bus. A client that was made with
 * [property@Client:connection] stays unconnected when this connection is closed.
 *
 * A client belongs to the main context that was the default of the thread when the client was
 * initialized. It sends all signals from this context. Call the functions of the client and of its
 * objects only in this context, and with this context as the default of the thread.
 *
 * After an initialization that failed, the client is as it was before and may be initialized again.
 * While an initialization is under way, another one fails with %G_IO_ERROR_PENDING.
 */
#define RDMAD_TYPE_CLIENT (rdmad_client_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadClient, rdmad_client, RDMAD, CLIENT, GObject)

/**
 * rdmad_client_new:
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the client has all objects
 * @user_data: what @callback gets as its last argument
 *
 * Makes a client that uses the system bus. It is no error if no daemon is running and the bus
 * cannot start one: then the client is not connected. For another bus use
 * g_async_initable_new_async() with [property@Client:bus-address] or [property@Client:connection].
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_new(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_new_finish: (constructor)
 * @result: the result that the callback has got
 * @error: why there is no client: an error of the bus, or that of an answer
 *
 * Ends the call that [func@Client.new] has begun.
 *
 * Returns: (transfer full): the client
 */
RDMAD_GLIB_PUBLIC
RdmadClient *rdmad_client_new_finish(GAsyncResult *result, GError **error);

/**
 * rdmad_client_new_sync: (constructor)
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [ctor@Client.new_finish]
 *
 * Makes a client that uses the system bus, as [func@Client.new] does, and waits until it has all
 * objects.
 *
 * Returns: (transfer full): the client
 */
RDMAD_GLIB_PUBLIC
RdmadClient *rdmad_client_new_sync(GCancellable *cancellable, GError **error);

/**
 * rdmad_client_get_connected:
 * @self: a client
 *
 * Tells whether the daemon is running and the objects are as it publishes them.
 *
 * Returns: %TRUE if they are
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_get_connected(RdmadClient *self);

/**
 * rdmad_client_get_connection:
 * @self: a client
 *
 * Gives the connection to the bus that the client uses.
 *
 * Returns: (nullable) (transfer none): the connection; %NULL if the client has none yet
 */
RDMAD_GLIB_PUBLIC
GDBusConnection *rdmad_client_get_connection(RdmadClient *self);

/**
 * rdmad_client_get_bus_address:
 * @self: a client
 *
 * Gives the value of [property@Client:bus-address].
 *
 * Returns: (nullable): the address of a bus; %NULL if the client was made without one
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_client_get_bus_address(RdmadClient *self);

/**
 * rdmad_client_list_devices:
 * @self: a client
 *
 * Lists all devices.
 *
 * Returns: (transfer container) (element-type RdmadDevice): all devices, sorted by index
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_list_devices(RdmadClient *self);

/**
 * rdmad_client_list_ports:
 * @self: a client
 *
 * Lists all ports.
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
 * Finds a device among those that the client has.
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
 * Finds a port among those that the client has. To find a port by a network interface, a GUID or an
 * address, see [method@Client.find_port_async].
 *
 * Returns: (nullable) (transfer none): the port; %NULL if there is none of that name
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_get_port(RdmadClient *self, const char *name);

/**
 * rdmad_client_find_port_async:
 * @self: a client
 * @lookup: what kind of name @text is
 * @text: the name to look for
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks the daemon which port @text means. It is an error if there are several: see
 * [method@Client.find_ports_async].
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_find_port_async(RdmadClient *self, RdmadLookup lookup, const char *text,
				  GCancellable *cancellable, GAsyncReadyCallback callback,
				  gpointer user_data);

/**
 * rdmad_client_find_port_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @ret_gid_index: (out) (optional): the index of the GID that a program should use, as
 *   [method@Client.find_gid_async] finds it; 0 if there is none
 * @error: why there is no port: %RDMAD_SERVICE_ERROR_NOT_FOUND, %RDMAD_SERVICE_ERROR_AMBIGUOUS,
 *   %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT or an error of the bus
 *
 * Ends the call that [method@Client.find_port_async] has begun.
 *
 * Returns: (transfer full): the port
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_find_port_finish(RdmadClient *self, GAsyncResult *result,
					 guint *ret_gid_index, GError **error);

/**
 * rdmad_client_find_port_sync:
 * @self: a client
 * @lookup: what kind of name @text is
 * @text: the name to look for
 * @ret_gid_index: (out) (optional): the index of the GID that a program should use, as
 *   [method@Client.find_gid_async] finds it; 0 if there is none
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.find_port_finish]
 *
 * Asks the daemon which port @text means, and waits for the answer. Changes that the daemon has
 * published before it answered are signalled before this function returns.
 *
 * Returns: (transfer full): the port
 */
RDMAD_GLIB_PUBLIC
RdmadPort *rdmad_client_find_port_sync(RdmadClient *self, RdmadLookup lookup, const char *text,
				       guint *ret_gid_index, GCancellable *cancellable,
				       GError **error);

/**
 * rdmad_client_find_ports_async:
 * @self: a client
 * @lookup: what kind of name @text is
 * @text: the name to look for
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks the daemon which ports @text means.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_find_ports_async(RdmadClient *self, RdmadLookup lookup, const char *text,
				   GCancellable *cancellable, GAsyncReadyCallback callback,
				   gpointer user_data);

/**
 * rdmad_client_find_ports_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why there is no answer: %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT if the text cannot be such
 * a name, %RDMAD_SERVICE_ERROR_LIMITS_EXCEEDED if it means more than 1024 ports, or an error of the
 * bus
 *
 * Ends the call that [method@Client.find_ports_async] has begun.
 *
 * Returns: (transfer container) (element-type RdmadPortMatch): the ports, sorted by the index of
 * the device and the number of the port; empty if there is none
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_find_ports_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_find_ports_sync:
 * @self: a client
 * @lookup: what kind of name @text is
 * @text: the name to look for
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.find_ports_finish]
 *
 * Asks the daemon which ports @text means, and waits for the answer. Changes that the daemon has
 * published before it answered are signalled before this function returns.
 *
 * Returns: (transfer container) (element-type RdmadPortMatch): the ports, sorted by the index of
 * the device and the number of the port; empty if there is none
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_find_ports_sync(RdmadClient *self, RdmadLookup lookup, const char *text,
					GCancellable *cancellable, GError **error);

/**
 * rdmad_client_find_gid_async:
 * @self: a client
 * @port: (nullable): the port; %NULL for any port, then @address or @netdev must say which
 * @address: (nullable): an IP address, or a GID in the notation of IPv6; %NULL for any
 * @netdev: (nullable): the name or alternative name of a network interface; %NULL for any
 * @type: the type of the GID
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Finds the GID that a program should use, among those that have the address, the interface and the
 * type. Of several the first of this order is taken: RoCE v2 before RoCE v1, a global address
 * before a link-local one, the interface of the port, or the bond or bridge that it is in, before
 * another one, and that before a VLAN, IPv4 before IPv6, the lower index. One in another network
 * namespace is the last of all.
 *
 * The first GID of a port has the address of its IPoIB interface, or is on that, as it is in the
 * hardware address of the interface; it is also the first choice on InfiniBand.
 *
 * The daemon is asked which it is, and for the table if that has changed since it was read.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_find_gid_async(RdmadClient *self, RdmadPort *port, const char *address,
				 const char *netdev, RdmadGidType type, GCancellable *cancellable,
				 GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_find_gid_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why there is no GID: %RDMAD_SERVICE_ERROR_NOT_FOUND, %RDMAD_SERVICE_ERROR_AMBIGUOUS if
 *   more than one port has it, %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT if the address is none, the
 *   errors of [method@Object.load_finish], or an error of the bus
 *
 * Ends the call that [method@Client.find_gid_async] has begun.
 *
 * Returns: (transfer full): the GID
 */
RDMAD_GLIB_PUBLIC
RdmadGid *rdmad_client_find_gid_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_find_gid_sync:
 * @self: a client
 * @port: (nullable): the port; %NULL for any port, then @address or @netdev must say which
 * @address: (nullable): an IP address, or a GID in the notation of IPv6; %NULL for any
 * @netdev: (nullable): the name or alternative name of a network interface; %NULL for any
 * @type: the type of the GID
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.find_gid_finish]
 *
 * Finds the GID that a program should use, as [method@Client.find_gid_async] does, and waits for
 * the answer. Changes that the daemon has published before it answered are signalled before this
 * function returns.
 *
 * Returns: (transfer full): the GID
 */
RDMAD_GLIB_PUBLIC
RdmadGid *rdmad_client_find_gid_sync(RdmadClient *self, RdmadPort *port, const char *address,
				     const char *netdev, RdmadGidType type,
				     GCancellable *cancellable, GError **error);

/**
 * rdmad_client_get_counters_async:
 * @self: a client
 * @ports: (nullable) (array zero-terminated=1): the names of the ports, at most 64; %NULL for all
 *   ports
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks for the counters of all ports, with one call. The daemon reads them at most once in a
 * second.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_get_counters_async(RdmadClient *self, const char *const *ports,
				     GCancellable *cancellable, GAsyncReadyCallback callback,
				     gpointer user_data);

/**
 * rdmad_client_get_counters_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why there is no answer: an #RdmadServiceError or an error of the bus. That the counters
 * of one port could not be read is no error: its entry says so.
 *
 * Ends the call that [method@Client.get_counters_async] has begun.
 *
 * Returns: (transfer container) (element-type RdmadPortCounters): an entry for each port, sorted by
 *   the index of the device and the number of the port
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_get_counters_finish(RdmadClient *self, GAsyncResult *result,
					    GError **error);

/**
 * rdmad_client_get_counters_sync:
 * @self: a client
 * @ports: (nullable) (array zero-terminated=1): the names of the ports, at most 64; %NULL for all
 *   ports
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.get_counters_finish]
 *
 * Asks for the counters of all ports, as [method@Client.get_counters_async] does, and waits for
 * the answer.
 *
 * Returns: (transfer container) (element-type RdmadPortCounters): an entry for each port, sorted by
 *   the index of the device and the number of the port
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_get_counters_sync(RdmadClient *self, const char *const *ports,
					  GCancellable *cancellable, GError **error);

/**
 * rdmad_client_get_history_async:
 * @self: a client
 * @name: the name of a port, also of one that has gone
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks for the last transitions of the state of a port. A history belongs to the name of a port,
 * and the daemon also has those of ports that have gone.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_get_history_async(RdmadClient *self, const char *name, GCancellable *cancellable,
				    GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_get_history_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why there is no answer: %RDMAD_SERVICE_ERROR_NOT_FOUND, %RDMAD_SERVICE_ERROR_AMBIGUOUS or
 * an error of the bus
 *
 * Ends the call that [method@Client.get_history_async] has begun.
 *
 * Returns: (transfer container) (element-type RdmadTransition): the transitions, the oldest first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_get_history_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_get_history_sync:
 * @self: a client
 * @name: the name of a port, also of one that has gone
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.get_history_finish]
 *
 * Asks for the history of a port, as [method@Client.get_history_async] does, and waits for the
 * answer.
 *
 * Returns: (transfer container) (element-type RdmadTransition): the transitions, the oldest first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_get_history_sync(RdmadClient *self, const char *name,
					 GCancellable *cancellable, GError **error);

/**
 * rdmad_client_list_histories_async:
 * @self: a client
 * @options: (nullable): the options of `ListHistories`, a dictionary `a{sv}`, see `org.rdma(5)`;
 *   with `transitions` the entries have their transitions; %NULL: none
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks for the histories of all ports, also of those that have gone.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_list_histories_async(RdmadClient *self, GVariant *options,
				       GCancellable *cancellable, GAsyncReadyCallback callback,
				       gpointer user_data);

/**
 * rdmad_client_list_histories_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why there is no answer: an #RdmadServiceError or an error of the bus
 *
 * Ends the call that [method@Client.list_histories_async] has begun.
 *
 * Returns: (transfer container) (element-type RdmadHistory): the histories: first those of the
 * ports that are there, then those of the ports that have gone, the one that went first first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_list_histories_finish(RdmadClient *self, GAsyncResult *result,
					      GError **error);

/**
 * rdmad_client_list_histories_sync:
 * @self: a client
 * @options: (nullable): the options of `ListHistories`, a dictionary `a{sv}`, see `org.rdma(5)`;
 *   with `transitions` the entries have their transitions; %NULL: none
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.list_histories_finish]
 *
 * Asks for the histories of all ports, as [method@Client.list_histories_async] does, and waits for
 * the answer.
 *
 * Returns: (transfer container) (element-type RdmadHistory): the histories: first those of the
 * ports that are there, then those of the ports that have gone, the one that went first first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_client_list_histories_sync(RdmadClient *self, GVariant *options,
					    GCancellable *cancellable, GError **error);

/**
 * rdmad_client_wait_for_async:
 * @self: a client
 * @condition: the condition of `WaitFor`, a dictionary `a{sv}`, see `org.rdma(5)`: `ports` (`as`)
 * are the names of the ports, `state` (`s`) and the others say what they are to be
 * @timeout_usec: how long to wait, in microseconds; if it is negative, without a limit
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Waits until ports meet a condition. The ports may not be there yet. The time limit of D-Bus for
 * calls does not apply. When @cancellable is cancelled, the call ends at once, but the daemon keeps
 * it until @timeout_usec is over, and a user may have 256 such calls.
 *
 * If the daemon ends meanwhile, the call ends with %G_DBUS_ERROR_NO_REPLY. Wait until
 * [property@Client:connected] is %TRUE, and call again with the time that is left.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_wait_for_async(RdmadClient *self, GVariant *condition, gint64 timeout_usec,
				 GCancellable *cancellable, GAsyncReadyCallback callback,
				 gpointer user_data);

/**
 * rdmad_client_wait_for_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why the condition is not met: %RDMAD_SERVICE_ERROR_WAIT_TIMEOUT, whose message says for
 *   each port what is missing, %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT for what can never be, or an
 *   error of the bus
 *
 * Ends the call that [method@Client.wait_for_async] has begun.
 *
 * Returns: (transfer container) (element-type utf8 RdmadPort): the ports that meet the condition,
 * under the names that @condition has
 */
RDMAD_GLIB_PUBLIC
GHashTable *rdmad_client_wait_for_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_wait_for_sync:
 * @self: a client
 * @condition: the condition of `WaitFor`, a dictionary `a{sv}`, see `org.rdma(5)`: `ports` (`as`)
 * are the names of the ports, `state` (`s`) and the others say what they are to be
 * @timeout_usec: how long to wait, in microseconds; if it is negative, without a limit
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.wait_for_finish]
 *
 * Waits until ports meet a condition, as [method@Client.wait_for_async] does. Meanwhile the client
 * reports nothing. What has changed is signalled before this function returns.
 *
 * Returns: (transfer container) (element-type utf8 RdmadPort): the ports that meet the condition,
 * under the names that @condition has
 */
RDMAD_GLIB_PUBLIC
GHashTable *rdmad_client_wait_for_sync(RdmadClient *self, GVariant *condition, gint64 timeout_usec,
				       GCancellable *cancellable, GError **error);

/**
 * rdmad_client_load_all_async:
 * @self: a client
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Gives all properties of all objects the values that the daemon has now, also tables and counters,
 * with one call. [method@Object.get_attributes] then has all of them.
 *
 * This asks no hardware: for that see [method@Client.refresh_async].
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_load_all_async(RdmadClient *self, GCancellable *cancellable,
				 GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_load_all_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why it failed: an error of the bus
 *
 * Ends the call that [method@Client.load_all_async] has begun.
 *
 * Returns: %TRUE if the objects have the values
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_load_all_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_load_all_sync:
 * @self: a client
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.load_all_finish]
 *
 * Loads all attributes of all objects, as [method@Client.load_all_async] does, and waits for the
 * answer. In a handler the objects take the new values after all handlers have returned.
 *
 * Returns: %TRUE if the objects have the values
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_load_all_sync(RdmadClient *self, GCancellable *cancellable, GError **error);

/**
 * rdmad_client_refresh_async:
 * @self: a client
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks the daemon to read all devices and ports again. When @callback is called, the objects have
 * the values that the daemon has read. The daemon does this at most once a second, for all that
 * have asked until then.
 */
RDMAD_GLIB_PUBLIC
void rdmad_client_refresh_async(RdmadClient *self, GCancellable *cancellable,
				GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_client_refresh_finish:
 * @self: a client
 * @result: the result that the callback has got
 * @error: why it failed: an #RdmadServiceError or an error of the bus
 *
 * Ends the call that [method@Client.refresh_async] has begun.
 *
 * Returns: %TRUE if the daemon has read everything
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_refresh_finish(RdmadClient *self, GAsyncResult *result, GError **error);

/**
 * rdmad_client_refresh_sync:
 * @self: a client
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Client.refresh_finish]
 *
 * Asks the daemon to read all devices and ports again, and waits until it has. What has changed is
 * signalled before this function returns.
 *
 * Returns: %TRUE if the daemon has read everything
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_client_refresh_sync(RdmadClient *self, GCancellable *cancellable, GError **error);

G_END_DECLS
