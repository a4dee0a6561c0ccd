/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the daemon, also from handlers and from threads, and their errors. */

#include "env.h"

static void test_calls(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(RdmadPort) by_address = NULL, by_netdev = NULL;
	g_autoptr(GAsyncResult) result = NULL, query = NULL, refresh = NULL;
	g_autoptr(GVariant) fields = NULL;
	g_autoptr(GError) error = NULL;
	guint32 lid = 0;
	guint index = 99;

	by_address = rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_ADDRESS, "192.168.1.17",
						 &index, NULL, NULL);
	assert_ptr_equal(by_address, env_port(&e, "rocep1"));
	assert_int_equal(index, 0);
	rdmad_client_find_port_async(e.l->client, RDMAD_LOOKUP_NETDEV, "ens1", NULL,
				     log_take_result, &result);
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

	rdmad_port_query_async(RDMAD_PORT(env_port(&e, "mlx5_0/1")), -1, NULL, log_take_result,
			       &query);
	wait_until(query);
	fields = rdmad_port_query_finish(RDMAD_PORT(env_port(&e, "mlx5_0/1")), query, NULL);
	assert_true(g_variant_lookup(fields, "lid", "u", &lid));
	assert_int_equal(lid, 17);

	/* when a refresh has ended, the objects have what it found */
	fixture_simulate(e.f, "set mlx5_0/1 lid=55");
	rdmad_client_refresh_async(e.l->client, NULL, log_take_result, &refresh);
	wait_until(refresh);
	assert_true(rdmad_client_refresh_finish(e.l->client, refresh, NULL));
	assert_int_equal(env_number(&e, "mlx5_0/1", "lid"), 55);
	fixture_simulate(e.f, "set mlx5_0/1 lid=56");
	assert_true(rdmad_client_refresh_sync(e.l->client, NULL, NULL));
	assert_int_equal(env_number(&e, "mlx5_0/1", "lid"), 56);
	assert_string_equal(e.l->text->str,
			    "port-changed mlx5_0/1 lid\nport-changed mlx5_0/1 lid\n");
}

static void on_changed_call(RdmadClient *client, _unused_ GPtrArray *changes, gpointer user_data)
{
	static bool inside;

	/* what the call changes is reported after this handler has returned */
	assert_false(inside);
	inside = true;
	assert_true(rdmad_client_refresh_sync(client, NULL, NULL));
	inside = false;
	++*(guint *)user_data;
}

static void test_handlers_that_call(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	guint n = 0;

	g_signal_connect(e.l->client, "changed", G_CALLBACK(on_changed_call), &n);
	fixture_simulate(e.f, "set mlx5_0/1 lid=60 event=lid-change");
	fixture_simulate(e.f, "set mlx5_0/1 lid=61");
	wait_until(n > 0 && env_number(&e, "mlx5_0/1", "lid") == 61);
	g_signal_handlers_disconnect_by_data(e.l->client, &n);
}

static void drop_client(_unused_ RdmadObject *port, _unused_ GParamSpec *property,
			RdmadClient **client)
{
	g_clear_object(client);
}

/* A handler that runs within a call may drop the last reference to the client. */
static void test_last_reference(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadClient *client =
		g_initable_new(RDMAD_TYPE_CLIENT, NULL, NULL, "bus-address", e.f->address, NULL);
	g_autoptr(RdmadPort) port = NULL, found = NULL;

	assert_non_null(client);
	port = g_object_ref(rdmad_client_get_port(client, "mlx5_0/1"));
	g_object_add_weak_pointer(G_OBJECT(client), (gpointer *)&client);
	g_signal_connect(port, "notify::lid", G_CALLBACK(drop_client), &client);
	fixture_forget(e.f);
	fixture_simulate(e.f, "set mlx5_0/1 lid=42 event=lid-change");
	fixture_wait_signal(e.f, rdmad_object_get_object_path(RDMAD_OBJECT(port)),
			    "PropertiesChanged");
	found = rdmad_client_find_port_sync(client, RDMAD_LOOKUP_NAME, "mlx5_0/1", NULL, NULL,
					    NULL);
	assert_null(client);
	assert_ptr_equal(found, port);
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

static void test_thread(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES "[script]\nevery 20ms: set mlx5_0/1 lid=77 "
						  "event=lid-change\nevery 30ms: set mlx5_0/1 "
						  "lid=76 event=lid-change\n");

	g_thread_join(g_thread_new("client", use_client, e.f));
}

/* Every error that has a name on the bus has a code. */
static void test_error_names(_unused_ void **state)
{
	g_autofree char *text = NULL;
	guint n = 0;

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

static void test_free_null(_unused_ void **state)
{
	rdmad_change_free(NULL);
}

static void test_no_bus(_unused_ void **state)
{
	g_autoptr(GError) error = NULL;

	assert_null(g_initable_new(RDMAD_TYPE_CLIENT, NULL, &error, "bus-address",
				   "unix:path=/nonexistent/bus", NULL));
	assert_non_null(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	       cmocka_unit_test(test_handlers_that_call),
		cmocka_unit_test(test_last_reference), cmocka_unit_test(test_thread),
		cmocka_unit_test(test_error_names),    cmocka_unit_test(test_free_null),
		cmocka_unit_test(test_no_bus),
	};

	return log_run_tests(tests);
}
