/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GObject client against a real rdmad. */

#include "log.h"

#include <signal.h>

#define TWO_DEVICES_WITH(lid)                                                                      \
	"[device mlx5_0]\nprotocol = infiniband\n[port mlx5_0/1]\nlid = " lid "\n"                 \
	"[device rocep1]\nprotocol = roce\n[port rocep1/1]\nnetdev = ens1 7\ngid.0 = "             \
	"192.168.1.17 v2\n"

#define TWO_DEVICES TWO_DEVICES_WITH("17")

typedef struct Env {
	Fixture *f;
	Log *l;
} Env;

static Env env_new(const char *scenario)
{
	Env e = {.f = fixture_new()};

	fixture_start_daemon(e.f, scenario, NULL);
	e.l = log_new(e.f);
	assert_true(rdmad_client_get_connected(e.l->client));
	return e;
}

static void env_done(Env *e)
{
	log_free(e->l);
	fixture_free(e->f);
}
#define _cleanup_env_ _cleanup_(env_done)

static RdmadObject *object(Env *e, const char *port)
{
	RdmadPort *p = rdmad_client_get_port(e->l->client, port);

	assert_non_null(p);
	return RDMAD_OBJECT(p);
}

static guint64 number(Env *e, const char *port, const char *attribute)
{
	guint64 n;

	assert_true(rdmad_object_get_number(object(e, port), attribute, &n));
	return n;
}

static void assert_log(Env *e, const char *expected)
{
	log_settle(e->l);
	assert_string_equal(e->l->text->str, expected);
}

static GVariant *managed_objects(Env *e)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GVariant) reply = g_dbus_connection_call_sync(
		rdmad_client_get_connection(e->l->client), RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
		"org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL, NULL, 0, -1, NULL,
		&error);

	if (!reply)
		fail_msg("%s", error->message);
	return g_variant_get_child_value(reply, 0);
}

/* The GObject property as a GVariant of the type that the value has on the bus. */
static GVariant *property_variant(RdmadObject *o, GParamSpec *property, const GVariantType *type)
{
	g_auto(GValue) value = G_VALUE_INIT;

	g_object_get_property(G_OBJECT(o), g_param_spec_get_name(property), &value);
	if (G_VALUE_HOLDS_STRING(&value))
		return g_variant_type_equal(type, G_VARIANT_TYPE_OBJECT_PATH)
			       ? g_variant_new_object_path(g_value_get_string(&value))
			       : g_variant_new_string(g_value_get_string(&value));
	if (G_VALUE_HOLDS_UINT(&value))
		return g_variant_new_uint32(g_value_get_uint(&value));
	if (G_VALUE_HOLDS_UINT64(&value))
		return g_variant_new_uint64(g_value_get_uint64(&value));
	if (G_VALUE_HOLDS_BOOLEAN(&value))
		return g_variant_new_boolean(g_value_get_boolean(&value));
	if (G_VALUE_HOLDS_BOXED(&value))
		return g_variant_new_strv(g_value_get_boxed(&value), -1);
	return g_value_dup_variant(&value);
}

/* The property that has the D-Bus name NAME. */
static GParamSpec *find_property(RdmadObject *o, const char *name)
{
	guint n;
	g_autofree GParamSpec **all = g_object_class_list_properties(G_OBJECT_GET_CLASS(o), &n);

	for (guint i = 0; i < n; i++)
		if (g_strcmp0(g_param_spec_get_nick(all[i]), name) == 0)
			return all[i];
	return NULL;
}

static void check_property(RdmadObject *o, const char *name, GVariant *value, GVariant *reasons)
{
	GParamSpec *property = find_property(o, name);
	g_autoptr(GVariant) has = NULL;
	const char *why = NULL;

	/* the one property without a row, and the one that never stands still */
	if (streq(name, "Ports") || streq(name, "LastQueryTimestamp"))
		return;
	if (!property)
		fail_msg("%s has no property for %s", rdmad_object_get_name(o), name);
	g_variant_lookup(reasons, name, "&s", &why);
	assert_int_equal(rdmad_object_is_available(o, g_param_spec_get_name(property)), !why);
	if (why) {
		assert_string_equal(
			rdmad_object_why_unavailable(o, g_param_spec_get_name(property)), why);
		return;
	}
	has = g_variant_take_ref(property_variant(o, property, g_variant_get_type(value)));
	if (!g_variant_equal(has, value)) {
		g_autofree char *a = g_variant_print(has, TRUE);
		g_autofree char *b = g_variant_print(value, TRUE);

		fail_msg("%s of %s is %s, and on the bus %s", name, rdmad_object_get_name(o), a, b);
	}
}

