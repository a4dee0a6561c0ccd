/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "method.h"

#include "client-call.h"
#include "client-private.h"
#include "names.h"
#include "util.h"

gpointer method_take_nothing(_unused_ const Answer *a, _unused_ GError **error)
{
	return GINT_TO_POINTER(TRUE);
}

GVariant *method_no_options(void)
{
	return g_variant_new("(a{sv})", NULL);
}

/* The client of SOURCE, if it can make calls. */
static RdmadClient *client_of(gpointer source, GError **error)
{
	RdmadClient *c = RDMAD_IS_CLIENT(source) ? source : client_of_object(source, error);

	if (!c || c->channel || c->initialized)
		return c;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED, "The client is not initialized");
	return NULL;
}

static const char *path_of(gpointer source)
{
	return RDMAD_IS_CLIENT(source) ? RDMAD_ROOT_PATH : rdmad_object_get_object_path(source);
}

static int timeout_of(const Method *m)
{
	return m->waits ? G_MAXINT : -1;
}

static gpointer take(const Method *m, RdmadClient *c, gpointer source, GVariant *arguments,
		     GDBusMessage *reply, GError **error)
{
	const Answer a = {.client = c,
			  .source = source,
			  .arguments = arguments,
			  .reply = reply,
			  .body = g_dbus_message_get_body(reply)};

	return m->take(&a, error);
}

static void on_answer(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	const Method *m = g_task_get_source_tag(task);
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;
	gpointer value = NULL;

	reply = client_call_finish(RDMAD_CLIENT(client), result, m->signature, &error);
	if (reply)
		value = take(m, RDMAD_CLIENT(client), g_task_get_source_object(task),
			     g_task_get_task_data(task), reply, &error);
	if (value)
		g_task_return_pointer(task, value, m->free);
	else
		g_task_return_error(task, error);
}

void method_call_async(const Method *m, gpointer source, GVariant *arguments,
		       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = g_task_new(source, cancellable, callback, user_data);
	GError *error = NULL;
	RdmadClient *c = client_of(source, &error);

	g_task_set_source_tag(task, (gpointer)m);
	g_task_set_task_data(task, g_variant_ref_sink(arguments), (GDestroyNotify)g_variant_unref);
	if (!c)
		g_task_return_error(task, error);
	else
		client_call_async(c, path_of(source), m->interface, m->name, arguments,
				  timeout_of(m), cancellable, on_answer, g_steal_pointer(&task));
}

gpointer method_call_finish(const Method *m, gpointer source, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_async_result_is_tagged(result, (gpointer)m), NULL);
	g_return_val_if_fail(g_task_is_valid(result, source), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

gpointer method_call_sync(const Method *m, gpointer source, GVariant *arguments,
			  GCancellable *cancellable, GError **error)
{
	g_autoptr(GVariant) sunk = g_variant_ref_sink(arguments);
	g_autoptr(GDBusMessage) reply = NULL;
	g_autoptr(RdmadClient) c = client_of(source, error);

	if (!c)
		return NULL;
	g_object_ref(c);
	reply = client_call_sync(c, path_of(source), m->interface, m->name, sunk, timeout_of(m),
				 m->signature, cancellable, error);
	return reply ? take(m, c, source, sunk, reply, error) : NULL;
}
