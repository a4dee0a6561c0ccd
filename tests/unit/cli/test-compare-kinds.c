/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which machines are of one kind, which of their devices correspond, how they differ, and what
 * comes from what. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare-causes.h"
#include "compare-rows.h"

#define MACHINES_MAX 30

typedef struct Fleet {
	Machine items[MACHINES_MAX];
	size_t n;
	Kinds kinds;
	Differences differences;
} Fleet;

static void fleet_done(Fleet *f)
{
	differences_done(&f->differences);
	kinds_done(&f->kinds);
	for (size_t i = 0; i < f->n; i++)
		object_list_done(&f->items[i].objects);
}
#define _cleanup_fleet_ _cleanup_(fleet_done)

static Value text_value(const char *text)
{
	return (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

static void set_text(Object *o, size_t row, const char *text)
{
	value_done(&o->values[row]);
	o->values[row] = text_value(text);
}

static void set_number(Object *o, size_t row, uint64_t n)
{
	value_done(&o->values[row]);
	o->values[row] = (Value){.type = VALUE_UNSIGNED, .number = n};
}

/* The row has no value, for the reason CODE. */
static void set_reason(Object *o, size_t row, const char *code)
{
	Value *codes = &o->values[o->is_port ? (size_t)PORT_ATTR_unavailable
					     : (size_t)DEVICE_ATTR_unavailable];

	codes->type = VALUE_DICT;
	*value_append(codes) = text_value(o->rows[row].name);
	*value_append(codes) = text_value(code);
}

/* Adds device N with one port to machine M. SLOT may be "". Returns the port. */
static Object *add_device(Machine *m, unsigned int n, const char *name, const char *model,
			  const char *slot)
{
	Object *device, *port;
	char path[64];

	snprintf(path, sizeof(path), "/org/rdma/device/%u", n);
	assert_int_equal(object_new(path, &device), 0);
	set_text(device, DEVICE_ATTR_name, name);
	set_text(device, DEVICE_ATTR_hca_type, model);
	set_text(device, DEVICE_ATTR_fw_ver, "1.0");
	set_number(device, DEVICE_ATTR_max_qp, 64);
	if (*slot)
		set_text(device, DEVICE_ATTR_pci_address, slot);
	assert_int_equal(object_list_put(&m->objects, device), 0);
	snprintf(path, sizeof(path), "/org/rdma/device/%u/port/1", n);
	assert_int_equal(object_new(path, &port), 0);
	set_text(port, PORT_ATTR_device_index, device->path);
	set_text(port, PORT_ATTR_device_name, name);
	set_number(port, PORT_ATTR_port_num, 1);
	set_text(port, PORT_ATTR_protocol, "infiniband");
	set_text(port, PORT_ATTR_state, "active");
	set_number(port, PORT_ATTR_active_mtu, 4096);
	assert_int_equal(object_list_put(&m->objects, port), 0);
	return port;
}

static Object *device_of(Machine *m, const Object *port)
{
	return CONST_CAST(Object *, object_list_device(&m->objects, port));
}

/* Adds a machine whose devices have these models, a letter each. */
static Machine *add_machine(Fleet *f, const char *models)
{
	Machine *m = &f->items[f->n++];

	assert_true(f->n <= MACHINES_MAX);
	for (unsigned int i = 0; models[i]; i++) {
		const char model[] = {models[i], '\0'};
		char name[16], slot[16];

		snprintf(name, sizeof(name), "mlx5_%u", i);
		snprintf(slot, sizeof(slot), "0000:0%u:00.0", i);
		add_device(m, i, name, model, slot);
	}
	return m;
}

static void add_machines(Fleet *f, const char *models, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		add_machine(f, models);
}

static Object *port_of(Fleet *f, size_t machine, unsigned int device)
{
	char path[64];

	snprintf(path, sizeof(path), "/org/rdma/device/%u/port/1", device);
	return object_list_find(&f->items[machine].objects, path);
}

static void find_kinds(Fleet *f)
{
	const Machines machines = {.items = f->items, .n = f->n};

	kinds_done(&f->kinds);
	assert_int_equal(kinds_find(&machines, &f->kinds), STATUS_OK);
}

static void find_differences(Fleet *f)
{
	static const IgnoredRows ignored;

	find_kinds(f);
	differences_done(&f->differences);
	assert_int_equal(differences_find(&f->kinds, &ignored, &f->differences), STATUS_OK);
	differences_find_causes(&f->differences);
}

static void assert_kind(const Fleet *f, size_t i, size_t n, const char *hardware, const char *name)
{
	assert_true(i < f->kinds.n);
	assert_int_equal(f->kinds.items[i].n, n);
	assert_string_equal(f->kinds.items[i].hardware, hardware);
	assert_string_equal(f->kinds.items[i].name, name);
}

static void test_kinds(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};

	add_machine(&f, "BB"); /* it has lost the others, and is the first */
	add_machine(&f, "");
	add_machine(&f, "CC");
	add_machines(&f, "BABB", 3);
	add_machine(&f, "DABB");
	find_kinds(&f);
	assert_int_equal(f.kinds.n, 2);
	/* half of BABB is enough for one machine, and so is nothing at all */
	assert_kind(&f, 0, 6, "1 x A, 3 x B", "1");
	assert_kind(&f, 1, 1, "2 x C", "2");
	for (size_t i = 0; i < 6; i++)
		assert_ptr_equal(f.kinds.items[0].members[i], &f.items[i < 2 ? i : i + 1]);
}

/* Three machines that have half of the devices of 23 others are few beside 24 of them only. */
static void test_few(_unused_ void **state)
{
	static const struct {
		const char *models;
		unsigned int n, others;
		size_t kinds;
	} cases[] = {
		{"AABB", 2, 3, 1},  {"AABB", 3, 4, 2},	{"ABBB", 2, 3, 2}, {"AAAB", 3, 4, 1},
		{"AAB", 3, 4, 2},   {"AAAA", 3, 4, 1},	{"AA", 2, 3, 1},   {"A", 2, 3, 2},
		{"AABB", 3, 23, 2}, {"AABB", 3, 24, 1}, {"AAB", 2, 3, 1},  {"AAAAC", 4, 5, 1},
		{"AAACC", 4, 5, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_fleet_ Fleet f = {};

		add_machines(&f, cases[i].models, cases[i].n);
		add_machines(&f, "AAAA", cases[i].others);
		find_kinds(&f);
		if (f.kinds.n != cases[i].kinds)
			fail_msg("%u of %s beside %u: %zu kinds", cases[i].n, cases[i].models,
				 cases[i].others, f.kinds.n);
		assert_string_equal(f.kinds.items[0].hardware, "4 x A");
	}
}

/* Four of one model are not four models. */
static void test_doubles(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};

	add_machines(&f, "AAAA", 3);
	add_machines(&f, "ABCD", 4);
	find_kinds(&f);
	assert_int_equal(f.kinds.n, 2);
}

/* A label decides alone. Who has not answered is of no kind. */
static void test_labels(_unused_ void **state)
{
	static char rack[] = "rack", other[] = "other", why[] = "no answer";
	_cleanup_fleet_ Fleet f = {};

	add_machine(&f, "A")->label = rack;
	add_machine(&f, "A")->label = other;
	add_machine(&f, "CCC")->label = rack;
	add_machine(&f, "A");
	add_machine(&f, "A")->reason = why;
	find_kinds(&f);
	assert_int_equal(f.kinds.n, 3);
	assert_kind(&f, 0, 2, "1 x A", "rack");
	assert_kind(&f, 1, 1, "1 x A", "other");
	assert_kind(&f, 2, 1, "1 x A", "3");
}

/* Where the devices of the machine with other names are found: by model and slot, by model, and at
 * last by slot. */
static void test_places(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	const Kind *k;
	Machine *m;

	add_machines(&f, "AAB", 3);
	m = add_machine(&f, "");
	add_device(m, 7, "ibs7", "B", "0000:09:00.0"); /* the only one with the model */
	add_device(m, 8, "ibs8", "A", "0000:01:00.0"); /* the same slot */
	add_device(m, 9, "ibs9", "A", "0000:09:00.1");
	add_device(m, 5, "mlx5_9", "C", "0000:05:00.0"); /* nobody has one */
	find_kinds(&f);
	assert_int_equal(f.kinds.n, 1);
	k = &f.kinds.items[0];
	assert_int_equal(k->n_places, 8);
	for (size_t i = 0; i < 8; i++) {
		static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_9"};
		static const char *const last[] = {"ibs9", "ibs8", "ibs7", "mlx5_9"};
		const Place *p = &k->places[i];
		char name[96];

		assert_int_equal(p->is_port, i % 2);
		assert_int_equal(p->device, i - i % 2);
		assert_int_equal(p->n, i < 6 ? 4 : 1);
		assert_true(place_is_common(k, p) == (i < 6));
		snprintf(name, sizeof(name), "%s%s", names[i / 2], i % 2 ? "/1" : "");
		assert_string_equal(p->name, name);
		snprintf(name, sizeof(name), "%s", last[i / 2]);
		assert_string_equal(object_text(k->places[i - i % 2].objects[3], DEVICE_ATTR_name),
				    name);
	}
}

/* A device with another name is compared with those of usual machines, not with that of the first
 * machine, which is of another model, nor with one that only one machine has. */
static void test_usual_place(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	const Kind *k;
	Machine *m;

	add_machines(&f, "DAB", 1);
	add_machines(&f, "AAB", 3);
	add_device(add_machine(&f, "AAB"), 9, "mlx5_9", "A", "0000:09:00.0");
	m = add_machine(&f, "");
	add_device(m, 0, "ibs0", "A", "0000:00:00.0");
	add_device(m, 1, "mlx5_1", "A", "0000:01:00.0");
	add_device(m, 2, "mlx5_2", "B", "0000:02:00.0");
	find_kinds(&f);
	assert_int_equal(f.kinds.n, 1);
	k = &f.kinds.items[0];
	assert_int_equal(k->n_places, 8);
	assert_string_equal(k->places[0].name, "mlx5_0");
	assert_int_equal(k->places[0].n, 6);
	assert_string_equal(k->places[6].name, "mlx5_9");
	assert_int_equal(k->places[6].n, 1);
}

/* The names and the values that most have, whoever comes first. */
static void test_most(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	const Difference *d;

	for (unsigned int i = 0; i < 2; i++)
		add_device(add_machine(&f, ""), 0, "ibs0", "A", "");
	add_machines(&f, "A", 3);
	set_number(port_of(&f, 0, 0), PORT_ATTR_active_mtu, 1024);
	set_number(port_of(&f, 1, 0), PORT_ATTR_active_mtu, 2048);
	find_differences(&f);
	assert_string_equal(f.kinds.items[0].places[0].name, "mlx5_0");
	d = f.differences.items;
	for (size_t i = 0; i < f.differences.n; i++)
		if (d[i].row == &port_attributes[PORT_ATTR_active_mtu]) {
			assert_int_equal(d[i].type, DIFFERENCE_VALUE);
			assert_true(d[i].member < 2);
			assert_int_equal(d[i].agree, 3);
		}
}

/* Two machines with the same causes: each has its own. */
static void test_two_machines(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};

	add_machines(&f, "A", 5);
	for (size_t i = 1; i < 3; i++) {
		Object *device = device_of(&f.items[i], port_of(&f, i, 0));

		set_text(device, DEVICE_ATTR_fw_ver, "2.0");
		set_number(device, DEVICE_ATTR_max_qp, 32);
	}
	find_differences(&f);
	assert_int_equal(f.differences.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(f.differences.items[i].member, 1 + i / 2);
		assert_int_equal(f.differences.items[i].cause, i - i % 2);
	}
}