/* Every property of every object on the bus is that of a GObject. Returns how many. */
static guint check_all(Env *e)
{
	g_autoptr(GVariant) objects = managed_objects(e);
	GVariantIter by_path, by_interface, by_name;
	GVariant *interfaces, *properties, *value;
	const char *path, *interface, *name;
	guint n = 0;

	g_variant_iter_init(&by_path, objects);
	while (g_variant_iter_loop(&by_path, "{&o@a{sa{sv}}}", &path, &interfaces)) {
		RdmadObject *o =
			strstr(path, "/port/")
				? (RdmadObject *)rdmad_client_get_port(e->l->client, path)
				: (RdmadObject *)rdmad_client_get_device(e->l->client, path);
		g_autoptr(GVariant) reasons = NULL;

		assert_non_null(o);
		g_object_get(o, "unavailable", &reasons, NULL);
		g_variant_iter_init(&by_interface, interfaces);
		while (g_variant_iter_loop(&by_interface, "{&s@a{sv}}", &interface, &properties)) {
			if (!g_str_has_prefix(interface, "org.rdma."))
				continue;
			g_variant_iter_init(&by_name, properties);
			while (g_variant_iter_loop(&by_name, "{&sv}", &name, &value)) {
				check_property(o, name, value, reasons);
				n++;
			}
		}
	}
	return n;
}

static void test_values(void **state)
{
	g_autofree char *scenario = NULL;
	_cleanup_env_ Env e = {};

	(void)state;
	assert_true(g_file_get_contents(TEST_SOURCE_DIR "/docs/scenarios/fabric.conf", &scenario,
					NULL, NULL));
	e = env_new(scenario);
	assert_in_range(check_all(&e), 300, 1000);

	/* and after changes they are still the same, the unavailable included */
	fixture_simulate(e.f, "set */* state=down phys_state=polling event=port-error");
	wait_until(g_strcmp0(rdmad_object_get_string(object(&e, "ibp97s0/1"), "state"), "down") ==
		   0);
	check_all(&e);
	assert_false(rdmad_object_is_available(object(&e, "mlx5_0/1"), "lid"));
	assert_int_equal(rdmad_port_find_device(RDMAD_PORT(object(&e, "mlx5_0/1"))) ==
				 rdmad_client_get_device(e.l->client, "mlx5_0"),
			 TRUE);
}

static void on_notify(GObject *o, GParamSpec *property, gpointer user_data)
{
	(void)o;
	g_string_append_printf(user_data, "%s ", g_param_spec_get_name(property));
}

static void on_state_changed(RdmadPort *port, const char *is, const char *was, const char *reason,
			     gpointer user_data)
{
	/* the properties are there before */
	assert_string_equal(rdmad_object_get_string(RDMAD_OBJECT(port), "state"), is);
	g_string_append_printf(user_data, "%s->%s:%s ", was, is, reason);
}

static void on_reconfigured(RdmadPort *port, const char *reason, gpointer user_data)
{
	(void)port;
	g_string_append_printf(user_data, "reconfigured:%s ", reason);
}

