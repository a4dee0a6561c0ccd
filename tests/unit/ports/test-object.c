/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices and ports as the bus shows them: their properties, names, and places in a list; and what
 * is made of these: suggestions, accelerators, evidence. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
#include "flaps.h"
#include "format.h"
#include "gpus.h"
#include "seen.h"
#include "suggestion.h"

#define DEVICE "/org/rdma/device/3"
#define PORT   DEVICE "/port/1"

static Object *make(const char *path)
{
	Object *o;

	assert_int_equal(object_new(path, &o), 0);
	return o;
}

static Value text(const char *t)
{
	return (Value){.type = VALUE_TEXT, .text = strdup(t)};
}

static void test_paths(_unused_ void **state)
{
	Object *o;

	assert_int_equal(object_new("/org/rdma/device/3/port", &o), -EINVAL);
	assert_int_equal(object_new("/org/rdma", &o), -EINVAL);
	o = make(DEVICE);
	assert_false(o->is_port);
	assert_ptr_equal(o->rows, device_attributes);
	assert_int_equal(o->n_rows, _DEVICE_ATTR_MAX);
	assert_null(object_free(o));
	o = make(PORT);
	assert_true(o->is_port);
	assert_ptr_equal(o->rows, port_attributes);
	assert_int_equal(o->n_rows, _PORT_ATTR_MAX);
	assert_null(object_free(o));
	assert_null(object_free(NULL));
}

/* Properties of one interface, of all, and of one that nobody knows. */
static void test_properties(_unused_ void **state)
{
	_cleanup_(object_free_pointer) Object *o = make(PORT), *copy = NULL;
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(m, "a{sv}", 3, "State", "s", "active", "Lid", "u", 7,
					  "Unheard", "s", "of") >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 1, "State", "s", "down") >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 3, "State", "s", "init", "Lid", "u", 8,
					  "PfcEnabled", "au", 2, 3, 4) >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 0) >= 0);
	message_seal(m);
	/* Lid is one of another interface */
	assert_true(object_read_properties(o, "org.rdma.Port", m) >= 0);
	assert_int_equal(o->interfaces, 1U << INTERFACE_PORT);
	assert_string_equal(object_text(o, PORT_ATTR_state), "active");
	assert_null(object_value(o, PORT_ATTR_lid));
	assert_true(object_has(o, PORT_ATTR_state));
	assert_false(object_has(o, PORT_ATTR_lid));
	assert_true(object_read_properties(o, "org.rdma.Unheard", m) >= 0);
	assert_string_equal(object_text(o, PORT_ATTR_state), "active");
	assert_true(object_read_properties(o, "", m) >= 0);
	assert_string_equal(object_text(o, PORT_ATTR_state), "init");
	assert_int_equal(object_value(o, PORT_ATTR_lid)->number, 8);
	assert_string_equal(object_text(o, PORT_ATTR_pfc_enabled), "3,4");
	assert_int_equal(o->interfaces, 1U << INTERFACE_PORT | 1U << INTERFACE_INFINIBAND |
						1U << INTERFACE_ETHERNET);
	copy = object_copy(o);
	assert_string_equal(copy->path, PORT);
	assert_int_equal(copy->interfaces, o->interfaces);
	assert_int_equal(object_value(copy, PORT_ATTR_lid)->number, 8);
	object_remove_interface(o, "org.rdma.Unheard");
	object_remove_interface(o, "org.rdma.Port.InfiniBand");
	assert_int_equal(o->interfaces, 1U << INTERFACE_PORT | 1U << INTERFACE_ETHERNET);
	assert_null(object_value(o, PORT_ATTR_lid));
	assert_string_equal(object_text(o, PORT_ATTR_state), "init");
	assert_int_equal(object_value(copy, PORT_ATTR_lid)->number, 8);
	/* an interface without properties is there */
	assert_true(object_read_properties(o, "org.rdma.Port.InfiniBand", m) >= 0);
	assert_true(o->interfaces & 1U << INTERFACE_INFINIBAND);
	sd_bus_message_unref(m);
}

