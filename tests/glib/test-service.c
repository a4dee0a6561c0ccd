/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The GObject client against a service of the test's own in the place of rdmad: messages in an
 * order that is hard to come by, and what rdmad would never send.
 */

#include "log.h"

#define PORT_PATH "/org/rdma/device/0/port/1"

typedef struct Service {
	Fixture *f;
	Log *l;
	GDBusConnection *bus;
	GVariant *objects; /* the answer to GetManagedObjects, a tuple; NULL: an error */
	void (*before_answer)(struct Service *s), (*after_answer)(struct Service *s);
	const char *gids; /* the answer to Get, in GVariant's notation */
	void (*before_gids)(struct Service *s);
	const char *hold;  /* calls of this method are not answered */
	GAsyncQueue *held; /* these */
} Service;

static const char introspection[] =
	"<node>"
	"<interface name='org.freedesktop.DBus.ObjectManager'><method name='GetManagedObjects'>"
	"<arg type='a{oa{sa{sv}}}' direction='out'/></method></interface>"
	"<interface name='org.rdma.Port'><method name='Query'><arg type='a{sv}' direction='in'/>"
	"<arg type='a{sv}' direction='out'/></method>"
	"<property name='Gids' type='a(ussss)' access='read'/></interface>"
	"</node>";

static void emit(Service *s, const char *path, const char *interface, const char *member,
		 const char *body)
{
	g_autoptr(GError) error = NULL;

	if (!g_dbus_connection_emit_signal(s->bus, NULL, path, interface, member,
					   g_variant_new_parsed(body), &error))
		fail_msg("%s", error->message);
}

static void emit_changed(Service *s, const char *interface, const char *changed,
			 const char *invalidated)
{
	g_autofree char *body =
		g_strdup_printf("('%s', @a{sv} %s, @as %s)", interface, changed, invalidated);

	emit(s, PORT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", body);
}

static void on_call(GDBusConnection *bus, const char *sender, const char *path,
		    const char *interface, const char *method, GVariant *arguments,
		    GDBusMethodInvocation *call, gpointer user_data)
{
	Service *s = user_data;

	(void)bus, (void)sender, (void)path, (void)interface, (void)arguments;
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

static GVariant *on_get(GDBusConnection *bus, const char *sender, const char *path,
			const char *interface, const char *name, GError **error, gpointer user_data)
{
	Service *s = user_data;

	(void)bus, (void)sender, (void)path, (void)interface, (void)name, (void)error;
	if (s->before_gids)
		s->before_gids(s);
	return g_variant_new_parsed(s->gids);
}

/* In the thread of GDBus. */
static GDBusMessage *on_message(GDBusConnection *bus, GDBusMessage *m, gboolean incoming,
				gpointer user_data)
{
	Service *s = user_data;

	(void)bus;
	if (!incoming || g_dbus_message_get_message_type(m) != G_DBUS_MESSAGE_TYPE_METHOD_CALL ||
	    g_strcmp0(g_dbus_message_get_member(m), g_atomic_pointer_get(&s->hold)) != 0)
		return m;
	g_async_queue_push(s->held, m);
	return NULL;
}

/* Answers what is held with BODY, which may be NULL. */
static void answer_held(Service *s, const char *body)
{
	g_autoptr(GDBusMessage) call = g_async_queue_pop(s->held);
	g_autoptr(GDBusMessage) reply = g_dbus_message_new_method_reply(call);

	if (body)
		g_dbus_message_set_body(reply, g_variant_new_parsed(body));
	g_dbus_connection_send_message(s->bus, reply, 0, NULL, NULL);
}

static GDBusConnection *connect_to(Fixture *f)
{
	GDBusConnection *bus = g_dbus_connection_new_for_address_sync(
		f->address,
		G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
			G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
		NULL, NULL, NULL);

	assert_non_null(bus);
	return bus;
}

static void service_request_name(Service *s)
{
	g_autoptr(GVariant) reply = g_dbus_connection_call_sync(
		s->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		"RequestName", g_variant_new("(su)", RDMAD_BUS_NAME, 0), NULL, 0, -1, NULL, NULL);

	assert_non_null(reply);
}

static Service *service_new(const char *objects)
{
	static const GDBusInterfaceVTable functions = {on_call, on_get, NULL, {}};
	g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(introspection, NULL);
	Service *s = g_new0(Service, 1);

	assert_non_null(node);
	s->f = fixture_new();
	s->bus = connect_to(s->f);
	s->held = g_async_queue_new_full(g_object_unref);
	if (objects)
		s->objects = g_variant_ref_sink(g_variant_new_parsed(objects));
	assert_true(g_dbus_connection_register_object(s->bus, RDMAD_ROOT_PATH, node->interfaces[0],
						      &functions, s, NULL, NULL) > 0);
	assert_true(g_dbus_connection_register_object(s->bus, PORT_PATH, node->interfaces[1],
						      &functions, s, NULL, NULL) > 0);
	g_dbus_connection_add_filter(s->bus, on_message, s, NULL);
	service_request_name(s);
	return s;
}

static void service_free(Service *s)
{
	if (s->l)
		log_free(s->l);
	g_dbus_connection_close_sync(s->bus, NULL, NULL);
	g_object_unref(s->bus);
	g_clear_pointer(&s->objects, g_variant_unref);
	g_async_queue_unref(s->held);
	fixture_free(s->f);
	g_free(s);
}
DEFINE_CLEANUP(Service, service_free);
#define _cleanup_service_ _cleanup_(service_free_pointer)

static void on_result(GObject *source, GAsyncResult *result, gpointer user_data)
{
	(void)source;
	*(GAsyncResult **)user_data = g_object_ref(result);
}

/* As log_settle(), but the service is in this thread. */
static void settle(Service *s)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) fields = NULL;
	g_autoptr(GError) error = NULL;
	RdmadPort *port = rdmad_client_get_port(s->l->client, PORT_PATH);

	assert_non_null(port);
	rdmad_port_query_async(port, 0, NULL, on_result, &result);
	wait_until(result);
	fields = rdmad_port_query_finish(port, result, &error);
	if (!fields)
		fail_msg("%s", error->message);
}

