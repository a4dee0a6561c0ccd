/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices and ports of the cache as the checks see them: the values and reasons that are on the
 * bus, the history and the evidence. */

#include "decode.h"
#include "health-object.h"
#include "judged.h"

typedef struct Shown {
	Judged j;
	AttrMask read;
	Object *device, *port;
} Shown;

static void show(Shown *s)
{
	judged_begin(&s->j, 0, 0);
	judged_add(&s->j, "mlx5_0", 2);
	s->read = (AttrMask){};
	assert_int_equal(health_object_of_device(s->j.cache.devices[0], &s->read, &s->device), 0);
	assert_int_equal(health_object_of_port(s->j.cache.devices[0]->ports[1], s->device, &s->read,
					       &s->port),
			 0);
}

static void shown_done(Shown *s)
{
	object_free(s->port);
	object_free(s->device);
	judged_done(&s->j);
}
#define _cleanup_shown_ _cleanup_(shown_done)

/* P answers again, as it did before but for what is set in between. */
static PortSnapshot *again(Shown *s, PortSnapshot *ret)
{
	*ret = judged_answer(s->j.cache.devices[0]->ports[1], ACTIVE);
	return ret;
}

static void answer(Shown *s, const PortSnapshot *answer)
{
	(void)judged_set(&s->j, s->j.cache.devices[0]->ports[1], *answer);
	object_forget(s->port);
}

static void assert_number(const Object *o, size_t row, uint64_t n)
{
	const Value *v = object_value(o, row);

	assert_non_null(v);
	assert_int_equal(v->type, VALUE_UNSIGNED);
	assert_int_equal(v->number, n);
}

static void assert_bool(const Object *o, size_t row, bool is)
{
	const Value *v = object_value(o, row);

	assert_non_null(v);
	assert_int_equal(v->type, VALUE_BOOL);
	assert_int_equal(v->boolean, is);
}

/* Whether row ROW of O has no value, for this reason; NULL: it is not there at all. */
static void assert_none(const Object *o, size_t row, const char *code)
{
	assert_null(object_value(o, row));
	if (code)
		assert_string_equal(object_unavailable_code(o, row), code);
	else
		assert_null(object_unavailable_code(o, row));
}

static void test_values(_unused_ void **state)
{
	_cleanup_shown_ Shown s;
	DeviceSnapshot device = {};
	PortSnapshot port;
	const Value *names;
	char name[96];

	show(&s);
	assert_ptr_equal(s.port->device, s.device);
	assert_ptr_equal(health_object_device(s.port), s.j.cache.devices[0]);
	assert_ptr_equal(health_object_device(s.device), s.j.cache.devices[0]);
	assert_ptr_equal(health_object_port(s.port), s.j.cache.devices[0]->ports[1]);
	assert_null(health_object_port(s.device));
	assert_string_equal(s.port->path, "/org/rdma/device/1/port/2");
	assert_string_equal(s.device->path, "/org/rdma/device/1");
	/* text, an enumeration, numbers, yes and no, names */
	assert_string_equal(object_name(s.port, name), "mlx5_0/2");
	assert_string_equal(object_text(s.port, PORT_ATTR_state), "active");
	assert_string_equal(object_text(s.port, PORT_ATTR_device_index), "/org/rdma/device/1");
	assert_number(s.port, PORT_ATTR_active_mtu, 4096);
	assert_number(s.port, PORT_ATTR_rate, 800000000000);
	assert_bool(s.port, PORT_ATTR_stale, false);
	names = object_value(s.port, PORT_ATTR_capabilities);
	assert_true(names && names->type == VALUE_ARRAY && names->n == 2);
	assert_string_equal(value_text(&names->items[0]), "boot-management");
	assert_string_equal(value_text(&names->items[1]), "client-reregistration");
	/* numbers below 0, lists */
	DEVICE_SUPPLY(&device, numa_node, UINT32_MAX);
	DEVICE_SUPPLY_TEXT(&device, peer_memory, "nv_peer_mem amdkfd");
	(void)judged_set_device(&s.j, s.j.cache.devices[0], &device);
	object_forget(s.device);
	assert_int_equal(object_value(s.device, DEVICE_ATTR_numa_node)->type, VALUE_SIGNED);
	assert_int_equal(object_value(s.device, DEVICE_ATTR_numa_node)->integer, -1);
	assert_string_equal(object_text(s.device, DEVICE_ATTR_peer_memory), "nv_peer_mem amdkfd");
	device = (DeviceSnapshot){};
	DEVICE_SUPPLY(&device, numa_node, 1);
	(void)judged_set_device(&s.j, s.j.cache.devices[0], &device);
	object_forget(s.device);
	assert_number(s.device, DEVICE_ATTR_numa_node, 1);
	DEVICE_SUPPLY(&device, numa_node, 0);
	(void)judged_set_device(&s.j, s.j.cache.devices[0], &device);
	object_forget(s.device);
	assert_number(s.device, DEVICE_ATTR_numa_node, 0);
	/* what a driver says is the most that there is */
	again(&s, &port);
	PORT_SUPPLY(&port, max_vl_num, 4);
	answer(&s, &port);
	assert_number(s.port, PORT_ATTR_max_vl_num, 8);
}