static void test_change(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = object(&e, "mlx5_0/1");
	g_autoptr(GString) seen = g_string_new(NULL);

	(void)state;
	g_signal_connect(port, "notify::lid", G_CALLBACK(on_notify), seen);
	g_signal_connect(port, "notify::sm-lid", G_CALLBACK(on_notify), seen);
	g_signal_connect(port, "state-changed", G_CALLBACK(on_state_changed), seen);
	g_signal_connect(port, "subnet-reconfigured", G_CALLBACK(on_reconfigured), seen);

	fixture_simulate(e.f, "set mlx5_0/1 lid=42 event=lid-change");
	wait_until(e.l->n_batches > 0);
	assert_log(&e, "port-changed mlx5_0/1 lid\n");
	assert_int_equal(number(&e, "mlx5_0/1", "lid"), 42);
	assert_true(g_str_has_prefix(seen->str, "lid "));
	assert_null(strstr(seen->str, "sm-lid"));

	/* a value that is no more is a change too, and reads as nothing */
	log_forget(e.l);
	g_string_truncate(seen, 0);
	fixture_simulate(e.f, "set mlx5_0/1 state=init event=port-error");
	wait_until(e.l->n_batches > 0);
	assert_log(&e, "port-changed mlx5_0/1 state lid lmc sm-lid sm-sl subnet-timeout\n");
	assert_false(rdmad_object_is_available(port, "lid"));
	assert_string_equal(rdmad_object_why_unavailable(port, "lid"),
			    "the subnet manager has not configured the port");
	assert_null(rdmad_object_get_attribute(port, "lid"));
	assert_non_null(strstr(seen->str, "lid sm-lid active->init:port-error "));
	/* a batch is one change of one object here */
	assert_int_equal(e.l->n_batches, 1);
	assert_int_equal(e.l->n_last, 1);
	g_signal_handlers_disconnect_by_data(port, seen);
}

/* All ports change in one flush: that is one batch, however many messages it takes. */
static void test_batch(void **state)
{
	_cleanup_env_ Env e = env_new("[device mlx5_%d]\ncount = 40\nprotocol = infiniband\n");

	(void)state;
	for (guint i = 1; i <= 20; i++) {
		g_autofree char *command =
			g_strdup_printf("set */* lid=%u active_mtu=%u event=lid-change", 100 + i,
					i % 2 == 0 ? 4096 : 2048);

		log_forget(e.l);
		fixture_simulate(e.f, command);
		wait_until(e.l->n_batches > 0);
		log_settle(e.l);
		assert_int_equal(e.l->n_batches, 1);
		assert_int_equal(e.l->n_last, 40);
		assert_int_equal(number(&e, "mlx5_39/1", "lid"), 100 + i);
	}
}

static void on_lid_changed(RdmadClient *client, RdmadObject *port, char **names, gpointer user_data)
{
	GArray *lids = user_data;
	guint64 lid;

	(void)client;
	if (!g_strv_contains((const char *const *)names, "lid"))
		return;
	assert_true(rdmad_object_get_number(port, "lid", &lid));
	/* no change is reported twice, and none goes back */
	assert_true(lids->len == 0 || g_array_index(lids, guint64, lids->len - 1) < lid);
	g_array_append_val(lids, lid);
}

static void test_many_changes(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GArray) lids = g_array_new(FALSE, FALSE, sizeof(guint64));
	gulong handler =
		g_signal_connect(e.l->client, "port-changed", G_CALLBACK(on_lid_changed), lids);

	(void)state;
	for (guint i = 1; i <= 200; i++) {
		g_autofree char *command =
			g_strdup_printf("set mlx5_0/1 lid=%u event=lid-change", 100 + i);

		fixture_simulate(e.f, command);
		while (i % 3 == 0 && g_main_context_iteration(NULL, FALSE))
			;
	}
	wait_until(lids->len > 0 && g_array_index(lids, guint64, lids->len - 1) == 300);
	log_settle(e.l);
	assert_int_equal(number(&e, "mlx5_0/1", "lid"), 300);
	g_signal_handler_disconnect(e.l->client, handler);
}