static RdmadObject *port_of(Service *s)
{
	return RDMAD_OBJECT(rdmad_client_get_port(s->l->client, PORT_PATH));
}

#define DEVICE_OBJECT                                                                              \
	"objectpath '/org/rdma/device/0': {'org.rdma.Device': {'Index': <uint32 0>, 'Name': "      \
	"<'mlx5_0'>, 'Unavailable': <@a{ss} {}>}}"
#define PORT_OBJECT                                                                                \
	"objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': <'mlx5_0'>, 'State': "       \
	"<'active'>, 'ActiveMtu': <uint32 4096>, 'Unavailable': <@a{ss} {}>, 'Gids': "             \
	"<@a(ussss) []>}, 'org.rdma.Port.InfiniBand': {'Lid': <uint32 17>}}"
#define OBJECTS(more) "({" DEVICE_OBJECT ", " PORT_OBJECT more "},)"

static void say_old_news(Service *s)
{
	emit_changed(s, "org.rdma.Port", "{'State': <'down'>}", "[]");
	emit_changed(s, "org.rdma.Port", "{'State': <'init'>}", "['Gids']");
	emit(s, "/org/rdma/device/5", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
	     "(objectpath '/org/rdma/device/5', {'org.rdma.Device': {'Name': <'old'>}})");
}

static void say_news(Service *s)
{
	emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 18>}", "[]");
}

/* What was signalled before the answer with all objects is in the answer; what comes after is not.
 */
static void test_objects_order(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	(void)state;
	s->before_answer = say_old_news;
	s->after_answer = say_news;
	s->l = log_new_async(s->f);
	settle(s);
	wait_until(s->l->n_batches > 0 ||
		   g_strcmp0(rdmad_object_get_string(port_of(s), "state"), "active") != 0);
	settle(s);
	/* the log began when the client was there; the objects say what it has believed */
	assert_string_equal(rdmad_object_get_string(port_of(s), "state"), "active");
	assert_true(rdmad_object_is_available(port_of(s), "gids"));
	assert_null(rdmad_client_get_device(s->l->client, "old"));
}

/* The same when the service comes back: nothing of it is reported. */
static void test_objects_order_again(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GVariant) reply = NULL;

	(void)state;
	s->l = log_new_async(s->f);
	reply = g_dbus_connection_call_sync(
		s->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		"ReleaseName", g_variant_new("(s)", RDMAD_BUS_NAME), NULL, 0, -1, NULL, NULL);
	assert_non_null(reply);
	wait_until(!rdmad_client_get_connected(s->l->client));
	s->before_answer = say_old_news;
	s->after_answer = say_news;
	service_request_name(s);
	wait_until(rdmad_client_get_connected(s->l->client));
	wait_until(s->l->n_batches > 0);
	settle(s);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 lid\n");
}

