/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a PCI address is written, and what is none. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "pci.h"
#include "util.h"

static void test_addresses(_unused_ void **state)
{
	static const char *const cases[][2] = {
		{"0000:3b:00.1", "0000:3b:00.1"},
		{"3b:0.1", "0000:3b:00.1"},
		{"1:2:3.4", "0001:02:03.4"},
		{"FFFF:FF:1F.7", "ffff:ff:1f.7"},
		{"000000012:01:02.3", NULL}, /* 17 letters */
		{"00000012:01:02.3", "0012:01:02.3"},
		{"0:100:0.0", NULL},
		{"0:0:20.0", NULL},
		{"0:0:0.8", NULL},
		{"100:0.0", NULL},
		{"0:20.0", NULL},
		{"0:0.8", NULL},
		{"0:0:0.0.", NULL},
		{"0:0.0:", NULL},
		{"0:0:0", NULL},
		{"0.0", NULL},
		{"", NULL},
		{"+0:0:0.0", NULL},
		{"0000:3b:00.1 ", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[PCI_ADDRESS_SIZE] = "was";
		int r = pci_address_parse(cases[i][0], text);

		if (r != (cases[i][1] ? 0 : -EINVAL))
			fail_msg("%s: %d", cases[i][0], r);
		assert_string_equal(text, cases[i][1] ? cases[i][1] : "was");
	}
}

/* A greater domain may have more digits. */
static void test_order(_unused_ void **state)
{
	assert_int_equal(pci_port_compare("0000:3b:00.0", 1, "0000:3b:00.0", 1), 0);
	assert_true(pci_port_compare("0000:3b:00.0", 1, "0000:3b:00.1", 1) < 0);
	assert_true(pci_port_compare("10000:01:00.0", 1, "2000:9a:00.0", 1) > 0);
	assert_true(pci_port_compare("2000:9a:00.0", 1, "10000:01:00.0", 1) < 0);
	assert_true(pci_port_compare("0000:3b:00.0", 2, "0000:3b:00.0", 1) > 0);
	assert_true(pci_port_compare("0000:3b:00.0", 2, "0000:3b:00.1", 1) < 0);
}

static void test_parts(_unused_ void **state)
{
	assert_string_equal(pci_function("0000:c1:00.1"), ".1");
	assert_string_equal(pci_function(""), "");
	assert_true(pci_function_is_part("vf") && pci_function_is_part("sf"));
	assert_false(pci_function_is_part("pf") || pci_function_is_part(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses),
					   cmocka_unit_test(test_order),
					   cmocka_unit_test(test_parts)};

	return cmocka_run_group_tests_name("pci", tests, NULL, NULL);
}
