/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Cables that are exchanged, and one in the switch of another. */

#include "machine.h"

/* A port of a new device at ADDRESS, whose rail is NUMBER because of NEIGHBOR. */
static Object *add_at(Machine *m, const char *address, const char *neighbor, size_t number)
{
	Object *port = add(m);

	set_text(device_of(m, port), DEVICE_ATTR_pci_address, address);
	set_text(port, PORT_ATTR_neighbor, neighbor);
	set_number(port, PORT_ATTR_rail, number);
	set_text(port, PORT_ATTR_rail_source, "neighbor");
	return port;
}

/* How many of the digits in LEAVES are before LEAF, each counted once. */
static size_t rank(const char *leaves, char leaf)
{
	size_t n = 0;

	for (char c = '0'; c < leaf; c++)
		n += strchr(leaves, c) != NULL;
	return n;
}

/* How often it is said of the ports whose switches are the digits in LEAVES. */
static size_t swapped(Machine *m, const char *leaves)
{
	for (unsigned int i = 0; i < strlen(leaves); i++) {
		char address[] = "0000:a0:00.0", leaf[] = "leaf-0";

		address[6] = (char)('0' + i);
		leaf[5] = leaves[i];
		add_at(m, address, leaf, rank(leaves, leaves[i]));
	}
	return found(m, "rail-swapped");
}

static void test_swapped(_unused_ void **state)
{
	static const struct {
		const char *leaves;
		size_t n;
	} cases[] = {
		{"12345", 0},
		{"12435", 1},
		{"52341", 1},
		{"2143", 0},
		{"1324", 1},
		{"132", 0},
		{"54321", 0},
		{"11111", 0},
		{"12453", 0},
		{"12335", 1},
		/* one is where another should be, or where nobody knows */
		{"12245", 1},
		{"12341", 1},
		{"3234", 1},
		{"12345178", 1},
		{"12344", 0},
		{"1199", 0},
		{"1123", 0},
		{"13579", 0},
		{"122", 0},
		/* from behind */
		{"54331", 1},
		{"54312", 1},
		{"87564321", 1},
		{"4231", 1},
		{"44321", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_machine_ Machine m = {};

		assert_int_equal(swapped(&m, cases[i].leaves), cases[i].n);
	}
}

/* The order is that of PCI, whichever device came first. */
static void test_pci_order(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	add_at(&m, "0000:a1:00.0", "leaf-2", 1);
	add_at(&m, "0000:a0:00.0", "leaf-1", 0);
	add_at(&m, "0000:a2:00.0", "leaf-3", 2);
	add_at(&m, "0000:a3:00.0", "leaf-4", 3);
	assert_int_equal(found(&m, "rail-swapped"), 0);
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
	vf = add_at(&m, "0000:a2:00.1", "", 3);
	set_text(device_of(&m, vf), DEVICE_ATTR_function, "vf");
	set_text(device_of(&m, vf), DEVICE_ATTR_physical_function, "0000:a2:00.0");
	assert_int_equal(found(&m, "rail-swapped"), 1);
	/* numbers in the order of PCI say nothing of cables */
	set_text(vf, PORT_ATTR_rail_source, "order");
	for (size_t i = 0; i < m.objects.n; i++)
		if (m.objects.items[i]->is_port)
			set_text(m.objects.items[i], PORT_ATTR_rail_source, "order");
	assert_int_equal(found(&m, "rail-swapped"), 0);
	for (size_t i = 0; i < m.objects.n; i++)
		if (m.objects.items[i]->is_port)
			set_text(m.objects.items[i], PORT_ATTR_rail_source, "neighbor");
	m.run.names = &name;
	m.run.n_names = 1;
	assert_int_equal(found(&m, "rail-swapped"), 0);
}

/* The one whose number is missing, or comes next, is named. */
static void test_shared(_unused_ void **state)
{
	_cleanup_machine_ Machine last = {};

	assert_int_equal(swapped(&last, "12341"), 1);
	assert_says(&last, 0,
		    "the port is at leaf-1, as d0/1 is, and the other 3 ports are each at one of "
		    "their own: none is at that with the number 5");
	assert_int_equal(expect_add(&last.expect, "Neighbor=leaf-*"), 0);
	assert_int_equal(found(&last, "rail-swapped"), 0);
}

/* Whether the third of four rails is found to be at NAME, and the others at NAMES. */
static size_t is_shared(const char *const names[3], const char *name)
{
	_cleanup_machine_ Machine m = {};

	add_at(&m, "0000:a0:00.0", names[0], 0);
	add_at(&m, "0000:a1:00.0", names[1], 1);
	add_at(&m, "0000:a2:00.0", name, 0);
	add_at(&m, "0000:a3:00.0", names[2], 2);
	return found(&m, "rail-swapped");
}

/* Of the name of a host its number counts, and the domain has to be the same. */
static void test_domain(_unused_ void **state)
{
	static const char *const names[] = {"leaf1.dc2.example", "leaf2.dc2.example",
					    "leaf4.dc2.example"};
	static const char *const others[] = {"leaf1.dc1.example", "leaf2.dc1.example",
					     "leaf4.dc2.example"};
	static const char *const dotted[] = {"sw-7.1", "sw-7.2", "sw-7.4"};
	static const char *const plain[] = {"1", "2", "4"};

	assert_int_equal(is_shared(names, names[0]), 1);
	assert_int_equal(is_shared(others, others[0]), 0);
	assert_int_equal(is_shared(dotted, dotted[0]), 1);
	assert_int_equal(is_shared(plain, plain[0]), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_swapped),	 cmocka_unit_test(test_pci_order),
		cmocka_unit_test(test_sentence), cmocka_unit_test(test_shared),
		cmocka_unit_test(test_domain),
	};

	return cmocka_run_group_tests_name("rails", tests, NULL, NULL);
}
