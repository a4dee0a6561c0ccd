/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetHistory() of a port and of the Manager, ListHistories(), and the properties that come from it;
 * a history outlives the port's object. */

#include <signal.h>

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n";

#define PORT "/org/rdma/device/3/port/1"

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* The transitions in an array of REPLY as "FROM>TO:REASON FROM>TO:REASON", and the time of the
 * last. */
static char *transitions(sd_bus_message *reply, uint64_t *ret_last)
{
	uint64_t realtime = 0, monotonic, last_realtime = 0, last_monotonic = 0;
	const char *from, *to, *reason;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_true(sd_bus_message_enter_container(reply, 'a', "(ttsssa{sv})") >= 0);
	while (fixture_read_entry(reply, "ttsss", &realtime, &monotonic, &from, &to, &reason) > 0) {
		fprintf(file, "%s%s>%s:%s", last_realtime ? " " : "", from, to, reason);
		assert_true(realtime >= last_realtime && monotonic >= last_monotonic);
		last_realtime = realtime;
		last_monotonic = monotonic;
	}
	fclose(file);
	assert_true(sd_bus_message_exit_container(reply) >= 0);
	if (ret_last)
		*ret_last = last_realtime;
	return text;
}

static char *history(Fixture *f, const char *path, uint64_t *ret_last)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "GetHistory", NULL, "a{sv}", 0);

	return transitions(reply, ret_last);
}

/* Manager.GetHistory() of NAME says EXPECTED. */
static void assert_history_of(Fixture *f, const char *name, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetHistory", NULL, "sa{sv}", name, 0);
	_cleanup_free_ char *is = transitions(reply, NULL);

	assert_string_equal(is, expected);
}

static void assert_no_history_of(Fixture *f, const char *name, const char *expected)
{
	_cleanup_free_ char *error = NULL;

	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetHistory", &error,
				 "sa{sv}", name, 0));
	assert_string_equal(error, expected);
}

/* Writes the member KEY of an entry of ListHistories(), whose variant is next. */
static void write_member(FILE *file, sd_bus_message *m, const char *key)
{
	const char *contents, *text;
	uint64_t number;
	size_t n = 0;
	int present;

	assert_true(sd_bus_message_peek_type(m, NULL, &contents) > 0);
	assert_true(sd_bus_message_enter_container(m, 'v', contents) > 0);
	if (streq(key, "Present")) {
		assert_true(sd_bus_message_read_basic(m, 'b', &present) > 0);
		fprintf(file, present ? " present" : " gone");
	} else if (streq(key, "LinkDowns")) {
		assert_true(sd_bus_message_enter_container(m, 'a', "t") > 0);
		while (sd_bus_message_read_basic(m, 't', &number) > 0)
			n++;
		assert_true(sd_bus_message_exit_container(m) > 0);
		fprintf(file, " %zu of them", n);
	} else if (streq(key, "Findings") || streq(key, "Cables")) {
		assert_true(sd_bus_message_skip(m, contents) > 0);
	} else if (streq(key, "Transitions")) {
		_cleanup_free_ char *is = transitions(m, NULL);

		fprintf(file, " [%s]", is);
	} else if (streq(contents, "t")) {
		assert_true(sd_bus_message_read_basic(m, 't', &number) > 0);
		if (streq(key, "LinkDownCount"))
			fprintf(file, " %llu down", (unsigned long long)number);
		else
			assert_true(number > 0); /* a time */
	} else {
		assert_true(sd_bus_message_read_basic(m, contents[0], &text) > 0);
		fprintf(file, " %s", text);
	}
	assert_true(sd_bus_message_exit_container(m) >= 0);
}

/* The reply to ListHistories(), a line for each entry, to be freed. */
static char *histories(sd_bus_message *m)
{
	char *text = NULL;
	const char *name, *key;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_string_equal(sd_bus_message_get_signature(m, true), "a(sa{sv})");
	assert_true(sd_bus_message_enter_container(m, 'a', "(sa{sv})") > 0);
	while (sd_bus_message_enter_container(m, 'r', "sa{sv}") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &name) > 0);
		fputs(name, file);
		assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
		while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
			assert_true(sd_bus_message_read_basic(m, 's', &key) > 0);
			write_member(file, m, key);
			assert_true(sd_bus_message_exit_container(m) >= 0);
		}
		assert_true(sd_bus_message_exit_container(m) >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
		fputc('\n', file);
	}
	fclose(file);
	return text;
}

static void assert_history(Fixture *f, const char *path, const char *expected)
{
	_cleanup_free_ char *is = history(f, path, NULL);

	assert_string_equal(is, expected);
}

static void change(Fixture *f, const char *command, const char *path)
{
	fixture_forget(f);
	fixture_simulate(f, command);
	fixture_wait_signal(f, path, "StateChanged");
}