/* What names one thing, counts or is not for everybody is not compared. */
static void test_rows(_unused_ void **state)
{
	static const PortAttr yes[] = {PORT_ATTR_state, PORT_ATTR_stale, PORT_ATTR_gids,
				       PORT_ATTR_pkeys, PORT_ATTR_active_mtu};
	static const PortAttr no[] = {PORT_ATTR_active_speed, PORT_ATTR_unavailable,
				      PORT_ATTR_lid,	      PORT_ATTR_port_num,
				      PORT_ATTR_generation,   PORT_ATTR_state_change};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(row_is_compared(&port_attributes[yes[i]]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(row_is_compared(&port_attributes[no[i]]));
}

/* A plane of a device is no device to compare; without a model the driver counts. */
static void test_models(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	Object *device;

	add_machines(&f, "A", 1);
	set_text(device_of(&f.items[0], port_of(&f, 0, 0)), DEVICE_ATTR_dev_type, "smi");
	find_kinds(&f);
	assert_kind(&f, 0, 1, "no devices", "1");
	add_machines(&f, "A", 1);
	device = device_of(&f.items[1], port_of(&f, 1, 0));
	set_text(device, DEVICE_ATTR_hca_type, "");
	find_kinds(&f);
	assert_kind(&f, 1, 1, "1 x unknown", "2");
	set_text(device, DEVICE_ATTR_dev_protocol, "roce");
	find_kinds(&f);
	assert_kind(&f, 1, 1, "1 x roce", "2");
	set_text(device, DEVICE_ATTR_driver, "hns");
	find_kinds(&f);
	assert_kind(&f, 1, 1, "1 x hns", "2");
}

/* Difference I is of this type, about ROW, and AGREE of ALL are otherwise. */
static const Difference *assert_difference(const Fleet *f, size_t i, DifferenceType type,
					   size_t member, const Attribute *row, size_t agree,
					   size_t all)
{
	const Difference *d = &f->differences.items[i];

	assert_true(i < f->differences.n);
	assert_int_equal(d->type, type);
	assert_true(d->member == member);
	assert_ptr_equal(d->row, row);
	assert_int_equal(d->agree, agree);
	assert_int_equal(d->all, all);
	return d;
}

static void test_values(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	const Attribute *mtu = &port_attributes[PORT_ATTR_active_mtu];
	const Difference *d;

	add_machines(&f, "A", 5);
	find_differences(&f);
	assert_int_equal(f.differences.n, 0);
	set_number(port_of(&f, 1, 0), PORT_ATTR_active_mtu, 1024);
	set_number(port_of(&f, 4, 0), PORT_ATTR_active_mtu, 2048);
	find_differences(&f);
	assert_int_equal(f.differences.n, 2);
	d = assert_difference(&f, 0, DIFFERENCE_VALUE, 1, mtu, 3, 5);
	assert_ptr_equal(d->object, port_of(&f, 1, 0));
	assert_int_equal(object_number(d->usual, PORT_ATTR_active_mtu), 4096);
	assert_false(d->is_absent);
	assert_int_equal(d->cause, 0);
	assert_difference(&f, 1, DIFFERENCE_VALUE, 4, mtu, 3, 5);
	/* two values that two of five have, each */
	set_number(port_of(&f, 0, 0), PORT_ATTR_active_mtu, 1024);
	find_differences(&f);
	assert_int_equal(f.differences.n, 1);
	d = &f.differences.items[0];
	assert_int_equal(d->type, DIFFERENCE_UNDECIDED);
	assert_true(d->member == NO_MEMBER);
	assert_ptr_equal(d->row, mtu);
	assert_int_equal(d->all, 5);
	assert_null(d->usual);
	assert_false(d->is_absent);
}

/* A machine on which the property has no value now, and one that does not have it at all. */
static void test_absent(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	const Attribute *mtu = &port_attributes[PORT_ATTR_active_mtu];

	add_machines(&f, "A", 4);
	set_reason(port_of(&f, 2, 0), PORT_ATTR_active_mtu, "link-down");
	value_done(&port_of(&f, 3, 0)->values[PORT_ATTR_active_mtu]);
	find_differences(&f);
	assert_int_equal(f.differences.n, 1);
	assert_true(assert_difference(&f, 0, DIFFERENCE_VALUE, 2, mtu, 2, 3)->is_absent);
	/* of what no more than half have, nothing is said */
	value_done(&port_of(&f, 0, 0)->values[PORT_ATTR_active_mtu]);
	find_differences(&f);
	assert_int_equal(f.differences.n, 0);
}

static void test_presence(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};

	add_machines(&f, "AAA", 2);
	add_machine(&f, "AA");
	find_differences(&f);
	assert_int_equal(f.differences.n, 2);
	assert_null(assert_difference(&f, 0, DIFFERENCE_MISSING, 2, NULL, 2, 3)->object);
	/* the port has gone with its device */
	assert_difference(&f, 1, DIFFERENCE_MISSING, 2, NULL, 2, 3);
	assert_int_equal(f.differences.items[0].cause, 0);
	assert_int_equal(f.differences.items[1].cause, 0);
	add_machine(&f, "AA");
	find_differences(&f);
	assert_int_equal(f.differences.n, 2);
	assert_difference(&f, 0, DIFFERENCE_UNDECIDED, NO_MEMBER, NULL, 2, 4);
	add_machine(&f, "AA");
	find_differences(&f);
	assert_int_equal(f.differences.n, 4);
	assert_ptr_equal(assert_difference(&f, 0, DIFFERENCE_UNEXPECTED, 0, NULL, 3, 5)->object,
			 device_of(&f.items[0], port_of(&f, 0, 2)));
	assert_difference(&f, 3, DIFFERENCE_UNEXPECTED, 1, NULL, 3, 5);
}

/* The cause of the difference of ROW in the last machine is that of CAUSE; NULL: itself. */
static void assert_cause(Fleet *f, const Attribute *row, const Attribute *cause)
{
	const Difference *of = NULL;

	find_differences(f);
	for (size_t i = 0; i < f->differences.n; i++)
		if (f->differences.items[i].row == row)
			of = &f->differences.items[i];
	assert_non_null(of);
	assert_ptr_equal(f->differences.items[of->cause].row, cause ? cause : row);
}

#define PORT_ROW(a)   &port_attributes[PORT_ATTR_##a]
#define DEVICE_ROW(a) &device_attributes[DEVICE_ATTR_##a]

static void test_causes(_unused_ void **state)
{
	_cleanup_fleet_ Fleet f = {};
	Object *port, *device;

	add_machines(&f, "AA", 3);
	port = port_of(&f, 2, 0);
	device = device_of(&f.items[2], port);
	/* the limits of a device come from its firmware; another value of the port does not */
	set_number(device, DEVICE_ATTR_max_qp, 32);
	assert_cause(&f, DEVICE_ROW(max_qp), NULL);
	set_text(device, DEVICE_ATTR_fw_ver, "2.0");
	assert_cause(&f, DEVICE_ROW(max_qp), DEVICE_ROW(fw_ver));
	assert_cause(&f, DEVICE_ROW(fw_ver), NULL);
	set_number(port, PORT_ATTR_active_mtu, 1024);
	assert_cause(&f, PORT_ROW(active_mtu), NULL);
	/* a link that is down has no MTU */
	set_text(port, PORT_ATTR_state, "down");
	assert_cause(&f, PORT_ROW(active_mtu), NULL);
	set_reason(port, PORT_ATTR_active_mtu, "link-down");
	assert_cause(&f, PORT_ROW(active_mtu), PORT_ROW(state));
	/* another protocol is the cause of all that the port says */
	set_text(port, PORT_ATTR_protocol, "roce");
	assert_cause(&f, PORT_ROW(state), PORT_ROW(protocol));
	assert_cause(&f, PORT_ROW(active_mtu), PORT_ROW(protocol));
	assert_cause(&f, DEVICE_ROW(fw_ver), NULL);
	/* another adapter of all on it, and of nothing on the other one */
	set_text(device, DEVICE_ATTR_hca_type, "B");
	set_number(port_of(&f, 2, 1), PORT_ATTR_port_num, 1);
	set_text(port_of(&f, 2, 1), PORT_ATTR_link_layer, "Ethernet");
	for (size_t i = 0; i < 2; i++)
		set_text(port_of(&f, i, 1), PORT_ATTR_link_layer, "InfiniBand");
	assert_cause(&f, PORT_ROW(protocol), DEVICE_ROW(hca_type));
	assert_cause(&f, DEVICE_ROW(fw_ver), DEVICE_ROW(hca_type));
	assert_cause(&f, PORT_ROW(link_layer), NULL);
}

/* Lists and tables are compared as sets, and tables by what is no number of the entry. */
static void test_normalize(_unused_ void **state)
{
	static const char *const gids[] = {"RoCE v2", "IB", "RoCE v2"};
	_cleanup_fleet_ Fleet f = {};
	Value *table;
	Object *port;

	add_machine(&f, "A");
	port = port_of(&f, 0, 0);
	table = &port->values[PORT_ATTR_gids];
	table->type = VALUE_ARRAY;
	for (size_t i = 0; i < ARRAY_SIZE(gids); i++) {
		Value *entry = value_append(table);

		entry->type = VALUE_STRUCT;
		*value_append(entry) = (Value){.type = VALUE_UNSIGNED, .number = i};
		*value_append(entry) = text_value("fe80::1");
		*value_append(entry) = text_value(gids[i]);
	}
	assert_int_equal(object_normalize(port), 0);
	assert_int_equal(table->n, 2);
	assert_string_equal(value_text(&table->items[0]), "IB");
	assert_string_equal(value_text(&table->items[1]), "RoCE v2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	    cmocka_unit_test(test_few),
		cmocka_unit_test(test_labels),	    cmocka_unit_test(test_places),
		cmocka_unit_test(test_usual_place), cmocka_unit_test(test_models),
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_absent),
		cmocka_unit_test(test_presence),    cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_most),	    cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_rows),	    cmocka_unit_test(test_causes),
		cmocka_unit_test(test_normalize),
	};

	return cmocka_run_group_tests_name("compare-kinds", tests, NULL, NULL);
}
