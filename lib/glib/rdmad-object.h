/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-types.h"

G_BEGIN_DECLS

/**
 * RdmadObject:
 *
 * What a device and a port have in common: a place on the bus, and attributes.
 *
 * Each attribute is a #GObject property, with a `notify` signal; `org.rdma(5)` has the list. Types
 * and units are those on the bus: enumerations are strings, MTUs bytes, rates bit/s.
 *
 * Not every attribute has a value at all times: a LID means nothing before the subnet manager has
 * set it. The property then reads as 0, %FALSE or %NULL. [method@Object.is_available] tells this
 * from a value, and so do the getters here, which give no number where there is none.
 *
 * Changes of the tables (`gids`, `pkeys`, `netdevs`, `char-devices`) come from the daemon without
 * the new contents. If somebody listens to `notify` of such a property, the client reads them at
 * once. If nobody does, the property becomes %NULL and is unavailable until
 * [method@Object.load_async] has read it. Counters, and `last-query-timestamp`, change without a
 * signal: the property has the value that was last read, and loading it reads it again.
 *
 * An object lives in the main context of its client and is to be used there only.
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
 * Where it is on the bus.
 *
 * Returns: where it is on the bus, such as `/org/rdma/device/0/port/1`
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_object_path(RdmadObject *self);

/**
 * rdmad_object_get_name:
 * @self: a device or port
 *
 * What people call it: `mlx5_0` or `mlx5_0/1`. A rename changes it.
 *
 * Returns: the name
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_name(RdmadObject *self);

/**
 * rdmad_object_is_present:
 * @self: a device or port
 *
 * Whether it was there when the daemon was last heard of. An object that was removed keeps its last
 * values and does not come back: a device that does is another object.
 *
 * Returns: %TRUE until it is removed
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_is_present(RdmadObject *self);

/**
 * rdmad_object_is_available:
 * @self: a device or port
 * @attribute: the name of a property that is an attribute, such as `lid`
 *
 * Whether an attribute has a valid value now.
 *
 * Returns: whether the attribute has a valid value now
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_is_available(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_why_unavailable:
 * @self: a device or port
 * @attribute: the name of a property that is an attribute, such as `lid`
 *
 * What to say in the place of a value.
 *
 * Returns: (nullable): why the attribute has no valid value, such as `link is down`; %NULL if it
 * has one. It is good until the main context runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_why_unavailable(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_get_attribute:
 * @self: a device or port
 * @attribute: the name of a property that is an attribute, such as `lid`
 *
 * The value of any attribute.
 *
 * Returns: (nullable) (transfer full): the value in its type on the bus; %NULL if there is no valid
 * one
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_get_attribute(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_get_number:
 * @self: a device or port
 * @attribute: the name of a property of type #guint or #guint64
 * @ret_number: (out): the value; 0 if there is no valid one
 *
 * The value of an attribute that is a number.
 *
 * Returns: whether there is a valid value
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_get_number(RdmadObject *self, const char *attribute, guint64 *ret_number);

/**
 * rdmad_object_get_boolean:
 * @self: a device or port
 * @attribute: the name of a property of type #gboolean
 * @ret_boolean: (out): the value; %FALSE if there is no valid one
 *
 * The value of an attribute that is true or false.
 *
 * Returns: whether there is a valid value
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_object_get_boolean(RdmadObject *self, const char *attribute, gboolean *ret_boolean);

/**
 * rdmad_object_get_string:
 * @self: a device or port
 * @attribute: the name of a property of type string
 *
 * The value of an attribute that is text.
 *
 * Returns: (nullable): the value, %NULL if there is no valid one. It is good until the main context
 *   runs again.
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_object_get_string(RdmadObject *self, const char *attribute);

/**
 * rdmad_object_load_async:
 * @self: a device or port
 * @attribute: the name of a property that is an attribute, such as `gids`
 * @cancellable: (nullable): to give up
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: for @callback
 *
 * Makes sure that the property is as the daemon knows it: reads a table that has changed, or a
 * counter. What is current already is not read again.
 */
RDMAD_GLIB_PUBLIC
void rdmad_object_load_async(RdmadObject *self, const char *attribute, GCancellable *cancellable,
			     GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_object_load_finish:
 * @self: a device or port
 * @result: what the callback got
 * @error: why there is no value: %RDMAD_SERVICE_ERROR_UNAVAILABLE, %RDMAD_SERVICE_ERROR_GONE, or an
 *   error of the bus
 *
 * Ends what [method@Object.load_async] began.
 *
 * Returns: (transfer full): the value, as [method@Object.get_attribute] has it
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_finish(RdmadObject *self, GAsyncResult *result, GError **error);

/**
 * rdmad_object_load_sync:
 * @self: a device or port
 * @attribute: the name of a property that is an attribute, such as `gids`
 * @cancellable: (nullable): to give up
 * @error: as that of [method@Object.load_finish]
 *
 * The same, waiting for the answer. Changes that the daemon announced before it answered are
 * signalled from within.
 *
 * In a handler of one of the client's signals nothing is signalled from within: the object takes
 * the value that is returned when the handlers have been called.
 *
 * Returns: (transfer full): the value, as [method@Object.get_attribute] has it
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_object_load_sync(RdmadObject *self, const char *attribute,
				 GCancellable *cancellable, GError **error);

G_END_DECLS
