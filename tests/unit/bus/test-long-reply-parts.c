/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A body written in parts is what is written in one go at its end, byte for byte. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "long-reply-parts.h"

#define DEVICES 9U
/* Only one part is written before that time. */
#define ONE_PART 0U

static const LongReplyRow *const row = &long_reply_rows[LONG_REPLY_GET_MANAGED_OBJECTS];

static Device *apply(Cache *c, uint32_t index, const char *name)
{
	DeviceSnapshot s = {};
	DeviceChange change;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	assert_true(cache_apply_device(c, &s, CHANGE_LIST, 0, &change) != CACHE_UNCHANGED);
	device_snapshot_done(&s);
	device_change_done(&change);
	change.device->published = true;
	return change.device;
}

static int setup(void **state)
{
	Cache *c = calloc(1, sizeof(*c));
	/* each length of the last part, modulo eight */
	static const char names[DEVICES][10] = {"a", "bb",	"ccc",	    "dddd",	"eeeee",
						"f", "ggggggg", "hhhhhhhh", "iiiiiiiii"};

	assert_non_null(c);
	long_reply_kinds_init();
	for (uint32_t i = 0; i < DEVICES; i++)
		apply(c, i, names[i]);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	cache_done(*state);
	free(*state);
	return 0;
}

/* Writes N parts, one at a time; there are more. */
static void write_parts(LongReplyParts *p, const Cache *c, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_false(long_reply_parts_write(p, c, ONE_PART));
	assert_int_equal(p->n, n);
}

static void assert_as_in_one_go(LongReplyParts *p, const Cache *c)
{
	_cleanup_(bus_writer_done) BusWriter w = {};

	assert_int_equal(row->write(&w, NULL, c, NULL), 1);
	assert_int_equal(bus_writer_error(&p->w), 0);
	assert_int_equal(p->w.size, w.size);
	assert_memory_equal(p->w.data, w.data, w.size);
	long_reply_parts_done(p);
}

static void test_unchanged(void **state)
{
	Cache *c = *state;
	LongReplyParts p;

	long_reply_parts_begin(&p, row);
	write_parts(&p, c, DEVICES - 1);
	assert_true(long_reply_parts_write(&p, c, ONE_PART));
	assert_as_in_one_go(&p, c);
}

static void test_until(void **state)
{
	LongReplyParts p;

	long_reply_parts_begin(&p, row);
	assert_true(long_reply_parts_write(&p, *state, UINT64_MAX));
	assert_as_in_one_go(&p, *state);
}

static void test_nothing(_unused_ void **state)
{
	Cache none = {};
	LongReplyParts p;

	long_reply_parts_begin(&p, row);
	assert_true(long_reply_parts_write(&p, &none, ONE_PART));
	assert_as_in_one_go(&p, &none);
	/* and nothing that changes later is of interest */
	long_reply_parts_changed(&p, NULL);
	long_reply_parts_moved(&p);
	assert_null(p.w.data);
}

/* Longer, shorter, and by each number of bytes */
static void test_changed(void **state)
{
	Cache *c = *state;

	for (size_t n = 1; n < 40; n++) {
		LongReplyParts p;

		long_reply_parts_begin(&p, row);
		write_parts(&p, c, DEVICES - 1);
		for (uint32_t i = 0; i < DEVICES; i += 2) {
			char name[64] = {};

			memset(name, 'x', 1 + (n * (i + 1)) % 60);
			long_reply_parts_changed(&p, apply(c, i, name));
		}
		assert_true(long_reply_parts_write(&p, c, ONE_PART));
		assert_as_in_one_go(&p, c);
	}
}

/* More than are written again one by one */
static void test_all_changed(void **state)
{
	Cache *c = *state;
	LongReplyParts p;

	for (uint32_t i = DEVICES; i < 40; i++)
		apply(c, i, "d");
	long_reply_parts_begin(&p, row);
	write_parts(&p, c, 39);
	for (uint32_t i = 0; i < 40; i++)
		long_reply_parts_changed(&p, apply(c, i, "longer than before"));
	assert_true(long_reply_parts_write(&p, c, ONE_PART));
	assert_as_in_one_go(&p, c);
}

/* What is not published leaves no bytes, nor zeros at the end. */
static void test_unpublished(void **state)
{
	Cache *c = *state;

	for (uint32_t i = 0; i < DEVICES; i++) {
		LongReplyParts p;

		long_reply_parts_begin(&p, row);
		write_parts(&p, c, DEVICES - 1);
		c->devices[DEVICES - 1 - i]->published = false;
		long_reply_parts_changed(&p, c->devices[DEVICES - 1 - i]);
		assert_true(long_reply_parts_write(&p, c, ONE_PART));
		assert_as_in_one_go(&p, c);
	}
}

/* Since all begins anew, the rest is written at once. */
static void test_moved(void **state)
{
	Cache *c = *state;
	LongReplyParts p;

	long_reply_parts_begin(&p, row);
	write_parts(&p, c, DEVICES / 2);
	apply(c, DEVICES, "new");
	long_reply_parts_moved(&p);
	assert_true(long_reply_parts_write(&p, c, ONE_PART));
	assert_as_in_one_go(&p, c);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_unchanged), TEST(test_until),	      TEST(test_nothing),
		TEST(test_changed),   TEST(test_all_changed), TEST(test_unpublished),
		TEST(test_moved),
	};

	return cmocka_run_group_tests_name("long-reply-parts", tests, NULL, NULL);
}
