/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows as properties: what is written of values, lists, tables and what is missing, read as a
 * client of the bus reads it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-property.h"

#include <sys/socket.h>

typedef struct Test {
	sd_bus *bus;
	int other_end;
	sd_bus_message *m; /* what is written */
	BusWriter w;
	Cache cache;
	Device device, hidden, *devices[2];
	Port ports[3], *of_device[3];
} Test;

static void begin(Test *t)
{
	t->m = sd_bus_message_unref(t->m);
	assert_true(sd_bus_message_new_signal(t->bus, &t->m, "/a", "a.b", "C") >= 0);
	t->w = (BusWriter){.message = t->m};
}

/* What was written is a message, which can be read. */
static void end(Test *t)
{
	assert_int_equal(bus_writer_error(&t->w), 0);
	assert_true(sd_bus_message_seal(t->m, 1, 0) >= 0);
	assert_true(sd_bus_message_rewind(t->m, true) >= 0);
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));
	int pair[2];

	assert_non_null(t);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	t->other_end = pair[1];
	assert_int_equal(sd_bus_new(&t->bus), 0);
	assert_true(sd_bus_set_fd(t->bus, pair[0], pair[0]) >= 0);
	assert_true(sd_bus_start(t->bus) >= 0);
	t->devices[0] = &t->hidden;
	t->devices[1] = &t->device;
	t->cache = (Cache){.devices = t->devices, .n_devices = 2};
	t->device = (Device){.index = 7, .published = true, .n_ports = 3, .ports = t->of_device};
	for (uint32_t i = 0; i < 3; i++) {
		t->ports[i] = (Port){.now.values.port_num = i + 1,
				     .device = &t->device,
				     .number = i + 1,
				     .published = i != 1};
		t->of_device[i] = &t->ports[i];
	}
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	sd_bus_message_unref(t->m);
	sd_bus_close_unref(t->bus);
	close(t->other_end);
	free(t);
	return 0;
}

static void enter(Test *t, char type, const char *contents)
{
	assert_int_equal(sd_bus_message_enter_container(t->m, type, contents), 1);
}

/* All of the container was read. */
static void leave(Test *t)
{
	assert_int_equal(sd_bus_message_at_end(t->m, false), 1);
	assert_int_equal(sd_bus_message_exit_container(t->m), 1);
}

static void expect_text(Test *t, char type, const char *expected)
{
	const char *is;

	assert_int_equal(sd_bus_message_read_basic(t->m, type, &is), 1);
	assert_string_equal(is, expected);
}

static void expect_number(Test *t, uint32_t expected)
{
	uint32_t is;

	assert_int_equal(sd_bus_message_read_basic(t->m, 'u', &is), 1);
	assert_int_equal(is, expected);
}

/* A member of a tail or a property */
static void expect_member_text(Test *t, const char *name, const char *value)
{
	enter(t, 'e', "sv");
	expect_text(t, 's', name);
	enter(t, 'v', "s");
	expect_text(t, 's', value);
	leave(t);
	leave(t);
}

static void expect_member_number(Test *t, const char *name, uint32_t value)
{
	enter(t, 'e', "sv");
	expect_text(t, 's', name);
	enter(t, 'v', "u");
	expect_number(t, value);
	leave(t);
	leave(t);
}

static void expect_gid(Test *t, uint32_t index, const char *type, const char *netdev,
		       const char *address)
{
	const char *text;

	expect_number(t, index);
	assert_int_equal(sd_bus_message_read_basic(t->m, 's', &text), 1);
	expect_text(t, 's', type);
	expect_text(t, 's', netdev);
	expect_text(t, 's', address);
}

