/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each row of memory-fields.def: its attribute arrives there and nowhere else, and the manual says
 * where it is. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "memory-fixture.h"
#include "memory-layout.h"

/* The largest number that a field of TYPE can have, less NUMBER: another one for each field of that
 * type. */
#define TEST_VALUE(type, number) ((UINT64_MAX >> (64 - 8 * sizeof(type))) - (number))

typedef struct Row {
	Fixture *f;
	struct rdmad *r;
	Port *p;
} Row;

/* What the record says of a port of which nothing but ATTRIBUTE is known. */
static struct rdmad_port read_only_one(Row *row, PortAttr attribute, uint64_t value)
{
	struct rdmad_port record;
	PortValues *v = &row->p->now.values;
	PortValues before = *v;

	row->p->now.valid = row->p->now.supplied = (AttrMask){};
	mask_set(&row->p->now.valid, attribute, true);
	mask_set(&row->p->now.supplied, attribute, true);
	attr_set_raw(&port_attributes[attribute], v, value);
	shared_memory_put(row->f->memory, row->p, true);
	assert_int_equal(rdmad_read(row->r, fixture_find(row->r, "mlx5_0"), &record), 0);
	*v = before;
	return record;
}

/* The record of a port of which nothing is known: what a row adds is set in it. */
static struct rdmad_port empty_record(const Row *row)
{
	struct rdmad_port record = {.hot.flags = RDMAD_PORT_PRESENT,
				    .rest_generation = row->p->rest_generation,
				    .device_name = "mlx5_0"};
	const PortValues *v = &row->p->now.values;

#define ALWAYS(attribute, member, offset, type) record.member = v->attribute;
#include "memory-fields.def"
	return record;
}

/* EXPECTED and RECORD are the same but for the sequence, of which every write makes another one. */
static void assert_record(const char *name, struct rdmad_port expected, struct rdmad_port record)
{
	record.hot.sequence = 0;
	for (size_t i = 0; i < sizeof(record); i++)
		if (((const char *)&record)[i] != ((const char *)&expected)[i])
			fail_msg("%s: byte %zu of the record is another one", name, i);
}

