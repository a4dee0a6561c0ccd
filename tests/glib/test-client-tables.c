/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables, whose new contents the daemon does not send. */

#include "env.h"

/* Nobody listens: the table is known to have changed, and not to what. */
static void test_nobody_listens(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "rocep1/1");
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) gids = NULL, has = NULL, load = NULL;
	g_autoptr(GError) error = NULL;

	gids = rdmad_object_get_attribute(port, "gids");
	assert_int_equal(g_variant_n_children(gids), 1);
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(e.l->n_batches > 0);
	env_assert_log(&e, "port-changed rocep1/1 gids\n");
	assert_false(rdmad_object_is_available(port, "gids"));
	assert_string_equal(rdmad_object_why_unavailable(port, "gids"),
			    "has changed and is not loaded");
	assert_null(rdmad_object_get_attribute(port, "gids"));

	log_forget(e.l);
	rdmad_object_load_async(port, "gids", NULL, log_take_result, &result);
	wait_until(result);
	load = rdmad_object_load_finish(port, result, &error);
	assert_non_null(load);
	has = rdmad_object_get_attribute(port, "gids");
	assert_true(g_variant_equal(has, load));
	assert_int_equal(g_variant_n_children(has), 2);
	env_assert_log(&e, ""); /* reading it is no further change */
}

/* Somebody listens: the table comes by itself, and as one batch with the rest. */
static void test_somebody_listens(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "rocep1/1");
	g_autoptr(GString) seen = g_string_new(NULL);

	g_signal_connect(port, "notify::gids", G_CALLBACK(log_take_notify), seen);
	g_signal_connect(port, "notify::active-mtu", G_CALLBACK(log_take_notify), seen);
	for (unsigned int i = 0; i < 10; i++) {
		g_autoptr(GVariant) gids = NULL;
		g_autofree char *command =
			g_strdup_printf("set rocep1/1 active_mtu=%u gid.1=192.168.1.%u "
					"event=speed-change event=gid-change",
					i % 2 == 0 ? 2048 : 4096, 100 + i);

		log_forget(e.l);
		g_string_truncate(seen, 0);
		fixture_simulate(e.f, command);
		wait_until(e.l->n_batches > 0);
		env_assert_log(&e, "port-changed rocep1/1 active-mtu gids\n");
		assert_int_equal(e.l->n_batches, 1);
		assert_string_equal(seen->str, "active-mtu gids ");
		gids = rdmad_object_get_attribute(port, "gids");
		assert_non_null(gids);
		assert_int_equal(g_variant_n_children(gids), 2);
	}
	env_check_values(&e);
	g_signal_handlers_disconnect_by_data(port, seen);
}

/* An answer that is older than the latest change is not taken for the contents of the table. */
static void test_old_answer(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "rocep1/1");
	g_autoptr(GAsyncResult) result = NULL;

	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.20 event=gid-change");
	wait_until(!rdmad_object_is_available(port, "gids"));
	rdmad_object_load_async(port, "gids", NULL, log_take_result, &result);
	g_dbus_connection_flush_sync(rdmad_client_get_connection(e.l->client), NULL, NULL);
	fixture_barrier(e.f);
	fixture_forget(e.f);
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.21 event=gid-change");
	fixture_wait_signal(e.f, rdmad_object_get_object_path(port), "PropertiesChanged");
	log_settle(e.l);
	wait_until(result);
	assert_false(rdmad_object_is_available(port, "gids"));
}

/* An attribute that the port does not have cannot be loaded; one that changes without a signal can.
 */
static void test_load(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "rocep1/1");
	g_autoptr(GVariant) load = NULL;
	g_autoptr(GError) error = NULL;

	assert_null(rdmad_object_load_sync(port, "pkeys", NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_UNAVAILABLE));
	load = rdmad_object_load_sync(port, "last-query-timestamp", NULL, NULL);
	assert_non_null(load);
	assert_int_equal(env_number(&e, "rocep1/1", "last-query-timestamp"),
			 g_variant_get_uint64(load));
}

static void on_gids_changed(_unused_ RdmadClient *client, RdmadObject *port, char **names,
			    gpointer user_data)
{
	if (!g_strv_contains((const char *const *)names, "gids"))
		return;
	*(GVariant **)user_data = rdmad_object_load_sync(port, "gids", NULL, NULL);
}

static void test_handlers_that_load(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GVariant) loaded = NULL, gids = NULL;

	g_signal_connect(e.l->client, "port-changed", G_CALLBACK(on_gids_changed), &loaded);
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(loaded);
	g_signal_handlers_disconnect_by_data(e.l->client, &loaded);
	assert_int_equal(g_variant_n_children(loaded), 2);
	gids = rdmad_object_get_attribute(env_port(&e, "rocep1/1"), "gids");
	assert_non_null(gids);
	assert_true(g_variant_equal(gids, loaded));
}

static void drop_client(_unused_ RdmadObject *port, _unused_ GParamSpec *property,
			RdmadClient **client)
{
	g_clear_object(client);
}

/* A handler may drop the last reference to the client. */
static void test_last_reference(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadClient *client =
		g_initable_new(RDMAD_TYPE_CLIENT, NULL, NULL, "bus-address", e.f->address, NULL);
	g_autoptr(RdmadObject) port = NULL;
	g_autoptr(GVariant) gids = NULL;

	assert_non_null(client);
	port = g_object_ref(RDMAD_OBJECT(rdmad_client_get_port(client, "rocep1/1")));
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(!rdmad_object_is_available(port, "gids"));
	g_object_add_weak_pointer(G_OBJECT(client), (gpointer *)&client);
	g_signal_connect(port, "notify::gids", G_CALLBACK(drop_client), &client);
	gids = rdmad_object_load_sync(port, "gids", NULL, NULL);
	assert_null(client);
	assert_int_equal(g_variant_n_children(gids), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_listens),	   cmocka_unit_test(test_somebody_listens),
		cmocka_unit_test(test_old_answer),	   cmocka_unit_test(test_load),
		cmocka_unit_test(test_handlers_that_load), cmocka_unit_test(test_last_reference),
	};

	return log_run_tests(tests);
}
