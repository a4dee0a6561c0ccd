/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that cost the daemon more than they may: it refuses or drops them, and goes on. */

#include "calls.h"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

/* Texts in arrays */

/* WaitFor() for N times the same port, which does not exist, without a limit of time: the error's
 * name and text, both to be freed by sd_bus_error_free(). */
static void wait_for_many(Fixture *f, unsigned int n, sd_bus_error *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   RDMAD_INTERFACE_MANAGER, "WaitFor") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
	assert_true(sd_bus_message_append(m, "s", "ports") >= 0);
	assert_true(sd_bus_message_open_container(m, 'v', "as") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "s") >= 0);
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_message_append_basic(m, 's', "mlx5_9/1") >= 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_append(m, "t", UINT64_C(1)) >= 0);
	assert_true(sd_bus_call(f->bus, m, 0, ret, NULL) < 0);
}

/* The same name again and again is one port to wait for, but each of them has to be read. */
static void test_many_names(void **state)
{
	static const struct {
		unsigned int n;
		const char *error;
	} cases[] = {
		{64, RDMAD_ERROR_TIMED_OUT},
		{65, RDMAD_ERROR_INVALID_ARGUMENT},
		{100000, RDMAD_ERROR_INVALID_ARGUMENT},
	};
	Fixture *f = *state;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		uint64_t start = calls_now_usec();

		wait_for_many(f, cases[i].n, &error);
		assert_string_equal(error.name, cases[i].error);
		print_message("%u names: %s after %.1f ms\n", cases[i].n, error.message,
			      (double)(calls_now_usec() - start) / 1000);
		if (cases[i].n == 65)
			assert_non_null(strstr(error.message, "more than 64 ports"));
		calls_ping(f);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_many_names),
	};

	return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
