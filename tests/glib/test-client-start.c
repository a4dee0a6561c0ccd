/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client that cannot start, and is started again. */

#include "env.h"

/* A connection on which the bus refuses match rules while SPOIL is not 0. RULES: those that were
 * added and not removed. */
typedef struct Refusal {
	GDBusConnection *connection;
	gint spoil, rules;
	guint filter;
} Refusal;

/* Replaces the rules that are sent by an invalid one. Runs in the thread of GDBus. */
static GDBusMessage *spoil_match(_unused_ GDBusConnection *connection, GDBusMessage *m,
				 gboolean incoming, gpointer user_data)
{
	g_autoptr(GDBusMessage) original = NULL;
	const char *member = g_dbus_message_get_member(m);
	GDBusMessage *spoilt;
	Refusal *r = user_data;

	if (!incoming && g_strcmp0(member, "RemoveMatch") == 0)
		g_atomic_int_dec_and_test(&r->rules);
	if (incoming || g_strcmp0(member, "AddMatch") != 0)
		return m;
	if (!g_atomic_int_get(&r->spoil)) {
		g_atomic_int_inc(&r->rules);
		return m;
	}
	original = m;
	spoilt = g_dbus_message_copy(m, NULL);
	g_dbus_message_set_body(spoilt, g_variant_new("(s)", "nonsense"));
	return spoilt;
}

static void refusal_init(Refusal *r, Fixture *f)
{
	r->connection = log_connect(f);
	r->filter = g_dbus_connection_add_filter(r->connection, spoil_match, r, NULL);
}

static void refusal_done(Refusal *r)
{
	g_dbus_connection_remove_filter(r->connection, r->filter);
	/* no filter runs in the thread of GDBus after this */
	g_dbus_connection_close_sync(r->connection, NULL, NULL);
	g_object_unref(r->connection);
}
#define _cleanup_refusal_ _cleanup_(refusal_done)

/* The rules of R, once all that was sent before has gone through its filter. */
static gint count_rules(Refusal *r)
{
	assert_true(g_dbus_connection_flush_sync(r->connection, NULL, NULL));
	return g_atomic_int_get(&r->rules);
}

static gboolean start_async(RdmadClient *client, GCancellable *cancellable, GError **error)
{
	g_autoptr(GAsyncResult) result = NULL;

	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, cancellable,
				    log_take_result, &result);
	wait_until(result);
	return g_async_initable_init_finish(G_ASYNC_INITABLE(client), result, error);
}

static gboolean start_sync(RdmadClient *client, GCancellable *cancellable, GError **error)
{
	return g_initable_init(G_INITABLE(client), cancellable, error);
}

typedef gboolean (*StartFunction)(RdmadClient *client, GCancellable *cancellable, GError **error);

static void check_start_again(StartFunction start)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	_cleanup_refusal_ Refusal r = {};
	g_autoptr(RdmadClient) client = NULL;
	guint64 lid = 0;

	refusal_init(&r, e.f);
	client = g_object_new(RDMAD_TYPE_CLIENT, "connection", r.connection, NULL);
	g_atomic_int_set(&r.spoil, 1);
	for (guint i = 0; i < 3; i++) {
		g_autoptr(GError) error = NULL;

		assert_false(start(client, NULL, &error));
		assert_true(g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_MATCH_RULE_INVALID));
		assert_false(rdmad_client_get_connected(client));
		g_clear_error(&error);
		assert_false(rdmad_client_refresh_sync(client, NULL, &error));
		assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED));
	}
	g_atomic_int_set(&r.spoil, 0);
	assert_true(start(client, NULL, NULL));
	assert_true(rdmad_client_get_connected(client));
	assert_true(start(client, NULL, NULL)); /* which does nothing */
	fixture_simulate(e.f, "set mlx5_0/1 lid=42 event=lid-change");
	while (lid != 42) {
		main_context_turn();
		rdmad_object_get_number(RDMAD_OBJECT(rdmad_client_get_port(client, "mlx5_0/1")),
					"lid", &lid);
	}
}

static void test_start_again(_unused_ void **state)
{
	check_start_again(start_sync);
}

static void test_start_again_async(_unused_ void **state)
{
	check_start_again(start_async);
}

/* Two clients on one connection have the same match rules, and the bus counts them. */
static void test_other_client(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	_cleanup_refusal_ Refusal r = {};
	g_autoptr(RdmadClient) follows = NULL, fails = NULL;
	g_autoptr(GString) seen = g_string_new(NULL);
	RdmadObject *port;

	refusal_init(&r, e.f);
	follows = g_initable_new(RDMAD_TYPE_CLIENT, NULL, NULL, "connection", r.connection, NULL);
	assert_non_null(follows);
	fails = g_object_new(RDMAD_TYPE_CLIENT, "connection", r.connection, NULL);
	g_atomic_int_set(&r.spoil, 1);
	assert_int_equal(count_rules(&r), 2);
	assert_false(g_initable_init(G_INITABLE(fails), NULL, NULL));
	g_clear_object(&fails);
	assert_int_equal(count_rules(&r), 2);
	port = RDMAD_OBJECT(rdmad_client_get_port(follows, "mlx5_0/1"));
	g_signal_connect(port, "notify::lid", G_CALLBACK(log_take_notify), seen);
	fixture_simulate(e.f, "set mlx5_0/1 lid=42 event=lid-change");
	wait_until(seen->len > 0);
	g_signal_handlers_disconnect_by_data(port, seen);
	/* what it has added it removes */
	g_clear_object(&follows);
	assert_int_equal(count_rules(&r), 0);
}

static void test_cancel(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	StartFunction starts[] = {start_sync, start_async};

	g_cancellable_cancel(cancellable);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		g_autoptr(RdmadClient) client =
			g_object_new(RDMAD_TYPE_CLIENT, "bus-address", e.f->address, NULL);
		g_autoptr(GError) error = NULL;

		assert_false(starts[i](client, cancellable, &error));
		assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
		assert_null(rdmad_client_get_connection(client));
		assert_true(starts[i](client, NULL, NULL));
		assert_true(rdmad_client_get_connected(client));
		/* it does not wait for a time to connect again */
		assert_null(g_main_context_find_source_by_user_data(NULL, client));
	}
}

/* While a start is under way, another one is an error. */
static void test_two_starts(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(RdmadClient) client =
		g_object_new(RDMAD_TYPE_CLIENT, "bus-address", e.f->address, NULL);
	g_autoptr(GAsyncResult) first = NULL;
	g_autoptr(GError) error = NULL;

	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, NULL,
				    log_take_result, &first);
	assert_false(start_sync(client, NULL, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PENDING));
	g_clear_error(&error);
	assert_false(start_async(client, NULL, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PENDING));
	wait_until(first);
	assert_true(g_async_initable_init_finish(G_ASYNC_INITABLE(client), first, NULL));
	assert_true(rdmad_client_get_connected(client));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_again),  cmocka_unit_test(test_start_again_async),
		cmocka_unit_test(test_other_client), cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_two_starts),
	};

	return log_run_tests(tests);
}
