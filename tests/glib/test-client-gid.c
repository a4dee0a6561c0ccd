/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which GID a program should use. */

#include "env.h"

#define SCENARIO                                                                                   \
	"[device mlx5_0]\nprotocol = infiniband\n[port mlx5_0/1]\nnetdev = ib0 5\n"                \
	"addresses = 192.0.2.9\ngid.0 = fe80::1\ngid.2 = fd00::2\n"                                \
	"[device rocep1]\nprotocol = roce\n[port rocep1/1]\nnetdev = eth0 7\n"                     \
	"gid.0 = fe80::9 v1 eth0 7\ngid.2 = fe80::9 v2 eth0 7\ngid.3 = 192.0.2.1 v1 eth0 7\n"      \
	"gid.4 = 192.0.2.1 v2 eth0 7\ngid.5 = 198.51.100.1 v2 eth0.5 8\n"

static RdmadGid *find(Env *e, const char *port, const char *address, const char *netdev,
		      RdmadGidType type)
{
	g_autoptr(GError) error = NULL;
	RdmadGid *g = rdmad_client_find_gid_sync(e->l->client,
						 port ? RDMAD_PORT(env_port(e, port)) : NULL,
						 address, netdev, type, NULL, &error);

	if (!g)
		fail_msg("%s", error->message);
	return g;
}

static guint find_index(Env *e, const char *port, const char *address, const char *netdev,
			RdmadGidType type)
{
	g_autoptr(RdmadGid) g = find(e, port, address, netdev, type);

	return g->index;
}

static void test_choice(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(RdmadGid) g = find(&e, "rocep1/1", NULL, NULL, RDMAD_GID_TYPE_ANY);
	g_autoptr(RdmadGid) vlan = find(&e, NULL, NULL, "eth0.5", RDMAD_GID_TYPE_ANY);
	g_autoptr(RdmadGid) ib = find(&e, "mlx5_0/1", NULL, NULL, RDMAD_GID_TYPE_ANY);

	assert_int_equal(g->index, 4);
	assert_ptr_equal(g->port, env_port(&e, "rocep1/1"));
	assert_string_equal(g->gid, "0000:0000:0000:0000:0000:ffff:c000:0201");
	assert_string_equal(g->type, "RoCE v2");
	assert_string_equal(g->netdev, "eth0");
	assert_string_equal(g->address, "192.0.2.1");
	assert_true(g_variant_is_of_type(g->details, G_VARIANT_TYPE_VARDICT));
	assert_int_equal(vlan->index, 5);
	assert_string_equal(vlan->address, "198.51.100.1");
	assert_string_equal(ib->type, "IB");
	assert_null(ib->address);

	assert_int_equal(find_index(&e, "rocep1/1", NULL, NULL, RDMAD_GID_TYPE_ROCE_V1), 3);
	assert_int_equal(find_index(&e, "rocep1/1", "fe80::9", NULL, RDMAD_GID_TYPE_ANY), 2);
	assert_int_equal(find_index(&e, "rocep1/1", NULL, "eth0.5", RDMAD_GID_TYPE_ANY), 5);
	assert_int_equal(find_index(&e, NULL, "192.0.2.1", NULL, RDMAD_GID_TYPE_ANY), 4);
	assert_int_equal(find_index(&e, NULL, "192.0.2.1", "eth0", RDMAD_GID_TYPE_ROCE_V1), 3);
	assert_int_equal(find_index(&e, NULL, NULL, "eth0", RDMAD_GID_TYPE_ANY), 4);
}

/* The same table as in test-open-snapshot and test-env: what rdmad, the libraries and rdmactl say
 * of it is the same. */
static void test_bond(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(
		"[device mlx5_0]\nprotocol = roce\n[port mlx5_0/1]\nnetdev = ens1 7\n"
		"netdev_master = bond0\n"
		"gid.0 = fe80::9 v1 bond0 30\ngid.1 = fe80::9 v2 bond0 30\n"
		"gid.2 = 198.51.100.7 v2 bond0.66 31 vlan=66\ngid.3 = 198.51.100.8 v2 macvlan0 32\n"
		"gid.4 = 203.0.113.7 v2 namespace=other\ngid.5 = 192.0.2.7 v2 bond0 30\n"
		"gid.6 = fe80::9 v2 bond0.66 31 vlan=66\n");

	assert_int_equal(find_index(&e, "mlx5_0/1", NULL, NULL, RDMAD_GID_TYPE_ANY), 5);
	assert_int_equal(find_index(&e, NULL, NULL, "bond0", RDMAD_GID_TYPE_ANY), 5);
	assert_int_equal(find_index(&e, NULL, NULL, "bond0.66", RDMAD_GID_TYPE_ANY), 2);
	assert_int_equal(find_index(&e, NULL, "fe80::9", NULL, RDMAD_GID_TYPE_ANY), 1);
	assert_int_equal(find_index(&e, NULL, "fe80::9%bond0.66", NULL, RDMAD_GID_TYPE_ANY), 6);
	assert_int_equal(find_index(&e, "mlx5_0/1", "fe80::9%31", NULL, RDMAD_GID_TYPE_ANY), 6);
}

