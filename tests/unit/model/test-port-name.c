/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which text can be the name of a port, and how it is split. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "names.h"
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

static void test_paths(void **state)
{
	static const struct {
		const char *path;
		uint32_t device, port;
	} cases[] = {
		{"/org/rdma/device/0", 0, PORT_NUMBER_NONE},
		{"/org/rdma/device/4294967295", UINT32_MAX, PORT_NUMBER_NONE},
		{"/org/rdma/device/0/port/0", 0, 0},
		{"/org/rdma/device/10/port/1024", 10, 1024},
		{"/org/rdma/device/4294967295/port/4294967294", UINT32_MAX, UINT32_MAX - 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[RDMAD_PATH_MAX];
		uint32_t device, port;

		assert_int_equal(object_path_parse(cases[i].path, &device, &port), 0);
		assert_int_equal(device, cases[i].device);
		assert_int_equal(port, cases[i].port);
		assert_ptr_equal(object_path_put(device, port, path), path);
		assert_string_equal(path, cases[i].path);
	}
}

/* An object has one path: no other text is taken for it. */
static void test_no_paths(void **state)
{
	/* in place of a number */
	static const char *const bad[] = {
		"",
		" 0",
		"+0",
		"-0",
		"00",
		"01",
		"0x0",
		"0 ",
		"a",
		"0a",
		"0/",
		"4294967296",
		"18446744073709551616",
		"4294967295/port",
		"0.",
		"0+",
		"0\n",
		"/0",
	};
	static const char *const other[] = {
		"",
		"/org/rdma",
		"/org/rdma/device",
		"/org/rdma/devices/0",
		"org/rdma/device/0",
		" /org/rdma/device/0",
		"/org/rdma/device/0/1",
		"/org/rdma/device/0/port",
		"/org/rdma/device/0/ports/1",
		"/org/rdma/device/0/port/1/port/1",
		/* this number stands for none */
		"/org/rdma/device/0/port/4294967295",
	};
	static const char *const formats[] = {"/org/rdma/device/%s", "/org/rdma/device/%s/port/1",
					      "/org/rdma/device/0/port/%s"};
	uint32_t device = 7, port = 8;
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
			snprintf(path, sizeof(path), formats[f], bad[i]);
			if (object_path_parse(path, &device, &port) != -EINVAL)
				fail_msg("\"%s\" is taken", path);
		}
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		if (object_path_parse(other[i], &device, &port) != -EINVAL)
			fail_msg("\"%s\" is taken", other[i]);
	assert_int_equal(device, 7);
	assert_int_equal(port, 8);
}

/* What is below a device is of this device. */
static void test_path_of_device(void **state)
{
	uint32_t device = 7;

	(void)state;
	assert_string_equal(object_path_device("/org/rdma/device/3", &device), "");
	assert_int_equal(device, 3);
	assert_string_equal(object_path_device("/org/rdma/device/12/port", &device), "/port");
	assert_int_equal(device, 12);
	assert_null(object_path_device("/org/rdma/device/", &device));
	assert_null(object_path_device("/org/rdma/device/x", &device));
	assert_null(object_path_device("/org/rdma/device/03", &device));
	assert_int_equal(device, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),	       cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_length),	       cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_paths),	       cmocka_unit_test(test_no_paths),
		cmocka_unit_test(test_path_of_device),
	};

	return cmocka_run_group_tests_name("port-name", tests, NULL, NULL);
}
