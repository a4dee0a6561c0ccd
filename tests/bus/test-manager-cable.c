/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The modules in the cages, with a source and an rdmad-cable that the test plays: which one is read
 * when, what a port says afterwards, and how long it is spared.
 */

#include "fake-source.h"

#define CABLE_NAME "org.rdma.Cable"
#define CABLE_PATH "/org/rdma/cable"

#define MINUTE (60 * USEC_PER_SEC)

static const Config config = {
	.query_timeout_usec = USEC_PER_SEC, .cable = true, .cable_usec = 10 * MINUTE};

/* rdmad-cable */
static struct {
	sd_bus *bus;
	unsigned int n_calls;
	uint32_t ifindex;	  /* of the last call */
	sd_bus_message *waits;	  /* a call that is not answered yet */
	int error;		  /* a negative errno */
	const char *field, *text; /* what it says beside a serial number, NULL: nothing */
} cable;

static int answer_call(sd_bus_message *m)
{
	if (cable.error < 0)
		return sd_bus_reply_method_errno(m, cable.error, NULL);
	if (!cable.field)
		return sd_bus_reply_method_return(m, "a{ss}", 2, "cable_present", "raw:1",
						  "cable_serial", "MT2001");
	return sd_bus_reply_method_return(m, "a{ss}", 2, "cable_present", "raw:1", cable.field,
					  cable.text);
}

static int on_read(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	assert_null(cable.waits);
	assert_true(sd_bus_message_read(m, "u", &cable.ifindex) >= 0);
	cable.waits = sd_bus_message_ref(m);
	cable.n_calls++;
	return 1;
}

static void answer_ethernet(uint32_t state)
{
	answer_ports(2, 2, state);
}

static int setup_layer(void **state, uint32_t layer)
{
	Test *t;

	setup_with(state, &config);
	t = *state;
	memset(&cable, 0, sizeof(cable));
	cable.bus = fixture_client(t->f);
	assert_true(sd_bus_add_object(cable.bus, NULL, CABLE_PATH, on_read, NULL) >= 0);
	assert_true(sd_bus_request_name(cable.bus, CABLE_NAME, 0) >= 0);
	assert_true(sd_bus_attach_event(cable.bus, t->event, 0) >= 0);
	start(t);
	answer_ports(2, layer, 4);
	barrier(t);
	fixture_forget(t->f);
	return 0;
}

static int setup_cable(void **state)
{
	return setup_layer(state, 2);
}

static int setup_infiniband(void **state)
{
	return setup_layer(state, 1);
}

static int teardown_cable(void **state)
{
	cable.waits = sd_bus_message_unref(cable.waits);
	cable.bus = sd_bus_flush_close_unref(cable.bus);
	return teardown(state);
}

/* Waits until the program is asked for the port NUMBER. */
static void await_call(Test *t, uint32_t number)
{
	RUN_UNTIL(t, cable.waits);
	assert_int_equal(cable.ifindex, 100 + number);
}

/* The program answers, and what it says is known. */
static void give_answer(Test *t)
{
	sd_bus_message *m = steal_pointer(&cable.waits);

	assert_true(answer_call(m) >= 0);
	sd_bus_message_unref(m);
	RUN_UNTIL(t, !t->manager->cable_asked || cable.waits);
	barrier(t);
}

static Port *cage(Test *t, uint32_t number)
{
	return device_port(device(t, 1), number);
}

/* Port NUMBER is due, whatever it was spared for. */
static void make_due(Test *t, uint32_t number)
{
	cage(t, number)->cable.due_usec = 0;
	assert_true(sd_event_source_set_time(t->manager->cable, 0) >= 0);
}

static void assert_reason(Test *t, uint32_t number, PortAttr a, const char *code)
{
	const Unavailable *why = port_unavailable(&cage(t, number)->now, a);

	assert_non_null(why);
	assert_string_equal(why->code, code);
}

/* One after the other is read, and then none before its time. */
static void test_two_modules(void **state)
{
	Test *t = *state;
	const PortValues *v = port(t, 1, 1);
	uint64_t last_query_usec = v->last_query, now, when;

	await_call(t, 1);
	barrier(t);
	assert_int_equal(cable.n_calls, 1);
	assert_reason(t, 1, PORT_ATTR_cable_present, "needs-permission");
	give_answer(t);
	await_call(t, 2);
	give_answer(t);
	assert_string_equal(TEXT_OF(v, cable_serial), "MT2001");
	assert_reason(t, 1, PORT_ATTR_cable_vendor, "not-reported");
	assert_int_equal(v->last_query, last_query_usec);
	/* of org.rdma.Port and of org.rdma.Port.Cable */
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 2);
	RUN_UNTIL(t, sd_event_source_get_time(t->manager->cable, &when) >= 0 && when > 0 &&
			     (sd_event_now(t->event, CLOCK_MONOTONIC, &now), when > now));
	assert_true(when >= cage(t, 1)->cable.due_usec);
	assert_true(when - now > 9 * MINUTE && when - now <= config.cable_usec);
	/* a query keeps what is known, and brings no news */
	fixture_forget(t->f);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(4);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 0);
	assert_string_equal(TEXT_OF(v, cable_serial), "MT2001");
	assert_int_equal(cable.n_calls, 2);
}

