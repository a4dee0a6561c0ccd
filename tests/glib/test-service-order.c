/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages in an order in which rdmad seldom sends them. */

#include "service.h"

static void say_old_news(Service *s)
{
	service_emit_changed(s, "org.rdma.Port", "{'State': <'down'>}", "[]");
	service_emit_changed(s, "org.rdma.Port", "{'State': <'init'>}", "['Gids']");
	service_emit(s, "/org/rdma/device/5", "org.freedesktop.DBus.ObjectManager",
		     "InterfacesAdded",
		     "(objectpath '/org/rdma/device/5', {'org.rdma.Device': {'Name': <'old'>}})");
}

static void say_news(Service *s)
{
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 18>}", "[]");
}

/* What was signalled before the answer with all objects is in the answer; what comes after is not.
 */
static void test_objects_order(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->before_answer = say_old_news;
	s->after_answer = say_news;
	s->l = log_new_async(s->f);
	service_settle(s);
	wait_until(s->l->n_batches > 0 ||
		   g_strcmp0(rdmad_object_get_string(service_port(s), "state"), "active") != 0);
	service_settle(s);
	/* the log begins after the start of the client, so look at the objects */
	assert_string_equal(rdmad_object_get_string(service_port(s), "state"), "active");
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
	assert_null(rdmad_client_get_device(s->l->client, "old"));
}

/* The same when the service comes back: only the signal after the answer is reported. */
static void test_objects_order_again(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->l = log_new_async(s->f);
	service_release_name(s);
	wait_until(!rdmad_client_get_connected(s->l->client));
	s->before_answer = say_old_news;
	s->after_answer = say_news;
	service_request_name(s);
	wait_until(rdmad_client_get_connected(s->l->client));
	wait_until(s->l->n_batches > 0);
	service_settle(s);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 lid\n");
}

/* Nothing is reported before the flush has ended. */
static void test_barrier(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint turns = 0;

	s->l = log_new_async(s->f);
	g_atomic_pointer_set(&s->hold, "Ping");
	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}", "[]");
	wait_until(g_async_queue_length(s->held) > 0);
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 40>}", "[]");
	while (turns++ < 20)
		g_main_context_iteration(NULL, FALSE);
	assert_int_equal(s->l->n_batches, 0);
	assert_int_equal(g_async_queue_length(s->held), 1);
	service_answer_held(s, NULL);
	/* this one belongs to the next flush */
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 41>}", "[]");
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu lid\n");
	wait_until(g_async_queue_length(s->held) > 0);
	service_answer_held(s, NULL);
	wait_until(s->l->n_batches == 2);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu lid\n"
					     "port-changed mlx5_0/1 lid\n");

	/* if the service does not answer, the change is reported after a time */
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 42>}", "[]");
	wait_until(s->l->n_batches == 3);
}

static void count_call(guint *n)
{
	++*n;
}

static void outdate_gids(Service *s)
{
	service_emit_changed(s, "org.rdma.Port", "{}", "['Gids']");
}

/* An answer is newer than an invalidation that came before it. */
static void test_load_order(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GVariant) gids = NULL;

	s->gids = "[(uint32 3, 'fe80::1', 'IB', '', '', @a{sv} {})]";
	s->before_gids = outdate_gids;
	s->l = log_new_async(s->f);
	outdate_gids(s);
	wait_until(s->l->n_batches > 0);
	assert_false(rdmad_object_is_available(service_port(s), "gids"));
	rdmad_object_load_async(service_port(s), "gids", NULL, log_take_result, &result);
	wait_until(result);
	gids = rdmad_object_load_finish(service_port(s), result, NULL);
	assert_non_null(gids);
	service_settle(s);
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
}

static void load_gids_once(RdmadClient *client, RdmadObject *port, char **names, Service *s)
{
	g_autoptr(GAsyncResult) result = NULL;

	if (!g_strv_contains((const char *const *)names, "gids") || !s->before_gids)
		return;
	g_signal_handlers_disconnect_by_data(client, s);
	rdmad_object_load_async(port, "gids", NULL, log_take_result, &result);
	wait_until(result);
}

/* The same if a handler waits for the answer, so that it cannot be delivered at once. */
static void test_load_order_in_handler(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->gids = "[(uint32 3, 'fe80::1', 'IB', '', '', @a{sv} {})]";
	s->before_gids = outdate_gids;
	s->l = log_new_async(s->f);
	g_signal_connect(s->l->client, "port-changed", G_CALLBACK(load_gids_once), s);
	outdate_gids(s);
	wait_until(s->l->n_batches > 0);
	service_settle(s);
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
	assert_int_equal(s->l->n_batches, 1);
}

