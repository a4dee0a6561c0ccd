/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Manager.GetCounterValues() says what GetAllCounters() says. Both replies are made into the same
 * text, and compared.
 */

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 4\n"
			       "[port mlx5_0/1]\n"
			       "counter.symbol_error = 65535\n"
			       "counter.VL15_dropped =\n"
			       "hw_counter.from_the_future = 42\n"
			       "[port mlx5_0/2]\n"
			       /* a port without extended counters: these stop after 32 bits */
			       "counter.unicast_xmit_packets =\n"
			       "counter.unicast_rcv_packets =\n"
			       "counter.port_rcv_packets = 4294967295\n"
			       "counter.port_xmit_data = 4294967295\n"
			       "[device iwarp0]\n"
			       "index = 6\n"
			       "protocol = iwarp\n";

#define PORT_1 "/org/rdma/device/3/port/1"
#define IWARP  "/org/rdma/device/6/port/1"

#define SETS_MAX     8
#define COUNTERS_MAX 64

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

static sd_bus_message *get(Fixture *f, const char *method)
{
	return fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, method, NULL, "a{sv}", 0);
}

static void enter(sd_bus_message *m, char type, const char *contents)
{
	assert_true(sd_bus_message_enter_container(m, type, contents) > 0);
}

static void leave(sd_bus_message *m)
{
	assert_true(sd_bus_message_exit_container(m) >= 0);
}

/* The reply to GetAllCounters(). */
static void put_error(FILE *file, const char *key, const char *text)
{
	if (streq(key, "Error") || streq(key, "ErrorMessage"))
		fprintf(file, " %s=%s", key, text);
}

static void print_all_errors(FILE *file, sd_bus_message *m)
{
	const char *key, *text;

	enter(m, 'a', "{sv}");
	while (sd_bus_message_read(m, "{sv}", &key, "s", &text) > 0)
		put_error(file, key, text);
	leave(m);
}

static char *all_text(sd_bus_message *m)
{
	const char *path, *group, *name, *unit, *condition, *reason;
	uint64_t value, realtime, monotonic;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	enter(m, 'a', "(oa(sstsssa{sv})tta{sv})");
	while (sd_bus_message_enter_container(m, 'r', "oa(sstsssa{sv})tta{sv}") > 0) {
		assert_true(sd_bus_message_read_basic(m, 'o', &path) > 0);
		fprintf(file, "%s\n", path);
		enter(m, 'a', "(sstsssa{sv})");
		while (fixture_read_entry(m, "sstsss", &group, &name, &value, &unit, &condition,
					  &reason) > 0)
			fprintf(file, "%s %s %" PRIu64 " %s %s %s\n", group, name, value, unit,
				condition, reason);
		leave(m);
		assert_true(sd_bus_message_read(m, "tt", &realtime, &monotonic) > 0);
		fprintf(file, "%" PRIu64 " %" PRIu64, realtime, monotonic);
		print_all_errors(file, m);
		leave(m);
		fputc('\n', file);
	}
	leave(m);
	fclose(file);
	return text;
}

/* The reply to GetCounterValues(). */
typedef struct Set {
	size_t n;
	const char *group[COUNTERS_MAX], *name[COUNTERS_MAX], *unit[COUNTERS_MAX];
} Set;

/* Of the counters of a port, what is no number. */
typedef struct Tail {
	const char *reason[COUNTERS_MAX]; /* NULL: there is a value */
	bool saturated[COUNTERS_MAX];
} Tail;

static size_t read_texts(sd_bus_message *m, const char **texts)
{
	size_t n = 0;

	enter(m, 'a', "s");
	while (sd_bus_message_at_end(m, false) == 0) {
		assert_true(n < COUNTERS_MAX);
		assert_true(sd_bus_message_read_basic(m, 's', &texts[n++]) > 0);
	}
	leave(m);
	return n;
}

static size_t read_sets(sd_bus_message *m, Set *sets)
{
	size_t n = 0;

	enter(m, 'a', "(asasasa{sv})");
	while (sd_bus_message_enter_container(m, 'r', "asasasa{sv}") > 0) {
		Set *s = &sets[n++];

		assert_true(n <= SETS_MAX);
		s->n = read_texts(m, s->group);
		assert_int_equal(read_texts(m, s->name), s->n);
		assert_int_equal(read_texts(m, s->unit), s->n);
		assert_true(sd_bus_message_skip(m, "a{sv}") > 0);
		leave(m);
	}
	leave(m);
	return n;
}

static void read_tail(FILE *errors, sd_bus_message *m, Tail *t)
{
	const char *key, *text;
	uint32_t i;

	enter(m, 'a', "{sv}");
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &key) > 0);
		if (streq(key, "Missing")) {
			enter(m, 'v', "a{us}");
			enter(m, 'a', "{us}");
			while (sd_bus_message_read(m, "{us}", &i, &text) > 0) {
				assert_true(i < COUNTERS_MAX);
				t->reason[i] = text;
			}
			leave(m);
			leave(m);
		} else if (streq(key, "Saturated")) {
			enter(m, 'v', "au");
			enter(m, 'a', "u");
			while (sd_bus_message_read(m, "u", &i) > 0) {
				assert_true(i < COUNTERS_MAX);
				t->saturated[i] = true;
			}
			leave(m);
			leave(m);
		} else {
			assert_true(sd_bus_message_read(m, "v", "s", &text) > 0);
			put_error(errors, key, text);
		}
		leave(m);
	}
	leave(m);
}