static void test_devices(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES "[device mlx5_9]\npresent = no\nprotocol = "
						  "infiniband\nports = 2\n");
	g_autoptr(RdmadObject) port = NULL;
	g_autoptr(GPtrArray) ports = NULL;
	g_autoptr(GError) error = NULL;
	gboolean present;

	(void)state;
	assert_null(rdmad_client_get_device(e.l->client, "mlx5_9"));
	assert_null(rdmad_client_get_port(e.l->client, "/org/rdma/device/0")); /* is a device */
	fixture_simulate(e.f, "add mlx5_9");
	wait_until(rdmad_client_get_port(e.l->client, "mlx5_9/2"));
	log_settle(e.l);
	assert_non_null(strstr(e.l->text->str, "device-added mlx5_9\n"));
	assert_non_null(strstr(e.l->text->str, "port-added mlx5_9/1\n"));
	assert_non_null(strstr(e.l->text->str, "port-added mlx5_9/2\n"));
	ports = rdmad_device_list_ports(rdmad_client_get_device(e.l->client, "mlx5_9"));
	assert_int_equal(ports->len, 2);
	assert_null(rdmad_client_get_port(e.l->client, "mlx5_9")); /* has two */
	port = g_object_ref(object(&e, "mlx5_9/2"));

	log_forget(e.l);
	fixture_simulate(e.f, "rename mlx5_9 mlx5_10");
	wait_until(rdmad_client_get_port(e.l->client, "mlx5_10/2"));
	assert_ptr_equal(rdmad_client_get_port(e.l->client, "mlx5_10/2"), port);
	assert_null(rdmad_client_get_port(e.l->client, "mlx5_9/2"));

	log_forget(e.l);
	fixture_simulate(e.f, "remove mlx5_10");
	wait_until(!rdmad_client_get_device(e.l->client, "mlx5_10"));
	assert_log(&e, "port-removed mlx5_10/2\nport-removed mlx5_10/1\ndevice-removed mlx5_10\n");
	assert_int_equal(e.l->n_batches, 1);
	/* who holds it still can read it */
	g_object_get(port, "present", &present, NULL);
	assert_false(present);
	assert_string_equal(rdmad_object_get_string(port, "state"), "active");
	assert_null(rdmad_port_find_device(RDMAD_PORT(port)));
	assert_null(rdmad_port_query_sync(RDMAD_PORT(port), -1, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE));
}

static void restart(Env *e, int sig, const char *scenario)
{
	fixture_stop_daemon(e->f, sig);
	wait_until(!rdmad_client_get_connected(e->l->client));
	fixture_start_daemon(e->f, scenario, NULL);
	wait_until(rdmad_client_get_connected(e->l->client));
}

static guint count(const char *text, const char *what)
{
	guint n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void test_restart(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = object(&e, "mlx5_0/1");

	(void)state;
	/* nothing has happened: nothing is reported */
	restart(&e, SIGKILL, TWO_DEVICES);
	assert_log(&e, "");
	assert_int_equal(e.l->n_connected, 2);
	assert_int_equal(e.l->n_batches, 0);
	assert_ptr_equal(object(&e, "mlx5_0/1"), port);

	/* something has: that, once */
	for (unsigned int i = 0; i < 5; i++) {
		g_autofree char *scenario = g_strdup_printf(TWO_DEVICES_WITH("%u"), 30 + i);

		log_forget(e.l);
		fixture_simulate(e.f, "set rocep1/1 netdev_mtu=1500 event=link");
		restart(&e, i % 2 == 0 ? SIGKILL : SIGTERM, scenario);
		log_settle(e.l);
		assert_int_equal(number(&e, "mlx5_0/1", "lid"), 30 + i);
		assert_int_equal(count(e.l->text->str, "port-changed mlx5_0/1 lid\n"), 1);
		assert_int_equal(count(e.l->text->str, "mlx5_0/1"), 1);
		assert_int_equal(e.l->n_connected, 2);
	}

	/* and it goes on from there */
	log_forget(e.l);
	fixture_simulate(e.f, "set mlx5_0/1 lid=99 event=lid-change");
	wait_until(e.l->n_batches > 0);
	assert_log(&e, "port-changed mlx5_0/1 lid\n");
	check_all(&e);
}

static void test_restart_with_other_devices(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);

	(void)state;
	restart(&e, SIGKILL,
		"[device mlx5_0]\nprotocol = infiniband\n[port mlx5_0/1]\nlid = 17\n"
		"[device mlx5_7]\nindex = 7\nprotocol = infiniband\n");
	assert_log(&e, "device-added mlx5_7\nport-added mlx5_7/1\n"
		       "port-removed rocep1/1\ndevice-removed rocep1\n");
	assert_int_equal(e.l->n_batches, 1);
	/* the same place, but another kind of port: other interfaces */
	log_forget(e.l);
	restart(&e, SIGKILL,
		"[device mlx5_0]\nprotocol = roce\n[device mlx5_7]\nindex = 7\nprotocol = "
		"infiniband\n");
	assert_false(rdmad_object_is_available(object(&e, "mlx5_0/1"), "lid"));
	assert_string_equal(rdmad_object_why_unavailable(object(&e, "mlx5_0/1"), "lid"),
			    "not on this kind of port");
	assert_true(rdmad_object_is_available(object(&e, "mlx5_0/1"), "carrier"));
	check_all(&e);
}