static void answer_held_gids(Service *s)
{
	service_answer_held(
		s, "(<[(uint32 0, 'fe80::1', 'IB', '', '', {'FromTheFuture': <'later'>})]>,)");
}

/* A table that was read before the answer with all objects is older than that. */
static void test_load_before_objects(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GVariant) gids = NULL;
	guint n = 0;

	s->l = log_new_async(s->f);
	g_signal_connect_swapped(service_port(s), "notify::gids", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	service_release_name(s);
	wait_until(!rdmad_client_get_connected(s->l->client));
	s->before_answer = answer_held_gids;
	service_request_name(s);
	wait_until(rdmad_client_get_connected(s->l->client));
	service_settle(s);
	gids = rdmad_object_get_attribute(service_port(s), "gids");
	assert_non_null(gids);
	assert_int_equal(g_variant_n_children(gids), 0);
	g_signal_handlers_disconnect_by_data(service_port(s), &n);
}

/* A table that somebody listens to is not reported before it is there, whatever else is delivered.
 */
static void test_held_table(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint n = 0;

	s->l = log_new_async(s->f);
	g_signal_connect_swapped(service_port(s), "notify::gids", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	service_settle(s);
	assert_false(rdmad_object_is_available(service_port(s), "gids"));
	assert_string_equal(s->l->text->str, "");
	service_answer_held(
		s, "(<[(uint32 0, 'fe80::1', 'IB', '', '', {'FromTheFuture': <'later'>})]>,)");
	wait_until(s->l->n_batches > 0);
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 gids\n");
	assert_int_equal(n, 1);

	/* if the table cannot be read, it is reported that it has changed */
	log_forget(s->l);
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	service_answer_held(s, "(<'none'>,)");
	wait_until(s->l->n_batches > 0);
	assert_false(rdmad_object_is_available(service_port(s), "gids"));
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 gids\n");
	g_signal_handlers_disconnect_by_data(service_port(s), &n);
}

/* One change brings two tables that somebody listens to: both are awaited, and it is one batch. */
static void test_two_held_tables(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint n = 0;

	s->l = log_new_async(s->f);
	g_signal_connect_swapped(service_port(s), "notify", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}",
			     "['Gids', 'Netdevs']");
	wait_until(g_async_queue_length(s->held) == 2);
	service_answer_held(
		s, "(<[(uint32 0, 'fe80::1', 'IB', '', '', {'FromTheFuture': <'later'>})]>,)");
	service_answer_held(s, "(<[(uint32 7, 'ens1', @a{sv} {})]>,)");
	wait_until(n == 3);
	service_settle(s);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu gids netdevs\n");
	assert_int_equal(s->l->n_batches, 1);
	g_signal_handlers_disconnect_by_data(service_port(s), &n);
}

/* The answer of a service that does not own the name any more is not taken. */
static void test_answer_of_old_owner(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GVariant) gids = NULL;
	guint n = 0;

	s->l = log_new_async(s->f);
	g_signal_connect_swapped(service_port(s), "notify::gids", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	outdate_gids(s);
	wait_until(g_async_queue_length(s->held) > 0);
	service_replace(s);
	wait_until(s->l->n_connected == 2 && rdmad_client_get_connected(s->l->client));
	answer_held_gids(s);
	service_settle(s);
	gids = rdmad_object_get_attribute(service_port(s), "gids");
	assert_non_null(gids);
	assert_int_equal(g_variant_n_children(gids), 0);
	g_signal_handlers_disconnect_by_data(service_port(s), &n);
}

/* Such an answer does not end the flush of the service that owns the name now. */
static void test_answer_of_old_owner_in_flush(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;

	s->l = log_new_async(s->f);
	outdate_gids(s);
	wait_until(s->l->n_batches > 0);
	g_atomic_pointer_set(&s->hold, "Get");
	rdmad_object_load_async(service_port(s), "gids", NULL, log_take_result, &result);
	wait_until(g_async_queue_length(s->held) > 0);
	service_replace(s);
	wait_until(s->l->n_connected == 2 && rdmad_client_get_connected(s->l->client));
	log_forget(s->l);
	g_atomic_pointer_set(&s->hold, "Ping");
	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}", "[]");
	wait_until(g_async_queue_length(s->held) == 2);
	answer_held_gids(s);
	wait_until(result);
	assert_string_equal(s->l->text->str, "");
	service_answer_held(s, NULL);
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 active-mtu\n");
}