/* What has no value has a reason; what is not of this kind of port has none. */
static void test_reasons(_unused_ void **state)
{
	_cleanup_shown_ Shown s;
	PortSnapshot port;

	show(&s);
	assert_none(s.port, PORT_ATTR_max_vl_num, "not-reported");
	assert_none(s.port, PORT_ATTR_netdev, NULL);
	assert_none(s.port, PORT_ATTR_fec_uncorrectable, NULL);
	assert_none(s.device, DEVICE_ATTR_aer_fatal, "not-reported");
	assert_null(object_unavailable_code(s.port, PORT_ATTR_state));
	assert_null(object_unavailable_code(s.device, DEVICE_ATTR_name));
	assert_non_null(object_value(s.port, PORT_ATTR_port_guid));
	/* who asks for a reason is told when another row gets a value */
	assert_true(mask_has(&s.read, PORT_ATTR_max_vl_num));
	assert_true(mask_has(&s.read, PORT_ATTR_unavailable));
	assert_false(mask_has(&s.read, PORT_ATTR_lid));
	port = judged_answer(s.j.cache.devices[0]->ports[1], DOWN);
	answer(&s, &port);
	assert_none(s.port, PORT_ATTR_rate, "link-down");
	assert_none(s.port, PORT_ATTR_lid, "not-configured");
	/* the reasons themselves are no value for a check */
	assert_null(object_value(s.port, PORT_ATTR_unavailable));
	/* a sensor */
	again(&s, &port);
	PORT_SUPPLY(&port, adapter_temperature, 60);
	answer(&s, &port);
	assert_number(s.port, PORT_ATTR_adapter_temperature, 60);
	assert_none(s.port, PORT_ATTR_fec_uncorrectable, "not-reported");
}

/* Tables: the members in their order, and those that are by name only if they say something. */
static void test_tables(_unused_ void **state)
{
	static const GidEntry gids[] = {
		{.index = 0, .gid = {0xfe, 0x80, [15] = 1}, .netdev = "ib0"},
		{.index = 3, .gid = {0xfe, 0x80, [15] = 2}, .netdev = "ib0.7", .ifindex = 9},
	};
	_cleanup_shown_ Shown s;
	const Value *table, *entry, *tail;
	PortSnapshot port;
	size_t n;

	show(&s);
	table = object_value(s.device, DEVICE_ATTR_chardevs);
	assert_true(table && table->type == VALUE_ARRAY && table->n == 1);
	assert_string_equal(object_uverbs_node(s.device), "/dev/infiniband/uverbs0");
	again(&s, &port);
	table_free(port.tables[PORT_TABLE_GIDS]);
	port.tables[PORT_TABLE_GIDS] = table_new(gids, 2, sizeof(gids[0]));
	answer(&s, &port);
	table = object_value(s.port, PORT_ATTR_gids);
	assert_true(table && table->type == VALUE_ARRAY && table->n == 2);
	assert_true(object_count(s.port, PORT_ATTR_gids, &n));
	assert_int_equal(n, 2);
	entry = &table->items[1];
	assert_int_equal(entry->type, VALUE_STRUCT);
	assert_int_equal(entry->n, 6);
	assert_int_equal(entry->items[0].type, VALUE_UNSIGNED);
	assert_int_equal(entry->items[0].number, 3);
	assert_string_equal(value_text(&entry->items[1]),
			    "fe80:0000:0000:0000:0000:0000:0000:0002");
	assert_string_equal(value_text(&entry->items[3]), "ib0.7");
	tail = &entry->items[5];
	assert_int_equal(tail->type, VALUE_DICT);
	assert_int_equal(tail->n, 2);
	assert_int_equal(value_lookup(tail, "Ifindex")->number, 9);
	assert_int_equal(table->items[0].items[5].type, VALUE_DICT);
	assert_int_equal(table->items[0].items[5].n, 0);
	/* one that is empty is a value; one that was not read is none */
	again(&s, &port);
	port.tables[PORT_TABLE_GIDS] = table_free(port.tables[PORT_TABLE_GIDS]);
	answer(&s, &port);
	table = object_value(s.port, PORT_ATTR_gids);
	assert_true(table && table->type == VALUE_ARRAY && table->n == 0);
	assert_true(object_count(s.port, PORT_ATTR_gids, &n));
	assert_int_equal(n, 0);
	assert_none(s.port, PORT_ATTR_vfs, "not-reported");
	assert_false(object_count(s.port, PORT_ATTR_vfs, &n));
	assert_none(s.device, DEVICE_ATTR_health_reporters, "not-reported");
}

