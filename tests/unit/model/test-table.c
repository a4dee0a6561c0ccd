/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of the tables: that the rows agree with each other, and what is published of them. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <ctype.h>

#include "counters.h"

/* The size of what a column of that type stores; 0 if it is computed, SIZE if any will do. */
static size_t stored_size(ColumnType type, size_t size)
{
	switch (type) {
	case COLUMN_U32:
	case COLUMN_ERROR:
	case COLUMN_GID_TYPE:
	case COLUMN_HEALTH_STATE:
	case COLUMN_GID_NAMESPACE:
	case COLUMN_VF_POLICY:
	case COLUMN_VERDICT:
	case COLUMN_VF_TRUST:
	case COLUMN_COUNTER_GROUP:
	case COLUMN_USER_KIND:
		return 4;
	case COLUMN_U64:
	case COLUMN_VF_GUID:
		return 8;
	case COLUMN_TEXT:
		return size;
	case COLUMN_STRING:
		return sizeof(char *);
	case COLUMN_GID:
	case COLUMN_IP:
		return 16;
	case COLUMN_GID_ADDRESS:
	case COLUMN_PKEY_MEMBERSHIP:
		return 0;
	}
	return 0;
}

static char kind_signature(const ColumnValue *v)
{
	switch (v->kind) {
	case COLUMN_VALUE_U32:
		return 'u';
	case COLUMN_VALUE_U64:
		return 't';
	case COLUMN_VALUE_TEXT:
		return 's';
	}
	return '\0';
}

/* The name in the tail is that of the member: "vlan_id" is VlanId. */
static void check_tail(const Column *c)
{
	char expected[64];
	size_t n = 0;

	for (const char *p = c->field; *p; p++)
		if (*p != '_')
			expected[n++] = (char)(p == c->field || p[-1] == '_' ? toupper(*p) : *p);
	expected[n] = '\0';
	assert_string_equal(c->tail, expected);
}

/* The type on the bus is that of what is published, even of an entry of zeros. An entry of zeros
 * has an empty tail. */
static void check_published(const TableLayout *l, size_t i, size_t place)
{
	static const uint64_t zeros[64];
	const Column *c = &l->columns[i];
	ColumnValue v = {};

	assert_true(l->entry_size <= sizeof(zeros));
	column_publish(c, zeros, &v);
	assert_int_equal(strlen(c->signature), 1);
	assert_int_equal(c->signature[0], kind_signature(&v));
	if (c->tail[0]) {
		check_tail(c);
		assert_true(column_value_is_empty(&v));
	} else {
		assert_int_equal(c->signature[0], l->signature[strlen("a(") + place]);
	}
}

static void check_layout(const TableLayout *l)
{
	size_t positional = 0;
	char members[TABLE_MEMBERS_MAX];

	assert_true(l->n_columns <= TABLE_COLUMNS_MAX);
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];
		const char *help = column_help(l, i);

		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(c->field, l->columns[k].field);
		assert_true(isupper((unsigned char)*help) || isdigit((unsigned char)*help));
		assert_int_equal(help[strlen(help) - 1], '.');
		/* the arrays have room for the ends of the names */
		assert_int_equal(c->field[sizeof(c->field) - 1], '\0');
		assert_int_equal(c->tail[sizeof(c->tail) - 1], '\0');
		assert_int_equal(c->size, stored_size(c->type, c->size));
		assert_true(c->offset + c->size <= l->entry_size);
		assert_int_equal(c->is_published, *c->signature != '\0');
		if (c->is_published)
			check_published(l, i, positional);
		positional += c->is_published && !c->tail[0];
	}
	if (positional == 0)
		return; /* nothing of it is published */
	assert_int_equal(strlen(l->signature), strlen("a(a{sv})") + positional);
	assert_string_equal(table_members(l, members) + positional, "a{sv}");
}

/* Entries are compared as bytes: between their members is nothing. */
static void check_packed(const TableLayout *l)
{
	size_t end = 0;

	for (size_t i = 0; i < l->n_columns; i++) {
		if (l->columns[i].size == 0)
			continue;
		assert_int_equal(l->columns[i].offset, end);
		end += l->columns[i].size;
	}
	assert_int_equal(end, l->entry_size);
}

