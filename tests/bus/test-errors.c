/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The errors of rdmad's own that a call can have, and what a client can know of rdmad before it
 * calls. */

#include "api-feature.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 0\n"
			       "protocol = infiniband\n"
			       "[device iwarp0]\n"
			       "index = 1\n"
			       "protocol = iwarp\n";

#define PORT "/org/rdma/device/0/port/1"

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Query() of the port has to fail with the error NAME, and its message ends with END. */
static void expect_failing_query(Fixture *f, const char *name, const char *end)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	size_t length;

	assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, PORT, RDMAD_INTERFACE_PORT, "Query",
				       &error, NULL, "a{sv}", 0) < 0);
	assert_string_equal(error.name, name);
	length = strlen(error.message);
	if (length < strlen(end) || !streq(error.message + length - strlen(end), end))
		fail_msg("\"%s\" does not end with \"%s\"", error.message, end);
}

/* A program can tell errors of the device apart by the errno, which the message names. */
static void test_query_failed(void **state)
{
	Fixture *f = *state;

	fixture_simulate(f, "fail mlx5_0/1 EIO");
	expect_failing_query(f, RDMAD_ERROR_QUERY_FAILED, "[EIO]");
	fixture_simulate(f, "fail mlx5_0/1 EBUSY");
	expect_failing_query(f, RDMAD_ERROR_QUERY_FAILED, "[EBUSY]");
}

/* The time of the device and the time of the caller have errors with different names. */
static void test_timeouts(void **state)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Fixture *f = *state;

	assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       RDMAD_INTERFACE_MANAGER, "WaitFor", &error, NULL, "a{sv}t",
				       1, "ports", "as", 1, "mlx5_9/1", (uint64_t)1) < 0);
	assert_string_equal(error.name, "org.rdma.Error.WaitTimeout");
	fixture_simulate(f, "stall mlx5_0");
	expect_failing_query(f, "org.rdma.Error.DeviceTimeout", "");
	fixture_simulate(f, "unstall mlx5_0");
}

static void test_features(void **state)
{
	Fixture *f = *state;
	char **names = NULL;
	size_t n = 0;

	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ApiVersion", "1");
	assert_true(sd_bus_get_property_strv(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, "Features", NULL,
					     &names) >= 0);
	for (; names[n]; n++) {
		assert_true(n < n_feature_rows);
		assert_string_equal(names[n], feature_rows[n].name);
		assert_int_equal(names[n][strspn(names[n], "abcdefghijklmnopqrstuvwxyz-")], 0);
		free(names[n]);
	}
	assert_int_equal(n, n_feature_rows);
	free(names);
}

/* A device and its ports have the same words. */
static void test_protocols(void **state)
{
	Fixture *f = *state;

	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "Protocol",
				"infiniband");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Protocol", "infiniband");
	fixture_assert_property(f, "/org/rdma/device/1", RDMAD_INTERFACE_DEVICE, "Protocol",
				"iwarp");
	fixture_assert_property(f, "/org/rdma/device/1/port/1", RDMAD_INTERFACE_PORT, "Protocol",
				"iwarp");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_query_failed),
		TEST(test_timeouts),
		TEST(test_features),
		TEST(test_protocols),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