static void test_history(_unused_ void **state)
{
	_cleanup_shown_ Shown s;
	_cleanup_value_ Value history = {};
	const Value *array, *t;
	Port *p;

	show(&s);
	p = s.j.cache.devices[0]->ports[1];
	for (uint64_t i = 1; i <= 3; i++) {
		s.j.seconds = 100 * i;
		judged_set_state(&s.j, p, DOWN);
		s.j.seconds += 10;
		judged_set_state(&s.j, p, ACTIVE);
	}
	history_note_rate(&p->history, 400000000000);
	assert_int_equal(health_history(p, BEGIN_USEC + 200 * USEC_PER_SEC, &history), 0);
	assert_int_equal(history.type, VALUE_DICT);
	assert_int_equal(history.n, 6);
	array = value_lookup(&history, "LinkDowns");
	assert_true(array && array->type == VALUE_ARRAY && array->n == 2);
	assert_int_equal(array->items[0].type, VALUE_UNSIGNED);
	assert_true(array->items[0].number == BEGIN_USEC + 200 * USEC_PER_SEC);
	assert_true(array->items[1].number == BEGIN_USEC + 300 * USEC_PER_SEC);
	array = value_lookup(&history, "Transitions");
	assert_true(array && array->type == VALUE_ARRAY && array->n == 7);
	t = &array->items[0];
	assert_true(t->type == VALUE_STRUCT && t->n == 6);
	assert_string_equal(value_text(&t->items[2]), "absent");
	assert_string_equal(value_text(&t->items[3]), "active");
	assert_int_equal(t->items[5].n, 0);
	t = &array->items[6];
	assert_true(t->items[0].number == BEGIN_USEC + 310 * USEC_PER_SEC);
	assert_string_equal(value_text(&t->items[2]), "down");
	assert_string_equal(value_text(&t->items[3]), "active");
	assert_string_equal(value_text(&t->items[4]), "reconcile");
	assert_true(value_lookup(&t->items[5], "Rate")->number == 400000000000);
	value_done(&history);
	assert_int_equal(health_history(p, BEGIN_USEC + 301 * USEC_PER_SEC, &history), 0);
	assert_int_equal(value_lookup(&history, "LinkDowns")->n, 0);
}

static void note(Device *d, uint32_t port, uint64_t seconds)
{
	const EvidenceMoment when = {BEGIN_USEC + seconds * USEC_PER_SEC, seconds,
				     REASON_CLIENT_REREGISTER};

	assert_true(evidence_note_event(&d->evidence, port, &when));
}