static void print_port(FILE *file, sd_bus_message *m, const Set *sets, size_t n_sets)
{
	_cleanup_free_ char *errors = NULL;
	size_t n_errors, size;
	FILE *errors_file = open_memstream(&errors, &n_errors);
	uint64_t realtime, monotonic;
	const uint64_t *values;
	const char *path;
	uint32_t set;
	Tail t = {};

	assert_non_null(errors_file);
	assert_true(sd_bus_message_read(m, "ou", &path, &set) > 0);
	assert_true(sd_bus_message_read_array(m, 't', (const void **)&values, &size) >= 0);
	assert_true(sd_bus_message_read(m, "tt", &realtime, &monotonic) > 0);
	read_tail(errors_file, m, &t);
	fclose(errors_file);
	fprintf(file, "%s\n", path);
	if (size > 0) {
		assert_true(set < n_sets);
		assert_int_equal(size, sets[set].n * sizeof(*values));
	}
	for (size_t i = 0; i < size / sizeof(*values); i++)
		fprintf(file, "%s %s %" PRIu64 " %s %s %s\n", sets[set].group[i], sets[set].name[i],
			values[i], sets[set].unit[i],
			t.reason[i]	 ? "missing"
			: t.saturated[i] ? "saturated"
					 : "valid",
			t.reason[i] ? t.reason[i] : "");
	fprintf(file, "%" PRIu64 " %" PRIu64 "%s\n", realtime, monotonic, errors);
}

static char *values_text(sd_bus_message *m, size_t *ret_sets)
{
	Set sets[SETS_MAX] = {};
	char *text = NULL;
	size_t size, n;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	n = read_sets(m, sets);
	enter(m, 'a', "(ouattta{sv})");
	while (sd_bus_message_enter_container(m, 'r', "ouattta{sv}") > 0) {
		print_port(file, m, sets, n);
		leave(m);
	}
	leave(m);
	fclose(file);
	if (ret_sets)
		*ret_sets = n;
	return text;
}

/* Both methods say the same; returns what, and how many sets there are. Counters are read again
 * after a second: then what they say of different readings differs, and they are asked again. */
static char *compare(Fixture *f, size_t *ret_sets)
{
	for (;;) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *before = get(f, "GetAllCounters");
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get(f, "GetCounterValues");
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *after = get(f, "GetAllCounters");
		_cleanup_free_ char *first = all_text(before), *last = all_text(after);
		_cleanup_free_ char *is = values_text(m, ret_sets);

		if (!streq(first, last))
			continue;
		assert_string_equal(is, first);
		return steal_pointer(&is);
	}
}

static void test_same(void **state)
{
	size_t n_sets;
	_cleanup_free_ char *text = compare(*state, &n_sets);

	/* each condition is there */
	assert_non_null(strstr(text, "counters symbol_error 65535 events saturated \n"));
	assert_non_null(strstr(text, "counters VL15_dropped 0 packets missing not-reported\n"));
	assert_non_null(strstr(text, "hw_counters from_the_future 42 unknown valid \n"));
	/* two ports of the first device have the same files */
	assert_int_equal(n_sets, 4);
}

static void assert_hung(const char *text)
{
	assert_non_null(strstr(text, PORT_1 "\n0 0 Error=firmware-timeout ErrorMessage="));
	assert_non_null(strstr(text, IWARP "\nhw_counters "));
}

static void test_hung(void **state)
{
	_cleanup_free_ char *text = NULL;

	fixture_simulate(*state, "stall mlx5_0");
	text = compare(*state, NULL);
	assert_hung(text);
}

static sd_bus_message *get_named(Fixture *f, char **ret_error, const char *port)
{
	return fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounterValues",
			    ret_error, "a{sv}", 2, "ports", "as", 1, port, "timeout-usec", "t",
			    UINT64_MAX);
}

static void assert_error(Fixture *f, const char *port, const char *expected)
{
	_cleanup_free_ char *error = NULL;

	assert_null(get_named(f, &error, port));
	assert_string_equal(error, expected);
}

static void test_options(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = get_named(f, NULL, "iwarp0");
	_cleanup_free_ char *text = NULL, *error = NULL;
	size_t n_sets;

	text = values_text(m, &n_sets);
	assert_memory_equal(text, IWARP "\nhw_counters ", strlen(IWARP "\nhw_counters "));
	assert_null(strstr(text, PORT_1));
	assert_int_equal(n_sets, 1);
	assert_error(f, "mlx5_0/5", RDMAD_ERROR_NOT_FOUND);
	assert_error(f, "mlx5_0", RDMAD_ERROR_AMBIGUOUS);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounterValues",
				 &error, "a{sv}", 1, "port", "s", "iwarp0"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

static void call(Fixture *f, const char *method, sd_bus_message **replies)
{
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, method, fixture_keep_reply,
					     replies, "a{sv}", 0) >= 0);
}

/* Calls of both methods wait together, and each gets its own kind of reply. The second may wait for
 * the next reading: then its values are later ones. */
static void test_together(void **state)
{
	Fixture *f = *state;
	sd_bus_message *replies[3] = {};
	_cleanup_free_ char *all = NULL, *values = NULL;

	fixture_simulate(f, "stall mlx5_0");
	call(f, "GetAllCounters", replies);
	call(f, "GetCounterValues", replies);
	fixture_wait_reply(f, &replies[1]);
	all = all_text(replies[0]);
	values = values_text(replies[1], NULL);
	assert_hung(all);
	assert_hung(values);
	for (unsigned int i = 0; i < 2; i++)
		sd_bus_message_unref(replies[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_hung, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_options, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("counter-values", tests, NULL, NULL);
}
