/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads attributes whose new values the daemon does not send by itself: tables and counters. */

#include "client-call.h"
#include "client-follow.h"
#include "object-private.h"
#include "unavailable.h"

static void set_unavailable_error(RdmadObject *o, size_t row, GError **error)
{
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_UNAVAILABLE, "%s: %s: %s",
		    rdmad_object_get_name(o), rdmad_object_get_row(o, row)->name,
		    unavailable_text(rdmad_object_row_unavailable(o, row)));
}

/* The row of ATTRIBUTE; -1 and an error if there is none. */
static gssize find_row(RdmadObject *o, const char *attribute, GError **error)
{
	gssize row = rdmad_object_find_row(o, attribute);

	if (row < 0)
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND,
			    "%s has no attribute \"%s\"", rdmad_object_get_name(o), attribute);
	return row;
}

/* Whether row ROW can be had without a call. Then *RET_VALUE or *ERROR is set. */
static gboolean load_at_once(RdmadObject *o, size_t row, GVariant **ret_value, GError **error)
{
	RdmadClient *client = client_of_object(o, error);
	GVariant *v = rdmad_object_row_value(o, row);

	if (!client)
		return TRUE;
	if (!v && !rdmad_object_is_outdated(o, row)) {
		set_unavailable_error(o, row, error);
		return TRUE;
	}
	if (!v || attr_changes_silently(rdmad_object_get_row(o, row)) ||
	    !rdmad_client_get_connected(client))
		return FALSE;
	*ret_value = g_variant_ref(v);
	return TRUE;
}

/* Takes in REPLY, the answer to Get. Returns the value. */
static GVariant *load_answer(RdmadObject *o, size_t row, GDBusMessage *reply, GError **error)
{
	RdmadClient *client = rdmad_object_get_client(o);
	const Attribute *a = rdmad_object_get_row(o, row);
	g_autoptr(GVariant) boxed = NULL, value = NULL;

	boxed = g_variant_get_child_value(g_dbus_message_get_body(reply), 0);
	value = g_variant_get_variant(boxed);
	if (!g_variant_is_of_type(value, G_VARIANT_TYPE(attr_signature(a->type)))) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
			    "%s: %s has the type %s, not %s", rdmad_object_get_name(o), a->name,
			    g_variant_get_type_string(value), attr_signature(a->type));
		return NULL;
	}
	if (client) {
		client_add_loaded(client, o, row, value, reply);
		client_take_loaded(client, reply);
	}
	/* for an unavailable attribute the daemon answers with 0 or an empty value */
	if (!rdmad_object_row_value(o, row) && !rdmad_object_is_outdated(o, row)) {
		set_unavailable_error(o, row, error);
		return NULL;
	}
	return g_steal_pointer(&value);
}

static GVariant *load_arguments(RdmadObject *o, size_t row)
{
	const Attribute *a = rdmad_object_get_row(o, row);

	return g_variant_new("(ss)", attr_interface_name(a->interface), a->name);
}

static void on_loaded(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadObject *o = g_task_get_source_object(task);
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;
	GVariant *value = NULL;

	reply = client_call_finish(RDMAD_CLIENT(client), result, "(v)", &error);
	if (reply)
		value = load_answer(o, GPOINTER_TO_SIZE(g_task_get_task_data(task)), reply, &error);
	if (value)
		g_task_return_pointer(task, value, (GDestroyNotify)g_variant_unref);
	else
		g_task_return_error(task, error);
}

void rdmad_object_load_async(RdmadObject *self, const char *attribute, GCancellable *cancellable,
			     GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	GVariant *value = NULL;
	GError *error = NULL;
	gssize row;

	g_return_if_fail(RDMAD_IS_OBJECT(self));
	g_return_if_fail(attribute);
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_object_load_async);
	row = find_row(self, attribute, &error);
	if (row < 0) {
		g_task_return_error(task, error);
		return;
	}
	g_task_set_task_data(task, GSIZE_TO_POINTER(row), NULL);
	if (!load_at_once(self, (size_t)row, &value, &error))
		client_call_async(rdmad_object_get_client(self), rdmad_object_get_object_path(self),
				  "org.freedesktop.DBus.Properties", "Get",
				  load_arguments(self, (size_t)row), -1, cancellable, on_loaded,
				  g_steal_pointer(&task));
	else if (value)
		g_task_return_pointer(task, value, (GDestroyNotify)g_variant_unref);
	else
		g_task_return_error(task, error);
}

GVariant *rdmad_object_load_finish(RdmadObject *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

GVariant *rdmad_object_load_sync(RdmadObject *self, const char *attribute,
				 GCancellable *cancellable, GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;
	g_autoptr(RdmadObject) keep = NULL;
	GVariant *value = NULL;
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = find_row(self, attribute, error);
	if (row < 0)
		return NULL;
	keep = g_object_ref(self);
	if (load_at_once(self, (size_t)row, &value, error))
		return value;
	reply = client_call_sync(rdmad_object_get_client(self), rdmad_object_get_object_path(self),
				 "org.freedesktop.DBus.Properties", "Get",
				 load_arguments(self, (size_t)row), -1, "(v)", cancellable, error);
	return reply ? load_answer(self, (size_t)row, reply, error) : NULL;
}