/* Evidence of the device is that of each port; that of another port is none. */
static void test_evidence(_unused_ void **state)
{
	_cleanup_shown_ Shown s;
	PortEvidence of;
	Device *d;
	Seen e;

	show(&s);
	d = s.j.cache.devices[0];
	of = (PortEvidence){d->evidence, 2};
	assert_false(health_evidence(&of, 0, &e));
	note(d, 1, 10);
	note(d, 2, 20);
	note(d, 0, 30);
	of.log = d->evidence;
	assert_true(health_evidence(&of, 0, &e));
	assert_int_equal(e.realtime_usec, 0);
	assert_string_equal(e.what, "");
	assert_string_equal(e.from, "");
	assert_string_equal(e.to, "");
	assert_string_equal(e.reason, "");
	assert_true(health_evidence(&of, 1, &e));
	assert_true(e.realtime_usec == BEGIN_USEC + 20 * USEC_PER_SEC);
	assert_int_equal(e.monotonic_usec, 20);
	assert_string_equal(e.what, "Event");
	assert_string_equal(e.from, "");
	assert_string_equal(e.to, "client-reregister");
	assert_string_equal(e.reason, "client-reregister");
	assert_true(health_evidence(&of, 2, &e));
	assert_true(e.realtime_usec == BEGIN_USEC + 30 * USEC_PER_SEC);
	assert_false(health_evidence(&of, 3, &e));
}

/* The judge asks for both, and looks again when they have changed. */
static void test_judged(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	PortSnapshot s;
	Port *p, *other;
	Device *d;

	judged_begin(&j, 0, 0);
	d = judged_add(&j, "mlx5_0", 2);
	p = d->ports[0];
	other = d->ports[1];
	history_note_rate(&p->history, 800000000000);
	for (uint64_t i = 0; i < 20; i++)
		note(d, 1, 5);
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, active_speed_ex, 128);
	(void)judged_set(&j, p, s);
	for (size_t i = 0; i < 2; i++)
		d->ports[i]->now.values.sm_generation = 20;
	judge_at(&j, 10);
	assert_port(p, "warning sm-storm@10 slower@10");
	assert_says(p, 0, "configured the port again 20 times");
	assert_says(p, 1, "the link runs at 400 Gb/s, and ran at 800 Gb/s before");
	assert_port(other, "ok");
	/* the history of the one is not that of the other */
	s = judged_answer(other, ACTIVE);
	PORT_SUPPLY(&s, active_speed_ex, 128);
	(void)judged_set(&j, other, s);
	judge_at(&j, 11);
	assert_port(other, "ok");
	assert_true(judge_at(&j, 3605 + 10) > 0);
	assert_port(p, "warning sm-storm@10 slower@10");
	assert_true(judge_at(&j, 3605 + 10 + 600) > 0);
	assert_port(p, "warning slower@10");
}

/* That a link was faster says nothing after seven days, though nothing has changed since. */
static void test_slower_ends(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	PortSnapshot s;
	Port *p;

	judged_begin(&j, 0, 0);
	p = device_port(judged_add(&j, "mlx5_0", 1), 1);
	history_note_rate(&p->history, 800000000000);
	judge_at(&j, 0);
	j.seconds = 100;
	judged_set_state(&j, p, DOWN);
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, active_speed_ex, 128);
	(void)judged_set(&j, p, s);
	judge_at(&j, 100);
	assert_port(p, "warning slower@100");
	judge_at(&j, 100 + 7 * 24 * 3600);
	assert_port(p, "warning slower@100");
	judge_at(&j, 161 + 7 * 24 * 3600);
	assert_port(p, "ok");
}

/* A device has another name, to which a history belongs: that is judged now. */
static void test_other_name(_unused_ void **state)
{
	_cleanup_(port_change_done) PortChange change = {};
	DeviceSnapshot renamed = {};
	_cleanup_judged_ Judged j;
	PortSnapshot s;
	Device *d;
	Port *p;

	judged_begin(&j, 0, 0);
	d = judged_add(&j, "mlx5_0", 1);
	p = d->ports[0];
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, active_speed_ex, 128);
	(void)judged_set(&j, p, s);
	judge_at(&j, 10);
	assert_port(p, "ok");
	DEVICE_SUPPLY_TEXT(&renamed, name, "mlx5_1");
	(void)judged_set_device(&j, d, &renamed);
	cache_apply_port_name(p, judged_usec(&j), &change);
	history_note_rate(&p->history, 800000000000);
	assert_true(health_take_port(j.health, &change));
	judge_at(&j, 20);
	assert_port(p, "warning slower@20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_tables),	    cmocka_unit_test(test_history),
		cmocka_unit_test(test_evidence),    cmocka_unit_test(test_judged),
		cmocka_unit_test(test_slower_ends), cmocka_unit_test(test_other_name),
	};

	return cmocka_run_group_tests_name("judge-objects", tests, NULL, NULL);
}
