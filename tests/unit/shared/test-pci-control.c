/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the registers mean, and their text. */

#include "pci-control.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "util.h"

static void test_text(_unused_ void **state)
{
	static const char *const wrong[] = {"",
					    "2936 001d 800",
					    "2936 001d 80000",
					    "2936 001d -001",
					    "2936 001d 8G00",
					    "2936  01d 8000",
					    "2936001d  8000",
					    "2936 001d8000 "};
	PciControl c = {0x2936, 0x001d, 0x8000}, read;
	char text[PCI_CONTROL_SIZE];

	pci_control_format(&c, text);
	assert_string_equal(text, "2936 001d 8000\n");
	text[strlen(text) - 1] = '\0';
	assert_true(pci_control_parse(text, &read));
	assert_memory_equal(&c, &read, sizeof(c));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(pci_control_parse(wrong[i], &read));
}

/* As lspci says them of the same registers */
static void test_device(_unused_ void **state)
{
	static const struct {
		uint16_t device;
		bool relaxed;
		uint32_t payload, request;
	} cases[] = {
		{0x2936, true, 256, 512},    {0x5957, true, 512, 4096}, {0x0000, false, 128, 128},
		{0x2820, false, 256, 512},   {0x70e0, false, 0, 0},	{0x60c0, false, 0, 0},
		{0x50a0, false, 4096, 4096},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		PciControl c = {.device = cases[i].device};

		assert_int_equal(pci_control_has_relaxed_ordering(&c), cases[i].relaxed);
		assert_int_equal(pci_control_max_payload(&c), cases[i].payload);
		assert_int_equal(pci_control_max_read_request(&c), cases[i].request);
	}
}

static void test_redirects(_unused_ void **state)
{
	static const struct {
		uint16_t acs;
		bool redirects, with_ats;
	} cases[] = {
		{0x0000, false, false},
		{0x0011, false, false}, /* source validation, upstream forwarding */
		{0x001d, true, true},	/* as Linux sets it */
		{0x0004, true, true},
		{0x0008, true, true},
		{0x0044, true, false}, /* requests, but for translated ones */
		{0x004c, true, true},
		{0x0040, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		PciControl c = {.acs = cases[i].acs};

		assert_int_equal(pci_control_redirects(&c, false), cases[i].redirects);
		assert_int_equal(pci_control_redirects(&c, true), cases[i].with_ats);
	}
	assert_true(pci_control_has_ats(&(PciControl){.ats = 0x8005}));
	assert_false(pci_control_has_ats(&(PciControl){.ats = 0x7fff}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_redirects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
