/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "row-text.h"

/* Numbers that are names, none, zero, and the greatest */
static const uint64_t numbers[] = {0,  1,   2,	 3,    4,      5,	   6,
				   9,  16,  31,	 64,   128,    255,	   0x40000000,
				   -1, 300, 999, 4096, 0xffff, 0x2251e848, UINT64_C(1) << 40};

static void assert_row(const Attribute *row, size_t size)
{
	_cleanup_free_ void *values = calloc(1, size), *back = calloc(1, size);
	g_autoptr(GString) text = g_string_new(NULL);
	AttrText written;

	for (size_t i = 0; row->size && i < ARRAY_SIZE(numbers); i++) {
		if (attr_is_text(row->type)) {
			snprintf(written, sizeof(written), "t %ju=%%", (uintmax_t)numbers[i]);
			assert_int_equal(attr_set_text(row, values, written), 0);
		} else
			attr_set_raw(row, values, numbers[i]);
		g_string_truncate(text, 0);
		row_text_put(text, row, values);
		assert_null(strpbrk(text->str, " \"\t\n="));
		if (row_text_parse(row, back, text->str) < 0 || !attr_is_equal(row, values, back))
			fail_msg("%s: %s is not read as it was written", row->field, text->str);
	}
	texts_release(*(Texts **)values);
	texts_release(*(Texts **)back);
}

/* What is written of any row is read as it was, whatever its number is. */
static void test_rows(_unused_ void **state)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		assert_row(&port_attributes[a], sizeof(PortValues));
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		assert_row(&device_attributes[a], sizeof(DeviceValues));
}

static void test_no_rows(_unused_ void **state)
{
	PortValues v = {.lid = 7};
	g_autoptr(GString) text = g_string_new(NULL);

	row_text_put(text, &port_attributes[PORT_ATTR_lid], &v);
	assert_string_equal(text->str, "7");
	assert_int_equal(row_text_parse(&port_attributes[PORT_ATTR_lid], &v, "raw:"), -EINVAL);
	assert_int_equal(row_text_parse(&port_attributes[PORT_ATTR_lid], &v, "-1"), -EINVAL);
	assert_int_equal(row_text_parse(&port_attributes[PORT_ATTR_state], &v, "up"), -EINVAL);
	assert_int_equal(row_text_parse(&port_attributes[PORT_ATTR_gids], &v, "1"), -EINVAL);
	assert_int_equal(v.lid, 7);
}

/* Fills the members of an entry with BYTE; texts end. */
static void fill(const TableLayout *l, uint8_t *entry, uint8_t byte)
{
	memset(entry, 0, l->entry_size);
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];

		if (c->type == COLUMN_TEXT)
			memset(entry + c->offset, byte < 0x80 ? byte : 'x', (size_t)c->size - 1);
		else
			memset(entry + c->offset, byte, c->size);
	}
}

/* What is zero, or empty, is not written. */
static void test_entry_text(_unused_ void **state)
{
	static const struct {
		GidEntry entry;
		const char *text;
	} rows[] = {
		{{}, ""},
		{{.index = 3}, "index=3"},
		{{.type = 2, .ifindex = 4294967295}, "type=2 ifindex=4294967295"},
		{{.index = 1, .netdev = "a b"}, "index=1 netdev=a%20b"},
		{{.gid = {[0] = 0xfe, [1] = 0x80, [15] = 1}},
		 "gid=fe80:0000:0000:0000:0000:0000:0000:0001"},
	};
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		g_string_truncate(text, 0);
		entry_text_put(text, table_layout(ATTR_GIDS), &rows[i].entry);
		assert_string_equal(text->str, rows[i].text);
	}
}

static void assert_entry(const TableLayout *l, const uint8_t *entry)
{
	_cleanup_free_ uint8_t *back = malloc(l->entry_size), *was = malloc(l->entry_size);
	g_autoptr(GString) text = g_string_new(NULL);

	memcpy(was, entry, l->entry_size);
	entry_text_put(text, l, entry);
	assert_memory_equal(was, entry, l->entry_size);
	assert_null(strpbrk(text->str, "\"\t\n"));
	assert_int_equal(entry_text_parse(l, text->str, back), 0);
	assert_memory_equal(entry, back, l->entry_size);
}

static void test_entries(_unused_ void **state)
{
	static const AttrType types[] = {ATTR_GIDS,   ATTR_PKEYS,	 ATTR_NETDEVS,
					 ATTR_VFS,    ATTR_BOND_MEMBERS, ATTR_CHARDEVS,
					 ATTR_HEALTH, ATTR_ALTNAMES,	 ATTR_ADDRESSES};
	static const uint8_t bytes[] = {0, ' ', '%', 'a', '=', 0xff};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const TableLayout *l = table_layout(types[i]);
		_cleanup_free_ uint8_t *entry = malloc(l->entry_size);

		for (size_t k = 0; k < ARRAY_SIZE(bytes); k++) {
			fill(l, entry, bytes[k]);
			assert_entry(l, entry);
		}
	}
}

static void test_no_entries(_unused_ void **state)
{
	static const char *const wrong[] = {"index",
					    "index=",
					    "index=x",
					    "place=1",
					    "index=1 gid",
					    "gid=fe80::1::2",
					    "netdev=a%2",
					    "address=1",
					    "index=4294967296",
					    "netdev=sixteen_letters_"};
	const TableLayout *l = table_layout(ATTR_GIDS);
	GidEntry e = {.index = 7};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (entry_text_parse(l, wrong[i], &e) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
	assert_int_equal(e.index, 7);
	assert_int_equal(entry_text_parse(l, "index=3 type=2 netdev=a%20b", &e), 0);
	assert_int_equal(e.index, 3);
	assert_int_equal(e.type, 2);
	assert_string_equal(e.netdev, "a b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	   cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_entries),	   cmocka_unit_test(test_no_entries),
		cmocka_unit_test(test_entry_text),
	};

	return cmocka_run_group_tests_name("row-text", tests, NULL, NULL);
}
