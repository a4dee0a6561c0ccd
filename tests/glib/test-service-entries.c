/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries of a daemon that says more than this library knows, and of one that says something else.
 */

#include "service.h"

#define LATER "{'Colour': <'green'>}"

static void assert_colour(GVariant *details)
{
	g_autofree char *colour = NULL;

	assert_true(g_variant_lookup(details, "Colour", "s", &colour));
	assert_string_equal(colour, "green");
}

static void test_counters(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL, wrong = NULL;
	g_autoptr(GPtrArray) counters = NULL;
	g_autoptr(GError) error = NULL;
	RdmadPort *port;
	guint64 timestamp;
	const RdmadCounter *c;

	g_atomic_pointer_set(&s->hold, "GetCounters");
	s->l = log_new_async(s->f);
	port = RDMAD_PORT(service_port(s));
	rdmad_port_get_counters_async(port, NULL, log_take_result, &result);
	service_answer_held(s, "([('counters', 'symbol_error', uint64 0, 'events', 'valid', '', "
			       "@a{sv} " LATER "), ('counters', 'x', 0, 'events', 'dubious', '', "
			       "{})], uint64 7, uint64 8)");
	wait_until(result);
	counters = rdmad_port_get_counters_finish(port, result, &timestamp, NULL, NULL);
	assert_non_null(counters);
	assert_int_equal(counters->len, 2);
	assert_int_equal(timestamp, 7);
	c = counters->pdata[0];
	assert_true(c->available);
	assert_int_equal(c->value, 0);
	assert_colour(c->details);
	c = counters->pdata[1];
	assert_string_equal(c->condition, "dubious");
	assert_int_equal(g_variant_n_children(c->details), 0);

	rdmad_port_get_counters_async(port, NULL, log_take_result, &wrong);
	service_answer_held(s, "([('counters', 'symbol_error')], uint64 7, uint64 8)");
	wait_until(wrong);
	assert_null(rdmad_port_get_counters_finish(port, wrong, NULL, NULL, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA));
}

/* A port that could not be read, and one that the client does not have. */
static void test_all_counters(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GPtrArray) all = NULL;
	const RdmadPortCounters *c;

	g_atomic_pointer_set(&s->hold, "GetAllCounters");
	s->l = log_new_async(s->f);
	rdmad_client_get_all_counters_async(s->l->client, NULL, NULL, log_take_result, &result);
	service_answer_held(s, "([(objectpath '/org/rdma/device/9/port/1', @a(sstsssa{sv}) [], "
			       "uint64 5, uint64 6, @a{sv} {}), (objectpath '" PORT_PATH
			       "', [], 0, 0, {'Error': <'firmware-timeout'>, 'ErrorMessage': "
			       "<'no answer'>, 'Colour': <'green'>})],)");
	wait_until(result);
	all = rdmad_client_get_all_counters_finish(s->l->client, result, NULL);
	assert_non_null(all);
	assert_int_equal(all->len, 1);
	c = all->pdata[0];
	assert_ptr_equal(c->port, service_port(s));
	assert_int_equal(c->counters->len, 0);
	assert_int_equal(c->timestamp, 0);
	assert_string_equal(c->reason, "firmware-timeout");
	assert_string_equal(c->message, "no answer");
	assert_colour(c->details);
}

static void test_history(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GPtrArray) transitions = NULL;
	const RdmadTransition *t;

	g_atomic_pointer_set(&s->hold, "GetHistory");
	s->l = log_new_async(s->f);
	rdmad_client_get_history_async(s->l->client, "gone/1", NULL, log_take_result, &result);
	service_answer_held(s, "([(uint64 7, uint64 0, 'active', 'asleep', 'night', "
			       "@a{sv} " LATER ")],)");
	wait_until(result);
	transitions = rdmad_client_get_history_finish(s->l->client, result, NULL);
	assert_non_null(transitions);
	assert_int_equal(transitions->len, 1);
	t = transitions->pdata[0];
	assert_string_equal(t->new_state, "asleep");
	assert_colour(t->details);
}

static void test_histories(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GPtrArray) histories = NULL;
	const RdmadHistory *h;

	g_atomic_pointer_set(&s->hold, "ListHistories");
	s->l = log_new_async(s->f);
	rdmad_client_list_histories_async(s->l->client, NULL, NULL, log_take_result, &result);
	/* wrong types, and a port that the client does not have */
	service_answer_held(s, "([('a/1', @a{sv} {'Colour': <'green'>, 'State': <uint32 4>, "
			       "'LinkDownCount': <'many'>, 'Transitions': <[('x', 'y')]>, 'Port': "
			       "<objectpath '/org/rdma/device/9/port/1'>})],)");
	wait_until(result);
	histories = rdmad_client_list_histories_finish(s->l->client, result, NULL);
	assert_non_null(histories);
	h = histories->pdata[0];
	assert_string_equal(h->name, "a/1");
	assert_true(!h->present && !h->port);
	assert_string_equal(h->state, "");
	assert_int_equal(h->transitions->len, 0);
	assert_colour(h->details);
}

