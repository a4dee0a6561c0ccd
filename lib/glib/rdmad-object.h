/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-types.h"

G_BEGIN_DECLS

/**
 * RdmadObject:
 *
 * The base of devices and ports. Both have a place on the bus, and attributes.
 *
 * Each attribute is a #GObject property with a `notify` signal. `org.rdma(5)` lists them. Types and
 * units are those on the bus: an enumeration is a string, an MTU is in bytes, a rate is in bit/s.
 *
 * An attribute does not have a value at all times. For example, a LID means nothing before the
 * subnet manager has set it. The property is then 0, %FALSE or %NULL. To tell this from a value,
 * use [method@Object.is_available], or the functions of this class that get a value: they say
 * whether there is one.
 *
 * When a table changes (`gids`, `pkeys`, `netdevs`, `char-devices`), the daemon does not send the
 * new contents. If a handler is connected to `notify` of this property, the client reads the table
 * at once. If there is no such handler, the property becomes %NULL and is unavailable until
 * [method@Object.load_async] has read the table.
 *
 * The functions that take the name of an attribute know both spellings: that of the property,
 * `active-mtu`, and that on the bus, `ActiveMtu`. An attribute that there is not has no value, and
 * that is no error: a program may ask for an attribute that only later versions of the library
 * know.
 *
 * Counters, and `last-query-timestamp`, change without a signal. The property has the value that
 * was read last, and [method@Object.load_async] reads it again.
 *
 * Use an object only in the main context of its client.
 */
#define RDMAD_TYPE_OBJECT (rdmad_object_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_DERIVABLE_TYPE(RdmadObject, rdmad_object, RDMAD, OBJECT, GObject)

struct _RdmadObjectClass {
	GObjectClass parent_class;
	/*< private >*/
	gconstpointer rows;
	gsize n_rows;
	GParamSpec **properties;
	guint main_interface;
	gpointer padding[3];
};

/**
 * rdmad_object_get_object_path:
 * @self: a device or port
 *
 * Gives the object path on the bus.
 *
 * Returns: the path, such as `/org/rdma/device/0/port/1`
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_object_path(RdmadObject *self);

/**
 * rdmad_object_get_name:
 * @self: a device or port
 *
 * Gives the name that people use: `mlx5_0` for a device, `mlx5_0/1` for a port. When the device is
 * renamed, the name changes.
 *
 * Returns: the name. The pointer is valid until the main context runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_name(RdmadObject *self);

/**
 * rdmad_object_is_present:
 * @self: a device or port
 *
 * Tells whether the daemon still has the device or port, as far as the client knows. An object that
 * was removed keeps its last values and stays removed. If the device comes back, it is a new
 * object.
 *
 * Returns: %TRUE until the object is removed
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_is_present(RdmadObject *self);

/**
 * rdmad_object_is_available:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `lid` or `Lid`
 *
 * Tells whether an attribute has a valid value now.
 *
 * Returns: %TRUE if it has
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_is_available(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_why_unavailable:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `lid` or `Lid`
 *
 * Gives the reason why an attribute has no valid value, to be shown in place of the value. A
 * program that compares it takes [method@Rdmad.Object.get_unavailable_code].
 *
 * Returns: (nullable): the reason, such as `the link is down`, or `no such attribute`; %NULL if the
 * attribute has a valid value. The pointer is valid until the main context runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_why_unavailable(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_get_unavailable_code:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `lid` or `Lid`
 *
 * Gives the reason why an attribute has no valid value, as a code that never changes. The codes are
 * in org.rdma(5). Four more are only here: `other-kind`, this kind of port does not have the
 * attribute; `not-loaded`, the attribute is a table that has changed and was not loaded since;
 * `not-known`, the daemon is older and does not have the attribute; and `no-attribute`, this
 * library does not have it.
 *
 * Returns: (nullable): the code, such as `link-down`; %NULL if the attribute has a valid value. The
 * pointer is valid until the main context runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_unavailable_code(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_get_attribute:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `lid` or `Lid`
 *
 * Gets the value of an attribute of any type.
 *
 * Returns: (nullable) (transfer full): the value, in the type that it has on the bus; %NULL if
 * there is no valid one
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_get_attribute(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_get_attributes:
 * @self: a device or port
 *
 * Gets all attributes that have a valid value now, as the client has them. It does not ask the
 * daemon: a table that has changed and was not loaded is missing. See
 * [method@Object.load_all_async].
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with the values under the names that they have
 *   on the bus, such as `Lid`
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_get_attributes(RdmadObject *self);

/**
 * rdmad_object_get_number:
 * @self: a device or port
 * @attribute: the name of an attribute of type #guint, #gint or #guint64
 * @ret_number: (out): the value; 0 if there is no valid one
 *
 * Gets the value of an attribute that is a number.
 *
 * Returns: %TRUE if there is a valid value
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_get_number(RdmadObject *self, const char *attribute, guint64 *ret_number);

/**
 * rdmad_object_get_boolean:
 * @self: a device or port
 * @attribute: the name of an attribute of type #gboolean
 * @ret_boolean: (out): the value; %FALSE if there is no valid one
 *
 * Gets the value of an attribute that is true or false.
 *
 * Returns: %TRUE if there is a valid value
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_get_boolean(RdmadObject *self, const char *attribute, gboolean *ret_boolean);

/**
 * rdmad_object_get_string:
 * @self: a device or port
 * @attribute: the name of an attribute of type string
 *
 * Gets the value of an attribute that is text.
 *
 * Returns: (nullable): the value; %NULL if there is no valid one. The pointer is valid until the
 * main context runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_string(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_load_async:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `gids` or `Gids`
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Gives the property the value that the daemon has now. A table that has changed, and a counter,
 * are read from the daemon. For other attributes, and for a table that has not changed, the client
 * already has that value and does not ask.
 */