static void test_transitions(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *is = NULL, *first = NULL;
	sd_bus_message *signal;
	char text[32];
	uint64_t last;

	assert_history(f, PORT, "unknown>active:startup");
	first = fixture_property(f, PORT, RDMAD_INTERFACE_PORT, "StateChangeTimestamp");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "LinkDownCount", "0");
	change(f, "set mlx5_0/1 state=down event=port-error", PORT);
	/* they come with the state */
	signal = fixture_wait_signal(f, PORT, "PropertiesChanged");
	assert_int_equal(fixture_changed(signal, RDMAD_INTERFACE_PORT, "State"), 1);
	assert_int_equal(fixture_changed(signal, RDMAD_INTERFACE_PORT, "LinkDownCount"), 1);
	assert_int_equal(fixture_changed(signal, RDMAD_INTERFACE_PORT, "StateChangeTimestamp"), 1);
	change(f, "set mlx5_0/1 state=active event=port-active", PORT);
	is = history(f, PORT, &last);
	assert_string_equal(is, "unknown>active:startup active>down:port-error "
				"down>active:port-active");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "LinkDownCount", "1");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)last);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "StateChangeTimestamp", text);
	assert_string_not_equal(first, text);
}

/* What the log says of transitions, which the caller frees. */
static char *logged(const Fixture *f)
{
	_cleanup_free_ char *log = fixture_daemon_log(f);
	char *text = NULL, *line, *rest = log;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	while ((line = strsep(&rest, "\n")))
		if (strstr(line, " -> "))
			fprintf(file, "%s\n", line);
	fclose(file);
	return text;
}

/* The log has each transition once, in their order: soon after the signal, when the port goes, and
 * at the latest when rdmad ends. */
static void test_logged(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *gone = NULL, *end = NULL;

	change(f, "set mlx5_0/1 state=down event=port-error", PORT);
	for (;;) {
		_cleanup_free_ char *log = logged(f);

		if (streq(log, "mlx5_0/1: active -> down (port-error)\n"))
			break;
		assert_string_equal(log, "");
		fixture_barrier(f);
	}
	change(f, "set mlx5_0/1 state=active event=port-active", PORT);
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	fixture_barrier(f);
	gone = logged(f);
	assert_string_equal(gone, "mlx5_0/1: active -> down (port-error)\n"
				  "mlx5_0/1: down -> active (port-active)\n"
				  "mlx5_0/1: active -> absent (device)\n");
	fixture_simulate(f, "add mlx5_0");
	fixture_wait_signal(f, "/org/rdma/device/4", "PropertiesChanged");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	end = logged(f);
	assert_true(startswith(end, gone));
	assert_string_equal(end + strlen(gone), "mlx5_0/1: absent -> active (device)\n");
}

static int setup_two(void **state)
{
	return fixture_setup_daemon(state, "[device mlx5_0]\n"
					   "index = 3\n"
					   "protocol = infiniband\n"
					   "[device mlx5_1]\n"
					   "index = 4\n"
					   "protocol = infiniband\n");
}

/* How a port was at the start is in no log, also when it takes over the history of another. */
static void test_logged_renamed(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *log = NULL;

	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	fixture_simulate(f, "rename mlx5_1 mlx5_0");
	fixture_wait_signal(f, "/org/rdma/device/4/port/1", "PropertiesChanged");
	change(f, "set mlx5_0/1 state=down event=port-error", "/org/rdma/device/4/port/1");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	log = logged(f);
	assert_string_equal(log, "mlx5_0/1: active -> absent (device)\n"
				 "mlx5_0/1: active -> down (port-error)\n");
}

/* A device that is reset has a new index, and at first perhaps another name. */
static void test_return(void **state)
{
	Fixture *f = *state;

	change(f, "set mlx5_0/1 state=down event=port-error", PORT);
	fixture_forget(f);
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	fixture_forget(f);
	fixture_simulate(f, "add mlx5_0");
	fixture_wait_signal(f, "/org/rdma/device/4", "PropertiesChanged");
	assert_history(f, "/org/rdma/device/4/port/1",
		       "unknown>active:startup active>down:port-error down>absent:device "
		       "absent>active:device");
	fixture_assert_property(f, "/org/rdma/device/4/port/1", RDMAD_INTERFACE_PORT,
				"LinkDownCount", "1");

	fixture_simulate(f, "remove mlx5_0");
	fixture_forget(f);
	fixture_simulate(f, "add ibx from=mlx5_0");
	fixture_wait_signal(f, "/org/rdma/device/5", "PropertiesChanged");
	assert_history(f, "/org/rdma/device/5/port/1", "absent>active:device");
	fixture_forget(f);
	fixture_simulate(f, "rename ibx mlx5_0");
	fixture_wait_signal(f, "/org/rdma/device/5/port/1", "PropertiesChanged");
	assert_history(f, "/org/rdma/device/5/port/1",
		       "unknown>active:startup active>down:port-error down>absent:device "
		       "absent>active:device active>absent:device absent>active:device");
	fixture_assert_property(f, "/org/rdma/device/5/port/1", RDMAD_INTERFACE_PORT,
				"LinkDownCount", "1");
}

