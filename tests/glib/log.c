/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "log.h"

static void on_object(RdmadObject *o, Log *l, const char *signal)
{
	g_string_append_printf(l->text, "%s %s\n", signal, rdmad_object_get_name(o));
}

static void on_device_added(_unused_ RdmadClient *client, RdmadObject *o, Log *l)
{
	on_object(o, l, "device-added");
}

static void on_device_removed(_unused_ RdmadClient *client, RdmadObject *o, Log *l)
{
	on_object(o, l, "device-removed");
}

static void on_port_added(_unused_ RdmadClient *client, RdmadObject *o, Log *l)
{
	on_object(o, l, "port-added");
}

static void on_port_removed(_unused_ RdmadClient *client, RdmadObject *o, Log *l)
{
	on_object(o, l, "port-removed");
}

/* What is judged changes a little later than what it is judged by, or at once with it. */
static bool is_judged(const char *property)
{
	return streq(property, "health") || streq(property, "findings");
}

static void on_object_changed(_unused_ RdmadClient *client, RdmadObject *o, char **properties,
			      Log *l)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (char **p = properties; *p; p++)
		if (!is_judged(*p))
			g_string_append_printf(names, " %s", *p);
	if (names->len > 0)
		g_string_append_printf(l->text, "%s-changed %s%s\n",
				       RDMAD_IS_PORT(o) ? "port" : "device",
				       rdmad_object_get_name(o), names->str);
}

static bool is_only_judged(const RdmadChange *c)
{
	bool only = c->properties && *c->properties;

	for (char **p = c->properties; p && *p; p++)
		only &= is_judged(*p);
	return only;
}

static void on_changed(_unused_ RdmadClient *client, GPtrArray *changes, Log *l)
{
	guint n = 0;

	for (guint i = 0; i < changes->len; i++)
		n += !is_only_judged(changes->pdata[i]);
	if (n == 0)
		return;
	l->n_batches++;
	l->n_last = n;
}

static void on_connected(_unused_ RdmadClient *client, _unused_ GParamSpec *property, Log *l)
{
	l->n_connected++;
}

static Log *new_log(RdmadClient *client)
{
	Log *l = g_new0(Log, 1);

	l->client = client;
	l->text = g_string_new(NULL);
	g_signal_connect(client, "device-added", G_CALLBACK(on_device_added), l);
	g_signal_connect(client, "device-removed", G_CALLBACK(on_device_removed), l);
	g_signal_connect(client, "device-changed", G_CALLBACK(on_object_changed), l);
	g_signal_connect(client, "port-added", G_CALLBACK(on_port_added), l);
	g_signal_connect(client, "port-removed", G_CALLBACK(on_port_removed), l);
	g_signal_connect(client, "port-changed", G_CALLBACK(on_object_changed), l);
	g_signal_connect(client, "changed", G_CALLBACK(on_changed), l);
	g_signal_connect(client, "notify::connected", G_CALLBACK(on_connected), l);
	return l;
}

Log *log_new(Fixture *f)
{
	g_autoptr(GError) error = NULL;
	RdmadClient *client =
		g_initable_new(RDMAD_TYPE_CLIENT, NULL, &error, "bus-address", f->address, NULL);

	if (!client)
		fail_msg("%s", error->message);
	return new_log(client);
}

void log_take_result(_unused_ GObject *source, GAsyncResult *result, gpointer user_data)
{
	*(GAsyncResult **)user_data = g_object_ref(result);
}

void log_take_notify(_unused_ GObject *o, GParamSpec *property, gpointer user_data)
{
	g_string_append_printf(user_data, "%s ", g_param_spec_get_name(property));
}

Log *log_new_async(Fixture *f)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GObject) source = NULL;
	g_autoptr(GError) error = NULL;
	GObject *client;

	g_async_initable_new_async(RDMAD_TYPE_CLIENT, G_PRIORITY_DEFAULT, NULL, log_take_result,
				   &result, "bus-address", f->address, NULL);
	wait_until(result);
	source = g_async_result_get_source_object(result);
	client = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, &error);
	if (!client)
		fail_msg("%s", error->message);
	return new_log(RDMAD_CLIENT(client));
}

void log_free(Log *l)
{
	g_signal_handlers_disconnect_by_data(l->client, l);
	g_object_unref(l->client);
	g_string_free(l->text, TRUE);
	g_free(l);
	/* GDBus drops its references when the context runs */
	while (g_main_context_iteration(NULL, FALSE))
		;
}

void log_forget(Log *l)
{
	g_string_truncate(l->text, 0);
	l->n_batches = l->n_last = l->n_connected = 0;
}

GDBusConnection *log_connect(Fixture *f)
{
	GDBusConnection *bus = g_dbus_connection_new_for_address_sync(
		f->address,
		G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
			G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
		NULL, NULL, NULL);

	assert_non_null(bus);
	return bus;
}

static gboolean on_second(_unused_ gpointer user_data)
{
	return G_SOURCE_CONTINUE;
}

void main_context_turn(void)
{
	guint guard = g_timeout_add_seconds(1, on_second, NULL);

	g_main_context_iteration(NULL, TRUE);
	g_source_remove(guard);
}

void log_settle(Log *l)
{
	g_autoptr(GPtrArray) ports = rdmad_client_list_ports(l->client);
	g_autoptr(GVariant) fields = NULL;
	g_autoptr(GError) error = NULL;

	assert_true(ports->len > 0);
	fields = rdmad_port_query_sync(ports->pdata[0], G_MAXINT64, NULL, &error);
	if (!fields)
		fail_msg("%s", error->message);
}

int log_run_group(const char *name, const struct CMUnitTest *tests, size_t n)
{
	/* what the library itself takes for an error is a failure */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_ERROR);
	return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}
