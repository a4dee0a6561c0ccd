/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clients that cannot start. */

#include "service.h"

static void assert_no_client(Service *s, GQuark domain, int code)
{
	g_autoptr(GAsyncResult) result = NULL;
	g_autoptr(GObject) source = NULL;
	g_autoptr(GError) error = NULL;

	g_async_initable_new_async(RDMAD_TYPE_CLIENT, G_PRIORITY_DEFAULT, NULL, log_take_result,
				   &result, "bus-address", s->f->address, NULL);
	wait_until(result);
	source = g_async_result_get_source_object(result);
	assert_null(g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, &error));
	if (!g_error_matches(error, domain, code))
		fail_msg("%s: %s", g_quark_to_string(error->domain), error->message);
}

static void test_no_objects(_unused_ void **state)
{
	_cleanup_service_ Service *refuses = service_new(NULL);
	_cleanup_service_ Service *chatters = service_new("('objects', 3)");

	assert_no_client(refuses, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED);
	assert_no_client(chatters, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

/* After a start that fails the client has no connection, and the next start is like the first. */
static void test_objects_later(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(NULL);
	g_autoptr(RdmadClient) client =
		g_object_new(RDMAD_TYPE_CLIENT, "bus-address", s->f->address, NULL);
	g_autoptr(GAsyncResult) first = NULL, second = NULL;
	g_autoptr(GString) seen = g_string_new(NULL);

	g_signal_connect(client, "notify::connection", G_CALLBACK(log_take_notify), seen);
	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, NULL,
				    log_take_result, &first);
	wait_until(first);
	assert_false(g_async_initable_init_finish(G_ASYNC_INITABLE(client), first, NULL));
	assert_null(rdmad_client_get_connection(client));
	assert_string_equal(seen->str, "connection connection ");
	s->objects = g_variant_ref_sink(g_variant_new_parsed(OBJECTS("")));
	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, NULL,
				    log_take_result, &second);
	wait_until(second);
	assert_true(g_async_initable_init_finish(G_ASYNC_INITABLE(client), second, NULL));
	assert_non_null(rdmad_client_get_connection(client));
	assert_string_equal(seen->str, "connection connection connection ");
	assert_non_null(rdmad_client_get_port(client, "mlx5_0/1"));
}

/* A start that is cancelled while the service has not answered. */
static void test_cancel_later(_unused_ void **state)
{
	_cleanup_service_ Service *s = service_new(OBJECTS(""));
	g_autoptr(RdmadClient) client =
		g_object_new(RDMAD_TYPE_CLIENT, "bus-address", s->f->address, NULL);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GAsyncResult) first = NULL, second = NULL;
	g_autoptr(GError) error = NULL;

	g_atomic_pointer_set(&s->hold, "GetManagedObjects");
	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, cancellable,
				    log_take_result, &first);
	wait_until(g_async_queue_length(s->held) > 0);
	g_cancellable_cancel(cancellable);
	wait_until(first);
	assert_false(g_async_initable_init_finish(G_ASYNC_INITABLE(client), first, &error));
	assert_true(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
	assert_null(rdmad_client_get_connection(client));

	g_atomic_pointer_set(&s->hold, NULL);
	g_async_initable_init_async(G_ASYNC_INITABLE(client), G_PRIORITY_DEFAULT, NULL,
				    log_take_result, &second);
	wait_until(second);
	assert_true(g_async_initable_init_finish(G_ASYNC_INITABLE(client), second, NULL));
	assert_true(rdmad_client_get_connected(client));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_objects),
		cmocka_unit_test(test_objects_later),
		cmocka_unit_test(test_cancel_later),
	};

	return log_run_tests(tests);
}
