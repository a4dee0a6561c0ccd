/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values as bytes: alignment and lengths as the D-Bus specification has them, and where it ends. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-writer.h"

static void test_bytes(void **state)
{
	static const uint8_t expected[] = {
		7,			 /* y */
		0,  0,	 0,		 /* */
		32, 0,	 0,   0,	 /* a{sv}: its length, without the padding behind it */
		1,  0,	 0,   0, 'A', 0, /* s */
		1,  'u', 0,		 /* v */
		0,  0,	 0,		 /* */
		9,  0,	 0,   0,	 /* u */
		1,  0,	 0,   0, 'B', 0, /* the second entry, at a multiple of 8 */
		2,  'a', 't', 0,	 /* v: at */
		0,  0,			 /* */
		0,  0,	 0,   0,	 /* none; behind the length it is aligned all the same */
		5,  0,	 0,   0,	 /* u */
		1,  0,	 0,   0,	 /* b */
	};
	_cleanup_(bus_writer_done) BusWriter w = {};

	(void)state;
	bus_put_u8(&w, 7);
	bus_open(&w, 'a', "{sv}");
	bus_open(&w, 'e', "sv");
	bus_put_text(&w, 's', "A");
	bus_open(&w, 'v', "u");
	bus_put_u32(&w, 9);
	bus_close(&w);
	bus_close(&w);
	bus_open_property(&w, "B", "at");
	bus_open(&w, 'a', "t");
	bus_close(&w);
	bus_close_property(&w);
	bus_close(&w);
	bus_put_u32(&w, 5);
	bus_put_bool(&w, true);
	assert_int_equal(bus_writer_error(&w), 0);
	assert_int_equal(w.size, sizeof(expected));
	assert_memory_equal(w.data, expected, sizeof(expected));
}

/* More than an array may have is an error that stays. */
static void test_too_large(void **state)
{
	_cleanup_(bus_writer_done) BusWriter w = {};
	char *text = malloc((1U << 20) + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 1U << 20);
	text[1U << 20] = '\0';
	bus_open(&w, 'a', "s");
	for (unsigned int i = 0; i < 63; i++)
		bus_put_text(&w, 's', text);
	assert_int_equal(bus_writer_error(&w), 0);
	bus_put_text(&w, 's', text);
	assert_int_equal(bus_writer_error(&w), -E2BIG);
	bus_put_u32(&w, 1);
	bus_open(&w, 'a', "s");
	bus_close(&w);
	bus_close(&w);
	assert_int_equal(bus_writer_error(&w), -E2BIG);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests_name("bus-writer", tests, NULL, NULL);
}
