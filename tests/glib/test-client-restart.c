/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client when the daemon, or the bus, comes and goes. */

#include "env.h"

#include <signal.h>

static guint count(const char *text, const char *what)
{
	guint n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void test_restart(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1");

	/* if nothing has changed, nothing is reported */
	env_restart(&e, SIGKILL, TWO_DEVICES);
	env_assert_log(&e, "");
	assert_int_equal(e.l->n_connected, 2);
	assert_int_equal(e.l->n_batches, 0);
	assert_ptr_equal(env_port(&e, "mlx5_0/1"), port);

	/* if something has, it is reported once */
	for (unsigned int i = 0; i < 5; i++) {
		g_autofree char *scenario = g_strdup_printf(TWO_DEVICES_WITH("%u"), 30 + i);

		log_forget(e.l);
		fixture_simulate(e.f, "set rocep1/1 netdev_mtu=1500 event=link");
		env_restart(&e, i % 2 == 0 ? SIGKILL : SIGTERM, scenario);
		log_settle(e.l);
		assert_int_equal(env_number(&e, "mlx5_0/1", "lid"), 30 + i);
		assert_int_equal(count(e.l->text->str, "port-changed mlx5_0/1 lid\n"), 1);
		assert_int_equal(count(e.l->text->str, "mlx5_0/1"), 1);
		assert_int_equal(e.l->n_connected, 2);
	}

	/* the client follows the new daemon */
	log_forget(e.l);
	fixture_simulate(e.f, "set mlx5_0/1 lid=99 event=lid-change");
	wait_until(e.l->n_batches > 0);
	env_assert_log(&e, "port-changed mlx5_0/1 lid\n");
	env_check_values(&e);
}

static void test_restart_with_other_devices(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);

	env_restart(&e, SIGKILL,
		    "[device mlx5_0]\nprotocol = infiniband\n[port mlx5_0/1]\nlid = 17\n"
		    "[device mlx5_7]\nindex = 7\nprotocol = infiniband\n");
	env_assert_log(&e, "device-added mlx5_7\nport-added mlx5_7/1\n"
			   "port-removed rocep1/1\ndevice-removed rocep1\n");
	assert_int_equal(e.l->n_batches, 1);
	/* the same place, but another kind of port: other interfaces */
	log_forget(e.l);
	env_restart(&e, SIGKILL,
		    "[device mlx5_0]\nprotocol = roce\n[device mlx5_7]\nindex = 7\nprotocol = "
		    "infiniband\n");
	assert_false(rdmad_object_is_available(env_port(&e, "mlx5_0/1"), "lid"));
	assert_string_equal(rdmad_object_why_unavailable(env_port(&e, "mlx5_0/1"), "lid"),
			    "not on this kind of port");
	assert_true(rdmad_object_is_available(env_port(&e, "mlx5_0/1"), "carrier"));
	env_check_values(&e);
}

static void test_daemon_later(_unused_ void **state)
{
	_cleanup_env_ Env e = {.f = fixture_new()};

	e.l = log_new(e.f);
	assert_false(rdmad_client_get_connected(e.l->client));
	fixture_start_daemon(e.f, TWO_DEVICES, NULL);
	wait_until(rdmad_client_get_connected(e.l->client));
	env_assert_log(&e, "device-added mlx5_0\nport-added mlx5_0/1\n"
			   "device-added rocep1\nport-added rocep1/1\n");
	assert_int_equal(e.l->n_batches, 1);
}

/* The bus ends; SIG: and the daemon by this signal. What the client has remains, and calls say why
 * they fail. */
static void end_bus(Env *e, int sig)
{
	g_autoptr(GVariant) gids = NULL;
	g_autoptr(GError) error = NULL;

	fixture_stop_bus(e->f);
	if (sig)
		fixture_stop_daemon(e->f, sig);
	wait_until(!rdmad_client_get_connected(e->l->client));
	assert_string_equal(rdmad_object_get_string(env_port(e, "mlx5_0/1"), "state"), "active");
	assert_false(rdmad_client_refresh_sync(e->l->client, NULL, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED));
	g_clear_error(&error);
	gids = rdmad_object_load_sync(env_port(e, "mlx5_0/1"), "gids", NULL, &error);
	assert_null(gids);
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED));
	assert_string_equal(e->l->text->str, "");
}