/* A module is read after its link went down, but not within a minute. */
static void test_link_down(void **state)
{
	Test *t = *state;
	PortCable *c;

	/* also while it is read */
	await_call(t, 1);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(1);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(4);
	give_answer(t);
	await_call(t, 2);
	give_answer(t);
	c = &cage(t, 1)->cable;
	assert_true(c->due_usec > c->spared_usec);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(1);
	barrier(t);
	assert_int_equal(c->due_usec, c->spared_usec);
	assert_int_equal(cable.n_calls, 2);
	/* the minute is over */
	c->spared_usec = 0;
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(4);
	await_call(t, 1);
	give_answer(t);
	assert_int_equal(cable.n_calls, 3);
}

/* What cannot be read is read more and more seldom; what is slow is spared. */
static void test_errors(void **state)
{
	Test *t = *state;
	PortCable *c;
	uint64_t spared;

	await_call(t, 1);
	cable.error = -EIO;
	give_answer(t);
	c = &cage(t, 1)->cable;
	assert_reason(t, 1, PORT_ATTR_cable_present, "query-failed");
	assert_int_equal(c->due_usec - c->spared_usec, 2 * config.cable_usec - MINUTE);
	await_call(t, 2);
	cable.error = -EOPNOTSUPP;
	give_answer(t);
	assert_reason(t, 2, PORT_ATTR_cable_present, "not-reported");
	cable.error = -EIO;
	for (unsigned int i = 0; i < 12; i++) {
		make_due(t, 1);
		await_call(t, 1);
		give_answer(t);
	}
	assert_int_equal(c->due_usec - c->spared_usec, 24 * 60 * MINUTE - MINUTE);
	/* as if this look had begun 90 s before */
	cable.error = 0;
	make_due(t, 1);
	await_call(t, 1);
	t->manager->cable_begin_usec -= 90 * USEC_PER_SEC;
	give_answer(t);
	assert_int_equal(c->failures, 0);
	assert_string_equal(TEXT_OF(port(t, 1, 1), cable_serial), "MT2001");
	spared = c->spared_usec;
	assert_int_equal(c->due_usec, spared);
	assert_true(spared > 24 * 60 * MINUTE);
}

/* An answer that has another row, or a value that is none, is no answer. */
static void test_bad_answers(void **state)
{
	static const struct {
		const char *field, *text;
	} cases[] = {{"lid", "raw:7"},
		     {"cable", ""},
		     {"cable_voltage", "much"},
		     {"cable_rx_power", "1,-2"},
		     {"netdev", "eth7"}};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (i > 0)
			make_due(t, 1);
		await_call(t, 1);
		cable.field = cases[i].field;
		cable.text = cases[i].text;
		give_answer(t);
		assert_reason(t, 1, PORT_ATTR_cable_present, "query-failed");
		if (i == 0) {
			await_call(t, 2);
			give_answer(t);
		}
	}
	/* of a text only what can be shown */
	make_due(t, 1);
	await_call(t, 1);
	cable.field = "cable_vendor";
	cable.text = "raw:\x1b";
	give_answer(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), cable_vendor), "raw:?");
	assert_string_equal(TEXT_OF(port(t, 1, 1), netdev), "eth1");
}

/* The device goes while its module is read. */
static void test_device_goes(void **state)
{
	Test *t = *state;

	await_call(t, 1);
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, t->manager->cache.n_devices == 0);
	give_answer(t);
	assert_null(t->manager->cable_asked);
}

/* A port that has no org.rdma.Port.Cable is not read, also if it has an interface for IPoIB. */
static void test_infiniband(void **state)
{
	Test *t = *state;
	uint64_t now, when;

	RUN_UNTIL(t, sd_event_source_get_time(t->manager->cable, &when) >= 0 && when > 0 &&
			     (sd_event_now(t->event, CLOCK_MONOTONIC, &now), when > now));
	assert_string_equal(TEXT_OF(port(t, 1, 1), netdev), "eth1");
	assert_null(t->manager->cable_asked);
	assert_int_equal(cable.n_calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_modules, setup_cable, teardown_cable),
		cmocka_unit_test_setup_teardown(test_link_down, setup_cable, teardown_cable),
		cmocka_unit_test_setup_teardown(test_errors, setup_cable, teardown_cable),
		cmocka_unit_test_setup_teardown(test_bad_answers, setup_cable, teardown_cable),
		cmocka_unit_test_setup_teardown(test_device_goes, setup_cable, teardown_cable),
		cmocka_unit_test_setup_teardown(test_infiniband, setup_infiniband, teardown_cable),
	};

	return cmocka_run_group_tests_name("manager-cable", tests, NULL, NULL);
}