static void test_matches(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL, unknown = NULL;
	g_autoptr(GPtrArray) matches = NULL;
	g_autoptr(GError) error = NULL;
	const RdmadPortMatch *m;

	g_atomic_pointer_set(&s->hold, "FindPorts");
	s->l = log_new_async(s->f);
	rdmad_client_find_ports_async(s->l->client, RDMAD_LOOKUP_ANY, "x", NULL, log_take_result,
				      &result);
	service_answer_held(s, "([(objectpath '" PORT_PATH "', @a{sv} " LATER ")],)");
	wait_until(result);
	matches = rdmad_client_find_ports_finish(s->l->client, result, NULL);
	assert_non_null(matches);
	m = matches->pdata[0];
	assert_ptr_equal(m->port, service_port(s));
	assert_string_equal(m->by, "");
	assert_colour(m->details);

	rdmad_client_find_ports_async(s->l->client, RDMAD_LOOKUP_ANY, "x", NULL, log_take_result,
				      &unknown);
	service_answer_held(s, "([(objectpath '/org/rdma/device/9/port/1', @a{sv} {})],)");
	wait_until(unknown);
	assert_null(rdmad_client_find_ports_finish(s->l->client, unknown, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
}

/* A GID of the port was asked for: its index comes with the port. */
static void test_gid_index(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(RdmadPort) port = NULL;
	guint gid_index = 77;

	g_atomic_pointer_set(&s->hold, "FindPorts");
	s->l = log_new_async(s->f);
	rdmad_client_find_port_async(s->l->client, RDMAD_LOOKUP_GID, "fe80::1", NULL,
				     log_take_result, &result);
	service_answer_held(s, "([(objectpath '" PORT_PATH "', {'GidIndex': <uint32 3>})],)");
	wait_until(result);
	port = rdmad_client_find_port_finish(s->l->client, result, &gid_index, NULL);
	assert_ptr_equal(port, service_port(s));
	assert_int_equal(gid_index, 3);
}

/* The text of the error when N ports have the name "x". */
static char *ambiguous(Service *s, guint n)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GString) body = g_string_new("([");
	g_autoptr(GError) error = NULL;
	guint gid_index = 77;

	for (guint i = 0; i < n; i++)
		g_string_append_printf(body, "%s(objectpath '" PORT_PATH "', @a{sv} {})",
				       i == 0 ? "" : ", ");
	g_string_append(body, "],)");
	rdmad_client_find_port_async(s->l->client, RDMAD_LOOKUP_ANY, "x", NULL, log_take_result,
				     &result);
	service_answer_held(s, body->str);
	wait_until(result);
	assert_null(rdmad_client_find_port_finish(s->l->client, result, &gid_index, &error));
	assert_true(g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_AMBIGUOUS));
	assert_int_equal(gid_index, 77);
	return g_strdup(error->message);
}

/* The error names some of the ports, and says how many there are besides. */
static void test_ambiguous(_unused_ void **state)
{
#define SAME_TWICE "\"x\" is more than one port: mlx5_0/1, mlx5_0/1"
	static const char *const messages[] = {
		[2] = SAME_TWICE,
		[3] = SAME_TWICE ", mlx5_0/1",
		[4] = SAME_TWICE ", mlx5_0/1, mlx5_0/1",
		[5] = SAME_TWICE ", mlx5_0/1, mlx5_0/1 and 1 more",
		[9] = SAME_TWICE ", mlx5_0/1, mlx5_0/1 and 5 more",
	};
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	g_atomic_pointer_set(&s->hold, "FindPorts");
	s->l = log_new_async(s->f);
	for (guint n = 2; n < G_N_ELEMENTS(messages); n++) {
		g_autofree char *message = NULL;

		if (!messages[n])
			continue;
		message = ambiguous(s, n);
		assert_string_equal(message, messages[n]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),  cmocka_unit_test(test_all_counters),
		cmocka_unit_test(test_history),	  cmocka_unit_test(test_histories),
		cmocka_unit_test(test_matches),	  cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_gid_index),
	};

	return log_run_tests(tests);
}