/* The bus comes back at its address; SCENARIO: with a new daemon that runs it. */
static void begin_bus(Env *e, const char *scenario)
{
	fixture_start_bus(e->f);
	fixture_connect(e->f);
	if (scenario)
		fixture_start_daemon(e->f, scenario, NULL);
	wait_until(rdmad_client_get_connected(e->l->client));
}

static void count_notify(_unused_ GObject *o, _unused_ GParamSpec *property, gpointer user_data)
{
	(*(guint *)user_data)++;
}

static void test_bus_restart(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1");
	guint n_connections = 0;

	g_signal_connect(e.l->client, "notify::connection", G_CALLBACK(count_notify),
			 &n_connections);
	end_bus(&e, SIGKILL);
	begin_bus(&e, TWO_DEVICES);
	env_assert_log(&e, "");
	assert_int_equal(e.l->n_connected, 2);
	assert_int_equal(n_connections, 1);
	assert_ptr_equal(env_port(&e, "mlx5_0/1"), port);

	/* what has changed meanwhile is reported once, and what comes then too */
	log_forget(e.l);
	end_bus(&e, SIGKILL);
	begin_bus(&e, TWO_DEVICES_WITH("31"));
	env_assert_log(&e, "port-changed mlx5_0/1 lid\n");
	assert_int_equal(e.l->n_batches, 1);
	log_forget(e.l);
	fixture_simulate(e.f, "set mlx5_0/1 lid=99 event=lid-change");
	wait_until(e.l->n_batches > 0);
	env_assert_log(&e, "port-changed mlx5_0/1 lid\n");
	env_check_values(&e);

	/* the daemon follows later than the bus */
	log_forget(e.l);
	end_bus(&e, SIGKILL);
	fixture_start_bus(e.f);
	fixture_connect(e.f);
	wait_until(n_connections == 3);
	assert_false(rdmad_client_get_connected(e.l->client));
	fixture_start_daemon(e.f, TWO_DEVICES, NULL);
	wait_until(rdmad_client_get_connected(e.l->client));
	env_assert_log(&e, "port-changed mlx5_0/1 lid\n");
	g_signal_handlers_disconnect_by_data(e.l->client, &n_connections);
}

/* To initialize it again is to do nothing, also while the bus is away. */
static void test_initialize_without_bus(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);

	end_bus(&e, 0);
	assert_true(g_initable_init(G_INITABLE(e.l->client), NULL, NULL));
	assert_false(rdmad_client_get_connected(e.l->client));
	begin_bus(&e, NULL);
	assert_true(g_initable_init(G_INITABLE(e.l->client), NULL, NULL));
	env_assert_log(&e, "");
}

/* A client is freed while it waits for the bus. */
static void test_free_without_bus(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);

	end_bus(&e, 0);
}

/* A connection that the program has given is not replaced. */
static void test_given_connection(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GDBusConnection) connection = log_connect(e.f);
	g_autoptr(RdmadClient) client =
		g_initable_new(RDMAD_TYPE_CLIENT, NULL, NULL, "connection", connection, NULL);

	assert_non_null(client);
	end_bus(&e, 0);
	begin_bus(&e, NULL);
	assert_false(rdmad_client_get_connected(client));
	assert_ptr_equal(rdmad_client_get_connection(client), connection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_restart_with_other_devices),
		cmocka_unit_test(test_daemon_later),
		cmocka_unit_test(test_bus_restart),
		cmocka_unit_test(test_initialize_without_bus),
		cmocka_unit_test(test_free_without_bus),
		cmocka_unit_test(test_given_connection),
	};

	return log_run_tests(tests);
}
