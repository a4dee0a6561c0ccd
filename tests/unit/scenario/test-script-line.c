/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "script-line.h"

/* Parses TEXT. The message, if there is one, is *RET_MESSAGE. */
static int parse(const char *text, ScriptLine *ret, char **ret_message)
{
	static char line[SCENARIO_LINE_MAX + 1];

	text_copy(line, sizeof(line), text);
	return script_line_parse(line, ret, ret_message);
}

static void test_times(_unused_ void **state)
{
	static const struct {
		const char *time;
		uint64_t usec;
	} cases[] = {
		{"0s", 0},
		{"7us", 7},
		{"7.9us", 7},
		{"100ms", 100000},
		{"1.5ms", 1500},
		{"2s", 2000000},
		{"2.s", 2000000},
		{"002s", 2000000},
		{"1.5min", 90000000},
		{"0.25h", 900000000},
		/* all digits of a record, which no sum of binary fractions has */
		{"0.000001s", 1},
		{"1.234567s", 1234567},
		{"0.000249s", 249},
		{"1.000001s", 1000001},
		{"2700000.500001s", 2700000500001},
		{"315359999.999999s", 315359999999999},
		{"315360000s", 315360000000000},
		{"87600h", 315360000000000},
		{"315360000000000us", 315360000000000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		char text[64];
		ScriptLine l;

		snprintf(text, sizeof(text), "at %s: stall a", cases[i].time);
		assert_int_equal(parse(text, &l, &message), 0);
		if (l.at_usec != cases[i].usec)
			fail_msg("%s is %ju us", cases[i].time, (uintmax_t)l.at_usec);
	}
}

static void test_no_times(_unused_ void **state)
{
	static const char *const wrong[] = {"",
					    "s",
					    "2",
					    ".5s",
					    "-1s",
					    "+1s",
					    "2 s",
					    "2S",
					    "2sec",
					    "1e3s",
					    "0x2s",
					    "nans",
					    "1.2.3s",
					    "1,5s",
					    "315360001s",
					    "315360000.000001s",
					    "87600.1h",
					    "87601h",
					    "315360000000001us",
					    "18446744073709551617us",
					    "99999999999999999999h"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *message = NULL;
		char text[64];
		ScriptLine l;

		snprintf(text, sizeof(text), "at \"%s\": stall a", wrong[i]);
		if (parse(text, &l, &message) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
		assert_non_null(strstr(message, "expected a time up to 87600h such as 2s"));
	}
}

/* What is written is read as it was. */
static void test_written(_unused_ void **state)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{0, "at 0.000000s: "},
		{1, "at 0.000001s: "},
		{1234567, "at 1.234567s: "},
		{SCENARIO_TIME_MAX_SEC * USEC_PER_SEC, "at 315360000.000000s: "},
	};
	char text[SCRIPT_TIME_SIZE], line[SCRIPT_TIME_SIZE + 16];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		char *end = script_time_write(text, cases[i].usec);
		ScriptLine l;

		assert_string_equal(text, cases[i].text);
		assert_ptr_equal(end, text + strlen(text));
		snprintf(line, sizeof(line), "%sstall a", text);
		assert_int_equal(parse(line, &l, &message), 0);
		assert_int_equal(l.at_usec, cases[i].usec);
	}
	/* there is room for any time */
	assert_true(script_time_write(text, UINT64_MAX) < text + sizeof(text));
}

static void test_lines(_unused_ void **state)
{
	_cleanup_free_ char *message = NULL;
	ScriptLine l;

	assert_int_equal(parse("at 1s: set a/1 \"x=a b\"", &l, &message), 0);
	assert_int_equal(l.at_usec, USEC_PER_SEC);
	assert_int_equal(l.every_usec, 0);
	assert_int_equal(l.command.n, 3);
	assert_string_equal(l.command.words[2], "x=a b");
	assert_int_equal(parse("  every 5ms : stall a", &l, &message), 0);
	assert_int_equal(l.at_usec, 5000);
	assert_int_equal(l.every_usec, 5000);
	assert_int_equal(parse("every 2s at 1ms:stall a", &l, &message), 0);
	assert_int_equal(l.at_usec, 1000);
	assert_int_equal(l.every_usec, 2000000);
	/* a command with a colon, and none */
	assert_int_equal(parse("at 1s: set a/1 gid.0=fe80::1", &l, &message), 0);
	assert_string_equal(l.command.words[2], "gid.0=fe80::1");
	assert_int_equal(parse("at 1s:", &l, &message), 0);
	assert_int_equal(l.command.n, 0);
}

static void test_no_lines(_unused_ void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"stall a", "stall a: expected at TIME: COMMAND or every TIME: COMMAND"},
		{": stall a", "expected at TIME or every TIME before ':'"},
		{"in 1s: stall a", "in: expected at TIME or every TIME before ':'"},
		{"at: stall a", "at: expected at TIME or every TIME before ':'"},
		{"at 1s at 1s: stall a", "at: expected at TIME or every TIME before ':'"},
		{"at 1s every: stall a", "every: expected at TIME or every TIME before ':'"},
		{"every 999us: stall a", "every: too often, expected 1ms or more"},
		{"at 1s: stall \"a",
		 "a quotation mark is not closed, expected another '\"' in the line"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		ScriptLine l;

		assert_int_equal(parse(cases[i].line, &l, &message), -EINVAL);
		assert_string_equal(message, cases[i].message);
	}
}

static void test_speed(_unused_ void **state)
{
	static const char *const others[] = {"speed", "speed 2", "speedy = 2", "at 1s: speed = 2",
					     ""};

	assert_string_equal(script_speed("speed = 20"), "20");
	assert_string_equal(script_speed("speed\t=20"), "20");
	assert_string_equal(script_speed("speed="), "");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_null(script_speed(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),	 cmocka_unit_test(test_no_times),
		cmocka_unit_test(test_written),	 cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_lines), cmocka_unit_test(test_speed),
	};

	return cmocka_run_group_tests_name("script-line", tests, NULL, NULL);
}