/* Half a flush is no batch. */
static void test_barrier(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint turns = 0;

	(void)state;
	s->l = log_new_async(s->f);
	g_atomic_pointer_set(&s->hold, "Ping");
	emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}", "[]");
	wait_until(g_async_queue_length(s->held) > 0);
	emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 40>}", "[]");
	while (turns++ < 20)
		g_main_context_iteration(NULL, FALSE);
	assert_int_equal(s->l->n_batches, 0);
	assert_int_equal(g_async_queue_length(s->held), 1);
	answer_held(s, NULL);
	/* which is the next flush */
	emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 41>}", "[]");
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu lid\n");
	wait_until(g_async_queue_length(s->held) > 0);
	answer_held(s, NULL);
	wait_until(s->l->n_batches == 2);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu lid\n"
					     "port-changed mlx5_0/1 lid\n");

	/* no answer is no reason to be silent */
	emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 42>}", "[]");
	wait_until(s->l->n_batches == 3);
}

static void count_call(guint *n)
{
	++*n;
}

static void outdate_gids(Service *s)
{
	emit_changed(s, "org.rdma.Port", "{}", "['Gids']");
}

/* An invalidation is about what was read before it. */
static void test_load_order(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) gids = NULL;

	(void)state;
	s->gids = "[(uint32 3, 'fe80::1', 'IB', '', '')]";
	s->before_gids = outdate_gids;
	s->l = log_new_async(s->f);
	outdate_gids(s);
	wait_until(s->l->n_batches > 0);
	assert_false(rdmad_object_is_available(port_of(s), "gids"));
	rdmad_object_load_async(port_of(s), "gids", NULL, on_result, &result);
	wait_until(result);
	gids = rdmad_object_load_finish(port_of(s), result, NULL);
	assert_non_null(gids);
	settle(s);
	assert_true(rdmad_object_is_available(port_of(s), "gids"));
}

/* A table that somebody listens to is not reported before it is there, whatever else is delivered.
 */
static void test_held_table(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint n = 0;

	(void)state;
	s->l = log_new_async(s->f);
	g_signal_connect_swapped(port_of(s), "notify::gids", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	settle(s);
	assert_false(rdmad_object_is_available(port_of(s), "gids"));
	assert_string_equal(s->l->text->str, "");
	answer_held(s, "(<[(uint32 0, 'fe80::1', 'IB', '', '')]>,)");
	wait_until(s->l->n_batches > 0);
	assert_true(rdmad_object_is_available(port_of(s), "gids"));
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 gids\n");
	assert_int_equal(n, 1);

	/* and if it cannot be had, that it has changed */
	log_forget(s->l);
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	answer_held(s, "(<'none'>,)");
	wait_until(s->l->n_batches > 0);
	assert_false(rdmad_object_is_available(port_of(s), "gids"));
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 gids\n");
	g_signal_handlers_disconnect_by_data(port_of(s), &n);
}

static void test_newer_daemon(void **state)
{
	_cleanup_service_ Service *s = service_new(
		"({" DEVICE_OBJECT ", objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': "
		"<'mlx5_0'>, 'State': <'hibernating'>, 'Colour': <'green'>, 'Unavailable': "
		"<{'Colour': 'night', 'Rate': 'link is down'}>}, 'org.rdma.Port.Quantum': "
		"{'State': <'both'>}}, objectpath '/org/rdma/switch/1': {'org.rdma.Switch': "
		"{'Name': <'s'>}}},)");
	g_autoptr(GPtrArray) ports = NULL;

	(void)state;
	s->l = log_new_async(s->f);
	ports = rdmad_client_list_ports(s->l->client);
	assert_int_equal(ports->len, 1);
	assert_string_equal(rdmad_object_get_string(port_of(s), "state"), "hibernating");
	assert_string_equal(rdmad_object_why_unavailable(port_of(s), "rate"), "link is down");
	assert_string_equal(rdmad_object_why_unavailable(port_of(s), "active-mtu"),
			    "not known to this rdmad");
	emit_changed(s, "org.rdma.Port.Quantum", "{'State': <'neither'>}", "['State']");
	emit_changed(s, "org.rdma.Port", "{'Colour': <'red'>}", "['Taste']");
	emit(s, PORT_PATH, "org.rdma.Port", "Sang", "('la',)");
	settle(s);
	assert_string_equal(s->l->text->str, "");
}

static void test_wrong_types(void **state)
{
	_cleanup_service_ Service *s = service_new(
		"({" DEVICE_OBJECT ", objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': "
		"<uint32 5>, 'State': <uint32 4>, 'ActiveMtu': <uint32 1024>, 'Unavailable': "
		"<['Lid']>, 'Capabilities': <'all'>, 'Gids': <[1, 2]>}, "
		"'org.rdma.Port.InfiniBand': {'Lid': <'17'>, 'CapabilityMask': <uint32 3>}}, "
		"objectpath '/org/rdma/device/00': {'org.rdma.Device': {'Name': <'zero'>}}, "
		"objectpath '/org/rdma/device/4294967296': {'org.rdma.Device': {'Name': <'big'>}}, "
		"objectpath '/org/rdma/device/0/port/0': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/0/port/1/x': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/3': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/0/port/2': {'org.rdma.Device': {'Name': <'x'>}}},)");
	g_autoptr(GPtrArray) ports = NULL, devices = NULL;
	g_autofree char *name = NULL;

	(void)state;
	s->l = log_new_async(s->f);
	ports = rdmad_client_list_ports(s->l->client);
	devices = rdmad_client_list_devices(s->l->client);
	assert_int_equal(ports->len, 1);
	assert_int_equal(devices->len, 1);
	assert_null(rdmad_object_get_string(port_of(s), "state"));
	assert_false(rdmad_object_is_available(port_of(s), "lid"));
	assert_string_equal(rdmad_object_get_name(port_of(s)), PORT_PATH);
	g_object_get(port_of(s), "device-name", &name, NULL);
	assert_null(name);

	emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <'many'>, 'State': <'down'>}", "[]");
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed " PORT_PATH " state\n");
	emit(s, PORT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", "('x',)");
	emit(s, PORT_PATH, "org.rdma.Port", "StateChanged", "(uint32 1, uint32 2)");
	emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "(1, 2)");
	emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
	     "(objectpath '/org/rdma/device/77', ['org.rdma.Device'])");
	emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
	     "(objectpath '" PORT_PATH "', ['org.rdma.Device', 'x.y'])");
	settle(s);
	assert_int_equal(s->l->n_batches, 1);
}

