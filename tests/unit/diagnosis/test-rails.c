/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The numbers of rails, and cables that are exchanged. */

#include "machine.h"
#include "rail-numbers.h"

/* A port of a new device at ADDRESS; NEIGHBOR: "" if nobody knows it. */
static Object *add_at(Machine *m, const char *address, const char *neighbor)
{
	Object *port = add(m);

	set_text(device_of(m, port), DEVICE_ATTR_pci_address, address);
	if (*neighbor)
		set_text(port, PORT_ATTR_neighbor, neighbor);
	return port;
}

/* The device has a way to an accelerator. */
static void add_way(Object *device, const char *distance)
{
	Value *all = &device->values[DEVICE_ATTR_accelerators], *entry;

	all->type = VALUE_ARRAY;
	entry = append(all);
	entry->type = VALUE_STRUCT;
	append_text(entry, "0000:c0:00.0");
	append_text(entry, distance);
	append_number(entry, 2);
	append_text(entry, "10de:2330");
	append(entry)->type = VALUE_DICT;
}

static void expect_number(const Machine *m, const Object *port, const char *expected)
{
	_cleanup_(rail_numbers_done) RailNumbers r = {};
	char text[64] = "none";
	const RailNumber *number;

	assert_int_equal(rail_numbers_find(&m->objects, &r), 0);
	number = rail_number_of(&r, port);
	if (number)
		snprintf(text, sizeof(text), "%zu %s", number->number, rail_numbers_source(&r));
	assert_string_equal(text, expected);
}

static void test_order(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *c = add_at(&m, "10000:01:00.0", "leaf1"), *b = add_at(&m, "2000:9a:00.0", "");
	Object *a = add_at(&m, "0000:18:00.0", "leaf2"), *second = add_second(&m, a);
	Object *soft = add(&m), *other = add_at(&m, "0000:01:00.0", "");

	set_text(other, PORT_ATTR_protocol, "raw-packet");
	set_text(second, PORT_ATTR_neighbor, "leaf3");
	expect_number(&m, a, "0 order");
	expect_number(&m, second, "1 order");
	expect_number(&m, b, "2 order");
	expect_number(&m, c, "3 order");
	expect_number(&m, soft, "none");
	expect_number(&m, other, "none");
	set_text(b, PORT_ATTR_neighbor, "leaf10");
	expect_number(&m, c, "0 neighbor");
	expect_number(&m, a, "1 neighbor");
	expect_number(&m, second, "2 neighbor");
	expect_number(&m, b, "3 neighbor");
	/* two at one switch */
	set_text(b, PORT_ATTR_neighbor, "leaf2");
	expect_number(&m, b, "1 neighbor");
	expect_number(&m, second, "2 neighbor");
}

/* If some ports are near accelerators, only they have rails; a part of one has none. */
static void test_near(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *far = add_at(&m, "0000:01:00.0", ""), *near = add_at(&m, "0000:02:00.0", "leaf1");
	Object *part = add_at(&m, "0000:00:01.0", "");

	add_way(device_of(&m, far), "PHB");
	expect_number(&m, far, "1 order");
	add_way(device_of(&m, part), "LOC");
	expect_number(&m, part, "none");
	expect_number(&m, far, "0 order");
	add_way(device_of(&m, near), "PXB");
	expect_number(&m, far, "none");
	expect_number(&m, near, "0 neighbor");
}

/* Functions share the cable of their adapter, which may not be here. */
static void test_functions(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *vf = add_at(&m, "0000:0a:00.2", ""), *lone = add_at(&m, "0000:0b:00.2", "");
	Object *sibling = add_at(&m, "0000:0b:00.3", ""), *a = add_at(&m, "0000:0a:00.0", "");
	Object *b = add_at(&m, "0000:0c:00.0", "");

	set_text(device_of(&m, a), DEVICE_ATTR_function, "pf");
	set_text(device_of(&m, vf), DEVICE_ATTR_function, "vf");
	set_text(device_of(&m, vf), DEVICE_ATTR_physical_function, "0000:0a:00.0");
	set_text(device_of(&m, lone), DEVICE_ATTR_function, "vf");
	set_text(device_of(&m, lone), DEVICE_ATTR_physical_function, "0000:0b:00.0");
	set_text(device_of(&m, sibling), DEVICE_ATTR_function, "vf");
	set_text(device_of(&m, sibling), DEVICE_ATTR_physical_function, "0000:0b:00.0");
	expect_number(&m, a, "0 order");
	expect_number(&m, vf, "0 order");
	expect_number(&m, lone, "1 order");
	expect_number(&m, sibling, "1 order");
	expect_number(&m, b, "2 order");
	/* only what is at the other end of a cable counts, not who says it */
	set_text(a, PORT_ATTR_neighbor, "leaf3");
	set_text(lone, PORT_ATTR_neighbor, "leaf2");
	set_text(b, PORT_ATTR_neighbor, "leaf1");
	expect_number(&m, vf, "2 neighbor");
	expect_number(&m, sibling, "1 neighbor");
	expect_number(&m, b, "0 neighbor");
}

/* How often it is said of the ports whose switches are the digits in LEAVES. */
static size_t swapped(Machine *m, const char *leaves)
{
	for (unsigned int i = 0; i < strlen(leaves); i++) {
		char address[] = "0000:a0:00.0", leaf[] = "leaf-0";

		address[6] = (char)('0' + i);
		leaf[5] = leaves[i];
		add_at(m, address, leaf);
	}
	return found(m, "rail-swapped");
}

static void test_swapped(_unused_ void **state)
{
	static const struct {
		const char *leaves;
		size_t n;
	} cases[] = {
		{"12345", 0}, {"12435", 1}, {"52341", 1}, {"2143", 0},	{"1324", 1},
		{"132", 0},   {"54321", 0}, {"11111", 0}, {"12453", 0}, {"12335", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_machine_ Machine m = {};

		assert_int_equal(swapped(&m, cases[i].leaves), cases[i].n);
	}
}

static void test_sentence(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	char *name = "d0";
	Object *vf;

	assert_int_equal(swapped(&m, "12435"), 1);
	assert_says(&m, 0,
		    "the port is at leaf-4, and d3/1 at leaf-3: exchanged, they would have the "
		    "order of the other 3 ports");
	/* a function has the cable of its adapter */
	vf = add_at(&m, "0000:a2:00.1", "");
	set_text(device_of(&m, vf), DEVICE_ATTR_function, "vf");
	set_text(device_of(&m, vf), DEVICE_ATTR_physical_function, "0000:a2:00.0");
	assert_int_equal(found(&m, "rail-swapped"), 1);
	m.run.names = &name;
	m.run.n_names = 1;
	assert_int_equal(found(&m, "rail-swapped"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_near),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests_name("rails", tests, NULL, NULL);
}
