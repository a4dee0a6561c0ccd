/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The temperatures of a function, from a tree that is made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-hwmon.h"
#include "tree.h"

/* Makes file temp NUMBER _ WHAT of a chip. */
static void put(const Tree *t, const char *chip, unsigned int number, const char *what,
		const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "hwmon/%s/temp%u_%s", chip, number, what);
	tree_put(t, path, text);
}

static PortSnapshot look(const Tree *t)
{
	PortSnapshot s = {.parts = READ_SIGNAL};

	hwmon_supply(t->fd, &s);
	return s;
}

static bool has(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

static bool has_none(const PortSnapshot *s)
{
	return mask_is_empty(&s->supplied);
}

/* As mlx5 has it: two sensors of the board, and that of the module. */
static void put_mlx5(const Tree *t)
{
	put(t, "hwmon3", 1, "label", "asic\n");
	put(t, "hwmon3", 1, "input", "61625\n");
	put(t, "hwmon3", 1, "highest", "83000\n");
	put(t, "hwmon3", 1, "crit", "105000\n");
	put(t, "hwmon3", 2, "label", "board\n");
	put(t, "hwmon3", 2, "input", "70000\n");
	put(t, "hwmon3", 2, "highest", "71000\n");
	put(t, "hwmon3", 2, "crit", "125000\n");
	put(t, "hwmon3", 3, "label", "Module0\n");
	put(t, "hwmon3", 3, "input", "58499\n");
	put(t, "hwmon3", 3, "highest", "60000\n");
	put(t, "hwmon3", 3, "crit", "70000\n");
}

static void test_none(void **state)
{
	const Tree *t = *state;
	PortSnapshot s = look(t);

	assert_true(has_none(&s));
	tree_put(t, "hwmon/hwmon0/name", "mlx5\n");
	tree_put(t, "hwmon/other/temp1_input", "50000\n"); /* no chip */
	s = look(t);
	assert_true(has_none(&s));
	assert_true(mask_is_empty(&s.unanswered));
}

/* Of the sensors of the adapter it is the one that is nearest to its limit, not the hottest. */
static void test_mlx5(void **state)
{
	const Tree *t = *state;
	PortSnapshot s;

	put_mlx5(t);
	s = look(t);
	assert_int_equal(s.values.adapter_temperature, 62);
	assert_int_equal(s.values.adapter_temperature_highest, 83);
	assert_int_equal(s.values.adapter_temperature_critical, 105);
	assert_int_equal(s.values.adapter_temperature_margin, 43);
	assert_int_equal(s.values.module_temperature, 58);
	assert_int_equal(s.values.module_temperature_highest, 60);
	assert_int_equal(s.values.module_temperature_critical, 70);
	assert_int_equal(s.values.module_temperature_margin, 12);

	/* beyond its limit */
	put(t, "hwmon3", 3, "input", "93000\n");
	assert_int_equal(look(t).values.module_temperature_margin, 0);
}

/* The cage is empty, or what is in it has no sensor. */
static void test_no_module(void **state)
{
	const Tree *t = *state;
	PortSnapshot s;

	put_mlx5(t);
	put(t, "hwmon3", 3, "input", "0\n");
	put(t, "hwmon3", 3, "crit", "0\n");
	s = look(t);
	assert_int_equal(s.values.adapter_temperature, 62);
	assert_false(has(&s, PORT_ATTR_module_temperature));
	assert_false(has(&s, PORT_ATTR_module_temperature_highest));
	assert_false(has(&s, PORT_ATTR_module_temperature_margin));

	/* one that names no limit */
	put(t, "hwmon3", 3, "input", "41000\n");
	s = look(t);
	assert_int_equal(s.values.module_temperature, 41);
	assert_false(has(&s, PORT_ATTR_module_temperature_critical));
	assert_false(has(&s, PORT_ATTR_module_temperature_margin));
}

/* One sensor without a label, and a limit that is no critical one. */
static void test_other_driver(void **state)
{
	const Tree *t = *state;
	PortSnapshot s;

	put(t, "hwmon0", 1, "input", "55000\n");
	put(t, "hwmon0", 1, "max", "100000\n");
	s = look(t);
	assert_int_equal(s.values.adapter_temperature, 55);
	assert_int_equal(s.values.adapter_temperature_margin, 45);
	assert_false(has(&s, PORT_ATTR_adapter_temperature_highest));
	/* without a limit the hotter one */
	put(t, "hwmon1", 1, "input", "60000\n");
	assert_int_equal(look(t).values.adapter_temperature, 55);
	put(t, "hwmon0", 1, "max", "?\n");
	s = look(t);
	assert_int_equal(s.values.adapter_temperature, 60);
	assert_false(has(&s, PORT_ATTR_adapter_temperature_margin));
}

static void test_bad(void **state)
{
	static const char *const bad[] = {"",	 "hot\n",  "1000001\n", "99999999999999999999\n",
					  "-\n", "61.5\n", "61000 C\n", "-5e3\n"};
	const Tree *t = *state;
	PortSnapshot s;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put(t, "hwmon0", 1, "input", bad[i]);
		put(t, "hwmon0", 1, "crit", "100000\n");
		s = look(t);
		assert_true(has_none(&s));
	}
	/* colder than 0 is 0 */
	put(t, "hwmon0", 1, "input", "-5250\n");
	s = look(t);
	assert_true(has(&s, PORT_ATTR_adapter_temperature));
	assert_int_equal(s.values.adapter_temperature, 0);
	assert_int_equal(s.values.adapter_temperature_margin, 100);
}

/* A driver that cannot ask its firmware is not one without a sensor. */
static void test_failed(void **state)
{
	const Tree *t = *state;
	PortSnapshot s;

	put_mlx5(t);
	tree_put(t, "hwmon/hwmon4/temp1_label", "module9\n");
	tree_put(t, "hwmon/hwmon4/temp1_input/none", ""); /* to read a directory is an error */
	s = look(t);
	assert_int_equal(s.values.module_temperature, 58);
	assert_true(mask_is_empty(&s.unanswered));

	put(t, "hwmon3", 3, "input", "\n");
	s = look(t);
	assert_int_equal(s.values.adapter_temperature, 62);
	assert_false(has(&s, PORT_ATTR_module_temperature));
	for (PortAttr a = PORT_ATTR_module_temperature; a <= PORT_ATTR_module_temperature_margin;
	     a++)
		assert_true(mask_has(&s.unanswered, a));
	assert_false(mask_has(&s.unanswered, PORT_ATTR_adapter_temperature));
	assert_string_equal(port_unavailable(&s, PORT_ATTR_module_temperature)->code,
			    "query-failed");

	/* without a label it is a sensor of the adapter */
	tree_put(t, "hwmon/hwmon4/temp1_label", "asic\n");
	for (unsigned int i = 1; i <= 2; i++)
		put(t, "hwmon3", i, "input", "\n");
	s = look(t);
	for (PortAttr a = PORT_ATTR_adapter_temperature; a <= PORT_ATTR_adapter_temperature_margin;
	     a++)
		assert_true(mask_has(&s.unanswered, a));
	assert_false(mask_has(&s.unanswered, PORT_ATTR_module_temperature));
	assert_true(has_none(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_mlx5, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_no_module, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_other_driver, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_failed, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_bad, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