static void test_layouts(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (AttrType t = 0; t < _ATTR_TYPE_MAX; t++) {
		const TableLayout *l = table_layout(t);

		assert_int_equal(attr_table_entry_size(t), l ? l->entry_size : 0);
		if (!l)
			continue;
		n++;
		check_layout(l);
		check_packed(l);
	}
	/* a port and a device have the same kind of table for what is wrong with them */
	assert_int_equal(n, (int)_PORT_TABLE_MAX + (int)_DEVICE_TABLE_MAX - 1);
	check_layout(&transition_layout);
}

/* What programs rely on: the type of an entry does not change. A new member is in the tail. */
static void test_contract(void **state)
{
	(void)state;
	assert_string_equal(attr_signature(ATTR_GIDS), "a(ussssa{sv})");
	assert_string_equal(attr_signature(ATTR_PKEYS), "a(uusa{sv})");
	assert_string_equal(attr_signature(ATTR_NETDEVS), "a(usa{sv})");
	assert_string_equal(attr_signature(ATTR_CHARDEVS), "a(ssuua{sv})");
	assert_string_equal(user_table_signature, "a(ssuuua{sv})");
	assert_string_equal(transition_table_signature, "a(ttsssa{sv})");
}

/* Published members of ENTRY, separated by '|'. */
static const char *published(const TableLayout *l, const void *entry)
{
	static char text[512];
	size_t n = 0;

	for (size_t i = 0; i < l->n_columns; i++) {
		const char *separator = n > 0 ? "|" : "";
		ColumnValue v;

		if (!l->columns[i].is_published)
			continue;
		column_publish(&l->columns[i], entry, &v);
		if (l->columns[i].tail[0] && column_value_is_empty(&v))
			continue;
		if (l->columns[i].tail[0]) {
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=", separator,
					      l->columns[i].tail);
			separator = "";
		}
		n += (size_t)(v.kind == COLUMN_VALUE_TEXT
				      ? snprintf(text + n, sizeof(text) - n, "%s%s", separator,
						 v.text)
				      : snprintf(text + n, sizeof(text) - n, "%s%llu", separator,
						 (unsigned long long)(v.kind == COLUMN_VALUE_U32
									      ? v.u32
									      : v.u64)));
		assert_true(n < sizeof(text));
	}
	return text;
}

/* What comes behind the members that are known here is free to follow. */
static void assert_begins(const char *text, const char *begin)
{
	const char *rest = startswith(text, begin);

	if (!rest || (*rest && *rest != '|'))
		fail_msg("\"%s\" does not begin with \"%s\"", text, begin);
}

static void test_published(void **state)
{
	const GidEntry v4 = {.index = 3,
			     .type = GID_TYPE_ROCE_V2,
			     .ifindex = 7,
			     .vlan_id = 20,
			     .gid = {[10] = 0xff, [11] = 0xff, 10, 1, 2, 3},
			     .netdev = "eth0"};
	const GidEntry unknown = {
		.type = 9, .namespace = GID_NAMESPACE_OTHER, .gid = {0xfe, 0x80, [15] = 1}};
	const PkeyEntry limited = {.index = 1, .pkey = 0x7fff};
	const NetdevEntry netdev = {.ifindex = 9, .name = "ib0"};
	const VfEntry vf = {.number = 1,
			    .has_guids = 1,
			    .node_guid = 0x0011223344556677,
			    .policy = 2,
			    .trust = UINT32_MAX};
	const VfEntry ethernet_vf = {
		.number = 2, .policy = 9, .trust = 1, .address = "02:00:00:00:00:01"};
	const ChardevEntry chardev = {
		.class = "mad", .path = "/dev/infiniband/umad0", .major = 231, .port = 2};

	(void)state;
	assert_begins(published(table_layout(ATTR_GIDS), &v4),
		      "3|0000:0000:0000:0000:0000:ffff:0a01:0203|RoCE v2|eth0|10.1.2.3|"
		      "Ifindex=7|VlanId=20");
	assert_begins(published(table_layout(ATTR_GIDS), &unknown),
		      "0|fe80:0000:0000:0000:0000:0000:0000:0001|unknown(9)||fe80::1|"
		      "Namespace=other");
	assert_begins(published(table_layout(ATTR_PKEYS), &limited), "1|32767|limited");
	assert_begins(published(table_layout(ATTR_NETDEVS), &netdev), "9|ib0");
	assert_begins(published(table_layout(ATTR_VFS), &vf),
		      "1|0011:2233:4455:6677|0000:0000:0000:0000|disable|");
	assert_begins(published(table_layout(ATTR_VFS), &ethernet_vf),
		      "2|||unknown(9)|on|Address=02:00:00:00:00:01");
	assert_begins(published(table_layout(ATTR_CHARDEVS), &chardev),
		      "mad|/dev/infiniband/umad0|231|0|Port=2");
}