static void test_rows(_unused_ void **state)
{
	bool of_device = false;

	assert_ptr_equal(object_find_row("Rate", &of_device), &port_attributes[PORT_ATTR_rate]);
	assert_false(of_device);
	assert_ptr_equal(object_find_row("rATE", &of_device), &port_attributes[PORT_ATTR_rate]);
	assert_ptr_equal(object_find_row("Driver", &of_device),
			 &device_attributes[DEVICE_ATTR_driver]);
	assert_true(of_device);
	assert_ptr_equal(object_find_row("Device", &of_device), &port_attributes[0]);
	assert_ptr_equal(object_find_row("DeviceName", &of_device),
			 &port_attributes[PORT_ATTR_device_name]);
	assert_null(object_find_row("LegacySpeed", &of_device));
	assert_null(object_find_row("", &of_device));
}

static void test_reasons(_unused_ void **state)
{
	_cleanup_(object_free_pointer) Object *o = make(PORT);
	Value *codes = &o->values[PORT_ATTR_unavailable];
	char *formatted;

	o->values[PORT_ATTR_rate] = (Value){.type = VALUE_UNSIGNED};
	o->values[PORT_ATTR_lid] = (Value){.type = VALUE_UNSIGNED, .number = 7};
	codes->type = VALUE_DICT;
	*value_append(codes) = text("Rate");
	*value_append(codes) = text("link-down");
	*value_append(codes) = text("MaxMtu");
	*value_append(codes) = text("no-permission");
	assert_null(object_value(o, PORT_ATTR_rate));
	assert_int_equal(object_stored(o, PORT_ATTR_rate)->type, VALUE_UNSIGNED);
	assert_true(object_has(o, PORT_ATTR_rate));
	assert_string_equal(object_unavailable_code(o, PORT_ATTR_rate), "link-down");
	assert_string_equal(object_unavailable(o, PORT_ATTR_rate), "the link is down");
	assert_null(object_unavailable(o, PORT_ATTR_lid));
	assert_string_equal(object_verbs_obstacle(o), "no-permission");
	free(codes->items[3].text);
	codes->items[3].text = strdup("unknown-code");
	assert_null(object_verbs_obstacle(o));
	formatted = format_row(o, PORT_ATTR_rate);
	assert_string_equal(formatted, "unavailable (the link is down)");
	free(formatted);
	formatted = format_row(o, PORT_ATTR_lid);
	assert_string_equal(formatted, "7");
	free(formatted);
	/* one that is not there is none, whatever is said of it */
	formatted = format_row(o, PORT_ATTR_max_mtu);
	assert_string_equal(formatted, "none");
	free(formatted);
	assert_string_equal(format_text(o, PORT_ATTR_netdev), "-");
	o->values[PORT_ATTR_netdev] = text("eth0");
	assert_string_equal(format_text(o, PORT_ATTR_netdev), "eth0");
	assert_string_equal(object_text(NULL, PORT_ATTR_netdev), "");
}

static void assert_state(const char *logical, const char *physical, bool stale, bool active,
			 const char *expected)
{
	_cleanup_(object_free_pointer) Object *o = make(PORT);
	char *formatted;

	if (*logical)
		o->values[PORT_ATTR_state] = text(logical);
	if (*physical)
		o->values[PORT_ATTR_phys_state] = text(physical);
	o->values[PORT_ATTR_stale] = (Value){.type = VALUE_BOOL, .boolean = stale};
	assert_int_equal(object_is_active(o), active);
	assert_int_equal(object_is_stale(o), stale);
	formatted = format_state(o);
	assert_string_equal(formatted, expected);
	free(formatted);
}

static void test_state(_unused_ void **state)
{
	assert_state("active", "link-up", false, true, "active");
	assert_state("active-defer", "", false, true, "active-defer");
	assert_state("down", "polling", false, false, "down (polling)");
	assert_state("down", "link-up", true, false, "down (stale)");
	assert_state("active", "polling", true, true, "active (stale)");
	assert_state("", "", false, false, "-");
}

