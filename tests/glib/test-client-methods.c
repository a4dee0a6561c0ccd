/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters, histories, look-ups by anything, and waiting for ports. */

#include "env.h"

#define SCENARIO                                                                                   \
	"[device mlx5_0]\nprotocol = infiniband\nports = 2\nnode_guid = 0x5500\n"                  \
	"[port mlx5_0/1]\ncounter.symbol_error = 65535\ncounter.VL15_dropped =\n"                  \
	"hw_counter.from_the_future = 42\n"                                                        \
	"[device rocep1]\nprotocol = roce\n[port rocep1/1]\nnetdev = ens1 7\n"                     \
	"gid.1 = 192.168.1.17 v1\ngid.3 = 192.168.1.17 v2\n"

static RdmadPort *port(Env *e, const char *name)
{
	return RDMAD_PORT(env_port(e, name));
}

static const RdmadCounter *find_counter(const GPtrArray *counters, const char *name)
{
	for (guint i = 0; i < counters->len; i++) {
		const RdmadCounter *c = counters->pdata[i];

		if (streq(c->name, name))
			return c;
	}
	fail_msg("no counter %s", name);
	return NULL;
}

static void test_counters(_unused_ void **state)
{
	static const char *const names[] = {"rocep1/1", NULL}, *const wrong[] = {"nope", NULL};
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GPtrArray) all = NULL, one = NULL;
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(RdmadPortCounters) kept = NULL;
	g_autoptr(RdmadCounter) missing = NULL;
	g_autoptr(GError) error = NULL;
	const RdmadPortCounters *c;
	const RdmadCounter *counter;

	all = rdmad_client_get_counters_sync(e.l->client, NULL, NULL, &error);
	if (!all)
		fail_msg("%s", error->message);
	assert_int_equal(all->len, 3);
	c = all->pdata[0];
	assert_ptr_equal(c->port, port(&e, "mlx5_0/1"));
	counter = find_counter(c->counters, "symbol_error");
	assert_string_equal(counter->group, "counters");
	assert_string_equal(counter->condition, "saturated");
	assert_string_equal(counter->unit, "events");
	assert_true(counter->available);
	assert_int_equal(counter->value, 65535);
	assert_string_equal(counter->reason, "");
	assert_null(rdmad_counter_why_unavailable(counter));
	counter = find_counter(c->counters, "from_the_future");
	assert_string_equal(counter->group, "hw_counters");
	assert_string_equal(counter->condition, "valid");
	assert_int_equal(counter->value, 42);
	missing = rdmad_counter_ref((RdmadCounter *)find_counter(c->counters, "VL15_dropped"));
	assert_true(c->timestamp > 0 && c->monotonic > 0);
	assert_true(!c->reason && !c->message);

	rdmad_client_get_counters_async(e.l->client, names, NULL, log_take_result, &result);
	wait_until(result);
	one = rdmad_client_get_counters_finish(e.l->client, result, NULL);
	assert_non_null(one);
	assert_int_equal(one->len, 1);
	kept = rdmad_port_counters_ref(one->pdata[0]);
	assert_ptr_equal(kept->port, port(&e, "rocep1/1"));

	assert_null(rdmad_client_get_counters_sync(e.l->client, wrong, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
	rdmad_port_counters_unref(NULL);
	g_clear_pointer(&all, g_ptr_array_unref);
	assert_false(missing->available);
	assert_string_equal(missing->condition, "missing");
	assert_string_not_equal(missing->reason, "");
	assert_string_not_equal(rdmad_counter_why_unavailable(missing), "");
}

/* TRANSITIONS as "FROM>TO:REASON ..."; frees them. */
static char *transitions_text(GPtrArray *transitions)
{
	GString *text = g_string_new(NULL);

	assert_non_null(transitions);
	for (guint i = 0; i < transitions->len; i++) {
		const RdmadTransition *t = transitions->pdata[i];

		assert_true(t->timestamp > 0 && t->monotonic > 0);
		assert_int_equal(t->rate > 0, streq(t->new_state, "active"));
		g_string_append_printf(text, "%s%s>%s:%s", i == 0 ? "" : " ", t->old_state,
				       t->new_state, t->reason);
	}
	g_ptr_array_unref(transitions);
	return g_string_free(text, FALSE);
}

static void test_history(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GAsyncResult) result = NULL, named = NULL;
	g_autofree char *sync = NULL, *async = NULL, *gone = NULL;
	g_autoptr(GPtrArray) histories = NULL;
	g_autoptr(GVariant) options =
		g_variant_ref_sink(g_variant_new_parsed("{'transitions': <true>}"));
	g_autoptr(GError) error = NULL;
	const RdmadHistory *h;

	fixture_simulate(e.f, "set mlx5_0/2 state=down event=port-error");
	wait_until(streq(rdmad_object_get_string(env_port(&e, "mlx5_0/2"), "state"), "down"));
	sync = transitions_text(rdmad_port_get_history_sync(port(&e, "mlx5_0/2"), NULL, NULL));
	assert_string_equal(sync, "unknown>active:startup active>down:port-error");
	rdmad_port_get_history_async(port(&e, "mlx5_0/2"), NULL, log_take_result, &result);
	wait_until(result);
	async = transitions_text(rdmad_port_get_history_finish(port(&e, "mlx5_0/2"), result, NULL));
	assert_string_equal(async, sync);

	/* a port that has gone has its history, by its name */
	fixture_simulate(e.f, "remove rocep1");
	wait_until(!rdmad_client_get_port(e.l->client, "rocep1/1"));
	rdmad_client_get_history_async(e.l->client, "rocep1/1", NULL, log_take_result, &named);
	wait_until(named);
	gone = transitions_text(rdmad_client_get_history_finish(e.l->client, named, NULL));
	assert_true(g_str_has_prefix(gone, "unknown>active:startup active>absent:"));
	assert_null(rdmad_client_get_history_sync(e.l->client, "nope", NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));

	histories = rdmad_client_list_histories_sync(e.l->client, options, NULL, NULL);
	assert_non_null(histories);
	assert_int_equal(histories->len, 3);
	h = histories->pdata[1];
	assert_string_equal(h->name, "mlx5_0/2");
	assert_true(h->present && h->port == port(&e, "mlx5_0/2"));
	assert_string_equal(h->state, "down");
	assert_int_equal(h->link_down_count, 1);
	assert_int_equal(h->transitions->len, 2);
	assert_true(h->since > 0 && h->state_change_timestamp >= h->since);
	h = histories->pdata[2];
	assert_string_equal(h->name, "rocep1/1");
	assert_true(!h->present && !h->port);
	assert_string_equal(h->state, "absent");
}

