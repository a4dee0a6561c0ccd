/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The numbers of rails. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "decode.h"
#include "rails.h"
#include "test-cache.h"

/* An answer of a device that is on the PCI function ADDRESS; "": on none. */
static DeviceSnapshot at(uint32_t index, const char *address)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, pci_address, address);
	return s;
}

static void take(Cache *c, DeviceSnapshot s)
{
	AttrMask changed;
	Device *d;

	assert_true(apply_device(c, &s, 1000, &d, &changed) >= 0);
}

static void set_neighbor(Port *p, const char *name)
{
	PortSnapshot s = {.parts = READ_NEIGHBOR};
	PortChange change;

	PORT_SUPPLY_TEXT(&s, neighbor, name);
	cache_apply_port(p, &s, 0, 1000, &change);
	port_change_done(&change);
}

/* The first of N ports of a new device. */
static Port *add_at(Cache *c, const char *address, uint32_t n, const char *neighbor)
{
	uint32_t index = (uint32_t)c->n_devices;
	char name[16];
	Device *d;

	snprintf(name, sizeof(name), "d%u", index);
	d = add_device(c, index, name, n, NODE_TYPE_CA);
	take(c, at(index, address));
	for (uint32_t i = 1; i <= n; i++) {
		apply(device_port(d, i), ib_port(ACTIVE), 0);
		set_neighbor(device_port(d, i), neighbor);
	}
	return device_port(d, 1);
}

/* The device of P has a way to an accelerator. */
static void add_way(Port *p, const char *distance)
{
	DeviceSnapshot s =
		at(p->device->now.values.index, TEXT_OF(&p->device->now.values, pci_address));
	AcceleratorEntry e = {.address = "0000:c0:00.0", .hops = 2};

	text_copy(e.distance, sizeof(e.distance), distance);
	s.tables[DEVICE_TABLE_ACCELERATORS] = table_new(&e, 1, sizeof(e));
	mask_set(&s.supplied, DEVICE_ATTR_accelerators, true);
	take(p->device->cache, s);
}

/* The device of P is a function of that at ADDRESS. */
static void make_function(Port *p, const char *address)
{
	DeviceSnapshot s =
		at(p->device->now.values.index, TEXT_OF(&p->device->now.values, pci_address));

	DEVICE_SUPPLY_TEXT(&s, function, "vf");
	DEVICE_SUPPLY_TEXT(&s, physical_function, address);
	take(p->device->cache, s);
}

static unsigned int n_told;

/* A RailTell: what it is told of differs. */
static void on_rail(_unused_ void *userdata, PortChange *c)
{
	n_told++;
	assert_int_equal(c->op, CACHE_CHANGED);
	assert_int_equal(c->cause, CHANGE_JUDGED);
	assert_int_equal(c->when_usec, 5000);
	assert_false(mask_is_empty(&c->changed));
	MASK_FOREACH(a, c->changed)
	assert_true(a == PORT_ATTR_rail || a == PORT_ATTR_rail_source ||
		    a == PORT_ATTR_unavailable);
}

/* P has it, after all were numbered: "0 order", or the code that says why not. */
static void expect_number(const Port *p, const char *expected)
{
	const PortSnapshot *s = &p->now;
	char text[64];

	assert_int_equal(rails_number(p->device->cache, 5000, on_rail, NULL), 0);
	if (mask_has(&s->valid, PORT_ATTR_rail))
		snprintf(text, sizeof(text), "%u %s", s->values.rail,
			 decode_name(ATTR_RAIL_SOURCE, s->values.rail_source));
	else
		snprintf(text, sizeof(text), "%s", port_unavailable(s, PORT_ATTR_rail)->code);
	assert_string_equal(text, expected);
	assert_int_equal(mask_has(&s->valid, PORT_ATTR_rail),
			 mask_has(&s->valid, PORT_ATTR_rail_source));
}