static void test_daemon_later(void **state)
{
	_cleanup_env_ Env e = {.f = fixture_new()};

	(void)state;
	e.l = log_new(e.f);
	assert_false(rdmad_client_get_connected(e.l->client));
	fixture_start_daemon(e.f, TWO_DEVICES, NULL);
	wait_until(rdmad_client_get_connected(e.l->client));
	assert_log(&e, "device-added mlx5_0\nport-added mlx5_0/1\n"
		       "device-added rocep1\nport-added rocep1/1\n");
	assert_int_equal(e.l->n_batches, 1);
}

static void test_bus_gone(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GError) error = NULL;

	(void)state;
	fixture_stop_bus(e.f);
	wait_until(!rdmad_client_get_connected(e.l->client));
	assert_string_equal(rdmad_object_get_string(object(&e, "mlx5_0/1"), "state"), "active");
	assert_false(rdmad_client_refresh_sync(e.l->client, NULL, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED));
	assert_string_equal(e.l->text->str, "");
}

static void on_result(GObject *source, GAsyncResult *result, gpointer user_data)
{
	(void)source;
	*(GAsyncResult **)user_data = g_object_ref(result);
}

static void test_tables(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = object(&e, "rocep1/1");
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GString) seen = g_string_new(NULL);
	g_autoptr(GVariant) gids = NULL, has = NULL, load = NULL;
	g_autoptr(GError) error = NULL;

	(void)state;
	gids = rdmad_object_get_attribute(port, "gids");
	assert_int_equal(g_variant_n_children(gids), 1);

	/* Nobody listens: it is known to have changed, and not to what. */
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(e.l->n_batches > 0);
	assert_log(&e, "port-changed rocep1/1 gids\n");
	assert_false(rdmad_object_is_available(port, "gids"));
	assert_string_equal(rdmad_object_why_unavailable(port, "gids"),
			    "has changed and is not loaded");
	assert_null(rdmad_object_get_attribute(port, "gids"));
	log_forget(e.l);
	rdmad_object_load_async(port, "gids", NULL, on_result, &result);
	wait_until(result);
	load = rdmad_object_load_finish(port, result, &error);
	assert_non_null(load);
	has = rdmad_object_get_attribute(port, "gids");
	assert_true(g_variant_equal(has, load));
	assert_int_equal(g_variant_n_children(has), 2);
	assert_log(&e, ""); /* which is no further change */

	/* Somebody listens: it comes by itself, and as one batch with the rest. */
	g_signal_connect(port, "notify::gids", G_CALLBACK(on_notify), seen);
	g_signal_connect(port, "notify::active-mtu", G_CALLBACK(on_notify), seen);
	for (unsigned int i = 0; i < 10; i++) {
		g_autofree char *command = g_strdup_printf(
			"set rocep1/1 active_mtu=%u gid.2=192.168.1.%u event=gid-change",
			i % 2 == 0 ? 2048 : 4096, 100 + i);

		log_forget(e.l);
		g_string_truncate(seen, 0);
		fixture_simulate(e.f, command);
		wait_until(e.l->n_batches > 0);
		log_settle(e.l);
		if (!strstr(e.l->text->str, "netdev"))
			assert_log(&e, "port-changed rocep1/1 active-mtu gids\n");
		assert_int_equal(e.l->n_batches, 1);
		assert_string_equal(seen->str, "active-mtu gids ");
		g_clear_pointer(&has, g_variant_unref);
		has = rdmad_object_get_attribute(port, "gids");
		assert_non_null(has);
		assert_int_equal(g_variant_n_children(has), 3);
	}
	check_all(&e);
	g_signal_handlers_disconnect_by_data(port, seen);

	/* An answer that is older than the latest change is not what the table is now. */
	fixture_simulate(e.f, "set rocep1/1 gid.3=192.168.1.20 event=gid-change");
	wait_until(!rdmad_object_is_available(port, "gids"));
	g_clear_object(&result);
	rdmad_object_load_async(port, "gids", NULL, on_result, &result);
	g_dbus_connection_flush_sync(rdmad_client_get_connection(e.l->client), NULL, NULL);
	fixture_barrier(e.f);
	fixture_forget(e.f);
	fixture_simulate(e.f, "set rocep1/1 gid.3=192.168.1.21 event=gid-change");
	fixture_wait_signal(e.f, rdmad_object_get_object_path(port), "PropertiesChanged");
	log_settle(e.l);
	wait_until(result);
	assert_false(rdmad_object_is_available(port, "gids"));

	/* What does not apply cannot be loaded; a counter can. */
	assert_null(rdmad_object_load_sync(port, "pkeys", NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_UNAVAILABLE));
	g_clear_pointer(&load, g_variant_unref);
	load = rdmad_object_load_sync(port, "last-query-timestamp", NULL, NULL);
	assert_non_null(load);
	assert_int_equal(number(&e, "rocep1/1", "last-query-timestamp"),
			 g_variant_get_uint64(load));
}

