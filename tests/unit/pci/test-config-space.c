/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found in configuration spaces, and which places of them are read. */

#include "config-space.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "util.h"

#define SIZE 4096U

typedef struct Config {
	uint32_t dwords[SIZE / 4];
	bool is_read[SIZE / 4];
	unsigned int size; /* so much of it can be read */
	unsigned int n_reads;
} Config;

static bool read_config(void *userdata, unsigned int at, uint32_t *ret)
{
	Config *c = userdata;

	assert_int_equal(at % 4, 0);
	c->n_reads++;
	if (at + 4 > c->size)
		return false;
	c->is_read[at / 4] = true;
	*ret = c->dwords[at / 4];
	return true;
}

static void put(Config *c, unsigned int at, uint32_t value)
{
	c->dwords[at / 4] = value;
}

/* An adapter with power management, MSI-X and PCI Express, and behind the extended capability for
 * errors those for ACS and ATS. */
static void make(Config *c)
{
	*c = (Config){.size = SIZE};
	put(c, 0x00, 0x102115b3);
	put(c, 0x04, 0x00100146);
	put(c, 0x08, 0x02070000);
	put(c, 0x34, 0xffffff40);
	put(c, 0x40, 0x00039c01);
	put(c, 0x9c, 0x803f6011);
	put(c, 0x60, 0x00020010);
	put(c, 0x68, 0xffff5936);
	put(c, 0x100, 0x15020001);
	put(c, 0x150, 0x2001000d);
	put(c, 0x154, 0x001d00ff);
	put(c, 0x200, 0x0001000f);
	put(c, 0x204, 0x80000020);
}

static bool look(Config *c, PciControl *ret)
{
	c->n_reads = 0;
	return config_space_control(read_config, c, ret);
}

static void test_found(_unused_ void **state)
{
	PciControl p;
	Config c;

	make(&c);
	assert_true(look(&c, &p));
	assert_int_equal(p.device, 0x5936);
	assert_int_equal(p.acs, 0x001d);
	assert_int_equal(p.ats, 0x8000);
	/* nothing but the heads of capabilities and the registers */
	for (unsigned int i = 0; i < ARRAY_SIZE(c.is_read); i++)
		assert_int_equal(c.is_read[i], c.dwords[i] != 0 && i != 0x00 / 4 && i != 0x08 / 4);
}

/* To who has no right the kernel shows 64 bytes, and of a conventional bus there are 256. */
static void test_short(_unused_ void **state)
{
	PciControl p;
	Config c;

	make(&c);
	c.size = 64;
	assert_false(look(&c, &p));
	c.size = 256;
	assert_true(look(&c, &p));
	assert_int_equal(p.device, 0x5936);
	assert_int_equal(p.acs, 0);
	c.size = 0x154;
	assert_true(look(&c, &p));
	assert_int_equal(p.acs, 0);
	c.size = 0x68;
	assert_false(look(&c, &p));
}

static void test_none(_unused_ void **state)
{
	PciControl p;
	Config c;

	make(&c);
	put(&c, 0x04, 0x00000146);
	assert_false(look(&c, &p));
	make(&c);
	put(&c, 0x9c, 0x803f0011);
	assert_false(look(&c, &p));
	make(&c);
	put(&c, 0x100, 0);
	assert_true(look(&c, &p));
	assert_int_equal(p.acs, 0);
	/* the function does not answer */
	make(&c);
	memset(c.dwords, 0xff, sizeof(c.dwords));
	assert_false(look(&c, &p));
}

/* Lists of capabilities without an end */
static void test_endless(_unused_ void **state)
{
	PciControl p;
	Config c;

	make(&c);
	put(&c, 0x9c, 0x803f4011);
	assert_false(look(&c, &p));
	assert_true(c.n_reads < 64);
	make(&c);
	put(&c, 0x200, 0x1001000f);
	assert_true(look(&c, &p));
	assert_int_equal(p.acs, 0x001d);
	assert_true(c.n_reads < 2048);
	/* a head in the middle of the first 256 bytes is none */
	make(&c);
	put(&c, 0x150, 0x0401000d);
	assert_true(look(&c, &p));
	assert_false(c.is_read[0x40 / 4 + 1]);
	assert_int_equal(p.ats, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
