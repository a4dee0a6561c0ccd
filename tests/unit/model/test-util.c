/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text: numbers, what is no text to show, the instances of units, lengths of time, and files. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <sys/wait.h>

#include "util.h"

static void test_instance(void **state)
{
	static const struct {
		const char *instance, *port; /* NULL: none */
	} cases[] = {
		{"mlx5_0-1", "mlx5_0/1"},
		{"mlx5_0", "mlx5_0"},
		{"ib0", "ib0"},
		{"my-device-12", "my-device/12"},
		{"br-lan", "br-lan"},
		{"a-1b", "a-1b"},
		{"a-", "a-"},
		{"-1", "-1"}, /* of no device */
		{"a-1-", "a-1-"},
		/* what systemd-escape makes of these names */
		{"br\\x2dlan", "br-lan"},
		{"eth\\x2d1", "eth-1"},
		{"my\\x2ddevice-1", "my-device/1"},
		{"eth0.5", "eth0.5"},
		{"a\\x5Cb", "a\\b"},
		/* a '-' that was escaped is one, whatever follows it */
		{"a-b\\x2d1", "a-b-1"},
		{"", NULL},
		{"a\\", NULL},
		{"a\\x", NULL},
		{"a\\x2", NULL},
		{"a\\x2g", NULL},
		{"a\\x00b", NULL},
		{"a\\n", NULL},
		{"a\\xx2d", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		int r;

		text_copy(text, sizeof(text), cases[i].instance);
		r = instance_unescape(text);
		if (r != (cases[i].port ? 0 : -EINVAL))
			fail_msg("\"%s\": %d", cases[i].instance, r);
		if (cases[i].port && !streq(text, cases[i].port))
			fail_msg("\"%s\" is \"%s\", not \"%s\"", cases[i].instance, text,
				 cases[i].port);
	}
}

static void test_duration(void **state)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{0, "0.000 s"},
		{999, "0.000 s"},
		{1250000, "1.250 s"},
		{9999999, "9.999 s"},
		{10000000, "10 s"},
		{119999999, "119 s"},
		{120000000, "2 min 0 s"},
		{7199000000, "119 min 59 s"},
		{7200000000, "2 h 0 min"},
		{172800000000, "2 d 0 h"},
		{UINT64_MAX, "213503982 d 8 h"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[DURATION_MAX];

		duration_format(cases[i].usec, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t max, number;
		int r;
	} cases[] = {
		{"0", 9, 0, 0},
		{"007", 9, 7, 0},
		{"0x1F", 31, 31, 0},
		{"0XfF", 255, 255, 0},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, 0},
		{"0xffffffffffffffff", UINT64_MAX, UINT64_MAX, 0},
		{"32", 31, 0, -ERANGE},
		{"18446744073709551616", UINT64_MAX, 0, -ERANGE},
		{"", 9, 0, -EINVAL},
		{"0x", 9, 0, -EINVAL},
		{"0x0x1", 9, 0, -EINVAL},
		{"0xg", 9, 0, -EINVAL},
		{"-1", 9, 0, -EINVAL},
		{"+1", 9, 0, -EINVAL},
		{" 1", 9, 0, -EINVAL},
		{"1 ", 9, 0, -EINVAL},
		{"1a", 99, 0, -EINVAL},
		{"0x-1", 99, 0, -EINVAL},
		/* not a number at all comes before too large a number */
		{"99999999999999999999x", 9, 0, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t number = 0;

		if (text_to_u64(cases[i].text, cases[i].max, &number) != cases[i].r ||
		    number != cases[i].number)
			fail_msg("\"%s\": %llu", cases[i].text, (unsigned long long)number);
	}
}

/* What a terminal or a reader would take for something else than a character becomes '?', and every
 * other character stays. */
static void test_sanitize(void **state)
{
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{"plain ~", "plain ~"},
		{"\x01\x1b[31m\x7f\n", "??[31m??"},
		/* C1: U+0080, U+009B (as ESC [), U+009F, and U+00A0, which is a space */
		{"a\xc2\x80z\xc2\x9b"
		 "31m\xc2\x9f\u00a0",
		 "a??z??31m??\u00a0"},
		/* Each range with the characters before and behind it. U+FFFC and U+E000 to U+F8FF
		 * are seen, as are the Arabic signs of U+0600. */
		{"\u00ac\u00ad\u00ae", "\u00ac??\u00ae"},
		{"\u034e\u034f\u0350", "\u034e??\u0350"},
		{"\u0600\u061b\u061c\u061d", "\u0600\u061b??\u061d"},
		{"\u115e\u115f\u1160\u1161", "\u115e??????\u1161"},
		{"\u17b3\u17b4\u17b5\u17b6", "\u17b3??????\u17b6"},
		{"\u180a\u180b\u180e\u180f\u1810", "\u180a?????????\u1810"},
		{"\u200a\u200b\u200c\u200d\u200f\u2010", "\u200a????????????\u2010"},
		{"\u2027\u2028\u2029\u202a\u202e\u202f", "\u2027????????????\u202f"},
		{"\u205f\u2060\u2064\u2066\u2069\u206f\u2070", "\u205f???????????????\u2070"},
		{"\u3163\u3164\u3165", "\u3163???\u3165"},
		{"\ufdff\ufe00\ufe0f\ufe10", "\ufdff??????\ufe10"},
		{"\ufefe\ufeff\uff00", "\ufefe???\uff00"},
		{"\uff9f\uffa0\uffa1", "\uff9f???\uffa1"},
		{"\uffef\ufff0\ufff9\ufffb\ufffc", "\uffef?????????\ufffc"},
		{"\U0001342f\U00013430\U00013440\U00013441", "\U0001342f????????\U00013441"},
		{"\U0001bc9f\U0001bca0\U0001bca3\U0001bca4", "\U0001bc9f????????\U0001bca4"},
		{"\U0001d172\U0001d173\U0001d17a\U0001d17b", "\U0001d172????????\U0001d17b"},
		{"\U000dffff\U000e0000\U000e0041\U000e007f", "\U000dffff????????????"},
		{"\U000e0100\U000e01ef\U000e0fff\U000e1000", "????????????\U000e1000"},
		{"\ue000\uf8ff", "\ue000\uf8ff"},
		{"h\u00f6st \u4e2d \U0001f600", "h\u00f6st \u4e2d \U0001f600"},
		{"\xc2\x9b\xc2", "???"},
		{"\xc3\xff\xe2\x82\xc0", "?????"}, /* what follows does not go on */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64], again[64];

		text_copy(text, sizeof(text), cases[i].text);
		text_sanitize(text, sizeof(text));
		assert_string_equal(text, cases[i].clean);
		/* it keeps its length, and is clean now */
		assert_int_equal(strlen(text), strlen(cases[i].text));
		memcpy(again, text, sizeof(again));
		text_sanitize(again, sizeof(again));
		assert_memory_equal(again, text, sizeof(again));
	}
}