static void test_each_row(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	Row row = {.f = f, .r = fixture_open(f, 0), .p = p};
	struct rdmad_port expected;
	PortSnapshot answer;
	uint64_t value;

	fixture_put(f, p, fixture_all_fields());
	answer = p->now;
	p->now.values = (PortValues){.device_index = 3, .port_num = 1};
	attr_set_text(&port_attributes[PORT_ATTR_device_name], &p->now.values, "mlx5_0");
	p->now.values.generation = 0x1111111111111111;
	p->now.values.last_query = 0x2222222222222222;
	p->now.values.gid_generation = 0x3333333333333333;
	p->now.values.pkey_generation = 0x44444444;
	p->now.values.sm_generation = 0x55555555;
	p->now.values.fit_since = 0x7777777777777777;
	p->now.values.health = VERDICT_WARNING;
	p->rest_generation = 0x6666;

#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	value = TEST_VALUE(type, number);                                                          \
	expected = empty_record(&row);                                                             \
	expected.member = (type)value;                                                             \
	expected.hot.valid = UINT64_C(1) << RDMAD_FIELD_##NAME;                                    \
	assert_record(#attribute, expected, read_only_one(&row, PORT_ATTR_##attribute, value));
#define TWICE(number, NAME, attribute, offset, type, verbs_offset, verbs_type, convert)            \
	value = TEST_VALUE(type, number);                                                          \
	expected = empty_record(&row);                                                             \
	expected.hot.attribute = (type)value;                                                      \
	expected.verbs.attribute = (verbs_type)value;                                              \
	expected.hot.valid = UINT64_C(1) << RDMAD_FIELD_##NAME;                                    \
	if (RDMAD_FIELD_##NAME == RDMAD_FIELD_MAX_MTU)                                             \
		expected.hot.flags |= RDMAD_PORT_KNOWN;                                            \
	assert_record(#attribute, expected, read_only_one(&row, PORT_ATTR_##attribute, value));
#include "memory-fields.def"
	texts_release(p->now.values.texts);
	p->now = answer; /* the cache knows it by its names */
	rdmad_close(row.r);
}

/* A number that has no room in its field is not there: no part of it is. */
static void test_too_large(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	Row row = {.f = f, .r = fixture_open(f, 0), .p = p};
	struct rdmad_port expected;
	PortSnapshot answer;
	unsigned int n = 0;

	fixture_put(f, p, fixture_all_fields());
	answer = p->now;
	p->now.values = (PortValues){.device_index = 3, .port_num = 1};
	attr_set_text(&port_attributes[PORT_ATTR_device_name], &p->now.values, "mlx5_0");

#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	if (port_attributes[PORT_ATTR_##attribute].size > sizeof(type)) {                          \
		const uint64_t value = TEST_VALUE(type, 0) + 1 + (number);                         \
		expected = empty_record(&row);                                                     \
		if (RDMAD_FIELD_##NAME == RDMAD_FIELD_MAX_MTU)                                     \
			expected.hot.flags |= RDMAD_PORT_KNOWN;                                    \
		assert_record(#attribute, expected,                                                \
			      read_only_one(&row, PORT_ATTR_##attribute, value));                  \
		n++;                                                                               \
	}
#include "memory-fields.def"
	/* this is about all fields with less than 32 bits */
	assert_true(n > 10);
	texts_release(p->now.values.texts);
	p->now = answer;
	rdmad_close(row.r);
}

/* "u32" for "uint32_t"; "char[64]" stays. */
static const char *manual_type(const char *type, char ret[16])
{
	unsigned int bits;

	if (sscanf(type, "uint%u_t", &bits) == 1)
		snprintf(ret, 16, "u%u", bits);
	else
		snprintf(ret, 16, "%s", type);
	return ret;
}

/* The lines of TEXT that begin with PREFIX. */
static unsigned int count_lines(const char *text, const char *prefix)
{
	unsigned int n = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		n += startswith(line, prefix) != NULL;
	}
	return n;
}

/* The list of the fields of a record in librdmad(3) */
static char *read_manual(void)
{
	FILE *file = fopen(TEST_SOURCE_DIR "/docs/man/librdmad.3", "re");
	char *text = calloc(1, 65536), *begin, *end;

	assert_non_null(file);
	assert_non_null(text);
	assert_in_range(fread(text, 1, 65535, file), 1, 65534);
	fclose(file);
	begin = strstr(text, "Then come the records.");
	assert_non_null(begin);
	end = strstr(begin, "\n.El");
	assert_non_null(end);
	*end = '\0';
	memmove(text, begin, (size_t)(end - begin) + 1);
	return text;
}

/* The fields of struct ibv_port_attr are one line of the manual, and reserved ones have none. */
static void test_manual(_unused_ void **state)
{
	_cleanup_free_ char *manual = read_manual();
	char line[64], type_name[16];
	unsigned int n_rows = 1;

#define PLACE(member, offset, type)                                                                \
	if (!startswith(#member, "verbs.") && !startswith(#member, "reserved")) {                  \
		snprintf(line, sizeof(line), ".It %u Ta %s Ta ", offset,                           \
			 manual_type(#type, type_name));                                           \
		if (count_lines(manual, line) != 1)                                                \
			fail_msg("librdmad(3) has no line for " #member ": %s", line);             \
		n_rows++;                                                                          \
	}
#include "memory-fields.def"
	assert_int_equal(count_lines(manual, ".It 64 Ta - Ta Vt struct ibv_port_attr "), 1);
	assert_int_equal(count_lines(manual, ".It "), n_rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_row, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_too_large, fixture_setup, fixture_teardown),
		cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