/* The service is back, and has not said which objects it has: its other answers deliver nothing of
 * what it has signalled, which is in that answer. */
static void test_load_while_fetching(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(GAsyncResult) result = NULL;
	guint64 mtu;

	s->gids = "[(uint32 3, 'fe80::1', 'IB', '', '', @a{sv} {})]";
	s->l = log_new_async(s->f);
	outdate_gids(s);
	wait_until(s->l->n_batches > 0);
	service_release_name(s);
	wait_until(!rdmad_client_get_connected(s->l->client));
	log_forget(s->l);
	g_atomic_pointer_set(&s->hold, "GetManagedObjects");
	service_request_name(s);
	wait_until(g_async_queue_length(s->held) > 0);
	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}", "[]");
	rdmad_object_load_async(service_port(s), "gids", NULL, log_take_result, &result);
	wait_until(result);
	assert_string_equal(s->l->text->str, "");
	assert_false(rdmad_object_is_available(service_port(s), "gids"));
	service_answer_held(s, OBJECTS(""));
	wait_until(rdmad_client_get_connected(s->l->client));
	service_settle(s);
	assert_true(rdmad_object_get_number(service_port(s), "active-mtu", &mtu));
	assert_int_equal(mtu, 4096);
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
	assert_string_equal(s->l->text->str, "");
}

/* A table that was read keeps its contents if another table changes afterwards. */
static void test_other_table_changes(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint n = 0;

	s->l = log_new_async(s->f);
	g_signal_connect_swapped(service_port(s), "notify", G_CALLBACK(count_call), &n);
	g_atomic_pointer_set(&s->hold, "Get");
	outdate_gids(s);
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{}", "['Pkeys']");
	wait_until(g_async_queue_length(s->held) == 2);
	service_answer_held(
		s, "(<[(uint32 0, 'fe80::1', 'IB', '', '', {'FromTheFuture': <'later'>})]>,)");
	service_emit_changed(s, "org.rdma.Port", "{}", "['Netdevs']");
	wait_until(g_async_queue_length(s->held) == 2);
	service_answer_held(s, "(<[(uint32 0, uint32 65535, 'full', @a{sv} {})]>,)");
	service_answer_held(s, "(<[(uint32 7, 'ens1', @a{sv} {})]>,)");
	wait_until(s->l->n_batches > 0);
	assert_true(rdmad_object_is_available(service_port(s), "gids"));
	assert_true(rdmad_object_is_available(service_port(s), "netdevs"));
	assert_string_equal(s->l->text->str, "port-changed mlx5_0/1 gids netdevs pkeys\n");
	g_signal_handlers_disconnect_by_data(service_port(s), &n);
}

#define INTERFACES "org.freedesktop.DBus.ObjectManager"

static gboolean has_number(Service *s, const char *attribute, guint64 expected)
{
	guint64 number;

	return rdmad_object_get_number(service_port(s), attribute, &number) && number == expected;
}

/* An interface that is added again has what it has then, and nothing of before. */
static void test_interface_again(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->l = log_new_async(s->f);
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'SmLid': <uint32 1>}", "[]");
	service_settle(s);
	assert_true(has_number(s, "lid", 17) && has_number(s, "sm-lid", 1));
	service_emit(s, "/org/rdma", INTERFACES, "InterfacesAdded",
		     "(objectpath '" PORT_PATH "', {'org.rdma.Port.InfiniBand': {'SmLid': <uint32 "
		     "2>}})");
	service_settle(s);
	assert_true(has_number(s, "sm-lid", 2));
	assert_false(rdmad_object_is_available(service_port(s), "lid"));
	/* the other interfaces stay */
	assert_true(has_number(s, "active-mtu", 4096));

	service_emit(s, "/org/rdma", INTERFACES, "InterfacesRemoved",
		     "(objectpath '" PORT_PATH "', ['org.rdma.Port.InfiniBand'])");
	service_settle(s);
	assert_false(rdmad_object_is_available(service_port(s), "sm-lid"));
	assert_true(has_number(s, "active-mtu", 4096));
}

/* What has no interface of its kind is no object: neither a new one, nor one that comes back
 * without. */
