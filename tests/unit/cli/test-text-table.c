/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables that people see: what fits, what is cut, and what cannot be printed. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>

#include "text-table.h"

static const TableColumn columns[] = {
	{"NAME", 0, 0}, {"COUNT", TABLE_RIGHT, 0}, {"OF", TABLE_SPARE, 6}, {"TEXT", 0, 0}};

static TextTable new_table(const Context *c)
{
	TextTable t = text_table_begin(c, columns, ARRAY_SIZE(columns));

	text_table_add_line(&t);
	text_table_put(&t, 0, "one");
	text_table_format(&t, 1, "%d", 1234567);
	text_table_put(&t, 2, "x");
	text_table_take(&t, 3, strdup("a long text"));
	text_table_add_line(&t);
	text_table_put(&t, 0, "another");
	text_table_put(&t, 1, "2");
	return t;
}

/* Writes T, and ends it. */
static void assert_written(TextTable *t, size_t width, const char *expected,
			   const char *expected_left_out)
{
	_cleanup_free_ char *text = NULL, *left_out = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(text_table_write(t, f, 1, width, &left_out), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
	assert_string_equal(left_out ?: "", expected_left_out);
	text_table_done(t);
}

static void test_aligned(_unused_ void **state)
{
	const Context c = {};
	TextTable t = new_table(&c);

	assert_written(&t, SIZE_MAX,
		       " NAME      COUNT OF     TEXT\n"
		       " one     1234567 x      a long text\n"
		       " another       2\n",
		       "");
	t = new_table(&(Context){.no_legend = true});
	t.gap = 2;
	assert_written(&t, SIZE_MAX,
		       " one      1234567  x       a long text\n"
		       " another        2\n",
		       "");
}

static void test_narrow(_unused_ void **state)
{
	const Context c = {};
	TextTable t = new_table(&c);

	/* as wide as it is */
	assert_written(&t, 34,
		       " NAME      COUNT OF     TEXT\n"
		       " one     1234567 x      a long text\n"
		       " another       2\n",
		       "");
	t = new_table(&c);
	assert_written(&t, 33,
		       " NAME      COUNT TEXT\n"
		       " one     1234567 a long text\n"
		       " another       2\n",
		       "OF");
	/* the widest one is cut, and not the number */
	t = new_table(&c);
	assert_written(&t, 22,
		       " NAME      COUNT TEXT\n"
		       " one     1234567 a l...\n"
		       " another       2\n",
		       "OF");
	/* the name only when there is no other way, and nothing to less than four */
	t = new_table(&c);
	assert_written(&t, 1,
		       " NAME   COUNT TEXT\n"
		       " one  1234567 a...\n"
		       " a...       2\n",
		       "OF");
}

/* A column that is TABLE_REST is cut before another one is left out, if eight columns are left. */
static void test_rest(_unused_ void **state)
{
	static const TableColumn some[] = {{"NAME", TABLE_SPARE, 0},
					   {"NOTE", TABLE_SPARE | TABLE_REST, 0}};

	for (size_t width = 12; width < 14; width++) {
		TextTable t = text_table_begin(&(Context){}, some, ARRAY_SIZE(some));

		text_table_add_line(&t);
		text_table_put(&t, 0, "name");
		text_table_put(&t, 1, "a note that is long");
		assert_written(&t, width,
			       width < 13 ? " NAME\n name\n" : " NAME NOTE\n name a not...\n",
			       width < 13 ? "NOTE" : "");
	}
}

/* A colour takes no room, and is not there for a cell without a text. */
static void test_colors(_unused_ void **state)
{
	const Context c = {.colors = true};
	TextTable t = new_table(&c);

	text_table_color(&t, 1, "red");
	text_table_color(&t, 3, "green");
	assert_written(&t, SIZE_MAX,
		       " NAME      COUNT OF     TEXT\n"
		       " one     1234567 x      a long text\n"
		       " another       \033[31m2\033[0m\n",
		       "");
}

/* Nothing that is in a name changes the terminal, or the places of the columns. */
static void test_unprintable(_unused_ void **state)
{
	static const TableColumn some[] = {{"N", 0, 0}, {"M", 0, 0}};
	TextTable t = text_table_begin(&(Context){}, some, ARRAY_SIZE(some));

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	text_table_add_line(&t);
	text_table_put(&t, 0, "a\033[2J\n\xff");
	text_table_put(&t, 1, "m");
	text_table_add_line(&t);
	text_table_put(&t, 0, "\u00e9\u4e2d\x7f\xc2\x85");
	text_table_put(&t, 1, "m");
	assert_written(&t, SIZE_MAX,
		       " N                M\n"
		       " a\\x1b[2J\\x0a\\xff m\n"
		       " \u00e9\u4e2d\\x7f\\xc2\\x85  m\n",
		       "");
	assert_non_null(setlocale(LC_CTYPE, "C"));
}

/* Without memory for a text the table is broken, and is not printed in part. */
static void test_broken(_unused_ void **state)
{
	_cleanup_free_ char *left_out = NULL;
	TextTable t = new_table(&(Context){.out = stdout});

	text_table_take(&t, 2, NULL);
	text_table_add_line(&t);
	text_table_put(&t, 0, "more");
	text_table_color(&t, 0, "red");
	assert_int_equal(text_table_write(&t, stdout, 0, SIZE_MAX, &left_out), -ENOMEM);
	assert_int_equal(text_table_print(&t, 0), STATUS_FAILED);
	text_table_done(&t);
}

static void test_empty(_unused_ void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Context c = {.out = open_memstream(&text, &size)};
	TextTable t = text_table_begin(&c, columns, ARRAY_SIZE(columns));

	assert_true(text_table_is_empty(&t));
	assert_int_equal(text_table_print(&t, 0), STATUS_OK);
	text_table_add_line(&t);
	assert_false(text_table_is_empty(&t));
	text_table_done(&t);
	assert_int_equal(fclose(c.out), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),	    cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_rest),	    cmocka_unit_test(test_colors),
		cmocka_unit_test(test_unprintable), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
