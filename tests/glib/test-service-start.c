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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_objects),
	};

	return log_run_tests(tests);
}
