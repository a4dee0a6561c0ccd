/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "service.h"

static const char introspection[] =
	"<node>"
	"<interface name='org.freedesktop.DBus.ObjectManager'><method name='GetManagedObjects'>"
	"<arg type='a{oa{sa{sv}}}' direction='out'/></method></interface>"
	"<interface name='org.rdma.Port'><method name='Query'><arg type='a{sv}' direction='in'/>"
	"<arg type='a{sv}' direction='out'/></method>"
	"<property name='Gids' type='a(ussssa{sv})' access='read'/></interface>"
	"</node>";

void service_emit(Service *s, const char *path, const char *interface, const char *member,
		  const char *body)
{
	g_autoptr(GError) error = NULL;

	if (!g_dbus_connection_emit_signal(s->bus, NULL, path, interface, member,
					   g_variant_new_parsed(body), &error))
		fail_msg("%s", error->message);
}

void service_emit_changed(Service *s, const char *interface, const char *changed,
			  const char *invalidated)
{
	g_autofree char *body =
		g_strdup_printf("('%s', @a{sv} %s, @as %s)", interface, changed, invalidated);

	service_emit(s, PORT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", body);
}

static void on_call(_unused_ GDBusConnection *bus, _unused_ const char *sender,
		    _unused_ const char *path, _unused_ const char *interface, const char *method,
		    _unused_ GVariant *arguments, GDBusMethodInvocation *call, gpointer user_data)
{
	Service *s = user_data;

	if (streq(method, "Query")) {
		g_dbus_method_invocation_return_value(call, g_variant_new_parsed("(@a{sv} {},)"));
		return;
	}
	if (s->before_answer)
		s->before_answer(s);
	if (!s->objects) {
		g_dbus_method_invocation_return_dbus_error(
			call, "org.freedesktop.DBus.Error.AccessDenied", "No");
	} else {
		/* not with g_dbus_method_invocation_return_value(), which checks the type */
		GDBusMessage *reply =
			g_dbus_message_new_method_reply(g_dbus_method_invocation_get_message(call));

		g_dbus_message_set_body(reply, s->objects);
		g_dbus_connection_send_message(s->bus, reply, 0, NULL, NULL);
		g_object_unref(reply);
		g_object_unref(call);
	}
	if (s->after_answer)
		s->after_answer(s);
}

static GVariant *on_get(_unused_ GDBusConnection *bus, _unused_ const char *sender,
			_unused_ const char *path, _unused_ const char *interface,
			_unused_ const char *name, _unused_ GError **error, gpointer user_data)
{
	Service *s = user_data;

	if (s->before_gids)
		s->before_gids(s);
	return g_variant_new_parsed(s->gids);
}

/* Runs in the thread of GDBus. */
static GDBusMessage *on_message(_unused_ GDBusConnection *bus, GDBusMessage *m, gboolean incoming,
				gpointer user_data)
{
	Service *s = user_data;

	if (!incoming || g_dbus_message_get_message_type(m) != G_DBUS_MESSAGE_TYPE_METHOD_CALL ||
	    g_strcmp0(g_dbus_message_get_member(m), g_atomic_pointer_get(&s->hold)) != 0)
		return m;
	g_async_queue_push(s->held, m);
	return NULL;
}

static void call_bus(GDBusConnection *bus, const char *method, GVariant *arguments)
{
	g_autoptr(GVariant) reply = g_dbus_connection_call_sync(
		bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		method, arguments, NULL, 0, -1, NULL, NULL);

	assert_non_null(reply);
}

void service_request_name(Service *s)
{
	call_bus(s->bus, "RequestName", g_variant_new("(su)", RDMAD_BUS_NAME, 0));
}

void service_release_name(Service *s)
{
	call_bus(s->bus, "ReleaseName", g_variant_new("(s)", RDMAD_BUS_NAME));
}

void service_answer_held(Service *s, const char *body)
{
	g_autoptr(GDBusMessage) call = g_async_queue_pop(s->held);
	GDBusConnection *bus = s->old_bus ? s->old_bus : s->bus;
	g_autoptr(GDBusMessage) reply = g_dbus_message_new_method_reply(call);

	if (body)
		g_dbus_message_set_body(reply, g_variant_new_parsed(body));
	g_dbus_connection_send_message(bus, reply, 0, NULL, NULL);
	/* when the bus answers this, it has delivered the message before */
	call_bus(bus, "GetId", NULL);
}

/* Connects to the bus, with the objects of the service. */
static void appear(Service *s)
{
	static const GDBusInterfaceVTable functions = {on_call, on_get, NULL, {}};
	g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(introspection, NULL);

	assert_non_null(node);
	s->bus = log_connect(s->f);
	assert_true(g_dbus_connection_register_object(s->bus, RDMAD_ROOT_PATH, node->interfaces[0],
						      &functions, s, NULL, NULL) > 0);
	assert_true(g_dbus_connection_register_object(s->bus, PORT_PATH, node->interfaces[1],
						      &functions, s, NULL, NULL) > 0);
	g_dbus_connection_add_filter(s->bus, on_message, s, NULL);
	service_request_name(s);
}

static void disappear(GDBusConnection *bus)
{
	g_dbus_connection_close_sync(bus, NULL, NULL);
	g_object_unref(bus);
}

Service *service_new(const char *objects)
{
	Service *s = g_new0(Service, 1);

	s->f = fixture_new();
	s->held = g_async_queue_new_full(g_object_unref);
	if (objects)
		s->objects = g_variant_ref_sink(g_variant_new_parsed(objects));
	appear(s);
	return s;
}

void service_replace(Service *s)
{
	service_release_name(s);
	s->old_bus = s->bus;
	appear(s);
}

void service_free(Service *s)
{
	if (s->l)
		log_free(s->l);
	disappear(s->bus);
	if (s->old_bus)
		disappear(s->old_bus);
	g_clear_pointer(&s->objects, g_variant_unref);
	g_async_queue_unref(s->held);
	fixture_free(s->f);
	g_free(s);
}

void service_settle(Service *s)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) fields = NULL;
	g_autoptr(GError) error = NULL;
	RdmadPort *port = rdmad_client_get_port(s->l->client, PORT_PATH);

	assert_non_null(port);
	rdmad_port_query_async(port, 0, NULL, log_take_result, &result);
	wait_until(result);
	fields = rdmad_port_query_finish(port, result, &error);
	if (!fields)
		fail_msg("%s", error->message);
}

RdmadObject *service_port(Service *s)
{
	return RDMAD_OBJECT(rdmad_client_get_port(s->l->client, PORT_PATH));
}
