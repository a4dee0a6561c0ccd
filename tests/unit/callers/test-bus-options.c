/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a method, as the last argument of a call. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-options.h"
#include "bus-pair.h"
#include "names.h"

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of a connection */
	sd_bus_error error;
	const char *text;
	uint32_t number;
	uint64_t usec;
	int flag;
	BusTexts ports;
} Test;

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->daemon);
	bus_pair_settle(t->bus, t->daemon);
	t->ports.max = 2;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	bus_texts_done(&t->ports);
	sd_bus_error_free(&t->error);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

/* The call M, with the options that have been appended, is read. It must be freed. */
static int read_options(Test *t, sd_bus_message *m, size_t n)
{
	const BusOption options[] = {
		{"text", 's', &t->text}, {"number", 'u', &t->number}, {"usec", 't', &t->usec},
		{"flag", 'b', &t->flag}, {"ports", 'a', &t->ports},
	};

	sd_bus_error_free(&t->error);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	return bus_read_options(m, "Method", options, n, &t->error);
}

static sd_bus_message *new_call(Test *t)
{
	sd_bus_message *m;

	assert_true(sd_bus_message_new_method_call(t->daemon, &m, "a.b", "/", "a.b", "Method") >=
		    0);
	return m;
}

static void test_each(void **state)
{
	Test *t = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_call(t);

	assert_true(sd_bus_message_append(m, "a{sv}", 5, "ports", "as", 2, "a", "b", "usec", "t",
					  UINT64_C(5000000000), "flag", "b", 1, "text", "s", "c",
					  "number", "u", 7) >= 0);
	assert_true(read_options(t, m, 5) >= 0);
	assert_string_equal(t->text, "c");
	assert_int_equal(t->number, 7);
	assert_true(t->usec == UINT64_C(5000000000));
	assert_int_equal(t->flag, 1);
	assert_string_equal(t->ports.texts[0], "a");
	assert_string_equal(t->ports.texts[1], "b");
	assert_null(t->ports.texts[2]);
	assert_int_equal(sd_bus_message_at_end(m, true), 1);
}

/* A call may leave them out. */
static void test_none(void **state)
{
	Test *t = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *none = new_call(t), *empty = new_call(t);

	assert_true(read_options(t, none, 5) >= 0);
	assert_true(sd_bus_message_append(empty, "a{sv}", 0) >= 0);
	assert_true(read_options(t, empty, 5) >= 0);
	assert_null(t->text);
}

static void expect_error(Test *t, sd_bus_message *m, size_t n, const char *name, const char *text)
{
	assert_true(read_options(t, m, n) < 0);
	assert_string_equal(t->error.name, name);
	assert_string_equal(t->error.message, text);
	sd_bus_message_unref(m);
}

/* Whichever of them it is, and however many others have come between. */
static void test_twice(void **state)
{
	static const char *const keys[] = {"text", "number", "usec", "flag"};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		static const char *const types[] = {"s", "u", "t", "b"};
		sd_bus_message *m = new_call(t);
		char text[64];

		assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
		for (size_t k = 0; k <= ARRAY_SIZE(keys); k++) {
			size_t which = k < ARRAY_SIZE(keys) ? k : i;

			assert_true(which == 0	 ? sd_bus_message_append(m, "{sv}", "text", "s", "")
				    : which == 2 ? sd_bus_message_append(m, "{sv}", "usec", "t",
									 UINT64_C(1))
						 : sd_bus_message_append(m, "{sv}", keys[which],
									 types[which], 1) >= 0);
		}
		assert_true(sd_bus_message_close_container(m) >= 0);
		snprintf(text, sizeof(text), "Option \"%s\" is there twice", keys[i]);
		expect_error(t, m, 5, RDMAD_ERROR_INVALID_OPTION, text);
	}
}

static void test_unknown(void **state)
{
	static const char *const takes[] = {"none", "\"text\"", "\"text\" and \"number\"",
					    "\"text\", \"number\" and \"usec\""};
	Test *t = *state;

	for (size_t n = 0; n < ARRAY_SIZE(takes); n++) {
		sd_bus_message *m = new_call(t);
		char text[128];

		assert_true(sd_bus_message_append(m, "a{sv}", 1, "colour", "s", "red") >= 0);
		snprintf(text, sizeof(text), "Unknown option \"colour\": Method takes %s",
			 takes[n]);
		expect_error(t, m, n, RDMAD_ERROR_INVALID_OPTION, text);
	}
}

static void test_wrong(void **state)
{
	Test *t = *state;
	sd_bus_message *m = new_call(t);

	assert_true(sd_bus_message_append(m, "a{sv}", 1, "number", "t", UINT64_C(7)) >= 0);
	expect_error(t, m, 5, RDMAD_ERROR_INVALID_OPTION,
		     "Option \"number\" takes a value of type u");
	m = new_call(t);
	assert_true(sd_bus_message_append(m, "a{sv}", 1, "ports", "s", "a") >= 0);
	expect_error(t, m, 5, RDMAD_ERROR_INVALID_OPTION,
		     "Option \"ports\" takes a value of type as");
	m = new_call(t);
	assert_true(sd_bus_message_append(m, "a{sv}", 1, "ports", "as", 3, "a", "b", "c") >= 0);
	expect_error(t, m, 5, RDMAD_ERROR_INVALID_ARGUMENT, "\"ports\": more than 2 ports");
	assert_null(t->ports.texts);
	assert_int_equal(t->number, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_each),    TEST(test_none),  TEST(test_twice),
		TEST(test_unknown), TEST(test_wrong),
	};

	return cmocka_run_group_tests_name("bus-options", tests, NULL, NULL);
}
