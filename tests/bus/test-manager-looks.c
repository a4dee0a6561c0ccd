/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks at everything: READY, Refresh(), the reconcile timer. */

#include "fake-source.h"

/* Without an enumeration Refresh() has not been carried out, and that is said; the next one comes
 * by itself. */
static void test_cannot_enumerate(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t synced = last_sync(t);

	set_device(1, 2, "rocep1", 1);
	fake.n_devices = 2;
	fake.enumerate_error = -EMFILE;
	call_refresh(t, &c);
	RUN_UNTIL(t, c.done || fake.n_queries == 2);
	if (!c.done)
		answer(4);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_true(last_sync(t) == synced);
	fake.enumerate_error = 0;
	RUN_UNTIL(t, device(t, 2));
}

/* The same with nothing there that could be asked. */
static void test_cannot_enumerate_nothing(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.n_devices = 0;
	fake.enumerate_error = -EMFILE;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_enumerated == 1);
	call_refresh(t, &c);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	fake.enumerate_error = 0;
	fake.n_devices = 1;
	RUN_UNTIL(t, device(t, 1));
}

/* Who calls all the time does not keep the others waiting. */
static void test_refresh_under_refresh(void **state)
{
	Test *t = *state;
	Call first = {}, others[20] = {};
	size_t n = 0;

	call_refresh(t, &first);
	RUN_UNTIL(t, fake.n_queries == 2);
	while (!first.done && n < ARRAY_SIZE(others)) {
		size_t asked = fake.n_queries;

		/* one more comes while the device is being asked */
		call_refresh(t, &others[n++]);
		barrier(t);
		answer(4);
		RUN_UNTIL(t, first.done || fake.n_queries > asked);
	}
	assert_true(n <= 2);
	wait_call(t, &first, "");
	/* and those that came later get a look that began after their call */
	for (size_t i = 0; i < n; i++) {
		while (!others[i].done) {
			size_t asked = fake.n_queries;

			RUN_UNTIL(t, others[i].done || fake.n_queries > asked);
			if (!others[i].done)
				answer(4);
		}
		wait_call(t, &others[i], "");
	}
	assert_true(fake.n_queries >= 3);
}

/* A look for Refresh() begins a second after the one before, at the earliest. Who calls within that
 * second shares it; an event does not wait for it. */
static void test_refresh_in_a_loop(void **state)
{
	Test *t = *state;
	Manager *m = t->manager;
	Call first = {}, second = {}, third = {};
	uint64_t begun = monotonic_usec(m);

	call_refresh(t, &first);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_true(last_query()->parts & READ_PKEYS);
	assert_true(m->refresh_usec >= begun + USEC_PER_SEC);
	answer(4);
	wait_call(t, &first, "");

	/* the second is long, so that none of what follows takes longer */
	m->refresh_usec = UINT64_MAX / 2;
	call_refresh(t, &second);
	call_refresh(t, &third);
	barrier(t);
	assert_int_equal(fake.n_queries, 2);
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(last_query()->attributes || last_query()->parts & READ_PKEYS);
	answer(1);
	RUN_UNTIL(t, fake.n_queries == 4);
	assert_false(last_query()->attributes || last_query()->parts & READ_PKEYS);
	answer(1);
	barrier(t);
	assert_int_equal(fake.n_queries, 4);
	assert_false(second.done || third.done);

	/* it is over */
	m->refresh_usec = 0;
	assert_true(timer_runs(m->refresh_pace));
	sd_event_source_set_time(m->refresh_pace, 0);
	RUN_UNTIL(t, fake.n_queries == 5);
	assert_true(last_query()->attributes && last_query()->parts & READ_PKEYS);
	answer(4);
	wait_call(t, &second, "");
	wait_call(t, &third, "");
	assert_int_equal(fake.n_queries, 5);
}

/* A device that Refresh() itself finds is part of it. */
static void test_refresh_finds_device(void **state)
{
	Test *t = *state;
	Call c = {};

	set_device(0, 2, "rocep1", 1);
	call_refresh(t, &c);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->device, 2);
	barrier(t);
	assert_false(c.done);
	answer(4);
	wait_call(t, &c, "");
}

/* A look at everything is not over before the devices that it finds have answered, whatever began
 * it. */
