/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All attributes at once: of one object, or of all. */

#include "env.h"

/* Changes tables that nobody listens to; each N makes a change. */
static void change(Env *e, guint n)
{
	g_autofree char *gid =
		g_strdup_printf("set rocep1/1 gid.1=192.168.1.%u event=gid-change", 100 + n);
	g_autofree char *pkey =
		g_strdup_printf("set mlx5_0/1 pkey.1=0x%x event=pkey-change", 0x8001 + n);

	log_forget(e->l);
	fixture_simulate(e->f, gid);
	fixture_simulate(e->f, pkey);
	wait_until(!rdmad_object_is_available(env_port(e, "rocep1/1"), "gids") &&
		   !rdmad_object_is_available(env_port(e, "mlx5_0/1"), "pkeys"));
	log_settle(e->l);
	log_forget(e->l);
}

/* How many entries the table NAME in the dictionary ATTRIBUTES has; -1 if it is not there. */
static int n_entries(GVariant *attributes, const char *name)
{
	g_autoptr(GVariant) table = g_variant_lookup_value(attributes, name, NULL);

	return table ? (int)g_variant_n_children(table) : -1;
}

static void test_client(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) before = NULL, roce = NULL, ib = NULL;
	guint64 queried = env_number(&e, "mlx5_0/1", "last-query-timestamp");

	change(&e, 0);
	before = rdmad_object_get_attributes(env_port(&e, "rocep1/1"));
	assert_int_equal(n_entries(before, "Gids"), -1);
	assert_true(rdmad_client_load_all_sync(e.l->client, NULL, NULL));
	env_check_values(&e);
	roce = rdmad_object_get_attributes(env_port(&e, "rocep1/1"));
	ib = rdmad_object_get_attributes(env_port(&e, "mlx5_0/1"));
	assert_int_equal(n_entries(roce, "Gids"), 2);
	assert_int_equal(n_entries(ib, "Pkeys"), 2);
	assert_true(g_variant_lookup(ib, "Lid", "u", NULL));
	assert_false(g_variant_lookup(roce, "Lid", "u", NULL));
	/* it changes without a signal */
	assert_true(env_number(&e, "mlx5_0/1", "last-query-timestamp") > queried);

	change(&e, 1);
	rdmad_client_load_all_async(e.l->client, NULL, log_take_result, &result);
	wait_until(result);
	assert_true(rdmad_client_load_all_finish(e.l->client, result, NULL));
	env_check_values(&e);
}

static void test_object(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "rocep1/1");
	g_autoptr(RdmadObject) gone = g_object_ref(port);
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) loaded = NULL, later = NULL, has = NULL, device = NULL;
	g_autoptr(GError) error = NULL;
	GVariantIter iter;
	const char *name;
	GVariant *value;

	change(&e, 0);
	loaded = rdmad_object_load_all_sync(port, NULL, NULL);
	assert_non_null(loaded);
	assert_int_equal(n_entries(loaded, "Gids"), 2);
	/* the object has the same, and no value that is unavailable is there */
	has = rdmad_object_get_attributes(port);
	assert_int_equal(g_variant_n_children(has), g_variant_n_children(loaded));
	g_variant_iter_init(&iter, loaded);
	while (g_variant_iter_loop(&iter, "{&sv}", &name, &value)) {
		g_autoptr(GVariant) same = rdmad_object_get_attribute(port, name);

		assert_true(same && g_variant_equal(same, value));
		assert_null(rdmad_object_why_unavailable(port, name));
	}
	/* those of the other port are not read */
	assert_false(rdmad_object_is_available(env_port(&e, "mlx5_0/1"), "pkeys"));

	rdmad_object_load_all_async(port, NULL, log_take_result, &result);
	wait_until(result);
	later = rdmad_object_load_all_finish(port, result, NULL);
	assert_int_equal(n_entries(later, "Gids"), 2);
	device = rdmad_object_load_all_sync(
		RDMAD_OBJECT(rdmad_client_get_device(e.l->client, "rocep1")), NULL, NULL);
	assert_true(g_variant_lookup(device, "Name", "s", NULL));

	fixture_simulate(e.f, "remove rocep1");
	wait_until(!rdmad_object_is_present(gone));
	assert_null(rdmad_object_load_all_sync(gone, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE));
}

/* A down link: there are fewer values, and none of them is a 0 that means nothing. */
static void test_unavailable(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	g_autoptr(GVariant) loaded = NULL;

	fixture_simulate(e.f, "set mlx5_0/1 state=down event=port-error");
	wait_until(streq(rdmad_object_get_string(env_port(&e, "mlx5_0/1"), "state"), "down"));
	loaded = rdmad_object_load_all_sync(env_port(&e, "mlx5_0/1"), NULL, NULL);
	assert_false(g_variant_lookup(loaded, "Lid", "u", NULL));
	assert_false(g_variant_lookup(loaded, "Rate", "t", NULL));
	assert_true(g_variant_lookup(loaded, "State", "s", NULL));
}

static void load_in_handler(_unused_ RdmadClient *client, RdmadObject *port, _unused_ char **names,
			    gpointer user_data)
{
	guint *n = user_data;

	assert_true(rdmad_client_load_all_sync(client, NULL, NULL));
	assert_non_null(port);
	(*n)++;
}

/* In a handler too: what was read is applied after it. */
static void test_handler(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	guint n = 0;

	g_signal_connect(e.l->client, "port-changed", G_CALLBACK(load_in_handler), &n);
	fixture_simulate(e.f, "set rocep1/1 gid.1=192.168.1.18 event=gid-change");
	wait_until(n > 0);
	log_settle(e.l);
	g_signal_handlers_disconnect_by_data(e.l->client, &n);
	assert_int_equal(n, 1);
	env_check_values(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client),
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_handler),
	};

	return log_run_tests(tests);
}