/* Whether a port called mlx5_0/1, with eth0 and VLANs on it, is meant. */
static void test_matches(_unused_ void **state)
{
	static const struct {
		const char *pattern;
		bool matches;
	} cases[] = {{"mlx5_0/1", true}, {"mlx5_0:1", true},  {"mlx5_0", true}, {"mlx5_*", true},
		     {"*/1", true},	 {"*:1", true},	      {"eth0", true},	{"eth0.7", true},
		     {"eth?", true},	 {"*.7", true},	      {"eth1", false},	{"mlx5_0/2", false},
		     {"mlx5_1", false},	 {"mlx5_0:2", false}, {"", false},	{"*.8", false}};
	_cleanup_(object_free_pointer) Object *o = make(PORT), *device = make(DEVICE);
	Value *netdevs = &o->values[PORT_ATTR_netdevs], *entry;
	char name[96];

	o->values[PORT_ATTR_device_name] = text("mlx5_0");
	o->values[PORT_ATTR_port_num] = (Value){.type = VALUE_UNSIGNED, .number = 1};
	device->values[DEVICE_ATTR_name] = text("mlx5_0");
	assert_string_equal(object_name(device, name), "mlx5_0");
	assert_string_equal(object_name(o, name), "mlx5_0/1");
	assert_false(object_matches(o, "eth0"));
	assert_false(object_matches(o, "eth0.7"));
	o->values[PORT_ATTR_netdev] = text("eth0");
	netdevs->type = VALUE_ARRAY;
	entry = value_append(netdevs);
	entry->type = VALUE_STRUCT;
	*value_append(entry) = text("eth0.7");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (object_matches(o, cases[i].pattern) != cases[i].matches)
			fail_msg("%s", cases[i].pattern);
	assert_true(object_is_pattern("mlx5_?"));
	assert_true(object_is_pattern("*"));
	assert_true(object_is_pattern("mlx5_[01]"));
	assert_false(object_is_pattern("mlx5_0/1"));
}

/* 9 comes before 10, and a device before its ports; what is put twice replaces itself. */
static void test_list(_unused_ void **state)
{
	static const char *const paths[] = {
		"/org/rdma/device/10",	      "/org/rdma/device/9/port/2",  "/org/rdma/device/9",
		"/org/rdma/device/10/port/1", "/org/rdma/device/9/port/10", "/org/rdma/device/2",
	};
	static const size_t order[] = {5, 2, 1, 4, 0, 3};
	_cleanup_objects_ ObjectList l = {};
	Object *again, *port;

	assert_null(object_list_find(&l, paths[0]));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_int_equal(object_list_put(&l, make(paths[i])), 0);
	assert_int_equal(l.n, ARRAY_SIZE(paths));
	for (size_t i = 0; i < l.n; i++)
		assert_string_equal(l.items[i]->path, paths[order[i]]);
	again = make(paths[4]);
	assert_int_equal(object_list_put(&l, again), 0);
	assert_int_equal(l.n, ARRAY_SIZE(paths));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_string_equal(object_list_find(&l, paths[i])->path, paths[i]);
	assert_ptr_equal(object_list_find(&l, paths[4]), again);
	assert_null(object_list_find(&l, "/org/rdma/device/1"));
	assert_null(object_list_find(&l, "/org/rdma/device/9/port/1"));
	assert_null(object_list_find(&l, "/org/rdma/device/11"));
	/* the device of a port, and what that is */
	port = object_list_find(&l, paths[1]);
	assert_null(object_list_device(&l, port));
	assert_false(object_list_is_plane(&l, port));
	assert_false(object_is_function(NULL));
	port->values[PORT_ATTR_device_index] = text("/org/rdma/device/9");
	again = object_list_find(&l, paths[2]);
	assert_ptr_equal(object_list_device(&l, port), again);
	assert_false(object_is_function(again));
	again->values[DEVICE_ATTR_function] = text("vf");
	assert_true(object_is_function(again));
	memcpy(again->values[DEVICE_ATTR_function].text, "sf", 2);
	assert_true(object_is_function(again));
	memcpy(again->values[DEVICE_ATTR_function].text, "pf", 2);
	assert_false(object_is_function(again));
	assert_false(object_list_is_plane(&l, port));
	again->values[DEVICE_ATTR_dev_type] = text("smi");
	assert_true(object_list_is_plane(&l, port));
	object_list_remove(&l, "/org/rdma/device/3");
	object_list_remove(&l, "/org/rdma/device/99");
	assert_int_equal(l.n, ARRAY_SIZE(paths));
	object_list_remove(&l, paths[2]);
	object_list_remove(&l, paths[3]);
	assert_int_equal(l.n, ARRAY_SIZE(paths) - 2);
	assert_string_equal(l.items[0]->path, paths[5]);
	assert_string_equal(l.items[1]->path, paths[1]);
	assert_string_equal(l.items[2]->path, paths[4]);
	assert_string_equal(l.items[3]->path, paths[0]);
}

