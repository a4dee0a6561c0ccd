/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that come, go, shrink, grow and change their names while they are asked. */

#include "decode.h"
#include "fake-source.h"
#include "log.h"

static void test_index_used_again(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t id;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &c, PORT_1);
	barrier(t);
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	wait_call(t, &c, RDMAD_ERROR_NOT_FOUND);
	assert_null(device(t, 1));
	assert_int_equal(fake.n_forgotten, 1);
	set_device(0, 1, "rocep1", 1);
	fake.n_devices = 1;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 3);
	/* what the old one still says is of nobody's interest */
	answer_port(id, 1, 0, 1);
	answer_end(id, 0, "");
	assert_false(device_port(device(t, 1), 1)->published);
	answer(4);
	assert_string_equal(TEXT_OF(port(t, 1, 1), device_name), "rocep1");
	assert_int_equal(port(t, 1, 1)->state, 4);
}

static void test_shrinks_while_asked(void **state)
{
	Test *t = *state;
	Call asked = {}, waiting = {};
	uint64_t id;

	call_query(t, &asked, PORT_2);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &waiting, PORT_2);
	barrier(t);
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	wait_call(t, &asked, RDMAD_ERROR_NOT_FOUND);
	wait_call(t, &waiting, RDMAD_ERROR_NOT_FOUND);
	assert_int_equal(device(t, 1)->n_ports, 1);
	/* the worker does not know yet */
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	assert_false(device(t, 1)->now.values.stale);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(port_set_has(&last_query()->ports, 2));
	answer(4);
	assert_false(device(t, 1)->now.values.stale);
}

static void test_grows_while_asked(void **state)
{
	Test *t = *state;
	uint64_t id;

	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	set_device(0, 1, "mlx5_0", RDMA_PORT_MAX);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	barrier(t);
	assert_int_equal(device(t, 1)->n_ports, RDMA_PORT_MAX);
	answer_port(id, RDMA_PORT_MAX, 0, 4);
	assert_false(device_port(device(t, 1), RDMA_PORT_MAX)->published);
	answer_port(id, 1, 0, 4);
	answer_end(id, 0, "");
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_true(port_set_has(&last_query()->ports, RDMA_PORT_MAX));
	answer(4);
	assert_int_equal(port(t, 1, RDMA_PORT_MAX)->state, 4);
	assert_true(device_port(device(t, 1), RDMA_PORT_MAX)->published);
}

/* More ports than are served: the first 1024 are, and the device says how many are not. */
static void test_too_many_ports(void **state)
{
	Test *t = *state;

	set_device(0, 1, "mlx5_0", 1500);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(device(t, 1)->n_ports, 1024);
	assert_int_equal(device(t, 1)->now.values.port_count, 1500);
	assert_int_equal(device(t, 1)->now.values.omitted_ports, 476);
	assert_int_equal(port_set_last(&last_query()->ports), 1024);
	answer(4);
	assert_int_equal(port(t, 1, 1024)->state, 4);
	/* nothing changes by the next look, or by the answer */
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RECONCILE);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	assert_int_equal(device(t, 1)->now.values.omitted_ports, 476);
}

static void test_renamed_while_asked(void **state)
{
	Test *t = *state;
	uint64_t id;

	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RECONCILE);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	/* the answer has the new name before the enumeration has it */
	set_device(0, 1, "renamed", 2);
	answer_device(id, "renamed");
	answer_port(id, 1, 0, 4);
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_string_equal(last_query()->name, "renamed");
	assert_string_equal(TEXT_OF(&device(t, 1)->now.values, name), "renamed");
	assert_string_equal(TEXT_OF(port(t, 1, 1), device_name), "renamed");
	assert_string_equal(TEXT_OF(port(t, 1, 2), device_name), "renamed");
}

/* The parent of a plane is renamed while the plane is asked: the answer has the old name of the
 * parent, and comes after the enumeration that has the new one. */
static void test_parent_renamed_while_asked(void **state)
{
	DeviceSnapshot late = {};
	Test *t = *state;
	uint64_t id;

	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RECONCILE);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	DEVICE_SUPPLY_TEXT(&fake.devices[0], parent, "renamed");
	tell(2, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, streq(TEXT_OF(&device(t, 1)->now.values, parent), "renamed"));
	DEVICE_SUPPLY_TEXT(&late, parent, "mlx5_9");
	fake.handler->device(fake.userdata, id, &late);
	assert_string_equal(TEXT_OF(&device(t, 1)->now.values, parent), "renamed");
	answer_end(id, 0, "");
}

