/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manager.GetCounters(): one call for all ports, of which some hang, or go. */

#include <signal.h>

#include "counters-text.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 2\n"
			       "[device iwarp0]\n"
			       "index = 6\n"
			       "protocol = iwarp\n";

#define PORT_1 "/org/rdma/device/3/port/1"
#define PORT_2 "/org/rdma/device/3/port/2"
#define IWARP  "/org/rdma/device/6/port/1"

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* The reply as text: for each port its path, and "read", or the code of the error. */
static char *answer(sd_bus_message *m)
{
	_cleanup_free_ char *all = counters_text(m, NULL);
	char *text = NULL, code[32], name[64], *saved = NULL;
	uint64_t value, counted = 0, realtime, monotonic;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	for (char *line = strtok_r(all, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (*line == '/') {
			fprintf(file, "%s ", line);
			counted = 0;
		} else if (sscanf(line, "%*s %63s %" SCNu64, name, &value) == 2) {
			if (streq(name, "port_xmit_bytes") || streq(name, "ip4InSegs"))
				counted = value;
		} else {
			assert_int_equal(
				sscanf(line, "%" SCNu64 " %" SCNu64, &realtime, &monotonic), 2);
			assert_true((counted > 0) == (realtime > 0) &&
				    (counted > 0) == (monotonic > 0));
			fputs(counted > 0 ? "read" : "not-read", file);
			if (sscanf(line, "%*s %*s Error=%31s", code) == 1)
				fprintf(file, " %s", code);
			fputc('\n', file);
		}
	}
	fclose(file);
	return text;
}

static sd_bus_message *get_all(Fixture *f)
{
	return fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", NULL,
			    "a{sv}", 0);
}

static void assert_all(Fixture *f, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get_all(f);
	_cleanup_free_ char *is = answer(m);

	assert_string_equal(is, expected);
}

static void test_all(void **state)
{
	assert_all(*state, PORT_1 " read\n" PORT_2 " read\n" IWARP " read\n");
}

static void assert_error(Fixture *f, const char *port, const char *expected)
{
	_cleanup_free_ char *error = NULL;

	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", &error,
				 "a{sv}", 1, "ports", "as", 1, port));
	assert_string_equal(error, expected);
}

static void test_some(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", NULL,
			     "a{sv}", 1, "ports", "as", 2, IWARP, "mlx5_0:2");
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *none =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", NULL,
			     "a{sv}", 1, "ports", "as", 0);
	_cleanup_free_ char *is = answer(m), *nothing = answer(none), *error = NULL;

	assert_string_equal(is, IWARP " read\n" PORT_2 " read\n");
	assert_string_equal(nothing, "");
	assert_error(f, "mlx5_0/3", RDMAD_ERROR_NOT_FOUND);
	assert_error(f, "/org/rdma/device/3/port/3", RDMAD_ERROR_NOT_FOUND);
	assert_error(f, "/org/rdma/device/3", RDMAD_ERROR_NOT_FOUND);
	assert_error(f, "mlx5_0", RDMAD_ERROR_AMBIGUOUS);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", &error,
				 "a{sv}", 1, "port", "s", "iwarp0"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

static void call(Fixture *f, sd_bus_message **replies)
{
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, "GetCounters",
					     fixture_keep_reply, replies, "a{sv}", 0) >= 0);
}

/* Calls that come together are answered together, and each is answered once. */
static void test_together(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[51] = {};

	for (unsigned int i = 0; i < 50; i++)
		call(f, replies);
	fixture_wait_reply(f, &replies[49]);
	for (unsigned int i = 0; i < 50; i++) {
		_cleanup_free_ char *is = answer(replies[i]);

		assert_string_equal(is, PORT_1 " read\n" PORT_2 " read\n" IWARP " read\n");
		sd_bus_message_unref(replies[i]);
	}
}

/* The device that hangs has errors, the other one its values; calls come before it is known to
 * hang, and after that. */
static void test_hung(void **state)
{
	Fixture *f = *state;

	fixture_simulate(f, "stall mlx5_0");
	assert_all(f, PORT_1 " not-read firmware-timeout\n" PORT_2
			     " not-read firmware-timeout\n" IWARP " read\n");
	assert_all(f, PORT_1 " not-read firmware-timeout\n" PORT_2
			     " not-read firmware-timeout\n" IWARP " read\n");
	fixture_forget(f);
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_signal(f, PORT_1, "PropertiesChanged");
	fixture_wait_signal(f, PORT_2, "PropertiesChanged");
	assert_all(f, PORT_1 " read\n" PORT_2 " read\n" IWARP " read\n");
}

