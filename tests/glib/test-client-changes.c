/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the client reports when the daemon has found a change. */

#include "env.h"

static void test_values(_unused_ void **state)
{
	g_autofree char *scenario = NULL;
	_cleanup_env_ Env e = {};

	assert_true(g_file_get_contents(TEST_SOURCE_DIR "/docs/scenarios/fabric.conf", &scenario,
					NULL, NULL));
	e = env_new(scenario);
	assert_in_range(env_check_values(&e), 300, 1000);

	/* they are the same after changes too, also the reasons of those that are unavailable */
	fixture_simulate(e.f, "set */* state=down phys_state=polling event=port-error");
	wait_until(g_strcmp0(rdmad_object_get_string(env_port(&e, "ibp97s0/1"), "state"), "down") ==
		   0);
	env_check_values(&e);
	assert_false(rdmad_object_is_available(env_port(&e, "mlx5_0/1"), "lid"));
	assert_int_equal(rdmad_port_find_device(RDMAD_PORT(env_port(&e, "mlx5_0/1"))) ==
				 rdmad_client_get_device(e.l->client, "mlx5_0"),
			 TRUE);
}

static void on_state_changed(RdmadPort *port, const char *is, const char *was, const char *reason,
			     gpointer user_data)
{
	/* the properties are there before */
	assert_string_equal(rdmad_object_get_string(RDMAD_OBJECT(port), "state"), is);
	g_string_append_printf(user_data, "%s->%s:%s ", was, is, reason);
}

static void on_reconfigured(_unused_ RdmadPort *port, const char *reason, gpointer user_data)
{
	g_string_append_printf(user_data, "reconfigured:%s ", reason);
}

static void test_change(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1");
	g_autoptr(GString) seen = g_string_new(NULL);

	g_signal_connect(port, "notify::lid", G_CALLBACK(log_take_notify), seen);
	g_signal_connect(port, "notify::sm-lid", G_CALLBACK(log_take_notify), seen);
	g_signal_connect(port, "state-changed", G_CALLBACK(on_state_changed), seen);
	g_signal_connect(port, "subnet-reconfigured", G_CALLBACK(on_reconfigured), seen);

	fixture_simulate(e.f, "set mlx5_0/1 lid=42 event=lid-change");
	wait_until(e.l->n_batches > 0);
	env_assert_log(&e, "port-changed mlx5_0/1 lid\n");
	assert_int_equal(env_number(&e, "mlx5_0/1", "lid"), 42);
	assert_true(g_str_has_prefix(seen->str, "lid "));
	assert_null(strstr(seen->str, "sm-lid"));

	/* a value that becomes unavailable is a change too */
	log_forget(e.l);
	g_string_truncate(seen, 0);
	fixture_simulate(e.f, "set mlx5_0/1 state=init event=port-error");
	wait_until(e.l->n_batches > 0);
	env_assert_log(&e,
		       "port-changed mlx5_0/1 state lid lmc sm-lid sm-sl subnet-timeout-usec\n");
	assert_false(rdmad_object_is_available(port, "lid"));
	assert_string_equal(rdmad_object_why_unavailable(port, "lid"),
			    "the subnet manager has not configured the port");
	assert_string_equal(rdmad_object_get_unavailable_code(port, "lid"), "not-configured");
	assert_null(rdmad_object_get_attribute(port, "lid"));
	assert_non_null(strstr(seen->str, "lid sm-lid active->init:port-error "));
	/* a batch is one change of one object here */
	assert_int_equal(e.l->n_batches, 1);
	assert_int_equal(e.l->n_last, 1);
	g_signal_handlers_disconnect_by_data(port, seen);
}

/* All ports change in one flush: that is one batch of many messages. */
static void test_batch(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new("[device mlx5_%d]\ncount = 40\nprotocol = infiniband\n");
	guint n = getenv("RDMAD_TEST_VALGRIND") ? 2 : 20;

	for (guint i = 1; i <= n; i++) {
		g_autofree char *command =
			g_strdup_printf("set */* lid=%u active_mtu=%u event=lid-change", 100 + i,
					i % 2 == 0 ? 4096 : 2048);

		log_forget(e.l);
		fixture_simulate(e.f, command);
		wait_until(e.l->n_batches > 0);
		log_settle(e.l);
		assert_int_equal(e.l->n_batches, 1);
		assert_int_equal(e.l->n_last, 40);
		assert_int_equal(env_number(&e, "mlx5_39/1", "lid"), 100 + i);
	}
}