/* The indexes of the entries of T that OTHER does not have, as text. */
static void assert_own(const Table *t, const Table *other, const char *expected)
{
	char text[64] = "";
	const PkeyEntry *e;
	TableCursor c = {};

	while ((e = table_next_own(t, other, &c)))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", e->index);
	assert_string_equal(text, expected);
}

static void test_own(_unused_ void **state)
{
	static const PkeyEntry was[] = {{0, 7}, {2, 8}, {3, 9}, {5, 7}};
	static const PkeyEntry is[] = {{0, 7}, {1, 1}, {3, 6}, {5, 7}, {9, 9}};
	static const PkeyEntry disorder[] = {{5, 7}, {0, 7}, {0, 7}};
	static const PkeyEntry twice[] = {{0, 7}, {0, 8}};
	_cleanup_(table_free_pointer) Table *a = table_new(was, ARRAY_SIZE(was), sizeof(*was));
	_cleanup_(table_free_pointer) Table *b = table_new(is, ARRAY_SIZE(is), sizeof(*is));
	_cleanup_(table_free_pointer) Table *c =
		table_new(disorder, ARRAY_SIZE(disorder), sizeof(*disorder));
	_cleanup_(table_free_pointer) Table *d = table_new(twice, 2, sizeof(*twice));
	_cleanup_(table_free_pointer) Table *e = table_new(twice + 1, 1, sizeof(*twice));

	assert_own(a, b, "2 3 ");
	assert_own(b, a, "1 3 9 ");
	assert_own(a, a, "");
	assert_own(a, NULL, "0 2 3 5 ");
	assert_own(NULL, a, "");
	/* as many entries are left out here as there */
	assert_own(a, c, "0 2 3 ");
	assert_own(c, a, "0 0 ");
	assert_own(d, e, "0 0 ");
	assert_own(e, d, "0 ");
}

static void test_policies(_unused_ void **state)
{
	static const char *const names[] = {"auto", "enable", "disable"};
	uint32_t policy = 7;
	char text[24];

	assert_int_equal(vf_policy_parse("", &policy), -EINVAL);
	assert_int_equal(vf_policy_parse("off", &policy), -EINVAL);
	assert_int_equal(policy, 7);
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(vf_policy_parse(names[i], &policy), 0);
		assert_int_equal(policy, i);
		assert_string_equal(vf_policy_name(i, text), names[i]);
	}
}

/* Who holds a table has it until he frees it, whoever else does. */
static void test_hold(_unused_ void **state)
{
	static const PkeyEntry entry = {0, 7};
	Table *t = table_new(&entry, 1, sizeof(entry));
	Table *held = table_hold(t);

	assert_ptr_equal(held, t);
	assert_null(table_hold(NULL));
	assert_null(table_free(t));
	assert_memory_equal(held->entries, &entry, sizeof(entry));
	table_free(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),	  cmocka_unit_test(test_contract),
		cmocka_unit_test(test_published), cmocka_unit_test(test_own),
		cmocka_unit_test(test_policies),  cmocka_unit_test(test_hold),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