static void test_calls(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(RdmadPort) by_address = NULL, by_netdev = NULL;
	g_autoptr(GAsyncResult) result = NULL, query = NULL, refresh = NULL;
	g_autoptr(GVariant) fields = NULL;
	g_autoptr(GError) error = NULL;
	guint32 lid = 0;
	guint index = 99;

	(void)state;
	by_address = rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_ADDRESS, "192.168.1.17",
						 &index, NULL, NULL);
	assert_ptr_equal(by_address, object(&e, "rocep1"));
	assert_int_equal(index, 0);
	rdmad_client_find_port_async(e.l->client, RDMAD_LOOKUP_NETDEV, "ens1", NULL, on_result,
				     &result);
	wait_until(result);
	by_netdev = rdmad_client_find_port_finish(e.l->client, result, NULL, NULL);
	assert_ptr_equal(by_netdev, by_address);
	assert_null(rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_NAME, "mlx5_4/1", NULL,
						NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
	g_clear_error(&error);
	assert_null(rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_GUID, "nonsense", NULL,
						NULL, &error));
	assert_true(
		g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_INVALID_ARGUMENT));

	rdmad_port_query_async(RDMAD_PORT(object(&e, "mlx5_0/1")), -1, NULL, on_result, &query);
	wait_until(query);
	fields = rdmad_port_query_finish(RDMAD_PORT(object(&e, "mlx5_0/1")), query, NULL);
	assert_true(g_variant_lookup(fields, "lid", "u", &lid));
	assert_int_equal(lid, 17);

	/* what a refresh finds is there when it is done */
	fixture_simulate(e.f, "set mlx5_0/1 lid=55");
	rdmad_client_refresh_async(e.l->client, NULL, on_result, &refresh);
	wait_until(refresh);
	assert_true(rdmad_client_refresh_finish(e.l->client, refresh, NULL));
	assert_int_equal(number(&e, "mlx5_0/1", "lid"), 55);
	fixture_simulate(e.f, "set mlx5_0/1 lid=56");
	assert_true(rdmad_client_refresh_sync(e.l->client, NULL, NULL));
	assert_int_equal(number(&e, "mlx5_0/1", "lid"), 56);
	assert_string_equal(e.l->text->str,
			    "port-changed mlx5_0/1 lid\nport-changed mlx5_0/1 lid\n");
}

static void on_changed_call(RdmadClient *client, GPtrArray *changes, gpointer user_data)
{
	static bool inside;

	/* a handler may do what it likes; what comes of it is reported when it has returned */
	(void)changes;
	assert_false(inside);
	inside = true;
	assert_true(rdmad_client_refresh_sync(client, NULL, NULL));
	inside = false;
	++*(guint *)user_data;
}