/* The members of an entry by their place, and those that are not empty by name. */
static void test_entries(void **state)
{
	const GidEntry gids[] = {
		{.index = 3, .type = GID_TYPE_IB, .vlan_id = 5},
		{.index = 4, .type = GID_TYPE_ROCE_V2, .netdev = "eth0", .ifindex = 9},
		{.index = 99},
	};
	Test *t = *state;

	for (size_t n = 0; n < 3; n++) {
		begin(t);
		bus_put_entries(&t->w, table_layout(ATTR_GIDS), gids, n);
		end(t);
		enter(t, 'a', "(ussssa{sv})");
		if (n > 0) {
			enter(t, 'r', "ussssa{sv}");
			expect_gid(t, 3, "IB", "", "");
			enter(t, 'a', "{sv}");
			expect_member_number(t, "VlanId", 5);
			leave(t);
			leave(t);
		}
		if (n > 1) {
			enter(t, 'r', "ussssa{sv}");
			expect_gid(t, 4, "RoCE v2", "eth0", "::");
			enter(t, 'a', "{sv}");
			expect_member_number(t, "Ifindex", 9);
			leave(t);
			leave(t);
		}
		leave(t);
	}
	begin(t);
	bus_put_entry(&t->w, table_layout(ATTR_FINDINGS),
		      &(FindingEntry){.check = "flap", .text = "It flaps.", .cause = "cable"});
	end(t);
	enter(t, 'r', "sssa{sv}");
	expect_text(t, 's', "flap");
	assert_int_equal(sd_bus_message_skip(t->m, "s"), 1);
	expect_text(t, 's', "It flaps.");
	enter(t, 'a', "{sv}");
	expect_member_text(t, "Cause", "cable");
	leave(t);
	leave(t);
}

static void test_lists(void **state)
{
	Test *t = *state;

	begin(t);
	bus_put_list(&t->w, ATTR_NUMBERS, "0,3,4,5");
	bus_put_list(&t->w, ATTR_PAIRS, "24-25:4,26:0");
	bus_put_list(&t->w, ATTR_WORDS, "dscp,pcp");
	bus_put_list(&t->w, ATTR_NUMBERS, "");
	end(t);
	enter(t, 'a', "u");
	expect_number(t, 0);
	for (uint32_t i = 3; i <= 5; i++)
		expect_number(t, i);
	leave(t);
	enter(t, 'a', "{uu}");
	for (uint32_t i = 24; i <= 26; i++) {
		enter(t, 'e', "uu");
		expect_number(t, i);
		expect_number(t, i < 26 ? 4 : 0);
		leave(t);
	}
	leave(t);
	enter(t, 'a', "s");
	expect_text(t, 's', "dscp");
	expect_text(t, 's', "pcp");
	leave(t);
	enter(t, 'a', "u");
	leave(t);
}

/* Each row without a value is named, the first and the last; those of interfaces that the object
 * has not are no rows of it. */
static void test_unavailable(void **state)
{
	Test *t = *state;
	CacheObject o = cache_object_of_port(&t->ports[0]);
	AttrMask valid = mask_all;
	const char *code;

	o.valid = &valid;
	for (PortAttr i = 0; i < 4; i++)
		mask_set(&valid, i, i == 2);
	mask_set(&valid, PORT_ATTR_pfc_enabled, false);
	begin(t);
	bus_put_row(&t->w, &o, PORT_ATTR_unavailable);
	bus_writer_open(&t->w, 'a', "{sv}");
	bus_put_property(&t->w, &o, PORT_ATTR_unavailable);
	bus_writer_close(&t->w);
	end(t);
	enter(t, 'a', "{ss}");
	for (size_t i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		enter(t, 'e', "ss");
		expect_text(t, 's', port_attributes[i].name);
		assert_int_equal(sd_bus_message_read_basic(t->m, 's', &code), 1);
		assert_true(*code);
		leave(t);
	}
	leave(t);
	enter(t, 'a', "{sv}");
	enter(t, 'e', "sv");
	expect_text(t, 's', "Unavailable");
	enter(t, 'v', "a{ss}");
	assert_int_equal(sd_bus_message_skip(t->m, "a{ss}"), 1);
	leave(t);
	leave(t);
	leave(t);
}