static void on_lid_changed(_unused_ RdmadClient *client, RdmadObject *port, char **names,
			   gpointer user_data)
{
	GArray *lids = user_data;
	guint64 lid;

	if (!g_strv_contains((const char *const *)names, "lid"))
		return;
	assert_true(rdmad_object_get_number(port, "lid", &lid));
	/* no change is reported twice, and none goes back */
	assert_true(lids->len == 0 || g_array_index(lids, guint64, lids->len - 1) < lid);
	g_array_append_val(lids, lid);
}

static void test_many_changes(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GArray) lids = g_array_new(FALSE, FALSE, sizeof(guint64));
	gulong handler =
		g_signal_connect(e.l->client, "port-changed", G_CALLBACK(on_lid_changed), lids);

	for (guint i = 1; i <= 200; i++) {
		g_autofree char *command =
			g_strdup_printf("set mlx5_0/1 lid=%u event=lid-change", 100 + i);

		fixture_simulate(e.f, command);
		while (i % 3 == 0 && g_main_context_iteration(NULL, FALSE))
			;
	}
	wait_until(lids->len > 0 && g_array_index(lids, guint64, lids->len - 1) == 300);
	log_settle(e.l);
	assert_int_equal(env_number(&e, "mlx5_0/1", "lid"), 300);
	g_signal_handler_disconnect(e.l->client, handler);
}

/* Health and Findings are there as on the bus, a little later than what they are about. */
static void test_health(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1");
	g_autoptr(GVariant) findings = NULL, first = NULL;
	g_autoptr(GError) error = NULL;
	const char *check;

	wait_until(g_strcmp0(rdmad_object_get_string(port, "health"), "ok") == 0);
	fixture_simulate(e.f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	wait_until(g_strcmp0(rdmad_object_get_string(port, "health"), "critical") == 0);
	findings = rdmad_object_load_sync(port, "findings", NULL, &error);
	if (!findings)
		fail_msg("%s", error->message);
	assert_int_equal(g_variant_n_children(findings), 1);
	first = g_variant_get_child_value(findings, 0);
	g_variant_get_child(first, 0, "&s", &check);
	assert_string_equal(check, "not-active");
}

/* The port of a switch has the number 0, and is no device. */
static void test_switch(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new("[device sw0]\nprotocol = infiniband\nnode_type = switch\n");
	RdmadPort *port = rdmad_client_get_port(e.l->client, "/org/rdma/device/0/port/0");

	assert_non_null(port);
	assert_ptr_equal(rdmad_client_get_port(e.l->client, "sw0/0"), port);
	assert_non_null(rdmad_client_get_device(e.l->client, "sw0"));
	assert_null(rdmad_client_get_port(e.l->client, "sw0/1"));
	assert_int_equal(env_number(&e, "sw0/0", "port-number"), 0);
}

static void test_devices(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES "[device mlx5_9]\npresent = no\nprotocol = "
						  "infiniband\nports = 2\n");
	g_autoptr(RdmadObject) port = NULL;
	g_autoptr(GPtrArray) ports = NULL;
	g_autoptr(GError) error = NULL;
	gboolean present;

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
	port = g_object_ref(env_port(&e, "mlx5_9/2"));

	log_forget(e.l);
	fixture_simulate(e.f, "rename mlx5_9 mlx5_10");
	wait_until(rdmad_client_get_port(e.l->client, "mlx5_10/2"));
	assert_ptr_equal(rdmad_client_get_port(e.l->client, "mlx5_10/2"), port);
	assert_null(rdmad_client_get_port(e.l->client, "mlx5_9/2"));

	log_forget(e.l);
	fixture_simulate(e.f, "remove mlx5_10");
	wait_until(!rdmad_client_get_device(e.l->client, "mlx5_10"));
	env_assert_log(&e,
		       "port-removed mlx5_10/2\nport-removed mlx5_10/1\ndevice-removed mlx5_10\n");
	assert_int_equal(e.l->n_batches, 1);
	/* who holds it still can read it */
	g_object_get(port, "present", &present, NULL);
	assert_false(present);
	assert_string_equal(rdmad_object_get_string(port, "state"), "active");
	assert_null(rdmad_port_find_device(RDMAD_PORT(port)));
	assert_null(rdmad_port_query_sync(RDMAD_PORT(port), -1, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_change),
		cmocka_unit_test(test_batch),  cmocka_unit_test(test_many_changes),
		cmocka_unit_test(test_switch), cmocka_unit_test(test_devices),
		cmocka_unit_test(test_health),
	};

	return log_run_tests(tests);
}