/* The bus delivers to us what anybody sends to us. */
static void test_stranger(void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GDBusConnection) stranger = connect_to(s->f);
	const char *client;

	(void)state;
	s->l = log_new_async(s->f);
	client = g_dbus_connection_get_unique_name(rdmad_client_get_connection(s->l->client));
	assert_true(g_dbus_connection_emit_signal(
		stranger, client, PORT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged",
		g_variant_new_parsed("('org.rdma.Port', {'State': <'down'>}, @as [])"), NULL));
	assert_true(g_dbus_connection_emit_signal(
		stranger, client, "/org/freedesktop/DBus", "org.freedesktop.DBus",
		"NameOwnerChanged", g_variant_new_parsed("('org.rdma', ':1.0', '')"), NULL));
	assert_true(g_dbus_connection_flush_sync(stranger, NULL, NULL));
	/* the service's own, which is behind them */
	say_news(s);
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 lid\n");
	assert_true(rdmad_client_get_connected(s->l->client));
}

static void assert_no_client(Service *s, GQuark domain, int code)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GObject) source = NULL;
	g_autoptr(GError) error = NULL;

	g_async_initable_new_async(RDMAD_TYPE_CLIENT, G_PRIORITY_DEFAULT, NULL, on_result, &result,
				   "bus-address", s->f->address, NULL);
	wait_until(result);
	source = g_async_result_get_source_object(result);
	assert_null(g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, &error));
	if (!g_error_matches(error, domain, code))
		fail_msg("%s: %s", g_quark_to_string(error->domain), error->message);
}

static void test_no_objects(void **state)
{
	_cleanup_service_ Service *refuses = service_new(NULL);
	_cleanup_service_ Service *chatters = service_new("('objects', 3)");

	(void)state;
	assert_no_client(refuses, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED);
	assert_no_client(chatters, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects_order), cmocka_unit_test(test_objects_order_again),
		cmocka_unit_test(test_barrier),	      cmocka_unit_test(test_load_order),
		cmocka_unit_test(test_held_table),    cmocka_unit_test(test_newer_daemon),
		cmocka_unit_test(test_wrong_types),   cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_no_objects),
	};

	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
