/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rdmad would never send. */

#include "service.h"

static void say_news(Service *s)
{
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 18>}", "[]");
}

static void test_newer_daemon(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(
		"({" DEVICE_OBJECT ", objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': "
		"<'mlx5_0'>, 'State': <'hibernating'>, 'Colour': <'green'>, 'Unavailable': "
		"<{'Colour': 'night', 'Rate': 'link-down', 'LinkWidth': 'too-late'}>}, "
		"'org.rdma.Port.Quantum': "
		"{'State': <'both'>}}, objectpath '/org/rdma/switch/1': {'org.rdma.Switch': "
		"{'Name': <'s'>}}},)");
	g_autoptr(GPtrArray) ports = NULL;

	s->l = log_new_async(s->f);
	ports = rdmad_client_list_ports(s->l->client);
	assert_int_equal(ports->len, 1);
	assert_string_equal(rdmad_object_get_string(service_port(s), "state"), "hibernating");
	assert_string_equal(rdmad_object_why_unavailable(service_port(s), "rate"),
			    "the link is down");
	assert_string_equal(rdmad_object_get_unavailable_code(service_port(s), "rate"),
			    "link-down");
	/* a code that is not known here is its own sentence */
	assert_string_equal(rdmad_object_why_unavailable(service_port(s), "link-width"),
			    "too-late");
	assert_string_equal(rdmad_object_why_unavailable(service_port(s), "active-mtu"),
			    "not known to this rdmad");
	service_emit_changed(s, "org.rdma.Port.Quantum", "{'State': <'neither'>}", "['State']");
	service_emit_changed(s, "org.rdma.Port", "{'Colour': <'red'>}", "['Taste']");
	service_emit(s, PORT_PATH, "org.rdma.Port", "Sang", "('la',)");
	service_settle(s);
	assert_string_equal(s->l->text->str, "");
}

static void test_wrong_types(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(
		"({" DEVICE_OBJECT ", objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': "
		"<uint32 5>, 'State': <uint32 4>, 'ActiveMtu': <uint32 1024>, 'Unavailable': "
		"<['Lid']>, 'Capabilities': <'all'>, 'Gids': <[1, 2]>}, "
		"'org.rdma.Port.InfiniBand': {'Lid': <'17'>, 'CapabilityMask': <uint32 3>}}, "
		"objectpath '/org/rdma/device/00': {'org.rdma.Device': {'Name': <'zero'>}}, "
		"objectpath '/org/rdma/device/4294967296': {'org.rdma.Device': {'Name': <'big'>}}, "
		"objectpath '/org/rdma/device/0/port/01': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/0/port/1/x': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/3': {'org.rdma.Port': {'State': <'down'>}}, "
		"objectpath '/org/rdma/device/0/port/2': {'org.rdma.Device': {'Name': <'x'>}}},)");
	g_autoptr(GPtrArray) ports = NULL, devices = NULL;
	g_autofree char *name = NULL;

	s->l = log_new_async(s->f);
	ports = rdmad_client_list_ports(s->l->client);
	devices = rdmad_client_list_devices(s->l->client);
	assert_int_equal(ports->len, 1);
	assert_int_equal(devices->len, 1);
	assert_null(rdmad_object_get_string(service_port(s), "state"));
	assert_false(rdmad_object_is_available(service_port(s), "lid"));
	assert_string_equal(rdmad_object_get_name(service_port(s)), PORT_PATH);
	g_object_get(service_port(s), "device-name", &name, NULL);
	assert_null(name);

	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <'many'>, 'State': <'down'>}",
			     "[]");
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed " PORT_PATH " state\n");
	service_emit(s, PORT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged",
		     "('x',)");
	service_emit(s, PORT_PATH, "org.rdma.Port", "StateChanged", "(uint32 1, uint32 2)");
	service_emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
		     "(1, 2)");
	service_emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
		     "(objectpath '/org/rdma/device/77', ['org.rdma.Device'])");
	service_emit(s, "/org/rdma", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
		     "(objectpath '" PORT_PATH "', ['org.rdma.Device', 'x.y'])");
	service_settle(s);
	assert_int_equal(s->l->n_batches, 1);
}

/* Any program on the bus can send signals to the client. */
static void test_stranger(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GDBusConnection) stranger = log_connect(s->f);
	const char *client;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer_daemon),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_stranger),
	};

	return log_run_tests(tests);
}