/* What GetManagedObjects() says: other objects, and those without an interface of ours, are left
 * out. */
static void test_read_list(_unused_ void **state)
{
	_cleanup_objects_ ObjectList l = {};
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(m, "a{oa{sa{sv}}}", 4, "/org/rdma", 1, "org.rdma.Manager",
					  0, PORT, 2, "org.rdma.Port", 1, "State", "s", "active",
					  "org.rdma.Port.InfiniBand", 1, "Lid", "u", 7, DEVICE, 1,
					  "org.rdma.Device", 1, "Name", "s", "mlx5_0",
					  "/org/rdma/device/4", 1, "org.other", 1, "Name", "s",
					  "x") >= 0);
	message_seal(m);
	assert_true(object_list_read(&l, m) >= 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.items[0]->path, DEVICE);
	assert_string_equal(object_text(l.items[0], DEVICE_ATTR_name), "mlx5_0");
	assert_int_equal(object_value(l.items[1], PORT_ATTR_lid)->number, 7);
	sd_bus_message_unref(m);
	m = message_new();
	assert_true(sd_bus_message_append(m, "s", "no list") >= 0);
	message_seal(m);
	assert_true(object_list_read(&l, m) < 0);
	sd_bus_message_unref(m);
}

/* The first node of the class "verbs" */
static void test_nodes(_unused_ void **state)
{
	_cleanup_(object_free_pointer) Object *device = make(DEVICE);
	Value *nodes = &device->values[DEVICE_ATTR_chardevs], *node;

	assert_string_equal(object_uverbs_node(device), "");
	nodes->type = VALUE_ARRAY;
	*value_append(nodes) = text("verbs");
	value_append(nodes)->type = VALUE_STRUCT;
	for (size_t i = 0; i < 3; i++) {
		node = value_append(nodes);
		node->type = VALUE_STRUCT;
		*value_append(node) = text(i > 0 ? "verbs" : "mad");
		*value_append(node) = text(i == 1 ? "/dev/infiniband/uverbs0" : "/dev/other");
	}
	assert_string_equal(object_uverbs_node(device), "/dev/infiniband/uverbs0");
}

/* Which of the attributes is suggested for WORD; "": none. */
static void assert_suggested(const char *word, const char *expected)
{
	Suggestion s = suggestion_for(word);

	suggestion_offer_attributes(&s);
	if (!streq(s.name, expected))
		fail_msg("%s: %s", word, s.name);
	assert_int_equal(*suggestion_text(&s) != '\0', *expected != '\0');
}

