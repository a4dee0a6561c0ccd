/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values as they come from the bus, what is the same of them, and how people read them. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
#include "format.h"

/* Reads the next value of M. */
static Value next(sd_bus_message *m)
{
	Value v = {};

	assert_true(value_read(m, &v) > 0);
	return v;
}

static void assert_number(Value v, uint64_t number)
{
	assert_int_equal(v.type, VALUE_UNSIGNED);
	assert_true(v.number == number);
}

static void test_read(_unused_ void **state)
{
	sd_bus_message *m = message_new();
	Value v = {};

	assert_true(sd_bus_message_append(m, "yqutnixb", 200, 60000, 4000000000, UINT64_MAX, 300,
					  70000, INT64_C(5000000000), 1) >= 0);
	assert_true(sd_bus_message_append(m, "nixdso", -1, -2, INT64_C(-3), 0.5, "a\nb", "/a") >=
		    0);
	assert_true(sd_bus_message_append(m, "as", 2, "x", "y") >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 2, "k", "u", 7, "l", "s", "text") >= 0);
	assert_true(sd_bus_message_append(m, "(us)", 1, "one") >= 0);
	assert_true(sd_bus_message_append(m, "v", "v", "t", UINT64_C(9)) >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 0) >= 0);
	assert_true(sd_bus_message_append(m, "b", 0) >= 0);
	message_seal(m);
	assert_number(next(m), 200);
	assert_number(next(m), 60000);
	assert_number(next(m), 4000000000);
	assert_number(next(m), UINT64_MAX);
	/* a number that is not negative is the same with a sign and without */
	assert_number(next(m), 300);
	assert_number(next(m), 70000);
	assert_number(next(m), 5000000000);
	v = next(m);
	assert_true(v.type == VALUE_BOOL && v.boolean);
	for (int64_t i = -1; i >= -3; i--) {
		v = next(m);
		assert_true(v.type == VALUE_SIGNED && v.integer == i);
	}
	v = next(m);
	assert_true(v.type == VALUE_DOUBLE && v.real == 0.5);
	v = next(m);
	/* what would move on a terminal is not there */
	assert_string_equal(value_text(&v), "a?b");
	value_done(&v);
	assert_int_equal(v.type, VALUE_NONE);
	v = next(m);
	assert_string_equal(value_text(&v), "/a");
	value_done(&v);
	v = next(m);
	assert_true(v.type == VALUE_ARRAY && v.n == 2);
	assert_string_equal(value_text(&v.items[1]), "y");
	assert_string_equal(value_text(&v), "");
	assert_null(value_lookup(&v, "x"));
	value_done(&v);
	v = next(m);
	assert_true(v.type == VALUE_DICT && v.n == 4);
	assert_number(*value_lookup(&v, "k"), 7);
	assert_string_equal(value_text(value_lookup(&v, "l")), "text");
	assert_null(value_lookup(&v, "text"));
	value_done(&v);
	v = next(m);
	assert_true(v.type == VALUE_STRUCT && v.n == 2);
	assert_number(v.items[0], 1);
	assert_string_equal(value_text(&v.items[1]), "one");
	value_done(&v);
	assert_number(next(m), 9);
	v = next(m);
	assert_true(v.type == VALUE_DICT && v.n == 0);
	v = next(m);
	assert_true(v.type == VALUE_BOOL && !v.boolean);
	/* nothing is left */
	assert_int_equal(value_read(m, &v), -EBADMSG);
	sd_bus_message_unref(m);
}