static void on_gids_changed(RdmadClient *client, RdmadObject *port, char **names,
			    gpointer user_data)
{
	(void)client;
	if (!g_strv_contains((const char *const *)names, "gids"))
		return;
	*(GVariant **)user_data = rdmad_object_load_sync(port, "gids", NULL, NULL);
}

static void test_handlers_that_load(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GVariant) loaded = NULL, gids = NULL;

	(void)state;
	g_signal_connect(e.l->client, "port-changed", G_CALLBACK(on_gids_changed), &loaded);
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(loaded);
	g_signal_handlers_disconnect_by_data(e.l->client, &loaded);
	assert_int_equal(g_variant_n_children(loaded), 2);
	gids = rdmad_object_get_attribute(object(&e, "rocep1/1"), "gids");
	assert_non_null(gids);
	assert_true(g_variant_equal(gids, loaded));
}

static void test_handlers_that_call(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	guint n = 0;

	(void)state;
	g_signal_connect(e.l->client, "changed", G_CALLBACK(on_changed_call), &n);
	fixture_simulate(e.f, "set mlx5_0/1 lid=60 event=lid-change");
	fixture_simulate(e.f, "set mlx5_0/1 lid=61");
	wait_until(n > 0 && number(&e, "mlx5_0/1", "lid") == 61);
	g_signal_handlers_disconnect_by_data(e.l->client, &n);
}

/* A client in a thread reports in the context of that thread. */
static gpointer use_client(gpointer user_data)
{
	Fixture *f = user_data;
	g_autoptr(GMainContext) context = g_main_context_new();
	g_autoptr(RdmadClient) client = NULL;
	guint64 lid = 0;

	g_main_context_push_thread_default(context);
	client = g_initable_new(RDMAD_TYPE_CLIENT, NULL, NULL, "bus-address", f->address, NULL);
	g_main_context_pop_thread_default(context);
	g_assert_nonnull(client);
	while (lid != 77) {
		g_main_context_iteration(context, TRUE);
		rdmad_object_get_number(RDMAD_OBJECT(rdmad_client_get_port(client, "mlx5_0/1")),
					"lid", &lid);
	}
	return NULL;
}

static void test_thread(void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES "[script]\nevery 20ms: set mlx5_0/1 lid=77 "
						  "event=lid-change\nevery 30ms: set mlx5_0/1 "
						  "lid=76 event=lid-change\n");

	(void)state;
	g_thread_join(g_thread_new("client", use_client, e.f));
}

/* Every error that has a name on the bus has a code. */
static void test_error_names(void **state)
{
	g_autofree char *text = NULL;
	guint n = 0;

	(void)state;
	assert_int_not_equal(RDMAD_SERVICE_ERROR, 0);
	assert_true(g_file_get_contents(TEST_SOURCE_DIR "/lib/model/names.h", &text, NULL, NULL));
	for (char *p = text; (p = strstr(p, "\"org.rdma.Error.")); n++) {
		g_autofree char *name = g_strndup(p + 1, strcspn(p + 1, "\""));
		g_autoptr(GError) error = g_dbus_error_new_for_dbus_error(name, "text");

		if (error->domain != RDMAD_SERVICE_ERROR)
			fail_msg("%s is not known", name);
		p++;
	}
	assert_true(n > 0);
}

static void test_no_bus(void **state)
{
	g_autoptr(GError) error = NULL;

	(void)state;
	assert_null(g_initable_new(RDMAD_TYPE_CLIENT, NULL, &error, "bus-address",
				   "unix:path=/nonexistent/bus", NULL));
	assert_non_null(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_many_changes),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_restart_with_other_devices),
		cmocka_unit_test(test_daemon_later),
		cmocka_unit_test(test_bus_gone),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_handlers_that_call),
		cmocka_unit_test(test_handlers_that_load),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_error_names),
		cmocka_unit_test(test_no_bus),
	};

	/* what the library itself thinks is wrong is a failure */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