/* It takes no query, and leaves. */
static void test_wedged_and_removed(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.query_error = -ETIMEDOUT;
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_DEVICE_TIMEOUT);
	assert_true(port(t, 1, 1)->stale);
	fake.n_devices = 0;
	call_refresh(t, &c);
	wait_call(t, &c, "");
	assert_null(device(t, 1));
	fake.query_error = 0;
	fake.n_devices = 1;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_unknown_devices(void **state)
{
	Test *t = *state;
	unsigned int n = fake.n_enumerated;

	tell(77, 3, REASON_PORT_ERROR);
	tell(77, EVENT_ALL_PORTS, REASON_RECOVERED);
	tell(UINT32_MAX - 1, UINT32_MAX, REASON_NETDEV);
	barrier(t);
	/* perhaps it is a new one: all of them are one look */
	assert_int_equal(fake.n_enumerated, n + 1);
	assert_int_equal(fake.n_queries, 1);
	/* a port that is not there is all of them */
	tell(1, 200, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_true(port_set_has(&last_query()->ports, 1));
	assert_true(port_set_has(&last_query()->ports, 2));
	assert_false(port_set_has(&last_query()->ports, 200));
	answer(4);
}

/* When a device goes while the kernel lists them, the list may leave out one that is there. */
static void test_left_out(void **state)
{
	Test *t = *state;

	set_device(1, 2, "mlx5_1", 1);
	fake.n_devices = 2;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	set_device(0, 2, "mlx5_1", 1);
	set_device(1, 3, "mlx5_2", 1);
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, device(t, 3));
	answer(4);
	assert_null(device(t, 1));
	fake.n_forgotten = 0;
	fake.leave_out = 1;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.leave_out == 0);
	barrier(t);
	assert_non_null(device(t, 3));
	assert_int_equal(fake.n_forgotten, 0);
	/* it has gone indeed */
	fake.n_devices = 1;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, 3));
	assert_int_equal(fake.n_forgotten, 1);
	assert_non_null(device(t, 2));
}

/* Two lists of the same length, each without another device, say nothing of either. */
static void test_left_out_in_turn(void **state)
{
	Test *t = *state;

	set_device(1, 2, "mlx5_1", 1);
	fake.n_devices = 2;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, device(t, 2));
	answer(4);
	fake.n_forgotten = 0;
	fake.leave_out = 1;
	fake.leave_out_first = 1;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.leave_out == 0 && fake.leave_out_first == 0);
	barrier(t);
	assert_non_null(device(t, 1));
	assert_non_null(device(t, 2));
	assert_int_equal(fake.n_forgotten, 0);
}

/* A device that reports its end may have gone without another event. */
static void test_fatal_event(void **state)
{
	Test *t = *state;

	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE_FATAL);
	RUN_UNTIL(t, !device(t, 1));
}

/* REASON comes, and the port is in STATE then. What is left to be asked is asked too: later it
 * could be taken for what the next event asks. */
static void hear(Test *t, EventReason reason, uint32_t state)
{
	size_t before = fake.n_queries;

	tell(1, 1, reason);
	RUN_UNTIL(t, fake.n_queries > before);
	answer_rest(t, 1, state);
	barrier(t);
}

/* A link that goes down, and a port that goes, are worth a notice: the rest is information. */
static void test_notices(void **state)
{
	Test *t = *state;

	answer_rest(t, 1, PORT_STATE_ACTIVE);
	log_max_level = LOG_NOTICE;
	log_capture(t);
	hear(t, REASON_PORT_ERROR, PORT_STATE_DOWN);
	hear(t, REASON_PORT_ACTIVE, PORT_STATE_INIT);
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, 1));
	barrier(t);
	log_max_level = LOG_INFO;
	/* active -> down, active -> init and init -> absent, but not down -> active */
	assert_int_equal(log_count(t, "mlx5_0/1: "), 3);
}

/* The source follows the network interfaces of a port for as long as there is the port. */
static void test_interfaces_of_removed_port(void **state)
{
	Test *t = *state;

	fake.interfaces_forgotten = (PortSet){};
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, device(t, 1)->n_ports == 1);
	assert_true(port_set_has(&fake.interfaces_forgotten, 2));
	assert_false(port_set_has(&fake.interfaces_forgotten, 1));
}