static void add_text(Value *v, const char *text)
{
	Value *item = value_append(v);

	assert_non_null(item);
	*item = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

static void add_number(Value *v, uint64_t number)
{
	Value *item = value_append(v);

	assert_non_null(item);
	*item = (Value){.type = VALUE_UNSIGNED, .number = number};
}

static void assert_joined(AttrType type, Value *v, const char *expected)
{
	assert_int_equal(value_join(type, v), 0);
	assert_string_equal(value_text(v), expected);
	value_done(v);
}

static void test_tail(_unused_ void **state)
{
	Value pair[] = {{.type = VALUE_TEXT, .text = CONST_CAST(char *, "key")},
			{.type = VALUE_UNSIGNED, .number = 7}};
	Value members[] = {{.type = VALUE_TEXT, .text = CONST_CAST(char *, "key")},
			   {.type = VALUE_DICT, .items = pair, .n = 2}};
	Value v = {.type = VALUE_STRUCT, .items = members, .n = 2};

	assert_number(*value_tail(&v, 1, "key"), 7);
	assert_null(value_tail(&v, 1, "other"));
	assert_null(value_tail(&v, 0, "key"));
	/* of an older rdmad it may have fewer members */
	v.n = 1;
	assert_null(value_tail(&v, 1, "key"));
	v = (Value){.type = VALUE_ARRAY, .items = members, .n = 2};
	assert_null(value_tail(&v, 1, "key"));
	assert_null(value_tail(NULL, 1, "key"));
}

static void test_join(_unused_ void **state)
{
	Value v = {.type = VALUE_ARRAY};

	add_number(&v, 3);
	add_text(&v, "of another version");
	add_number(&v, 4);
	assert_joined(ATTR_NUMBERS, &v, "3,4");
	v.type = VALUE_ARRAY;
	add_text(&v, "x");
	add_number(&v, 4);
	add_text(&v, "y");
	assert_joined(ATTR_WORDS, &v, "x,y");
	v.type = VALUE_DICT;
	add_number(&v, 1);
	add_number(&v, 10);
	add_number(&v, 2);
	add_text(&v, "of another version");
	add_number(&v, 3);
	add_number(&v, 30);
	assert_joined(ATTR_PAIRS, &v, "1:10,3:30");
	/* what is no list, or another kind of one, stays as it is */
	v.type = VALUE_ARRAY;
	add_number(&v, 3);
	assert_int_equal(value_join(ATTR_PAIRS, &v), 0);
	assert_int_equal(value_join(ATTR_GIDS, &v), 0);
	assert_true(v.type == VALUE_ARRAY && v.n == 1);
	v.type = VALUE_DICT;
	assert_int_equal(value_join(ATTR_NUMBERS, &v), 0);
	assert_int_equal(v.type, VALUE_DICT);
	value_done(&v);
	v.type = VALUE_ARRAY;
	assert_joined(ATTR_WORDS, &v, "none");
}

static void test_equal(_unused_ void **state)
{
	const Value values[] = {
		{},
		{.type = VALUE_BOOL},
		{.type = VALUE_BOOL, .boolean = true},
		{.type = VALUE_UNSIGNED},
		{.type = VALUE_UNSIGNED, .number = 1},
		{.type = VALUE_SIGNED, .integer = -1},
		{.type = VALUE_SIGNED, .integer = -2},
		{.type = VALUE_DOUBLE},
		{.type = VALUE_DOUBLE, .real = 1},
		{.type = VALUE_TEXT, .text = strdup("a")},
		{.type = VALUE_TEXT, .text = strdup("b")},
		{.type = VALUE_ARRAY},
		{.type = VALUE_STRUCT},
		{.type = VALUE_DICT},
	};
	Value lists[4] = {};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
			_cleanup_value_ Value copy = {};

			assert_int_equal(value_copy(&values[k], &copy), 0);
			assert_int_equal(value_equal(&values[i], &copy), i == k);
		}
	free(values[9].text);
	free(values[10].text);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		lists[i].type = VALUE_ARRAY;
		add_number(&lists[i], i == 2 ? 9 : 1);
		if (i != 1)
			add_text(&lists[i], i == 3 ? "y" : "x");
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		_cleanup_value_ Value copy = {};

		assert_int_equal(value_copy(&lists[0], &copy), 0);
		assert_int_equal(value_equal(&lists[i], &copy), i == 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		value_done(&lists[i]);
}

static void test_members(_unused_ void **state)
{
	_cleanup_value_ Value table = {.type = VALUE_ARRAY};
	Value *entry;

	add_text(&table, "no entry");
	entry = value_append(&table);
	entry->type = VALUE_STRUCT;
	add_number(entry, 7);
	add_text(entry, "eth[0]");
	entry = value_append(&table);
	entry->type = VALUE_STRUCT;
	add_number(entry, 0);
	add_text(entry, "12");
	assert_true(value_has_member(&table, "7"));
	assert_true(value_has_member(&table, "0"));
	assert_true(value_has_member(&table, "12"));
	assert_true(value_has_member(&table, "eth*"));
	assert_false(value_has_member(&table, "eth[0]"));
	assert_false(value_has_member(&table, "8"));
	assert_false(value_has_member(&table, "no entry"));
	assert_false(value_has_member(&table, "x"));
}

static void assert_text(char *is, const char *expected)
{
	if (!streq(is, expected))
		fail_msg("\"%s\", expected \"%s\"", is, expected);
	free(is);
}

static void assert_format(size_t row, uint64_t n, const char *expected)
{
	const Value v = {.type = VALUE_UNSIGNED, .number = n};

	assert_text(format_value(&port_attributes[row], &v), expected);
}

static void test_numbers(_unused_ void **state)
{
	assert_format(PORT_ATTR_rate, 0, "0 bit/s");
	assert_format(PORT_ATTR_rate, 999999, "999999 bit/s");
	assert_format(PORT_ATTR_rate, 1000000, "1 Mb/s");
	assert_format(PORT_ATTR_rate, 999999999, "999.999 Mb/s");
	assert_format(PORT_ATTR_rate, 1000000000, "1 Gb/s");
	assert_format(PORT_ATTR_rate, 56250000000, "56.25 Gb/s");
	assert_format(PORT_ATTR_rate, 2500000000, "2.5 Gb/s");
	assert_format(PORT_ATTR_rate, 10001000000, "10.001 Gb/s");
	assert_format(PORT_ATTR_rate, 10000999999, "10 Gb/s");
	assert_format(PORT_ATTR_subnet_timeout, 999, "999 us");
	assert_format(PORT_ATTR_subnet_timeout, 1000, "1 ms");
	assert_format(PORT_ATTR_subnet_timeout, 1073741, "1.073 s");
	assert_format(PORT_ATTR_subnet_timeout, 999999, "999.999 ms");
	assert_format(PORT_ATTR_subnet_timeout, 1000000, "1 s");
	assert_format(PORT_ATTR_max_msg_sz, 1024, "1024 bytes");
	assert_format(PORT_ATTR_max_msg_sz, 1048575, "1048575 bytes");
	assert_format(PORT_ATTR_max_msg_sz, 1048576, "1048576 bytes (1 MiB)");
	assert_format(PORT_ATTR_max_msg_sz, 1048577, "1048577 bytes");
	assert_format(PORT_ATTR_max_msg_sz, 3145728, "3145728 bytes (3 MiB)");
	assert_format(PORT_ATTR_max_msg_sz, 1073741824, "1073741824 bytes (1 GiB)");
	assert_format(PORT_ATTR_max_msg_sz, 1074790400, "1074790400 bytes (1025 MiB)");
	assert_format(PORT_ATTR_active_width, 1, "1 lane");
	assert_format(PORT_ATTR_active_width, 4, "4 lanes");
	assert_format(PORT_ATTR_gid_tbl_len, 1, "1 entry");
	assert_format(PORT_ATTR_gid_tbl_len, 0, "0 entries");
	assert_format(PORT_ATTR_adapter_temperature, 60, "60 °C");
	assert_format(PORT_ATTR_adapter_temperature_margin, 5, "5 K");
	assert_format(PORT_ATTR_cap_mask, 255, "0xff");
	assert_format(PORT_ATTR_lid, 17, "17");
	assert_format(PORT_ATTR_link_downs, 3, "3");
	assert_format(PORT_ATTR_state_change, 0, "never");
	assert_format(PORT_ATTR_state_change, 86400007000, "1970-01-02 00:00:00.007");
	assert_format(PORT_ATTR_state_change, 1999999, "1970-01-01 00:00:01.999");
}

static void test_others(_unused_ void **state)
{
	const Attribute *reason = &device_attributes[DEVICE_ATTR_events_reason];
	_cleanup_value_ Value list = {.type = VALUE_ARRAY}, dict = {.type = VALUE_DICT};
	_cleanup_value_ Value code = {.type = VALUE_TEXT, .text = strdup("not-read")};
	_cleanup_value_ Value empty = {.type = VALUE_TEXT, .text = strdup("")};
	Value *entry;

	assert_text(format_entry(&(Value){}), "none");
	assert_text(format_entry(&(Value){.type = VALUE_BOOL, .boolean = true}), "yes");
	assert_text(format_entry(&(Value){.type = VALUE_BOOL}), "no");
	assert_text(format_entry(&(Value){.type = VALUE_SIGNED, .integer = -1}), "-1");
	assert_text(format_entry(&(Value){.type = VALUE_DOUBLE, .real = 0.5}), "0.5");
	assert_text(format_entry(&code), "not-read");
	assert_text(format_entry(&empty), "none");
	assert_text(format_value(reason, &code), "not read yet");
	assert_text(format_value(reason, &empty), "none");
	assert_text(format_entry(&list), "none");
	assert_text(format_entry(&dict), "none");
	add_text(&list, "a");
	assert_text(format_entry(&list), "a");
	add_text(&list, "");
	entry = value_append(&list);
	entry->type = VALUE_STRUCT;
	add_number(entry, 3);
	add_text(entry, "");
	add_text(entry, "eth0");
	value_append(entry)->type = VALUE_DICT;
	assert_text(format_entry(&list), "a, none, 3 eth0");
	add_text(&dict, "k");
	add_number(&dict, 1);
	assert_text(format_entry(&dict), "k: 1");
	add_text(&dict, "l");
	add_text(&dict, "x");
	assert_text(format_entry(&dict), "k: 1, l: x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail),	cmocka_unit_test(test_read),
		cmocka_unit_test(test_join),	cmocka_unit_test(test_equal),
		cmocka_unit_test(test_members), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_others),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