/* What another process takes for its first two random numbers. It has the same memory. */
static void random_of_child(uint64_t ret[2])
{
	int pipe_fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		uint64_t numbers[2] = {random_u64(), random_u64()};

		_exit(write(pipe_fds[1], numbers, sizeof(numbers)) != sizeof(numbers));
	}
	assert_int_equal(read(pipe_fds[0], ret, 2 * sizeof(*ret)), 2 * sizeof(*ret));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Two processes that begin alike have different sequences: equal ones have a chance of 2^-128. */
static void test_random(void **state)
{
	uint64_t one[2], other[2];

	(void)state;
	random_of_child(one);
	random_of_child(other);
	assert_memory_not_equal(one, other, sizeof(one));
}

/* Writes a file of N bytes, which differ, and reads it: at most MAX bytes. */
static int read_back(size_t n, size_t max, char **ret, size_t *ret_size)
{
	char path[] = "/tmp/test-util.XXXXXX";
	int fd = mkstemp(path), r;
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fputc((int)(i % 251), f);
	assert_int_equal(fclose(f), 0);
	r = text_read_file(path, max, ret, ret_size);
	unlink(path);
	return r;
}

/* The whole file is read, however often the memory for it had to grow, up to the limit. */
static void test_read_file(void **state)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 8189, 8190, 8191, 20000};
	static const size_t limits[] = {20000, 1 << 20};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(limits); k++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			_cleanup_free_ char *text = NULL;
			size_t size = SIZE_MAX;

			assert_int_equal(read_back(sizes[i], limits[k], &text, &size), 0);
			assert_int_equal(size, sizes[i]);
			for (size_t at = 0; at < size; at++)
				assert_int_equal((unsigned char)text[at], at % 251);
			assert_int_equal(text[size], '\0');
		}
	for (size_t i = 1; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_free_ char *text = NULL;
		size_t size = 7;

		assert_int_equal(read_back(sizes[i], sizes[i] - 1, &text, &size), -EFBIG);
		assert_null(text);
		assert_int_equal(size, 7);
	}
}

static void test_trim(_unused_ void **state)
{
	static const struct {
		const char *text, *trimmed;
	} cases[] = {{"", ""},		 {" \t\r\n", ""}, {"a", "a"},
		     {"  a b\t", "a b"}, {"a \r", "a"},	  {"\ta b\v\n", "a b"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[16];

		text_copy(text, sizeof(text), cases[i].text);
		assert_string_equal(text_trim(text), cases[i].trimmed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim),	  cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_sanitize),  cmocka_unit_test(test_instance),
		cmocka_unit_test(test_duration),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_read_file),
	};

	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
