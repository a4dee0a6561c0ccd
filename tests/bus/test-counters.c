/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Manager.GetCounters() for one port of the real daemon on a scenario. A simulated port counts
 * further with each reading, so that the values tell how often it was read.
 */

#include <signal.h>

#include "counters-text.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 4\n"
			       "[port mlx5_0/1]\n"
			       "counter.symbol_error = 65535\n"
			       "counter.local_link_integrity_errors = 14\n"
			       "counter.VL15_dropped =\n"
			       "hw_counter.from_the_future = 42\n"
			       "[port mlx5_0/2]\n"
			       /* a port without extended counters: these stop after 32 bits */
			       "counter.unicast_xmit_packets =\n"
			       "counter.unicast_rcv_packets =\n"
			       "counter.multicast_xmit_packets =\n"
			       "counter.multicast_rcv_packets =\n"
			       "counter.port_rcv_packets = 4294967295\n"
			       "counter.port_xmit_data = 4294967295\n"
			       "counter.port_rcv_data = 4294967294\n"
			       "[device iwarp0]\n"
			       "index = 6\n"
			       "protocol = iwarp\n";

#define PORT_1 "/org/rdma/device/3/port/1"
#define PORT_2 "/org/rdma/device/3/port/2"
#define IWARP  "/org/rdma/device/6/port/1"

/* What a port moves in one reading, in bytes */
#define STEP UINT64_C(100000000)

typedef struct Answer {
	bool found;
	uint64_t value;
	char unit[16], condition[16], reason[64];
	uint64_t realtime, monotonic;
	size_t n;
} Answer;

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Counter NAME of GROUP in a reply about one port. */
static Answer find(sd_bus_message *m, const char *group, const char *name)
{
	_cleanup_free_ char *all = NULL;
	char g[16], n[64], *saved = NULL;
	Answer a = {}, c;

	assert_true(sd_bus_message_rewind(m, true) >= 0);
	all = counters_text(m, NULL);
	(void)strtok_r(all, "\n", &saved); /* the path */
	for (const char *line; (line = strtok_r(NULL, "\n", &saved));) {
		c = (Answer){.found = true};
		if (sscanf(line, "%15s %63s %" SCNu64 " %15s %15s %63s", g, n, &c.value, c.unit,
			   c.condition, c.reason) < 5) {
			assert_int_equal(
				sscanf(line, "%" SCNu64 " %" SCNu64, &a.realtime, &a.monotonic), 2);
			continue;
		}
		c.n = ++a.n;
		if (!streq(g, group) || !streq(n, name))
			continue;
		assert_false(a.found); /* once */
		a = c;
	}
	return a;
}

static sd_bus_message *get_with(Fixture *f, const char *path, char **ret_error)
{
	return fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", ret_error,
			    "a{sv}", 1, "ports", "as", 1, path);
}

static sd_bus_message *get(Fixture *f, const char *path)
{
	return get_with(f, path, NULL);
}

static void call(Fixture *f, const char *path, sd_bus_message **replies)
{
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, "GetCounters",
					     fixture_keep_reply, replies, "a{sv}", 1, "ports", "as",
					     1, path) >= 0);
}

static void assert_counter(sd_bus_message *m, const char *group, const char *name, uint64_t value,
			   const char *unit, const char *condition)
{
	Answer a = find(m, group, name);

	if (!a.found)
		fail_msg("no counter %s", name);
	assert_int_equal(a.value, value);
	assert_string_equal(a.unit, unit);
	assert_string_equal(a.condition, condition);
	assert_int_equal(a.reason[0] != '\0', streq(condition, "missing"));
}

static void test_values(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(*state, PORT_1);

	assert_counter(m, "counters", "port_xmit_bytes", STEP, "bytes", "valid");
	assert_counter(m, "counters", "port_xmit_packets", 50000, "packets", "valid");
	assert_counter(m, "counters", "port_xmit_wait", 0, "ticks", "valid");
	assert_counter(m, "counters", "symbol_error", 65535, "events", "saturated");
	assert_counter(m, "counters", "local_link_integrity_errors", 14, "events", "valid");
	assert_counter(m, "counters", "VL15_dropped", 0, "packets", "missing");
	assert_counter(m, "hw_counters", "rx_write_requests", 1000, "packets", "valid");
	assert_counter(m, "hw_counters", "from_the_future", 42, "unknown", "valid");
	/* A reader would take its name in sysfs for words of four bytes. */
	assert_false(find(m, "counters", "port_xmit_data").found);
	assert_false(find(m, "counters", "from_the_future").found);
	assert_true(find(m, "", "").realtime > UINT64_C(1500000000000000));
	assert_true(find(m, "", "").monotonic > 0);
	assert_int_equal(find(m, "", "").n, 21 + 5);
}

