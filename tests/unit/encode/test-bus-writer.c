/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values as bytes: their alignment, lengths and limits, as in the D-Bus specification. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-writer.h"

#include <sys/socket.h>

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
		0,  0,	 0,   0,	 /* an empty array is padded too */
		5,  0,	 0,   0,	 /* u */
		1,  0,	 0,   0,	 /* b */
	};
	_cleanup_(bus_writer_done) BusWriter w = {};

	(void)state;
	bus_writer_put_bytes(&w, 1, "\7", 1);
	bus_writer_open(&w, 'a', "{sv}");
	bus_writer_open(&w, 'e', "sv");
	bus_writer_put_text(&w, 's', "A");
	bus_writer_open(&w, 'v', "u");
	bus_writer_put_u32(&w, 9);
	bus_writer_close(&w);
	bus_writer_close(&w);
	bus_writer_open_property(&w, "B", "at");
	bus_writer_open(&w, 'a', "t");
	bus_writer_close(&w);
	bus_writer_close_property(&w);
	bus_writer_close(&w);
	bus_writer_put_u32(&w, 5);
	bus_writer_put_bool(&w, true);
	assert_int_equal(bus_writer_error(&w), 0);
	assert_int_equal(w.size, sizeof(expected));
	assert_memory_equal(w.data, expected, sizeof(expected));
}

/* Where the first element of an array begins, behind a length of four bytes, for every type that
 * D-Bus has. */
static void test_alignment(void **state)
{
	static const char *const at_4[] = {"y", "n", "q", "b", "i", "u",
					   "s", "o", "g", "h", "v", "as"};
	static const char *const at_8[] = {"x", "t", "d", "(u)", "{sv}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at_4) + ARRAY_SIZE(at_8); i++) {
		_cleanup_(bus_writer_done) BusWriter w = {};
		bool four = i < ARRAY_SIZE(at_4);
		const char *type = four ? at_4[i] : at_8[i - ARRAY_SIZE(at_4)];

		bus_writer_open(&w, 'a', type);
		if (w.size != (four ? 4 : 8))
			fail_msg("an array of %s begins at %zu", type, w.size);
		bus_writer_close(&w);
		assert_int_equal(bus_writer_error(&w), 0);
	}
}

/* The same values in a message: sd-bus reads what was written, and an error of sd-bus stays. */
static void test_message(void **state)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	_cleanup_close_ int other_end = -EBADF;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	BusWriter w = {};
	const char *name;
	uint32_t value;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	other_end = pair[1];
	assert_int_equal(sd_bus_new(&bus), 0);
	assert_true(sd_bus_set_fd(bus, pair[0], pair[0]) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	assert_true(sd_bus_message_new_signal(bus, &m, "/a", "a.b", "C") >= 0);
	w.message = m;
	bus_writer_open(&w, 'a', "{sv}");
	bus_writer_open_property(&w, "A", "u");
	bus_writer_put_u32(&w, 9);
	bus_writer_close_property(&w);
	bus_writer_close(&w);
	assert_int_equal(bus_writer_error(&w), 0);
	assert_null(w.data);
	bus_writer_close(&w);
	assert_true(bus_writer_error(&w) < 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_int_equal(sd_bus_message_read(m, "a{sv}", 1, &name, "u", &value), 1);
	assert_string_equal(name, "A");
	assert_int_equal(value, 9);
}

/* An array that becomes too long is an error, and the error stays. */
static void test_too_large(void **state)
{
	_cleanup_(bus_writer_done) BusWriter w = {};
	char *text = malloc((1U << 20) + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 1U << 20);
	text[1U << 20] = '\0';
	bus_writer_open(&w, 'a', "s");
	for (unsigned int i = 0; i < 63; i++)
		bus_writer_put_text(&w, 's', text);
	assert_int_equal(bus_writer_error(&w), 0);
	bus_writer_put_text(&w, 's', text);
	assert_int_equal(bus_writer_error(&w), -E2BIG);
	bus_writer_put_u32(&w, 1);
	bus_writer_open(&w, 'a', "s");
	bus_writer_close(&w);
	bus_writer_close(&w);
	assert_int_equal(bus_writer_error(&w), -E2BIG);
	free(text);
}

static void put_bytes(BusWriter *w, const char *text)
{
	bus_writer_put_bytes(w, 1, text, strlen(text));
}

/* A part becomes shorter, as long, longer than there is room for, and nothing. */
static void test_replace(_unused_ void **state)
{
	static const char *const parts[] = {"x", "4567", "more than what was there", ""};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		_cleanup_(bus_writer_done) BusWriter w = {}, by = {};
		char expected[64];

		put_bytes(&w, "0123abcd89");
		put_bytes(&by, parts[i]);
		bus_writer_replace(&w, 4, 8, &by);
		assert_int_equal(bus_writer_error(&w), 0);
		snprintf(expected, sizeof(expected), "0123%s89", parts[i]);
		assert_int_equal(w.size, strlen(expected));
		assert_memory_equal(w.data, expected, w.size);
		put_bytes(&w, "!");
		assert_int_equal(w.data[w.size - 1], '!');
	}
}

/* An error of what is put in is one of the whole. */
static void test_replace_by_error(_unused_ void **state)
{
	_cleanup_(bus_writer_done) BusWriter w = {}, by = {.error = -E2BIG};

	put_bytes(&w, "0123");
	bus_writer_replace(&w, 1, 2, &by);
	assert_int_equal(bus_writer_error(&w), -E2BIG);
	assert_int_equal(w.size, 4);
}

/* Properties by name, as they are in a{sv}. */
static void test_add(_unused_ void **state)
{
	static const uint8_t expected[] = {
		1, 0, 0, 0, 'A', 0,   1, 's', 0, 0, 0, 0, /* */
		2, 0, 0, 0, 'x', 'y', 0, 0,		  /* to a multiple of 8 */
		0, 0, 0, 0,				  /* */
		1, 0, 0, 0, 'B', 0,   1, 'u', 0, 0, 0, 0, /* */
		9, 0, 0, 0,				  /* */
		1, 0, 0, 0, 'C', 0,   1, 't', 0, 0, 0, 0, /* */
		0, 0, 0, 0, 7,	 0,   0, 0,   0, 0, 0, 0, /* */
		1, 0, 0, 0, 'D', 0,   1, 'b', 0, 0, 0, 0, /* */
		1, 0, 0, 0,
	};
	_cleanup_(bus_writer_done) BusWriter w = {};

	bus_writer_add_text(&w, "A", "xy");
	bus_writer_add_u32(&w, "B", 9);
	bus_writer_add_u64(&w, "C", 7);
	bus_writer_add_bool(&w, "D", true);
	assert_int_equal(bus_writer_error(&w), 0);
	assert_int_equal(w.size, sizeof(expected));
	assert_memory_equal(w.data, expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_message), cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_replace), cmocka_unit_test(test_replace_by_error),
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests_name("bus-writer", tests, NULL, NULL);
}
