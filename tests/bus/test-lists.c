/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows that are lists are arrays on the bus, in properties, in signals and in Query(). */

#include "attribute.h"
#include "fixture.h"
#include "port.h"

#define PORT	   "/org/rdma/device/1/port/1"
#define PROPERTIES "org.freedesktop.DBus.Properties"

static const char scenario[] = "[device rocep1]\nindex = 1\nprotocol = roce\n"
			       "[port rocep1/1]\n"
			       "pfc_enabled = 3,4\n"
			       "ets_bandwidth = 40,0,0,60,0,0,0,0\n"
			       "ets_algorithm = ets,strict,strict,ets,strict,strict,strict,7\n"
			       "dscp_to_priority = 0-1:0,26:3\n"
			       "priority_trust = dscp,pcp\n"
			       "ecn_notification = none\n";

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Writes what is left in the container where M is: "3 4", "26=3". */
static void dump(FILE *f, sd_bus_message *m)
{
	const char *contents, *text;
	const char *separator = "";
	uint32_t number, second;
	char type;

	for (; sd_bus_message_peek_type(m, &type, &contents) > 0; separator = " ") {
		fputs(separator, f);
		if (type == 's') {
			assert_true(sd_bus_message_read_basic(m, 's', &text) > 0);
			fputs(text, f);
		} else if (type == 'u') {
			assert_true(sd_bus_message_read_basic(m, 'u', &number) > 0);
			fprintf(f, "%u", number);
		} else {
			assert_true(sd_bus_message_read(m, "{uu}", &number, &second) > 0);
			fprintf(f, "%u=%u", number, second);
		}
	}
}

/* The next value of M is a variant with a list of TYPE, and it is EXPECTED. */
static void check_list(sd_bus_message *m, const char *type, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	const char *contents;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_true(sd_bus_message_peek_type(m, NULL, &contents) > 0);
	assert_string_equal(contents, type);
	assert_true(sd_bus_message_enter_container(m, 'v', type) > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', type + 1) > 0);
	dump(f, m);
	assert_true(sd_bus_message_exit_container(m) >= 0);
	assert_true(sd_bus_message_exit_container(m) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
}

static void check_property(Fixture *f, const char *name, const char *type, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, PORT, PROPERTIES, "Get", NULL, "ss", RDMAD_INTERFACE_ETHERNET, name);

	check_list(reply, type, expected);
}

/* Moves M to the value of NAME in the dictionary where it is. */
static void find_value(sd_bus_message *m, const char *name)
{
	const char *key;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	for (;;) {
		assert_true(sd_bus_message_enter_container(m, 'e', "sv") > 0);
		assert_true(sd_bus_message_read_basic(m, 's', &key) > 0);
		if (streq(key, name))
			return;
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
}

static void test_properties(void **state)
{
	Fixture *f = *state;

	check_property(f, "PfcEnabled", "au", "3 4");
	check_property(f, "EtsBandwidth", "au", "40 0 0 60 0 0 0 0");
	check_property(f, "EtsAlgorithm", "as", "ets strict strict ets strict strict strict 7");
	check_property(f, "DscpToPriority", "a{uu}", "0=0 1=0 26=3");
	check_property(f, "PriorityTrust", "as", "dscp pcp");
	check_property(f, "EcnNotificationPoint", "au", "");
	/* it has no value */
	check_property(f, "PrioToTc", "au", "");
}

static void test_query(void **state)
{
	static const char *const fields[][3] = {
		{"pfc_enabled", "au", "3 4"},
		{"dscp_to_priority", "a{uu}", "0=0 1=0 26=3"},
		{"priority_trust", "as", "dscp pcp"},
	};
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
			fixture_call(f, PORT, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0);

		find_value(reply, fields[i][0]);
		check_list(reply, fields[i][1], fields[i][2]);
	}
}

/* Each field of Query() has the type of its row, whatever is in it. */
static void test_query_types(void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(*state, PORT, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0);
	unsigned int n_64 = 0, n_32 = 0, n_texts = 0;
	const char *field, *type;

	assert_true(sd_bus_message_enter_container(reply, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		PortAttr a = 0;

		assert_true(sd_bus_message_read_basic(reply, 's', &field) > 0);
		while (a < _PORT_ATTR_MAX && !streq(port_attributes[a].field, field))
			a++;
		assert_true(a < _PORT_ATTR_MAX);
		assert_true(sd_bus_message_peek_type(reply, NULL, &type) > 0);
		assert_string_equal(type, attr_raw_signature(port_attributes[a].type));
		n_64 += streq(type, "t");
		n_32 += streq(type, "u");
		n_texts += streq(type, "s");
		assert_true(sd_bus_message_skip(reply, "v") > 0);
		assert_true(sd_bus_message_exit_container(reply) >= 0);
	}
	assert_true(n_64 > 0 && n_32 > 0 && n_texts > 0);
}

static void test_signal(void **state)
{
	Fixture *f = *state;
	sd_bus_message *m;
	const char *interface;

	fixture_forget(f);
	fixture_simulate(f, "set rocep1/1 pfc_enabled=none dscp_to_priority=0-63:1 event=dcb");
	m = fixture_wait_signal(f, PORT, "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_ETHERNET, "DscpToPriority"), 1);
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_true(sd_bus_message_read_basic(m, 's', &interface) > 0);
	find_value(m, "PfcEnabled");
	check_list(m, "au", "");
}

/* What is no list is refused. */
static void test_no_list(void **state)
{
	static const char *const commands[] = {
		"set rocep1/1 pfc_enabled=3,",		 "set rocep1/1 pfc_enabled=three",
		"set rocep1/1 dscp_to_priority=26",	 "set rocep1/1 dscp_to_priority=26:3,24:3",
		"set rocep1/1 priority_trust=dscp,,pcp",
	};
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_free_ char *error = NULL;

		assert_null(fixture_call(f, RDMAD_ROOT_PATH, "org.rdma.Simulator", "Run", &error,
					 "sa{sv}", commands[i], 0));
		assert_string_equal(error, RDMAD_ERROR_INVALID_ARGUMENT);
	}
	check_property(f, "PfcEnabled", "au", "3 4");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_properties), TEST(test_query),   TEST(test_query_types),
		TEST(test_signal),     TEST(test_no_list),
	};

	return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
