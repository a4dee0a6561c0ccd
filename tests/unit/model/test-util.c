/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text: the instances of units, and lengths of time. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instance),
		cmocka_unit_test(test_duration),
	};

	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