/* The names of the properties that follow, and that each is of the interface. Returns how many. */
static size_t read_properties(Test *t, const CacheObject *o, unsigned int interfaces, bool ports)
{
	size_t n = 0;

	enter(t, 'a', "{sv}");
	for (size_t a = 0; a < o->n_rows; a++) {
		if (!(interfaces >> o->rows[a].interface & 1))
			continue;
		enter(t, 'e', "sv");
		expect_text(t, 's', o->rows[a].name);
		enter(t, 'v', attr_signature(o->rows[a].type));
		assert_int_equal(sd_bus_message_skip(t->m, attr_signature(o->rows[a].type)), 1);
		leave(t);
		leave(t);
		n++;
	}
	if (ports) {
		enter(t, 'e', "sv");
		expect_text(t, 's', "Ports");
		enter(t, 'v', "ao");
		enter(t, 'a', "o");
		expect_text(t, 'o', "/org/rdma/device/7/port/1");
		expect_text(t, 'o', "/org/rdma/device/7/port/3");
		leave(t);
		leave(t);
		leave(t);
	}
	leave(t);
	return n;
}

static void test_properties(void **state)
{
	Test *t = *state;
	const CacheObject objects[] = {cache_object_of_device(&t->device),
				       cache_object_of_port(&t->ports[2])};

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		const CacheObject *o = &objects[i >= INTERFACE_PORT];

		begin(t);
		bus_put_properties(&t->w, o, 1U << i);
		end(t);
		assert_int_equal(read_properties(t, o, 1U << i, i == INTERFACE_DEVICE) > 0, true);
	}
	begin(t);
	bus_put_properties(&t->w, &objects[1], 1U << INTERFACE_PORT | 1U << INTERFACE_SIGNAL);
	end(t);
	read_properties(t, &objects[1], 1U << INTERFACE_PORT | 1U << INTERFACE_SIGNAL, false);
}

/* Values of each kind, and what is there in the place of one that is not valid. */
static void test_values(void **state)
{
	const GidEntry gid = {.index = 3, .type = GID_TYPE_IB};
	Test *t = *state;
	Port *p = &t->ports[0];
	const CacheObject o = cache_object_of_port(p);
	uint64_t big;

	p->now.values.port_num = 1;
	p->now.values.state = 4;
	p->now.values.link_downs = UINT64_MAX;
	p->now.values.lid = 7;
	p->now.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&p->now.valid, PORT_ATTR_port_num, true);
	mask_set(&p->now.valid, PORT_ATTR_state, true);
	mask_set(&p->now.valid, PORT_ATTR_link_downs, true);
	mask_set(&p->now.valid, PORT_ATTR_gids, true);
	begin(t);
	bus_put_row(&t->w, &o, PORT_ATTR_port_num);
	bus_put_row(&t->w, &o, PORT_ATTR_state);
	bus_put_row(&t->w, &o, PORT_ATTR_link_downs);
	bus_put_row(&t->w, &o, PORT_ATTR_lid);
	bus_put_row(&t->w, &o, PORT_ATTR_gids);
	bus_put_row(&t->w, &o, PORT_ATTR_pkeys);
	end(t);
	expect_number(t, 1);
	expect_text(t, 's', "active");
	assert_int_equal(sd_bus_message_read_basic(t->m, 't', &big), 1);
	assert_true(big == UINT64_MAX);
	expect_number(t, 0);
	enter(t, 'a', "(ussssa{sv})");
	enter(t, 'r', "ussssa{sv}");
	expect_gid(t, 3, "IB", "", "");
	enter(t, 'a', "{sv}");
	leave(t);
	leave(t);
	leave(t);
	enter(t, 'a', "(uusa{sv})");
	leave(t);
	table_free(p->now.tables[PORT_TABLE_GIDS]);
}

static void test_objects(void **state)
{
	Test *t = *state;

	begin(t);
	bus_put_objects(&t->w, &t->cache, "Devices");
	bus_put_objects(&t->w, &t->cache, "Ports");
	end(t);
	enter(t, 'a', "o");
	expect_text(t, 'o', "/org/rdma/device/7");
	leave(t);
	enter(t, 'a', "o");
	expect_text(t, 'o', "/org/rdma/device/7/port/1");
	expect_text(t, 'o', "/org/rdma/device/7/port/3");
	leave(t);
}

/* Of what has changed, scalars come with their value and tables by name; rows of other interfaces,
 * and those that are not signalled, do not come. */