static void test_histories_without_transitions(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GPtrArray) histories = NULL;
	const RdmadHistory *h;

	rdmad_client_list_histories_async(e.l->client, NULL, NULL, log_take_result, &result);
	wait_until(result);
	histories = rdmad_client_list_histories_finish(e.l->client, result, NULL);
	assert_int_equal(histories->len, 3);
	h = histories->pdata[0];
	assert_int_equal(h->transitions->len, 0);
	assert_true(g_variant_lookup(h->details, "LinkDownCount", "t", NULL));
}

static void test_find_ports(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GPtrArray) device = NULL, address = NULL, guid = NULL, none = NULL;
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(RdmadPort) one = NULL;
	g_autoptr(GError) error = NULL;
	const RdmadPortMatch *m;
	guint index = 99;

	device = rdmad_client_find_ports_sync(e.l->client, RDMAD_LOOKUP_ANY, "mlx5_0", NULL, NULL);
	assert_int_equal(device->len, 2);
	m = device->pdata[1];
	assert_ptr_equal(m->port, port(&e, "mlx5_0/2"));
	assert_string_equal(m->by, "name");
	assert_true(m->has_gid && m->gid_index == 0 && !m->netdev);

	rdmad_client_find_ports_async(e.l->client, RDMAD_LOOKUP_ANY, "192.168.1.17", NULL,
				      log_take_result, &result);
	wait_until(result);
	address = rdmad_client_find_ports_finish(e.l->client, result, NULL);
	assert_int_equal(address->len, 1);
	m = address->pdata[0];
	assert_ptr_equal(m->port, port(&e, "rocep1/1"));
	assert_string_equal(m->by, "address");
	assert_true(m->has_gid);
	assert_int_equal(m->gid_index, 3);
	assert_string_equal(m->netdev, "ens1");

	guid = rdmad_client_find_ports_sync(e.l->client, RDMAD_LOOKUP_NODE_GUID, "0x5500", NULL,
					    NULL);
	assert_int_equal(guid->len, 2);
	/* the same text is no name */
	none = rdmad_client_find_ports_sync(e.l->client, RDMAD_LOOKUP_NAME, "0x5500", NULL, NULL);
	assert_non_null(none);
	assert_int_equal(none->len, 0);

	assert_null(rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_NODE_GUID, "0x5500", NULL,
						NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_AMBIGUOUS));
	assert_non_null(strstr(error->message, "mlx5_0/1, mlx5_0/2"));
	one = rdmad_client_find_port_sync(e.l->client, RDMAD_LOOKUP_IFINDEX, "7", &index, NULL,
					  NULL);
	assert_ptr_equal(one, port(&e, "rocep1/1"));
	assert_int_equal(index, 3);
}

static GVariant *condition(const char *text)
{
	return g_variant_new_parsed(text);
}

