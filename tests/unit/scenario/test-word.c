/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "word.h"

static void assert_word(const char *text, const char *word)
{
	char is[WORD_SIZE(64)], back[64];
	char *end = word_write(is, text);

	assert_string_equal(is, word);
	assert_ptr_equal(end, is + strlen(is));
	assert_int_equal(word_parse(word, back, sizeof(back)), 0);
	assert_string_equal(back, text);
	/* in its place too */
	assert_int_equal(word_parse(is, is, strlen(is) + 1), 0);
	assert_string_equal(is, text);
}

static void test_words(_unused_ void **state)
{
	assert_word("", "%");
	assert_word("mlx5_0", "mlx5_0");
	assert_word("a b", "a%20b");
	assert_word("!~", "!~");
	assert_word("100%", "100%25");
	assert_word("\"a=b\"#*", "%22a%3Db%22%23%2A");
	assert_word("d\303\274sseldorf", "d\303\274sseldorf");
}

static void test_written_otherwise(_unused_ void **state)
{
	char back[16];

	assert_int_equal(word_parse("a%2fb%2Fc%41", back, sizeof(back)), 0);
	assert_string_equal(back, "a/b/cA");
	/* what nobody can print does not get in */
	assert_int_equal(word_parse("%1b[31m%FF%c3", back, sizeof(back)), 0);
	assert_string_equal(back, "?[31m??");
}

static void test_no_words(_unused_ void **state)
{
	/* %00 would be an end that others do not see */
	static const char *const wrong[] = {"%2", "%zz", "a%", "%00", "a%2g", "%%", "% 20"};
	char back[4] = "was";

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(word_parse(wrong[i], back, sizeof(back)), -EINVAL);
	assert_int_equal(word_parse("four", back, sizeof(back)), -EINVAL);
	assert_int_equal(word_parse("%66our", back, sizeof(back)), -EINVAL);
	assert_string_equal(back, "was");
	assert_int_equal(word_parse("odd", back, sizeof(back)), 0);
	assert_string_equal(back, "odd");
	assert_int_equal(word_parse("%66o%72", back, sizeof(back)), 0);
	assert_string_equal(back, "for");
}

/* Behind the end of a text is nothing of what was there. */
static void test_rest(_unused_ void **state)
{
	static const char none[6] = "a";
	char back[6] = "12345";

	assert_int_equal(word_parse("a", back, sizeof(back)), 0);
	assert_memory_equal(back, none, sizeof(back));
}

static void test_numbers(_unused_ void **state)
{
	static const struct {
		uint64_t number;
		unsigned int digits;
		const char *text;
	} cases[] = {{0, 1, "0"}, {42, 6, "000042"}, {UINT64_MAX, 1, "18446744073709551615"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[24];
		char *end = number_write(text, cases[i].number, cases[i].digits);

		*end = '\0';
		assert_string_equal(text, cases[i].text);
	}
}

/* Lines */

static void assert_split(const char *text, const char *const *words)
{
	_cleanup_free_ char *line = strdup(text), *message = NULL;
	Words is;
	size_t n = 0;

	assert_int_equal(words_split(line, &is, &message), 0);
	for (; words[n]; n++) {
		assert_true(n < is.n);
		assert_string_equal(is.words[n], words[n]);
	}
	assert_int_equal(is.n, n);
	assert_null(is.words[n]);
}

static void test_split(_unused_ void **state)
{
	assert_split("", (const char *const[]){NULL});
	assert_split(" \t ", (const char *const[]){NULL});
	assert_split("  set a/1\tlid=5\r\n", (const char *const[]){"set", "a/1", "lid=5", NULL});
	assert_split("set \"a b\" c=\"d e\"f", (const char *const[]){"set", "a b", "c=d ef", NULL});
	assert_split("a \"\" b", (const char *const[]){"a", "", "b", NULL});
	assert_split("\"a\"\"b\"", (const char *const[]){"ab", NULL});
}

static void test_no_split(_unused_ void **state)
{
	char line[2 * SCENARIO_WORDS_MAX + 3], open[] = "a \"b c";
	_cleanup_free_ char *message = NULL, *other = NULL;
	Words words;

	for (size_t i = 0; i < sizeof(line); i++)
		line[i] = i % 2 ? ' ' : 'a';
	line[2 * SCENARIO_WORDS_MAX] = '\0';
	assert_int_equal(words_split(line, &words, &message), 0);
	assert_int_equal(words.n, SCENARIO_WORDS_MAX);
	for (size_t i = 0; i < sizeof(line); i++)
		line[i] = i % 2 ? ' ' : 'a';
	line[2 * SCENARIO_WORDS_MAX + 1] = '\0';
	assert_int_equal(words_split(line, &words, &message), -EINVAL);
	assert_string_equal(message, "too many words, expected at most 256");
	assert_int_equal(words_split(open, &words, &other), -EINVAL);
	assert_non_null(strstr(other, "a quotation mark is not closed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_written_otherwise),
		cmocka_unit_test(test_no_words), cmocka_unit_test(test_rest),
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_split),
		cmocka_unit_test(test_no_split),
	};

	return cmocka_run_group_tests_name("word", tests, NULL, NULL);
}