static void test_overrun_finds_device(void **state)
{
	Test *t = *state;
	uint64_t synced = last_sync(t);

	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, 1));
	set_device(0, 2, "rocep1", 1);
	fake.n_devices = 1;
	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_OVERRUN);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->device, 2);
	barrier(t);
	assert_true(last_sync(t) == synced);
	answer(4);
	assert_true(last_sync(t) > synced);
}

/* READY waits for a device that comes before those which have answered: devices are in the order of
 * their indices, and an index can be used again. */
static void test_ready_waits_for_earlier_device(void **state)
{
	Test *t = *state;
	uint64_t id_2, id_3;

	set_device(0, 2, "mlx5_2", 1);
	set_device(1, 3, "mlx5_3", 1);
	fake.n_devices = 2;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 2);
	id_2 = fake.queries[0].id;
	id_3 = fake.queries[1].id;
	answer_device(id_2, NULL);
	answer_port(id_2, 1, 0, 4);
	answer_end(id_2, 0, "");
	set_device(2, 1, "mlx5_1", 1);
	fake.n_devices = 3;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer_device(id_3, NULL);
	answer_port(id_3, 1, 0, 4);
	answer_end(id_3, 0, "");
	assert_false(t->manager->ready);
	assert_int_equal(last_query()->device, 1);
	answer(4);
	assert_true(t->manager->ready);
}

/* READY does not wait for ever for a device that does not answer. The device is published when it
 * is known to hang, and what is not known of it is not. */
static void test_ready_without_silent_device(void **state)
{
	Test *t = *state;
	uint64_t id_1, id_2;

	set_device(1, 2, "mlx5_2", 1);
	fake.n_devices = 2;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 2);
	id_1 = fake.queries[0].id;
	id_2 = fake.queries[1].id;
	answer_device(id_2, NULL);
	answer_port(id_2, 1, 0, 4);
	answer_end(id_2, 0, "");
	assert_false(t->manager->ready);
	RUN_UNTIL(t, t->manager->served);
	assert_true(device_port(device(t, 2), 1)->published);
	assert_false(device(t, 1)->published);
	answer_end(id_1, -ETIMEDOUT, "no answer");
	assert_true(device(t, 1)->published);
	assert_true(device_port(device(t, 1), 1)->published);
	assert_true(port(t, 1, 1)->stale);
	assert_false(mask_has(&device_port(device(t, 1), 1)->now.supplied, PORT_ATTR_state));
}

/* READY waits as long as devices answer, however many there are. */
static void test_ready_waits_while_devices_answer(void **state)
{
	Test *t = *state;
	uint64_t id_2;

	set_device(1, 2, "mlx5_2", 1);
	fake.n_devices = 2;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 2);
	id_2 = fake.queries[1].id;
	RUN_UNTIL(t, t->manager->start_steps == 4);
	answer_device(id_2, NULL);
	answer_port(id_2, 1, 0, 4);
	answer_end(id_2, 0, "");
	RUN_UNTIL(t, t->manager->start_steps == 5);
	assert_false(t->manager->ready);
	RUN_UNTIL(t, t->manager->start_steps == 6);
	assert_true(t->manager->ready);
}

static int setup_reconcile(void **state)
{
	static const Config config = {.query_timeout_usec = USEC_PER_SEC,
				      .reconcile_usec = 50 * USEC_PER_MSEC};

	return setup_with(state, &config);
}

/* The periodic look comes again and again. */
static void test_reconcile(void **state)
{
	Test *t = *state;
	uint64_t synced;

	start(t);
	for (size_t n = 2; n <= 4; n++) {
		answer(4);
		synced = last_sync(t);
		RUN_UNTIL(t, fake.n_queries == n);
		assert_true(last_query()->attributes && last_query()->parts & READ_PKEYS);
		/* it is not over before it has been answered */
		assert_true(last_sync(t) == synced);
	}
	answer(4);
	assert_true(last_sync(t) > synced);
}

/* Waits for question number N, the first being 1. All before it have been answered. */
static const Query *question(Test *t, size_t n)
{
	RUN_UNTIL(t, fake.n_queries >= n);
	assert_int_equal(fake.n_queries, n);
	return last_query();
}