static void test_suggestions(_unused_ void **state)
{
	_cleanup_objects_ ObjectList l = {};
	Suggestion s = suggestion_for("eth00");
	Object *port = make(PORT);

	assert_suggested("Rat", "Rate");
	assert_suggested("RATE", "Rate");
	assert_suggested("Raet", "Rate");
	assert_suggested("Rxxe", "Rate");
	assert_suggested("Xxxe", "");
	assert_suggested("Drivr", "Driver");
	assert_suggested("Driverss", "Driver");
	assert_suggested("Driversss", "");
	/* of a short word two other letters leave nothing */
	assert_suggested("Lie", "Lid");
	assert_suggested("Xie", "");
	assert_suggested("L", "");
	assert_suggested("", "");
	/* a part of a name */
	assert_suggested("Violation", "QkeyViolationCount");
	assert_suggested("firmwareV", "FirmwareVersion");
	assert_int_equal(object_list_put(&l, make(DEVICE)), 0);
	assert_int_equal(object_list_put(&l, port), 0);
	port->values[PORT_ATTR_device_name] = text("mlx5_0");
	port->values[PORT_ATTR_port_num] = (Value){.type = VALUE_UNSIGNED, .number = 1};
	suggestion_offer_ports(&s, &l);
	assert_string_equal(suggestion_text(&s), "");
	port->values[PORT_ATTR_netdev] = text("eth0");
	suggestion_offer_ports(&s, &l);
	assert_string_equal(suggestion_text(&s), "; did you mean eth0?");
	s = suggestion_for("mlx_0/1");
	suggestion_offer_ports(&s, &l);
	assert_string_equal(suggestion_text(&s), "; did you mean mlx5_0/1?");
}

static void add_gpu(Object *device, const char *address, const char *distance, uint64_t hops)
{
	Value *all = &device->values[DEVICE_ATTR_accelerators], *entry;

	all->type = VALUE_ARRAY;
	entry = value_append(all);
	entry->type = VALUE_STRUCT;
	*value_append(entry) = text(address);
	*value_append(entry) = text(distance);
	*value_append(entry) = (Value){.type = VALUE_UNSIGNED, .number = hops};
	*value_append(entry) = text("10de:2330");
	value_append(entry)->type = VALUE_DICT;
}

/* Each accelerator once, in the order of their addresses. */
static void test_gpus(_unused_ void **state)
{
	_cleanup_objects_ ObjectList l = {};
	_cleanup_(gpus_done) Gpus g = {}, none = {};
	Object *first = make(DEVICE), *second = make("/org/rdma/device/4");
	uint64_t hops = 0;

	assert_int_equal(object_list_put(&l, make(PORT)), 0);
	assert_int_equal(gpus_find(&l, &none), 0);
	assert_int_equal(none.n, 0);
	assert_null(gpus_get(&none, "0"));
	add_gpu(first, "0000:c2:00.0", "PIX", 3);
	add_gpu(first, "0000:c1:00.0", "SYS", 7);
	add_gpu(second, "0000:c1:00.0", "LOC", 0);
	add_gpu(second, "0000:c3:00.0", "unheard-of", 9);
	assert_int_equal(object_list_put(&l, first), 0);
	assert_int_equal(object_list_put(&l, second), 0);
	assert_int_equal(object_list_put(&l, make("/org/rdma/device/5")), 0);
	assert_int_equal(gpus_find(&l, &g), 0);
	assert_int_equal(g.n, 3);
	for (size_t i = 0; i < g.n; i++) {
		const char index[] = {(char)('0' + i), '\0'};
		const char address[] = {'c', (char)('1' + i), ':', '0', '0', '.', '0', '\0'};

		assert_string_equal(g.items[i].model, "10de:2330");
		assert_ptr_equal(gpus_get(&g, index), &g.items[i]);
		assert_ptr_equal(gpus_get(&g, address), &g.items[i]);
	}
	assert_null(gpus_get(&g, "3"));
	assert_null(gpus_get(&g, "c4:00.0"));
	assert_null(gpus_get(&g, "x"));
	assert_int_equal(gpu_distance(first, &g.items[0], &hops), DISTANCE_SYS);
	assert_int_equal(hops, 7);
	assert_int_equal(gpu_distance(second, &g.items[0], &hops), DISTANCE_LOC);
	assert_int_equal(hops, 0);
	assert_int_equal(gpu_distance(second, &g.items[1], &hops), _DISTANCE_MAX);
	assert_int_equal(gpu_distance(second, &g.items[2], &hops), _DISTANCE_MAX);
	assert_int_equal(gpu_distance(NULL, &g.items[0], &hops), _DISTANCE_MAX);
}