static void test_changes(void **state)
{
	Test *t = *state;
	AttrMask changed = {};

	mask_set(&changed, PORT_ATTR_state, true);
	mask_set(&changed, PORT_ATTR_gids, true);
	mask_set(&changed, PORT_ATTR_lid, true);
	mask_set(&changed, PORT_ATTR_port_num, true);
	assert_int_equal(bus_changed_interfaces(&changed),
			 1U << INTERFACE_PORT | 1U << INTERFACE_INFINIBAND);
	begin(t);
	bus_put_port_changes(&t->w, &t->ports[0], INTERFACE_PORT, &changed);
	end(t);
	enter(t, 'a', "{sv}");
	enter(t, 'e', "sv");
	expect_text(t, 's', "State");
	assert_int_equal(sd_bus_message_skip(t->m, "v"), 1);
	leave(t);
	leave(t);
	enter(t, 'a', "s");
	expect_text(t, 's', "Gids");
	leave(t);
}

/* Each row of the interface, then the members, and no more. */
static void test_vtable(void **state)
{
	static const struct {
		AttrInterface interface;
		const Attribute *rows;
		size_t n_rows;
	} cases[] = {
		{INTERFACE_DEVICE, device_attributes, _DEVICE_ATTR_MAX},
		{INTERFACE_DEVICE_LIMITS, device_attributes, _DEVICE_ATTR_MAX},
		{INTERFACE_PORT, port_attributes, _PORT_ATTR_MAX},
		{INTERFACE_CABLE, port_attributes, _PORT_ATTR_MAX},
	};
	static const sd_bus_vtable members[] = {
		SD_BUS_METHOD("One", "", "", NULL, 0),
		SD_BUS_METHOD("Two", "", "", NULL, 0),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sd_bus_vtable vtable[BUS_VTABLE_MAX] = {};
		size_t n = 1;

		bus_vtable_build(cases[i].interface, members, 2, vtable);
		assert_int_equal(vtable[0].type, _SD_BUS_VTABLE_START);
		for (size_t a = 0; a < cases[i].n_rows; a++) {
			const Attribute *row = &cases[i].rows[a];
			uint64_t flags =
				vtable[n].flags & (SD_BUS_VTABLE_PROPERTY_CONST |
						   SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE |
						   SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION);

			if (row->interface != cases[i].interface)
				continue;
			assert_string_equal(vtable[n].x.property.member, row->name);
			assert_string_equal(vtable[n].x.property.signature,
					    attr_signature(row->type));
			assert_non_null(vtable[n].x.property.get);
			switch (row->class) {
			case CLASS_IDENTITY:
			case CLASS_FIXED:
				assert_int_equal(flags, SD_BUS_VTABLE_PROPERTY_CONST);
				break;
			case CLASS_GENERATION:
			case CLASS_COUNTER:
				assert_int_equal(flags, 0);
				break;
			case CLASS_CONST:
			case CLASS_DYNAMIC:
				assert_int_equal(flags,
						 attr_table_entry_size(row->type)
							 ? SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION
							 : SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
				break;
			case _CLASS_MAX:
				fail();
			}
			n++;
		}
		if (cases[i].interface == INTERFACE_DEVICE)
			assert_string_equal(vtable[n++].x.property.member, "Ports");
		assert_string_equal(vtable[n++].x.method.member, "One");
		assert_string_equal(vtable[n++].x.method.member, "Two");
		assert_int_equal(vtable[n++].type, _SD_BUS_VTABLE_END);
		for (; n < BUS_VTABLE_MAX; n++)
			assert_int_equal(vtable[n].type, 0);
	}
}

int main(void)
{
#define WITH_BUS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_BUS(test_entries), WITH_BUS(test_lists),	   WITH_BUS(test_unavailable),
		WITH_BUS(test_values),	WITH_BUS(test_properties), WITH_BUS(test_objects),
		WITH_BUS(test_changes), WITH_BUS(test_vtable),
	};

	return cmocka_run_group_tests_name("bus-property", tests, NULL, NULL);
}