static void test_order(void **state)
{
	Cache *m = *state;
	Port *c = add_at(m, "10000:01:00.0", 1, "leaf1"), *b = add_at(m, "2000:9a:00.0", 1, "");
	Port *a = add_at(m, "0000:18:00.0", 2, "leaf2"), *second = device_port(a->device, 2);
	Port *soft = add_at(m, "", 1, ""), *other = add_at(m, "0000:01:00.0", 1, "");
	Device *silent = add_device(m, 50, "silent", 1, NODE_TYPE_CA);
	PortSnapshot raw = ib_port(ACTIVE);

	PORT_SUPPLY(&raw, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&raw, gid_tbl_len, 0);
	apply(other, raw, 0);
	assert_int_equal(other->now.values.protocol, PROTOCOL_RAW_PACKET);
	set_neighbor(second, "leaf3");
	/* on no PCI function a port has none, whatever the others are */
	assert_string_equal(port_unavailable(&soft->now, PORT_ATTR_rail)->code, "not-applicable");
	assert_string_equal(port_unavailable(&a->now, PORT_ATTR_rail_source)->code, "not-read");
	expect_number(a, "0 order");
	expect_number(second, "1 order");
	expect_number(b, "2 order");
	expect_number(c, "3 order");
	expect_number(soft, "not-applicable");
	expect_number(other, "not-applicable");
	expect_number(device_port(silent, 1), "not-read");
	set_neighbor(b, "leaf10");
	expect_number(c, "0 neighbor");
	expect_number(a, "1 neighbor");
	expect_number(second, "2 neighbor");
	expect_number(b, "3 neighbor");
	/* two at one switch */
	set_neighbor(b, "leaf2");
	expect_number(b, "1 neighbor");
	expect_number(second, "2 neighbor");
	/* an answer leaves the number, and nobody is told what is as before */
	n_told = 0;
	apply(b, ib_port(DOWN), 0);
	expect_number(b, "1 neighbor");
	assert_int_equal(n_told, 0);
}

/* If some ports are near accelerators, only they have rails; a part of one has none, nor has a
 * plane. */
static void test_near(void **state)
{
	Cache *m = *state;
	Port *far = add_at(m, "0000:01:00.0", 1, ""), *near = add_at(m, "0000:02:00.0", 1, "leaf1");
	Port *part = add_at(m, "0000:00:01.0", 1, ""), *plane = add_at(m, "0000:00:00.0", 1, "");
	DeviceSnapshot s = at(3, "0000:00:00.0");

	DEVICE_SUPPLY(&s, dev_type, DEVICE_TYPE_SMI);
	take(m, s);
	expect_number(plane, "not-applicable");
	add_way(far, "PHB");
	expect_number(far, "1 order");
	add_way(part, "LOC");
	expect_number(part, "not-applicable");
	expect_number(far, "0 order");
	add_way(near, "PXB");
	expect_number(far, "not-applicable");
	expect_number(near, "0 neighbor");
}

/* Functions share the cable of their adapter, which may not be here. */
static void test_functions(void **state)
{
	Cache *m = *state;
	Port *vf = add_at(m, "0000:0a:00.2", 1, ""), *lone = add_at(m, "0000:0b:00.2", 1, "");
	Port *sibling = add_at(m, "0000:0b:00.3", 1, ""), *a = add_at(m, "0000:0a:00.0", 1, "");
	Port *b = add_at(m, "0000:0c:00.0", 1, "");

	make_function(vf, "0000:0a:00.0");
	make_function(lone, "0000:0b:00.0");
	make_function(sibling, "0000:0b:00.0");
	expect_number(a, "0 order");
	expect_number(vf, "0 order");
	expect_number(lone, "1 order");
	expect_number(sibling, "1 order");
	expect_number(b, "2 order");
	/* only what is at the other end of a cable counts, not who says it */
	set_neighbor(a, "leaf3");
	set_neighbor(lone, "leaf2");
	set_neighbor(b, "leaf1");
	expect_number(vf, "2 neighbor");
	expect_number(sibling, "1 neighbor");
	expect_number(b, "0 neighbor");
}

/* Which changes the numbers depend on. */
static void test_depend(_unused_ void **state)
{
	static const PortAttr rows[] = {PORT_ATTR_neighbor, PORT_ATTR_protocol};
	PortChange p = {.op = CACHE_ADDED};

	assert_true(rails_depend_on_port(&p));
	p.op = CACHE_CHANGED;
	mask_set(&p.changed, PORT_ATTR_state, true);
	assert_false(rails_depend_on_port(&p));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		p.changed = (AttrMask){};
		mask_set(&p.changed, rows[i], true);
		assert_true(rails_depend_on_port(&p));
	}
}

static void test_depend_on_device(_unused_ void **state)
{
	static const DeviceAttr rows[] = {DEVICE_ATTR_pci_address,	 DEVICE_ATTR_function,
					  DEVICE_ATTR_physical_function, DEVICE_ATTR_dev_type,
					  DEVICE_ATTR_accelerators,	 DEVICE_ATTR_port_count};
	DeviceChange d = {.op = CACHE_ADDED};

	assert_true(rails_depend_on_device(&d));
	d.op = CACHE_REMOVED;
	assert_true(rails_depend_on_device(&d));
	d.op = CACHE_CHANGED;
	mask_set(&d.changed, DEVICE_ATTR_fw_ver, true);
	assert_false(rails_depend_on_device(&d));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		d.changed = (AttrMask){};
		mask_set(&d.changed, rows[i], true);
		assert_true(rails_depend_on_device(&d));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_order),
		TEST(test_near),
		TEST(test_functions),
		cmocka_unit_test(test_depend),
		cmocka_unit_test(test_depend_on_device),
	};

	return cmocka_run_group_tests_name("rail-numbers", tests, NULL, NULL);
}