static void test_wait_for(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GHashTable) at_once = NULL, later = NULL;
	g_autoptr(GAsyncResult) result = NULL, cancelled = NULL;
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GError) error = NULL;

	at_once = rdmad_client_wait_for_sync(e.l->client, condition("{'ports': <['ens1']>}"), -1,
					     NULL, NULL);
	assert_non_null(at_once);
	assert_int_equal(g_hash_table_size(at_once), 1);
	assert_ptr_equal(g_hash_table_lookup(at_once, "ens1"), port(&e, "rocep1/1"));

	/* a port that is not there yet */
	fixture_simulate(e.f, "remove rocep1");
	wait_until(!rdmad_client_get_port(e.l->client, "rocep1/1"));
	rdmad_client_wait_for_async(e.l->client, condition("{'ports': <['rocep1/1']>}"), -1, NULL,
				    log_take_result, &result);
	fixture_simulate(e.f, "add rocep1");
	wait_until(result);
	later = rdmad_client_wait_for_finish(e.l->client, result, &error);
	if (!later)
		fail_msg("%s", error->message);
	assert_ptr_equal(g_hash_table_lookup(later, "rocep1/1"), port(&e, "rocep1/1"));

	/* the daemon says when the time is over, and what is missing */
	assert_null(rdmad_client_wait_for_sync(e.l->client, condition("{'ports': <['nope/1']>}"),
					       1000, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_WAIT_TIMEOUT));
	assert_non_null(strstr(error->message, "nope/1"));
	g_clear_error(&error);

	rdmad_client_wait_for_async(e.l->client, condition("{'ports': <['nope/1']>}"), -1,
				    cancellable, log_take_result, &cancelled);
	g_cancellable_cancel(cancellable);
	wait_until(cancelled);
	assert_null(rdmad_client_wait_for_finish(e.l->client, cancelled, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

static const char *health(Env *e)
{
	return rdmad_object_get_string(env_port(e, "mlx5_0/2"), "health");
}

/* The check of the first finding about mlx5_0/2 that counts. */
static char *find_check(Env *e)
{
	g_autoptr(GVariant) findings =
		rdmad_object_load_sync(env_port(e, "mlx5_0/2"), "findings", NULL, NULL);
	char *check;

	assert_non_null(findings);
	assert_true(g_variant_n_children(findings) >= 1);
	g_variant_get_child(findings, 0, "(sss@a{sv})", &check, NULL, NULL, NULL);
	return check;
}

static void test_acknowledge(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) findings = NULL, tail = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *check = NULL, *said = NULL;
	guint64 when = 0;

	fixture_simulate(e.f, "set mlx5_0/2 state=down event=port-error");
	wait_until(!streq(health(&e), "ok"));
	check = find_check(&e);
	assert_false(rdmad_port_acknowledge_sync(port(&e, "mlx5_0/2"), "nope", NULL, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
	g_clear_error(&error);
	rdmad_port_acknowledge_async(port(&e, "mlx5_0/2"), check, "a new cable comes", NULL,
				     log_take_result, &result);
	wait_until(result);
	assert_true(rdmad_port_acknowledge_finish(port(&e, "mlx5_0/2"), result, &error));
	wait_until(streq(health(&e), "ok"));
	findings = rdmad_object_load_sync(env_port(&e, "mlx5_0/2"), "findings", NULL, NULL);
	g_variant_get_child(findings, 0, "(sss@a{sv})", NULL, NULL, NULL, &tail);
	assert_true(g_variant_lookup(tail, "Acknowledged", "t", &when) && when > 0);
	assert_true(g_variant_lookup(tail, "AcknowledgedText", "s", &said));
	assert_string_equal(said, "a new cable comes");
	/* and without a text */
	assert_true(rdmad_port_acknowledge_sync(port(&e, "mlx5_0/2"), check, NULL, NULL, &error));
}

/* Functions of a port that has gone say so. */
static void test_gone(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	g_autoptr(RdmadPort) gone = g_object_ref(port(&e, "rocep1/1"));
	g_autoptr(GError) error = NULL;

	fixture_simulate(e.f, "remove rocep1");
	wait_until(!rdmad_object_is_present(RDMAD_OBJECT(gone)));
	assert_null(rdmad_port_get_history_sync(gone, NULL, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE));
}

static void test_free_null(_unused_ void **state)
{
	rdmad_counter_unref(NULL);
	rdmad_transition_unref(NULL);
	rdmad_history_unref(NULL);
	rdmad_port_match_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_histories_without_transitions),
		cmocka_unit_test(test_find_ports),
		cmocka_unit_test(test_wait_for),
		cmocka_unit_test(test_acknowledge),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_free_null),
	};

	return log_run_tests(tests);
}