/* How many signals of the manager name LIST as invalidated. */
static size_t count_named(const Test *t, const char *list)
{
	size_t n = 0;

	for (size_t i = 0; i < t->f->n_signals; i++)
		if (streq(sd_bus_message_get_path(t->f->signals[i]), RDMAD_ROOT_PATH) &&
		    streq(sd_bus_message_get_member(t->f->signals[i]), "PropertiesChanged"))
			n += fixture_changed(t->f->signals[i], RDMAD_INTERFACE_MANAGER, list) == 2;
	return n;
}

/* Every change so far has been said; forgets what was said. */
static void settle(Test *t)
{
	RUN_UNTIL(t, !timer_runs(t->manager->counts));
	barrier(t);
	fixture_forget(t->f);
}

/* The lists of the manager are named if an object came or went, also if there are as many as
 * before, and not if a port has changed. */
static void test_lists(void **state)
{
	Test *t = *state;
	size_t n = fake.n_queries;

	tell(1, EVENT_ALL_PORTS, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries > n);
	settle(t);
	answer(1);
	RUN_UNTIL(t, fixture_count_signals(t->f, RDMAD_ROOT_PATH, "PropertiesChanged") == 1);
	assert_int_equal(count_named(t, "Devices"), 0);
	assert_int_equal(count_named(t, "Ports"), 0);

	settle(t);
	n = fake.n_queries;
	set_device(0, 2, "mlx5_1", 2);
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries > n);
	RUN_UNTIL(t, count_named(t, "Devices") == 1 && count_named(t, "Ports") == 1);
	settle(t);
	answer(1);
	RUN_UNTIL(t, count_named(t, "Devices") == 1 && count_named(t, "Ports") == 1);

	settle(t);
	set_device(0, 2, "mlx5_1", 1);
	tell(2, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, count_named(t, "Ports") == 1);
	assert_int_equal(count_named(t, "Devices"), 0);
}

/* How often it was said which ports the device at PATH has. */
static size_t count_ports_said(const Test *t, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < t->f->n_signals; i++)
		if (streq(sd_bus_message_get_path(t->f->signals[i]), path) &&
		    streq(sd_bus_message_get_member(t->f->signals[i]), "PropertiesChanged"))
			n += fixture_changed(t->f->signals[i], RDMAD_INTERFACE_DEVICE, "Ports") > 0;
	return n;
}

/* No question to a device that hangs ends, after which its ports would be said. */
static void test_shrinks_while_it_hangs(void **state)
{
	Test *t = *state;
	size_t n = fake.n_queries;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries > n);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	settle(t);
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, device(t, 1)->n_ports == 1);
	barrier(t);
	assert_int_equal(count_ports_said(t, RDMAD_DEVICE_PREFIX "/1"), 1);
}

/* The first question to a device is open, and one of its ports has been read: a list that is made
 * now says nothing of it. Else the record, which has no such lists, would be played in another
 * order. */
static void test_listed_while_it_comes(void **state)
{
	Test *t = *state;
	size_t n = fake.n_queries;
	unsigned int lists;
	uint64_t id;

	set_device(1, 2, "mlx5_1", 2);
	fake.n_devices = 2;
	tell(2, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries > n);
	id = last_query()->id;
	answer_device(id, NULL);
	answer_port(id, 1, 0, 4);
	lists = fake.n_enumerated;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_enumerated > lists);
	barrier(t);
	assert_int_equal(count_ports_said(t, RDMAD_DEVICE_PREFIX "/2"), 0);
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	barrier(t);
	assert_int_equal(count_ports_said(t, RDMAD_DEVICE_PREFIX "/2"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_index_used_again),
		ANSWERED(test_shrinks_while_asked),
		ANSWERED(test_grows_while_asked),
		ANSWERED(test_too_many_ports),
		ANSWERED(test_notices),
		ANSWERED(test_renamed_while_asked),
		ANSWERED(test_parent_renamed_while_asked),
		ANSWERED(test_wedged_and_removed),
		ANSWERED(test_unknown_devices),
		ANSWERED(test_left_out),
		ANSWERED(test_left_out_in_turn),
		ANSWERED(test_fatal_event),
		ANSWERED(test_shrinks_while_it_hangs),
		ANSWERED(test_listed_while_it_comes),
		ANSWERED(test_interfaces_of_removed_port),
		ANSWERED(test_lists),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-devices", tests, NULL, NULL);
}