/* The history of a port that has gone, under its names. */
static void test_gone(void **state)
{
	static const char expected[] =
		"unknown>active:startup active>down:port-error down>absent:device";
	Fixture *f = *state;

	assert_history_of(f, "mlx5_0/1", "unknown>active:startup");
	change(f, "set mlx5_0/1 state=down event=port-error", PORT);
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	assert_history_of(f, "mlx5_0/1", expected);
	assert_history_of(f, "mlx5_0:1", expected);
	assert_history_of(f, "mlx5_0", expected);
	assert_no_history_of(f, "mlx5_0/2", RDMAD_ERROR_NOT_FOUND);
	assert_no_history_of(f, "mlx5_1", RDMAD_ERROR_NOT_FOUND);
	assert_no_history_of(f, "0002:c903:00ab:cdef", RDMAD_ERROR_NOT_FOUND);
	assert_no_history_of(f, "mlx5_0/x", RDMAD_ERROR_INVALID_ARGUMENT);
	/* a device of two ports has gone: its name alone says too little */
	fixture_simulate(f, "add ibx protocol=infiniband ports=2");
	fixture_wait_signal(f, "/org/rdma/device/4", "PropertiesChanged");
	assert_no_history_of(f, "ibx", RDMAD_ERROR_AMBIGUOUS);
	fixture_forget(f);
	fixture_simulate(f, "remove ibx");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	assert_no_history_of(f, "ibx", RDMAD_ERROR_AMBIGUOUS);
	assert_history_of(f, "ibx/2", "absent>active:device active>absent:device");
}

static void assert_histories(Fixture *f, bool transitions, uint64_t within, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		within ? fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListHistories",
				      NULL, "a{sv}", 2, "transitions", "b", transitions,
				      "link-downs-within-usec", "t", within)
		       : fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListHistories",
				      NULL, "a{sv}", 1, "transitions", "b", transitions);
	_cleanup_free_ char *is = histories(reply);

	assert_string_equal(is, expected);
}

/* ListHistories() of PORT alone says EXPECTED. */
static void assert_history_alone(Fixture *f, const char *port, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListHistories", NULL,
			     "a{sv}", 1, "port", "s", port);
	_cleanup_free_ char *is = histories(reply);

	assert_string_equal(is, expected);
}

static void test_all(void **state)
{
	Fixture *f = *state;

	change(f, "set mlx5_1/1 state=down event=port-error", "/org/rdma/device/4/port/1");
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	assert_histories(f, false, 0,
			 "mlx5_1/1 present /org/rdma/device/4/port/1 down 1 down\n"
			 "mlx5_0/1 gone absent 0 down\n");
	assert_histories(f, true, 3600 * USEC_PER_SEC,
			 "mlx5_1/1 present /org/rdma/device/4/port/1 down 1 down 1 of them "
			 "[unknown>active:startup active>down:port-error]\n"
			 "mlx5_0/1 gone absent 0 down 0 of them "
			 "[unknown>active:startup active>absent:device]\n");
	assert_histories(f, false, 1,
			 "mlx5_1/1 present /org/rdma/device/4/port/1 down 1 down 0 of them\n"
			 "mlx5_0/1 gone absent 0 down 0 of them\n");
	assert_history_alone(f, "mlx5_1/1",
			     "mlx5_1/1 present /org/rdma/device/4/port/1 down 1 down\n");
	assert_history_alone(f, "mlx5_0/1", "mlx5_0/1 gone absent 0 down\n");
	assert_history_alone(f, "mlx5_0/2", "");
}

/* Of a link that flaps the transitions are soon forgotten, and the times are kept for longer. */
static void test_link_downs(void **state)
{
	Fixture *f = *state;

	for (unsigned int i = 0; i < 40; i++) {
		change(f, "set mlx5_0/1 state=down event=port-error", PORT);
		change(f, "set mlx5_0/1 state=active event=port-active", PORT);
	}
	assert_histories(f, false, UINT64_MAX,
			 "mlx5_0/1 present " PORT " active 40 down 40 of them\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_transitions, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_logged, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_logged_renamed, setup_two, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_return, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_all, setup_two, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_link_downs, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("get-history", tests, NULL, NULL);
}