RDMAD_GLIB_PUBLIC
void rdmad_object_load_async(RdmadObject *self, const char *attribute, GCancellable *cancellable,
			     GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_object_load_finish:
 * @self: a device or port
 * @result: the result that the callback has got
 * @error: why there is no value: %RDMAD_SERVICE_ERROR_UNAVAILABLE, %RDMAD_SERVICE_ERROR_NOT_FOUND
 *   if there is no such attribute, %RDMAD_SERVICE_ERROR_GONE, or an error of the bus
 *
 * Ends the call that [method@Object.load_async] has begun.
 *
 * Returns: (transfer full): the value, in the type that it has on the bus
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_finish(RdmadObject *self, GAsyncResult *result, GError **error);

/**
 * rdmad_object_load_sync:
 * @self: a device or port
 * @attribute: the name of an attribute, such as `gids` or `Gids`
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Object.load_finish]
 *
 * Loads an attribute, as [method@Object.load_async] does, and waits for the answer. Changes that
 * the daemon has published before it answered are signalled before this function returns.
 *
 * In a handler of a signal of the client or of its objects nothing is signalled before this
 * function returns: the object takes the new value after all handlers have returned.
 *
 * Returns: (transfer full): the value, in the type that it has on the bus
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_sync(RdmadObject *self, const char *attribute,
				 GCancellable *cancellable, GError **error);

/**
 * rdmad_object_load_all_async:
 * @self: a device or port
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Gives all properties of the object the values that the daemon has now, also tables and counters,
 * with one call. For all objects of a client see [method@Client.load_all_async].
 */
RDMAD_GLIB_PUBLIC
void rdmad_object_load_all_async(RdmadObject *self, GCancellable *cancellable,
				 GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_object_load_all_finish:
 * @self: a device or port
 * @result: the result that the callback has got
 * @error: why there is no answer: %RDMAD_SERVICE_ERROR_GONE, or an error of the bus
 *
 * Ends the call that [method@Object.load_all_async] has begun.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with all attributes that have a valid value,
 *   under the names that they have on the bus, such as `Lid`
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_all_finish(RdmadObject *self, GAsyncResult *result, GError **error);

/**
 * rdmad_object_load_all_sync:
 * @self: a device or port
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Object.load_all_finish]
 *
 * Loads all attributes, as [method@Object.load_all_async] does, and waits for the answer. What is
 * said of handlers at [method@Object.load_sync] holds here too.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with all attributes that have a valid value,
 *   under the names that they have on the bus, such as `Lid`
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_all_sync(RdmadObject *self, GCancellable *cancellable, GError **error);

G_END_DECLS