static void test_without_main_interface(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->l = log_new_async(s->f);
	service_emit(s, "/org/rdma", INTERFACES, "InterfacesAdded",
		     "(objectpath '/org/rdma/device/0/port/2', {'org.rdma.Port.InfiniBand': "
		     "{'Lid': <uint32 2>}})");
	service_settle(s);
	assert_null(rdmad_client_get_port(s->l->client, "/org/rdma/device/0/port/2"));
	assert_string_equal(s->l->text->str, "");

	service_release_name(s);
	wait_until(!rdmad_client_get_connected(s->l->client));
	g_variant_unref(s->objects);
	s->objects = g_variant_ref_sink(
		g_variant_new_parsed("({" DEVICE_OBJECT ", objectpath '" PORT_PATH
				     "': {'org.rdma.Port.InfiniBand': {'Lid': <uint32 17>}}},)"));
	service_request_name(s);
	wait_until(rdmad_client_get_connected(s->l->client));
	assert_null(rdmad_client_get_port(s->l->client, PORT_PATH));
	assert_string_equal(s->l->text->str, "port-removed mlx5_0/1\n");
}

/* What "Unavailable" names has no value, until it does not name it any more. */
static void test_unavailable(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->l = log_new_async(s->f);
	service_emit_changed(s, "org.rdma.Port", "{'Unavailable': <{'Lid': 'not-configured'}>}",
			     "[]");
	service_settle(s);
	assert_false(rdmad_object_is_available(service_port(s), "lid"));
	assert_true(has_number(s, "active-mtu", 4096));
	service_emit_changed(s, "org.rdma.Port", "{'Unavailable': <@a{ss} {}>}", "[]");
	service_settle(s);
	assert_true(has_number(s, "lid", 17));
}

/* A change of an interface that the object does not have gives it neither that nor a value. */
static void test_change_without_interface(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));

	s->l = log_new_async(s->f);
	service_emit_changed(s, "org.rdma.Port.Ethernet", "{'Netdev': <'eth0'>}", "['Addresses']");
	service_settle(s);
	assert_false(rdmad_object_is_available(service_port(s), "netdev"));
	assert_string_equal(s->l->text->str, "");
	/* and so after it has gone */
	service_emit(s, "/org/rdma", INTERFACES, "InterfacesRemoved",
		     "(objectpath '" PORT_PATH "', ['org.rdma.Port.InfiniBand'])");
	service_settle(s);
	log_forget(s->l);
	say_news(s);
	service_settle(s);
	assert_false(rdmad_object_is_available(service_port(s), "lid"));
	assert_string_equal(s->l->text->str, "");
	/* the one that it is named by takes the object with it */
	service_emit(s, "/org/rdma", INTERFACES, "InterfacesRemoved",
		     "(objectpath '" PORT_PATH "', ['org.rdma.Port'])");
	wait_until(s->l->n_batches > 0);
	assert_string_equal(s->l->text->str, "port-removed mlx5_0/1\n");
}

/* A handler in which the service starts again and sends one more signal. */
static void restart_inside(RdmadClient *client, _unused_ GPtrArray *changes, Service *s)
{
	guint64 lid;

	g_signal_handlers_disconnect_by_data(client, s);
	service_release_name(s);
	wait_until(!rdmad_client_get_connected(client));
	service_request_name(s);
	wait_until(rdmad_client_get_connected(client));
	service_emit_changed(s, "org.rdma.Port.InfiniBand", "{'Lid': <uint32 50>}", "[]");
	service_settle(s);
	assert_true(rdmad_object_get_number(service_port(s), "lid", &lid));
	assert_int_equal(lid, 17);
}

/* No signal is delivered while a handler runs, even if the daemon comes back meanwhile. */
static void test_restart_in_handler(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	guint64 lid = 0;

	s->l = log_new_async(s->f);
	g_signal_connect(s->l->client, "changed", G_CALLBACK(restart_inside), s);
	service_emit_changed(s, "org.rdma.Port", "{'ActiveMtu': <uint32 2048>}", "[]");
	wait_until(rdmad_object_get_number(service_port(s), "lid", &lid) && lid == 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects_order),
		cmocka_unit_test(test_objects_order_again),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_load_order),
		cmocka_unit_test(test_load_order_in_handler),
		cmocka_unit_test(test_load_before_objects),
		cmocka_unit_test(test_held_table),
		cmocka_unit_test(test_two_held_tables),
		cmocka_unit_test(test_answer_of_old_owner),
		cmocka_unit_test(test_answer_of_old_owner_in_flush),
		cmocka_unit_test(test_load_while_fetching),
		cmocka_unit_test(test_interface_again),
		cmocka_unit_test(test_without_main_interface),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_change_without_interface),
		cmocka_unit_test(test_other_table_changes),
		cmocka_unit_test(test_restart_in_handler),
	};

	return log_run_tests(tests);
}