/* 32 bits wide counters stop earlier. */
static void test_narrow(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(*state, PORT_2);

	assert_counter(m, "counters", "unicast_xmit_packets", 0, "packets", "missing");
	assert_string_equal(find(m, "counters", "unicast_xmit_packets").reason, "not-reported");
	assert_counter(m, "counters", "port_rcv_packets", UINT32_MAX, "packets", "saturated");
	assert_counter(m, "counters", "port_xmit_bytes", UINT64_C(4) * UINT32_MAX, "bytes",
		       "saturated");
	assert_counter(m, "counters", "port_rcv_bytes", UINT64_C(4) * (UINT32_MAX - 1), "bytes",
		       "valid");
}

/* A port of another protocol has no counters of the PMA, and none is reported as missing. */
static void test_without_pma(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(*state, IWARP);

	assert_counter(m, "hw_counters", "ip4InSegs", 70000, "unknown", "valid");
	assert_int_equal(find(m, "", "").n, 3);
}

/* Many calls at the same time read the port once; a later call reads it again. */
static void test_once(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[101] = {};
	Answer first, later;

	for (unsigned int i = 0; i < 100; i++)
		call(f, PORT_1, replies);
	fixture_wait_reply(f, &replies[99]);
	first = find(replies[0], "counters", "port_xmit_bytes");
	assert_int_equal(first.value, STEP);
	for (unsigned int i = 0; i < 100; i++) {
		/* a machine that takes more than a second for this reads the port twice */
		later = find(replies[i], "counters", "port_xmit_bytes");
		assert_true(later.value == STEP || later.monotonic >= first.monotonic + 1000000);
		sd_bus_message_unref(replies[i]);
	}
	do {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(f, PORT_1);

		later = find(m, "counters", "port_xmit_bytes");
		assert_true(later.value % STEP == 0);
		assert_true((later.value == first.value) == (later.monotonic == first.monotonic));
	} while (later.value == first.value);
	assert_true(later.monotonic >= first.monotonic + USEC_PER_SEC);
}

/* Reading the counters changes no property of the port and sends no signal. */
static void test_no_signal(void **state)
{
	Fixture *f = *state;

	fixture_forget(f);
	sd_bus_message_unref(get(f, PORT_1));
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, NULL, "PropertiesChanged"), 0);
	fixture_assert_property(f, PORT_1, RDMAD_INTERFACE_PORT, "ConfigGeneration", "1");
	/* A query of the port does not read the counters. */
	sd_bus_message_unref(
		fixture_call(f, PORT_1, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0));
	fixture_assert_property(f, PORT_1, RDMAD_INTERFACE_PORT, "ConfigGeneration", "1");
}

/* PORT is in the reply, and could not be read: CODE. */
static void expect_error(Fixture *f, const char *port, const char *code)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(f, port);
	_cleanup_free_ char *text = counters_text(m, NULL), *expected = NULL;

	assert_true(asprintf(&expected, "%s\n0 0 Error=%s ErrorMessage=", port, code) > 0);
	assert_memory_equal(text, expected, strlen(expected));
}

/* A device that hangs while its counters are read counts as wedged; the next call gets that as its
 * error. */
static void test_wedged(void **state)
{
	Fixture *f = *state;
	Answer a;

	fixture_simulate(f, "stall mlx5_0");
	expect_error(f, PORT_1, "firmware-timeout");
	fixture_assert_property(f, PORT_1, RDMAD_INTERFACE_PORT, "Stale", "yes");
	fixture_assert_property(f, PORT_2, RDMAD_INTERFACE_PORT, "Stale", "yes");
	expect_error(f, PORT_2, "firmware-timeout");
	/* another device goes on */
	sd_bus_message_unref(get(f, IWARP));
	fixture_forget(f);
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_signal(f, PORT_1, "PropertiesChanged");
	do {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(f, PORT_1);

		a = find(m, "counters", "port_xmit_bytes");
	} while (!a.found);
	fixture_assert_property(f, PORT_1, RDMAD_INTERFACE_PORT, "Stale", "no");
}

/* The device is removed while a call waits for its counters. */
static void test_removed(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[3] = {};

	fixture_simulate(f, "stall mlx5_0");
	call(f, PORT_1, replies);
	call(f, PORT_2, replies);
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_reply(f, &replies[1]);
	for (unsigned int i = 0; i < 2; i++) {
		_cleanup_free_ char *text = counters_text(replies[i], NULL), *error = NULL;

		assert_string_equal(text, "");
		sd_bus_message_unref(replies[i]);
		assert_null(get_with(f, i ? PORT_2 : PORT_1, &error));
		assert_string_equal(error, RDMAD_ERROR_NOT_FOUND);
	}
}

/* Ports of one kind share a set. */
static void test_sets(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = fixture_call(
		*state, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", NULL, "a{sv}", 0);
	_cleanup_free_ char *text = NULL;
	size_t n_sets;

	text = counters_text(m, &n_sets);
	assert_int_equal(n_sets, 4);
	assert_non_null(strstr(text, PORT_2));
	assert_non_null(strstr(text, IWARP));
}

static void test_options(void **state)
{
	_cleanup_free_ char *error = NULL;

	assert_null(fixture_call(*state, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters",
				 &error, "a{sv}", 1, "max-age-usec", "t", UINT64_C(5)));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_narrow, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_without_pma, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_once, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_no_signal, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_wedged, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_sets, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_options, setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