/* The first GID is that of the IPoIB interface, whose address no GID has. */
static void test_ipoib(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(RdmadGid) g = find(&e, NULL, "192.0.2.9", NULL, RDMAD_GID_TYPE_ANY);
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(RdmadGid) later = NULL;

	assert_ptr_equal(g->port, env_port(&e, "mlx5_0/1"));
	assert_int_equal(g->index, 0);
	assert_int_equal(find_index(&e, NULL, NULL, "ib0", RDMAD_GID_TYPE_ANY), 0);
	assert_int_equal(find_index(&e, "mlx5_0/1", "192.0.2.9", "ib0", RDMAD_GID_TYPE_ANY), 0);
	/* one that has the address itself comes first */
	assert_int_equal(find_index(&e, NULL, "fd00::2", NULL, RDMAD_GID_TYPE_ANY), 2);
	rdmad_client_find_gid_async(e.l->client, NULL, NULL, "ib0", RDMAD_GID_TYPE_IB, NULL,
				    log_take_result, &result);
	wait_until(result);
	later = rdmad_client_find_gid_finish(e.l->client, result, NULL);
	assert_non_null(later);
	assert_int_equal(later->index, 0);
}

static void assert_error(Env *e, const char *port, const char *address, const char *netdev,
			 RdmadServiceError code)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GError) error = NULL, later = NULL;
	RdmadPort *p = port ? RDMAD_PORT(env_port(e, port)) : NULL;

	assert_null(rdmad_client_find_gid_sync(e->l->client, p, address, netdev, RDMAD_GID_TYPE_ANY,
					       NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, (int)code));
	rdmad_client_find_gid_async(e->l->client, p, address, netdev, RDMAD_GID_TYPE_ANY, NULL,
				    log_take_result, &result);
	wait_until(result);
	assert_null(rdmad_client_find_gid_finish(e->l->client, result, &later));
	assert_string_equal(later->message, error->message);
}

static void test_errors(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(RdmadPort) gone = g_object_ref(RDMAD_PORT(env_port(&e, "mlx5_0/1")));
	g_autoptr(GError) error = NULL;

	assert_error(&e, "rocep1/1", "192.0.2.2", NULL, RDMAD_SERVICE_ERROR_NOT_FOUND);
	assert_error(&e, NULL, "192.0.2.2", NULL, RDMAD_SERVICE_ERROR_NOT_FOUND);
	assert_error(&e, "rocep1/1", NULL, "eth7", RDMAD_SERVICE_ERROR_NOT_FOUND);
	assert_error(&e, NULL, NULL, "eth7", RDMAD_SERVICE_ERROR_NOT_FOUND);
	assert_error(&e, "rocep1/1", "192.0.2", NULL, RDMAD_SERVICE_ERROR_INVALID_ARGUMENT);

	fixture_simulate(e.f, "remove mlx5_0");
	wait_until(!rdmad_object_is_present(RDMAD_OBJECT(gone)));
	assert_null(rdmad_client_find_gid_sync(e.l->client, gone, NULL, NULL, RDMAD_GID_TYPE_ANY,
					       NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE));
}

/* The generation says when to look again, and the table is then read anew. */
static void test_change(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(RdmadGid) before = find(&e, NULL, "192.0.2.1", NULL, RDMAD_GID_TYPE_ANY);
	g_autoptr(RdmadGid) after = NULL;
	g_autoptr(GAsyncResult) result = NULL;

	assert_int_equal(before->generation, env_number(&e, "rocep1/1", "gid-generation"));
	fixture_simulate(e.f, "set rocep1/1 gid.4= gid.7=192.0.2.1 event=gid-change");
	wait_until(before->generation != env_number(&e, "rocep1/1", "gid-generation"));
	rdmad_client_find_gid_async(e.l->client, RDMAD_PORT(env_port(&e, "rocep1/1")), NULL, NULL,
				    RDMAD_GID_TYPE_ANY, NULL, log_take_result, &result);
	wait_until(result);
	after = rdmad_client_find_gid_finish(e.l->client, result, NULL);
	assert_non_null(after);
	assert_int_equal(after->index, 7);
	assert_int_equal(after->generation, env_number(&e, "rocep1/1", "gid-generation"));
	rdmad_gid_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice), cmocka_unit_test(test_bond),
		cmocka_unit_test(test_ipoib),  cmocka_unit_test(test_errors),
		cmocka_unit_test(test_change),
	};

	return log_run_tests(tests);
}