/* Answers the last question; only port 2 has STATE. */
static void answer_port_2(uint32_t state)
{
	const Query q = *last_query();

	if (q.attributes)
		answer_device(q.id, NULL);
	if (port_set_has(&q.ports, 1))
		answer_port(q.id, 1, 0, 4);
	if (port_set_has(&q.ports, 2))
		answer_port(q.id, 2, 0, state);
	answer_end(q.id, 0, "");
}

/* The kernel says when the P_Keys of this device change: periodic looks do not read them, unless
 * they find something that no event has told of. */
static void test_reconcile_pkeys(void **state)
{
	Test *t = *state;
	size_t n = 1;

	fake.events = EVENTS_VERBS;
	start(t);
	assert_true(last_query()->parts & READ_PKEYS);
	for (unsigned int i = 0; i < 3; i++) {
		answer(4);
		assert_true(question(t, ++n)->attributes);
		assert_false(last_query()->parts & READ_PKEYS);
	}
	/* port 2 is down, and nobody has said so */
	answer_port_2(1);
	assert_true(question(t, ++n)->parts & READ_PKEYS);
	assert_true(port_set_has(&last_query()->ports, 2));
	answer_port_2(1);
	/* what an event has told of is no sign that another was missed */
	assert_false(question(t, ++n)->parts & READ_PKEYS);
	answer_port_2(1);
	tell(1, 2, REASON_PORT_ERROR);
	assert_false(question(t, ++n)->parts & READ_PKEYS);
	answer_port_2(2);
	assert_false(question(t, ++n)->parts & READ_PKEYS);
}

/* Since some time ago the kernel does not say it any more. */
static void test_reconcile_unheard_pkeys(void **state)
{
	Test *t = *state;

	fake.events = EVENTS_VERBS;
	start(t);
	answer(4);
	assert_false(question(t, 2)->parts & READ_PKEYS);
	fake.events = EVENTS_POLLED;
	answer(4);
	/* they are read at once, and then in each look */
	assert_true(device(t, 1)->schedule->later_ports[1].left & READ_PKEYS);
	for (size_t n = 3; n <= 5; n++) {
		assert_true(question(t, n)->parts & READ_PKEYS);
		answer(4);
	}
}

/* The name comes with the next connection. */
static void test_bus_goes_at_the_start(void **state)
{
	Test *t = *state;
	Call c = {};
	int code;

	start(t);
	assert_true(sd_bus_detach_event(t->f->bus) >= 0);
	fixture_stop_bus(t->f);
	RUN_UNTIL(t, timer_runs(t->manager->reconnect));
	answer(4);
	assert_true(t->manager->ready);
	assert_int_equal(sd_event_get_exit_code(t->event, &code), -ENODATA);
	fixture_start_bus(t->f);
	fixture_connect(t->f);
	assert_true(sd_bus_attach_event(t->f->bus, t->event, 0) >= 0);
	call_refresh(t, &c);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	wait_call(t, &c, "");
}

static int refuse_source(_unused_ void *userdata, _unused_ const SourceHandler *handler,
			 _unused_ void *handler_userdata, _unused_ Source **ret)
{
	return -EADDRINUSE;
}

/* Without a source there is no manager. */
static void test_no_source(void **state)
{
	static const Config config = {.query_timeout_usec = USEC_PER_SEC};
	Test *t = *state;
	Manager *m = NULL;

	assert_int_equal(manager_new(&(ManagerSetup){.event = t->event,
						     .config = &config,
						     .bus_address = t->f->address,
						     .open_source = refuse_source},
				     &m),
			 -EADDRINUSE);
	assert_null(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_cannot_enumerate),
		NEW(test_cannot_enumerate_nothing),
		ANSWERED(test_refresh_under_refresh),
		ANSWERED(test_refresh_in_a_loop),
		ANSWERED(test_refresh_finds_device),
		ANSWERED(test_overrun_finds_device),
		NEW(test_ready_waits_for_earlier_device),
		NEW(test_bus_goes_at_the_start),
		NEW(test_no_source),
		NEW(test_ready_without_silent_device),
		NEW(test_ready_waits_while_devices_answer),
		cmocka_unit_test_setup_teardown(test_reconcile, setup_reconcile, teardown),
		cmocka_unit_test_setup_teardown(test_reconcile_pkeys, setup_reconcile, teardown),
		cmocka_unit_test_setup_teardown(test_reconcile_unheard_pkeys, setup_reconcile,
						teardown),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-looks", tests, NULL, NULL);
}