static int setup_patient(void **state)
{
	Fixture *f = fixture_new();

	*state = f;
	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=60\n");
	fixture_start_daemon(f, scenario, NULL);
	return 0;
}

static void assert_all_within(Fixture *f, uint64_t timeout, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", NULL,
			     "a{sv}", 1, "timeout-usec", "t", timeout);
	_cleanup_free_ char *is = answer(m);

	assert_string_equal(is, expected);
}

/* A call that does not want to wait for devices that hang: it is answered long before rdmad gives
 * these up. A call without that option is still answered, by the same question to the device. */
static void test_timeout(void **state)
{
	static const char hung[] = PORT_1 " not-read firmware-timeout\n" PORT_2
					  " not-read firmware-timeout\n" IWARP " read\n";
	Fixture *f = *state;
	sd_bus_message *replies[2] = {};
	_cleanup_free_ char *is = NULL;

	fixture_simulate(f, "stall mlx5_0");
	assert_all_within(f, USEC_PER_SEC, hung);
	/* no reading goes on that the next call would have to wait for */
	assert_all_within(f, USEC_PER_SEC, hung);
	call(f, replies);
	fixture_barrier(f);
	assert_all_within(f, USEC_PER_SEC, hung);
	assert_null(replies[0]);
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_reply(f, &replies[0]);
	is = answer(replies[0]);
	assert_string_equal(is, PORT_1 " read\n" PORT_2 " read\n" IWARP " read\n");
	sd_bus_message_unref(replies[0]);
	assert_all_within(f, 0, PORT_1 " read\n" PORT_2 " read\n" IWARP " read\n");
}

static void call_for(Fixture *f, sd_bus_message **replies, const char *port)
{
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, "GetCounters",
					     fixture_keep_reply, replies, "a{sv}", 1, "ports", "as",
					     1, port) >= 0);
}

/* A call waits for none of the ports that only others want. */
static void test_own_ports(void **state)
{
	Fixture *f = *state;
	sd_bus_message *hung[2] = {}, *other[2] = {};
	_cleanup_free_ char *is = NULL, *late = NULL;

	fixture_simulate(f, "stall mlx5_0");
	call_for(f, hung, "mlx5_0/1");
	fixture_barrier(f);
	call_for(f, other, "iwarp0");
	fixture_wait_reply(f, &other[0]);
	assert_null(hung[0]);
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_reply(f, &hung[0]);
	is = answer(other[0]);
	late = answer(hung[0]);
	assert_string_equal(is, IWARP " read\n");
	assert_string_equal(late, PORT_1 " read\n");
	sd_bus_message_unref(other[0]);
	sd_bus_message_unref(hung[0]);
}

/* A device that goes while it is waited for is waited for no longer. */
static void test_removed(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[3] = {};

	fixture_simulate(f, "stall mlx5_0");
	call(f, replies);
	call(f, replies);
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_reply(f, &replies[1]);
	for (unsigned int i = 0; i < 2; i++) {
		_cleanup_free_ char *is = answer(replies[i]);

		assert_string_equal(is, IWARP " read\n");
		sd_bus_message_unref(replies[i]);
	}
}

/* A call that comes while another one is waited for is answered too, with later values. */
static void test_next(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[3] = {};

	fixture_simulate(f, "stall mlx5_0");
	call(f, replies);
	fixture_barrier(f);
	call(f, replies);
	fixture_wait_reply(f, &replies[1]);
	for (unsigned int i = 0; i < 2; i++) {
		_cleanup_free_ char *is = answer(replies[i]);

		assert_string_equal(is, PORT_1 " not-read firmware-timeout\n" PORT_2
					       " not-read firmware-timeout\n" IWARP " read\n");
		sd_bus_message_unref(replies[i]);
	}
}

/* It does not matter that rdmad ends while a call waits. */
static void test_ends(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[3] = {};

	fixture_simulate(f, "stall mlx5_0");
	call(f, replies);
	fixture_barrier(f);
	call(f, replies);
	fixture_barrier(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	fixture_wait_reply(f, &replies[1]);
	for (unsigned int i = 0; i < 2; i++)
		sd_bus_message_unref(replies[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_some, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_hung, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_timeout, setup_patient, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_own_ports, setup_patient, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_next, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("all-counters", tests, NULL, NULL);
}
