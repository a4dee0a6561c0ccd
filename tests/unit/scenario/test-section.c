/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "section.h"

static void test_headings(_unused_ void **state)
{
	static const struct {
		const char *line, *name;
		SectionKind kind;
		uint32_t port;
	} cases[] = {
		{"[device a]", "a", SECTION_DEVICE, 0},
		{"[ device  a\t]", "a", SECTION_DEVICE, 0},
		{"[device a%2Fb]", "a%2Fb", SECTION_DEVICE, 0},
		{"[port a/1]", "a", SECTION_PORT, 1},
		{"[port a/255]", "a", SECTION_PORT, 255},
		{"[port a/*]", "a", SECTION_PORT, 0},
		{"[script]", "", SECTION_SCRIPT, 0},
		{"[ script ]", "", SECTION_SCRIPT, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *line = strdup(cases[i].line), *message = NULL;
		Heading h;

		assert_int_equal(heading_parse(line, &h, &message), 0);
		assert_string_equal(h.name, cases[i].name);
		assert_int_equal(h.kind, cases[i].kind);
		assert_int_equal(h.port, cases[i].port);
	}
}

static void test_no_headings(_unused_ void **state)
{
	static const char *const wrong[] = {
		"[]",	       "[a]",	      "[device]",     "[device a/1]", "[devices a]",
		"[port]",      "[port a]",    "[port /1]",    "[port a/]",    "[port a/0]",
		"[port a/01]", "[port a/**]", "[port a/x]",   "[script a]",   "[scripts]",
		"[port a/1",   "[",	      "[device a] #",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *line = strdup(wrong[i]), *message = NULL;
		Heading h;

		if (heading_parse(line, &h, &message) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
		/* it is named as it was */
		assert_memory_equal(message, wrong[i], strlen(wrong[i]));
	}
}

static void test_settings(_unused_ void **state)
{
	static const struct {
		const char *line, *key, *value;
	} cases[] = {{"a = b", "a", "b"},
		     {"a=b = c", "a", "b = c"},
		     {"a =", "a", ""},
		     {"a\t=  b c", "a", "b c"},
		     {"= b", "", "b"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *line = strdup(cases[i].line), *message = NULL;
		char *key, *value;

		assert_int_equal(setting_parse(line, &key, &value, &message), 0);
		assert_string_equal(key, cases[i].key);
		assert_string_equal(value, cases[i].value);
	}
}

static void test_no_setting(_unused_ void **state)
{
	_cleanup_free_ char *message = NULL;
	char line[] = "a b", *key, *value;

	assert_int_equal(setting_parse(line, &key, &value, &message), -EINVAL);
	assert_string_equal(message, "a b: expected KEY = VALUE, [SECTION] or # comment");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_no_headings),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_no_setting),
	};

	return cmocka_run_group_tests_name("section", tests, NULL, NULL);
}
