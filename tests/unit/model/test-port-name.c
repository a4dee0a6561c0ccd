/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which text can be the name of a port, and how it is split. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "port-name.h"

static void test_split(void **state)
{
	static const struct {
		const char *name, *device; /* NULL: without a number */
		uint32_t number;
	} cases[] = {
		{"mlx5_0/1", "mlx5_0", 1},
		{"mlx5_0/1024", "mlx5_0", 1024},
		{"a/b/3", "a/b", 3}, /* the last slash counts */
		{"sw0/0", "sw0", 0},
		{"mlx5_0", NULL, PORT_NUMBER_NONE},
		{"0002:c903:0000:0001", NULL, PORT_NUMBER_NONE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AttrText device = "";
		uint32_t number = 99;

		assert_int_equal(port_name_split(cases[i].name, device, &number), 0);
		assert_int_equal(number, cases[i].number);
		assert_string_equal(device, cases[i].device ? cases[i].device : "");
		assert_true(port_name_is_valid(cases[i].name));
	}
}

static void test_no_names(void **state)
{
	static const char *const bad[] = {
		"",
		"mlx5_0/",
		"mlx5_0/1025",
		"mlx5_0/x",
		"mlx5_0/1 ",
		"mlx5_0/ 1",
		"mlx5_0/+1",
		"mlx5_0/-1",
		/* one port has one name */
		"mlx5_0/0x1",
		"mlx5_0/0X1",
		"mlx5_0/01",
		"mlx5_0/00",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AttrText device = "as it was";
		uint32_t number = 99;

		if (port_name_split(bad[i], device, &number) != -EINVAL ||
		    port_name_is_valid(bad[i]))
			fail_msg("\"%s\" is taken", bad[i]);
		assert_string_equal(device, "as it was");
		assert_int_equal(number, 99);
	}
}

/* The name of a device has 63 bytes at most. */
static void test_length(void **state)
{
	char name[80];
	AttrText device;
	uint32_t number;

	(void)state;
	memset(name, 'a', sizeof(name));
	strcpy(name + 63, "/1024");
	assert_int_equal(port_name_split(name, device, &number), 0);
	assert_int_equal(strlen(device), 63);
	strcpy(name + 63, "a/1");
	assert_int_equal(port_name_split(name, device, &number), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[PORT_NAME_MAX] = '\0';
	assert_false(port_name_is_valid(name));
	name[PORT_NAME_MAX - 1] = '\0';
	assert_true(port_name_is_valid(name));
}

/* The name is repeated in errors and on terminals. */
static void test_control_characters(void **state)
{
	static const char *const bad[] = {
		"mlx5\x1b[2J/1", "eth0\n", "\xc2\x9bmlx5_0/1", "mlx5_\xe2\x80\xae/1", "mlx5_\xff/1",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (port_name_is_valid(bad[i]))
			fail_msg("bad name %zu is taken", i);
	assert_true(port_name_is_valid("m\xc3\xbcller_0/1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_control_characters),
	};

	return cmocka_run_group_tests_name("port-name", tests, NULL, NULL);
}
