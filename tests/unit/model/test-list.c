/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists that are stored as text. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "list.h"

/* Writes the items of TEXT, a list of TYPE, to RET: "3 4", "24=3 26=3". Returns whether all of TEXT
 * is a list. */
static bool read_all(AttrType type, const char *text, char ret[256])
{
	ListReader r = list_reader(type, text);
	size_t n = 0;
	ListItem item;

	ret[0] = '\0';
	while (list_next(&r, &item)) {
		const char *blank = n ? " " : "";

		if (type == ATTR_WORDS)
			n += (size_t)snprintf(ret + n, 256 - n, "%s%s", blank, item.word);
		else if (type == ATTR_NUMBERS)
			n += (size_t)snprintf(ret + n, 256 - n, "%s%u", blank, item.number);
		else
			n += (size_t)snprintf(ret + n, 256 - n, "%s%u=%u", blank, item.number,
					      item.second);
	}
	return list_is_valid(type, text);
}

/* What is no item is left out. */
static void test_read(_unused_ void **state)
{
	static const struct {
		AttrType type;
		const char *text, *items;
		bool valid;
	} cases[] = {
		{ATTR_NUMBERS, "none", "", true},
		{ATTR_NUMBERS, "3", "3", true},
		{ATTR_NUMBERS, "40,0,0,60", "40 0 0 60", true},
		{ATTR_NUMBERS, "4294967295", "4294967295", true},
		{ATTR_NUMBERS, "4294967296,3", "3", false},
		{ATTR_NUMBERS, "18446744073709551619", "", false},
		{ATTR_NUMBERS, "", "", false},
		{ATTR_NUMBERS, ",", "", false},
		{ATTR_NUMBERS, "3,", "3", false},
		{ATTR_NUMBERS, "3,,4", "3 4", false},
		{ATTR_NUMBERS, "3, 4", "3", false},
		{ATTR_NUMBERS, "+3,-4,0x5,6", "6", false},
		{ATTR_NUMBERS, "none,3", "3", false},
		{ATTR_WORDS, "none", "", true},
		{ATTR_WORDS, "dscp,pcp,77", "dscp pcp 77", true},
		{ATTR_WORDS, "dscp,,pcp", "dscp pcp", false},
		{ATTR_PAIRS, "none", "", true},
		{ATTR_PAIRS, "24:3,26:3,48:6", "24=3 26=3 48=6", true},
		{ATTR_PAIRS, "0-2:0,3-3:1,255:7", "0=0 1=0 2=0 3=1 255=7", true},
		{ATTR_PAIRS, "2-0:1", "", false},
		{ATTR_PAIRS, "254-256:1", "", false},
		{ATTR_PAIRS, "26:3,24:3,27:1", "26=3 27=1", false},
		{ATTR_PAIRS, "1-3:0,3:1,4:1", "1=0 2=0 3=0 4=1", false},
		{ATTR_PAIRS, "26", "", false},
		{ATTR_PAIRS, "26:,:3,26-:3,26:3:3,5:5", "5=5", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char items[256];

		if (read_all(cases[i].type, cases[i].text, items) != cases[i].valid ||
		    !streq(items, cases[i].items))
			fail_msg("\"%s\": \"%s\"", cases[i].text, items);
	}
}

/* A word that no row has room for. */
static void test_long_word(_unused_ void **state)
{
	char text[sizeof(AttrText) + 1], items[256];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(read_all(ATTR_WORDS, text, items));
	assert_string_equal(items, "");
	assert_true(read_all(ATTR_WORDS, text + 1, items));
	assert_string_equal(items, text + 1);
}

static void test_write(_unused_ void **state)
{
	ListWriter w;
	AttrPath text;

	list_begin(&w, ATTR_NUMBERS, text, sizeof(text));
	list_end(&w);
	assert_string_equal(text, "none");
	list_begin(&w, ATTR_NUMBERS, text, sizeof(text));
	list_add_number(&w, 3);
	list_add_number(&w, UINT32_MAX);
	list_end(&w);
	assert_string_equal(text, "3,4294967295");
	list_begin(&w, ATTR_WORDS, text, sizeof(text));
	list_add_word(&w, "dscp");
	list_add_word(&w, "pcp");
	list_end(&w);
	assert_string_equal(text, "dscp,pcp");
	list_begin(&w, ATTR_PAIRS, text, sizeof(text));
	list_add_pair(&w, 0, 0);
	list_add_pair(&w, 1, 0);
	list_add_pair(&w, 3, 0); /* no neighbour */
	list_add_pair(&w, 4, 1); /* another priority */
	list_add_pair(&w, 5, 1);
	list_end(&w);
	assert_string_equal(text, "0-1:0,3:0,4-5:1");
}

/* Only whole items: half a number would be another one. */
static void test_no_room(_unused_ void **state)
{
	char text[8];
	ListWriter w;

	list_begin(&w, ATTR_NUMBERS, text, sizeof(text));
	list_add_number(&w, 100);
	list_add_number(&w, 2000);
	list_add_number(&w, 300);
	list_add_number(&w, 4);
	list_end(&w);
	assert_string_equal(text, "100,300");
}

static void test_has_word(_unused_ void **state)
{
	assert_true(list_has_word("dscp,pcp", "dscp"));
	assert_true(list_has_word("dscp,pcp", "pcp"));
	assert_false(list_has_word("dscp,pcp", "pc"));
	assert_false(list_has_word("dscp,pcp", ""));
	assert_false(list_has_word("dscp,pcp", "dscp,pcp"));
	assert_false(list_has_word("none", "none"));
	assert_false(list_has_word("", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	 cmocka_unit_test(test_long_word),
		cmocka_unit_test(test_write),	 cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_has_word),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