static void add_seen(Value *evidence, uint64_t usec, const char *what, const char *to)
{
	Value *e = value_append(evidence);

	e->type = VALUE_STRUCT;
	*value_append(e) = (Value){.type = VALUE_UNSIGNED, .number = usec};
	*value_append(e) = (Value){.type = VALUE_UNSIGNED, .number = 5};
	*value_append(e) = text(what);
	*value_append(e) = text("yes");
	*value_append(e) = text(to);
	*value_append(e) = text("link");
}

/* A link that went down because somebody set its interface down is not told of. */
static void test_flaps(_unused_ void **state)
{
	_cleanup_value_ Value evidence = {.type = VALUE_ARRAY}, downs = {.type = VALUE_ARRAY};
	SeenSource source = seen_in(&evidence), nothing = seen_in(NULL);
	const Value *last = NULL;
	const uint64_t t = 1000 * USEC_PER_SEC;
	Seen e;

	for (uint64_t i = 1; i <= 3; i++)
		*value_append(&downs) = (Value){.type = VALUE_UNSIGNED, .number = i * t};
	*value_append(&downs) = text("no time");
	assert_int_equal(flaps_count(NULL, t, 3 * t, &source, &last), 0);
	assert_int_equal(flaps_count(&downs, t, 3 * t, &nothing, &last), 3);
	assert_ptr_equal(last, &downs.items[2]);
	/* the clock was wrong for a while */
	assert_int_equal(flaps_count(&downs, t + 1, 3 * t, &nothing, NULL), 2);
	assert_int_equal(flaps_count(&downs, t, 3 * t - 1, &nothing, NULL), 2);
	add_seen(&evidence, 3 * t, "Carrier", "no");
	add_seen(&evidence, 3 * t, "AdministrativelyUp", "yes");
	add_seen(&evidence, t + SLACK_USEC + 1, "AdministrativelyUp", "no");
	value_append(&evidence)->type = VALUE_STRUCT;
	assert_int_equal(flaps_count(&downs, t, 3 * t, &source, NULL), 3);
	add_seen(&evidence, 3 * t + SLACK_USEC, "AdministrativelyUp", "no");
	assert_int_equal(flaps_count(&downs, t, 3 * t, &source, &last), 2);
	assert_ptr_equal(last, &downs.items[1]);
	add_seen(&evidence, t - SLACK_USEC, "AdministrativelyUp", "no");
	assert_int_equal(flaps_count(&downs, t, 3 * t, &source, &last), 1);
	add_seen(&evidence, 2 * t - SLACK_USEC, "Event", "resume");
	assert_int_equal(flaps_count(&downs, t, 3 * t, &source, NULL), 0);
	/* an entry of another form is empty, and the others are read */
	assert_true(seen_read(&source, 3, &e));
	assert_int_equal(e.realtime_usec, 0);
	assert_string_equal(e.what, "");
	assert_true(seen_read(&source, 4, &e));
	assert_int_equal(e.realtime_usec, 3 * t + SLACK_USEC);
	assert_int_equal(e.monotonic_usec, 5);
	assert_string_equal(e.what, "AdministrativelyUp");
	assert_string_equal(e.from, "yes");
	assert_string_equal(e.to, "no");
	assert_string_equal(e.reason, "link");
	assert_false(seen_read(&source, 7, &e));
	assert_false(seen_read(&nothing, 0, &e));
	assert_false(seen_read(&(SeenSource){}, 0, &e));
	assert_string_equal(seen_without_index("[3] fe80::1"), "fe80::1");
	assert_string_equal(seen_without_index("fe80::1"), "fe80::1");
	assert_string_equal(seen_without_index("[3]"), "[3]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths), cmocka_unit_test(test_properties),
		cmocka_unit_test(test_rows),  cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_state), cmocka_unit_test(test_matches),
		cmocka_unit_test(test_list),  cmocka_unit_test(test_read_list),
		cmocka_unit_test(test_gpus),  cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_flaps), cmocka_unit_test(test_nodes),
	};

	return cmocka_run_group_tests_name("object", tests, NULL, NULL);
}
