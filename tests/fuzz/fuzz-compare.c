/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmactl compare: the file of machines, and then machines that have the same devices and ports,
 * with properties of any type and value, but for some that differ. Each device and port has one
 * place; what is printed has no control characters, JSON is closed, and check takes the
 * expectations that are written.
 */

#include "cli-parts.h"
#include "compare-causes.h"
#include "compare-expect.h"
#include "compare-print.h"
#include "compare-rails.h"
#include "compare-rows.h"
#include "expect.h"
#include "message-object.h"

#define MACHINES_LEAST 4U
#define MACHINES_MOST  6U

static bool is_check(_unused_ const char *name)
{
	return false;
}

/* The first byte says how long the file is. What is wrong with it is said once. */
static void read_machines(Machines *m, FuzzInput *in)
{
	size_t size = input_u8(in);
	FuzzInput text = {in->next, MIN(in->left, size)};
	char path[INPUT_PATH_MAX], name[] = "fuzzN";
	ExitStatus status;

	in->next += text.left;
	in->left -= text.left;
	input_file(&text, path);
	status = machines_read(m, path);
	FUZZ_CHECK(n_complaints == (status != STATUS_OK));
	n_complaints = 0;
	for (size_t i = 0; i < m->n; i++) {
		check_text(m->items[i].name);
		FUZZ_CHECK(m->items[i].name[0] != '-' && !strpbrk(m->items[i].name, " ;"));
		FUZZ_CHECK(machine_is_bus(m->items[i].name) ||
			   !strpbrk(m->items[i].name, "'\"`$&|"));
	}
	for (name[4] = '0'; m->n < MACHINES_LEAST; name[4]++)
		(void)machines_add_argument(m, name);
	for (size_t i = MACHINES_MOST; i < m->n; i++)
		m->items[i].reason = strdup("no answer");
}

static void read_properties(Object *o, FuzzInput *in)
{
	sd_bus_message *m = message_new();

	FUZZ_CHECK(m != NULL);
	message_read_object(m, in, o);
	sd_bus_message_unref(m);
}

static void set_text(Value *v, const char *text)
{
	value_done(v);
	*v = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

/* What every device or port has, with some bits of the input. */
static void set_identity(Object *o, FuzzInput *in)
{
	static const char *const names[] = {"mlx5_0", "mlx5_1", "ib_0", "*"};
	uint8_t bits = input_u8(in);

	if (o->is_port) {
		char device[32];

		snprintf(device, sizeof(device), "/org/rdma/device/%u", bits & 1U);
		set_text(&o->values[PORT_ATTR_device_index], device);
		value_done(&o->values[PORT_ATTR_port_num]);
		o->values[PORT_ATTR_port_num] =
			(Value){.type = VALUE_UNSIGNED, .number = bits >> 1 & 3};
		set_text(&o->values[PORT_ATTR_device_name], names[bits & 1]);
	} else {
		set_text(&o->values[DEVICE_ATTR_name], names[bits & 3]);
		if (bits & 4)
			set_text(&o->values[DEVICE_ATTR_hca_type], bits & 8 ? "MT1" : "MT2");
		if (bits & 16)
			set_text(&o->values[DEVICE_ATTR_pci_address], bits & 32 ? "0:1" : "0:2");
	}
}

static const char *const paths[] = {"/org/rdma/device/0", "/org/rdma/device/0/port/1",
				    "/org/rdma/device/0/port/2", "/org/rdma/device/1",
				    "/org/rdma/device/1/port/1"};

/* Gives each machine the same objects, and changes some of them. */
static void read_objects(Machines *m, FuzzInput *in)
{
	Object *usual[ARRAY_SIZE(paths)];

	for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
		FUZZ_CHECK(object_new(paths[k], &usual[k]) == 0);
		read_properties(usual[k], in);
		set_identity(usual[k], in);
	}
	for (size_t i = 0; i < m->n; i++) {
		uint8_t changes = i < MACHINES_MOST ? input_u8(in) : 0;

		for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
			Object *o = object_copy(usual[k]);

			FUZZ_CHECK(o != NULL);
			if (changes >> k & 1)
				read_properties(o, in);
			if (changes >> k & 1 && input_u8(in) & 1)
				set_identity(o, in);
			if (changes & 0x80 && input_u8(in) & 1)
				o = object_free(o);
			if (o)
				FUZZ_CHECK(object_list_put(&m->items[i].objects, o) == 0);
		}
	}
	for (size_t k = 0; k < ARRAY_SIZE(paths); k++)
		object_free(usual[k]);
}

/* Each object is at one place at most, each device at one, and a cause has none itself. */
static void check_kinds(const Kinds *k, const Differences *d)
{
	for (size_t i = 0; i < k->n; i++)
		for (size_t member = 0; member < k->items[i].n; member++) {
			const ObjectList *l = &k->items[i].members[member]->objects;

			for (size_t o = 0; o < l->n; o++) {
				size_t places = 0;

				for (size_t p = 0; p < k->items[i].n_places; p++)
					places += k->items[i].places[p].objects[member] ==
						  l->items[o];
				FUZZ_CHECK(places <= 1);
			}
		}
	for (size_t i = 0; i < d->n; i++)
		FUZZ_CHECK(d->items[i].cause < d->n &&
			   d->items[d->items[i].cause].cause == d->items[i].cause);
}

static void print(const Machines *m, const Kinds *k, const Differences *d, bool json)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Context c = {.out = open_memstream(&text, &size), .json = json};

	FUZZ_CHECK(c.out != NULL);
	FUZZ_CHECK((json ? compare_print_json : compare_print)(&c, m, k, d) == STATUS_OK);
	FUZZ_CHECK(fclose(c.out) == 0);
	check_lines(text);
	if (json)
		check_json(text);
}

/* What is written is taken. */
static void check_expectations(const Kind *k)
{
	static const IgnoredRows none;
	_cleanup_free_ char *text = NULL;
	Expectations e = {.is_check = is_check};
	char path[INPUT_PATH_MAX];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	FUZZ_CHECK(f != NULL);
	compare_put_expect(f, k, &none);
	FUZZ_CHECK(fclose(f) == 0);
	input_file(&(FuzzInput){(const uint8_t *)text, size}, path);
	FUZZ_CHECK(expect_add(&e, path) == 0);
	expectations_done(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const IgnoredRows none;
	FuzzInput in = {data, size};
	_cleanup_machines_ Machines m = {};
	_cleanup_kinds_ Kinds k = {};
	_cleanup_differences_ Differences d = {};

	n_complaints = 0;
	read_machines(&m, &in);
	read_objects(&m, &in);
	for (size_t i = 0; i < m.n; i++)
		for (size_t o = 0; o < m.items[i].objects.n; o++)
			FUZZ_CHECK(object_normalize(m.items[i].objects.items[o]) == 0);
	FUZZ_CHECK(kinds_find(&m, &k) == STATUS_OK);
	FUZZ_CHECK(differences_find(&k, &none, &d) == STATUS_OK);
	FUZZ_CHECK(rails_find(&k, &none, &d) == STATUS_OK);
	differences_find_causes(&d);
	check_kinds(&k, &d);
	print(&m, &k, &d, false);
	print(&m, &k, &d, true);
	for (size_t i = 0; i < k.n; i++)
		check_expectations(&k.items[i]);
	return 0;
}
