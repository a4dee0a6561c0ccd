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

/* A port that could not be read, one that the client does not have, and sets that do not fit. */
static void test_counters(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL, wrong = NULL;
	g_autoptr(GPtrArray) all = NULL;
	g_autoptr(GError) error = NULL;
	const RdmadPortCounters *p;
	const RdmadCounter *c;

	g_atomic_pointer_set(&s->hold, "GetCounters");
	s->l = log_new_async(s->f);
	rdmad_client_get_counters_async(s->l->client, NULL, NULL, log_take_result, &result);
	service_answer_held(s, "([(['counters', 'x'], ['symbol_error', 'y'], ['events', ''], "
			       "@a{sv} " LATER ")], [(objectpath '/org/rdma/device/9/port/1', "
			       "uint32 0, [uint64 1, 2], uint64 5, uint64 6, @a{sv} {}), "
			       "(objectpath '" PORT_PATH "', 0, [0, 7], 5, 6, "
			       "{'Missing': <{uint32 0: 'no-value'}>, 'Saturated': <[uint32 1]>}), "
			       "(objectpath '" PORT_PATH "', 1, [], 0, 0, "
			       "{'Error': <'firmware-timeout'>, 'ErrorMessage': "
			       "<'no answer'>, 'Colour': <'green'>})])");
	wait_until(result);
	all = rdmad_client_get_counters_finish(s->l->client, result, &error);
	if (!all)
		fail_msg("%s", error->message);
	assert_int_equal(all->len, 2);
	p = all->pdata[0];
	assert_ptr_equal(p->port, service_port(s));
	assert_int_equal(p->counters->len, 2);
	c = p->counters->pdata[0];
	assert_string_equal(c->name, "symbol_error");
	assert_string_equal(c->condition, "missing");
	assert_string_equal(c->reason, "no-value");
	assert_colour(c->details);
	c = p->counters->pdata[1];
	assert_string_equal(c->group, "x");
	assert_string_equal(c->condition, "saturated");
	assert_true(c->available && c->value == 7);
	p = all->pdata[1];
	assert_int_equal(p->counters->len, 0);
	assert_int_equal(p->timestamp, 0);
	assert_string_equal(p->reason, "firmware-timeout");
	assert_string_equal(p->message, "no answer");
	assert_colour(p->details);

	rdmad_client_get_counters_async(s->l->client, NULL, NULL, log_take_result, &wrong);
	service_answer_held(s, "(@a(asasasa{sv}) [(['counters'], ['x'], [], {})], "
			       "[(objectpath '" PORT_PATH
			       "', uint32 0, [uint64 1], uint64 5, uint64 6, @a{sv} {})])");
	wait_until(wrong);
	assert_null(rdmad_client_get_counters_finish(s->l->client, wrong, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA));
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
		cmocka_unit_test(test_counters),  cmocka_unit_test(test_history),
		cmocka_unit_test(test_histories), cmocka_unit_test(test_matches),
		cmocka_unit_test(test_ambiguous), cmocka_unit_test(test_gid_index),
	};

	return log_run_tests(tests);
}
