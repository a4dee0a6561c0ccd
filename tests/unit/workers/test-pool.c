/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of workers: answers, events, and devices that are forgotten. */

#include "pool-fixture.h"

#include <sched.h>
#include <sys/wait.h>

#include "log.h"

static void test_answers(void **state)
{
	Test *t = *state;
	uint64_t ids[40], pid = 0;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	assert_int_equal(count_children(), 0); /* the worker starts with the first query */
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	assert_int_equal(t->n, 0); /* pool_query() itself does not call the handler */
	expect_refused(t, 39, -EBUSY);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		uint64_t by = expect_answer(t, ids[i]);

		assert_true(i == 0 || by == pid);
		pid = by;
	}
	/* Each in order: device, ports with their tables, end */
	assert_int_equal(t->n, 4 * ARRAY_SIZE(ids));
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const Call *c = &t->calls[4 * (size_t)i];

		assert_int_equal(c[0].kind, CALL_DEVICE);
		assert_int_equal(c[0].n_table, 1);
		assert_int_equal(c[1].kind, CALL_PORT);
		assert_int_equal(c[1].port, 1);
		assert_int_equal(c[1].n_table, 100);
		assert_int_equal(c[2].kind, CALL_PORT);
		assert_int_equal(c[2].port, 2);
		assert_int_equal(c[2].n_table, 100);
		assert_int_equal(c[3].kind, CALL_END);
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(c[k].id, ids[i]);
	}
	assert_int_equal(count_children(), 1);
}

/* Many devices are read in parallel, and each stays with its worker. */
static void test_shared_out(void **state)
{
	Test *t = *state;
	uint64_t ids[2 * POOL_MAIN_DEVICES + 1], pids[2] = {};

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	pool_set_main(t->pool, 2);
	for (unsigned int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
			ids[i] = ask(t, i, "ok");
		for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
			uint64_t by = expect_answer(t, ids[i]), *pid;

			pid = &pids[i / POOL_MAIN_DEVICES % 2];
			assert_true(*pid == 0 || by == *pid);
			*pid = by;
		}
	}
	assert_true(pids[0] != pids[1]);
	assert_int_equal(count_children(), 2);
}

/* The CPUs of the machine, instead of what the C library says; 0: it cannot say. */
static int n_cpus;

int sched_getaffinity(_unused_ pid_t pid, size_t size, cpu_set_t *ret)
{
	if (n_cpus == 0) {
		errno = EINVAL; /* there are more than a set has room for */
		return -1;
	}
	CPU_ZERO_S(size, ret);
	for (int i = 0; i < n_cpus; i++)
		CPU_SET_S((size_t)i, size, ret);
	return 0;
}

/* A pool has a worker for each CPU, up to a limit, and one at least. */
static void test_cpus(void **state)
{
	static const unsigned int cases[][2] = {{0, 1}, {1, 1}, {3, 3}, {64, POOL_MAIN_MAX}};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		siginfo_t status;
		uint64_t last = 0;

		t->n = 0;
		n_cpus = (int)cases[i][0];
		start_as_is(t, FAKE_WORKER, PATIENT_USEC);
		for (uint32_t k = 0; k <= cases[i][1] * POOL_MAIN_DEVICES; k++)
			last = ask(t, k, "ok");
		RUN_UNTIL(t, find_end(t, last));
		assert_int_equal(count_children(), cases[i][1]);
		t->pool = pool_free(t->pool);
		while (waitid(P_ALL, 0, &status, WEXITED) == 0)
			;
	}
}

static void test_errors_pass(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	expect_error(t, ask(t, 1, "device-error"), -ENODEV, "no such device");
	id = ask(t, 1, "port-error");
	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id)
			assert_int_equal(t->calls[i].error, -EIO);
}

/* The reasons why a device is not open and why rows are missing reach the core with the device and
 * with each port, though the port has no error. */
static void test_open_error_passes(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "closed");
	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id) {
			assert_int_equal(t->calls[i].error, 0);
			assert_int_equal(t->calls[i].open_error, -EACCES);
			assert_true(mask_has(&t->calls[i].unanswered, PORT_ATTR_vport));
		} else if (t->calls[i].kind == CALL_DEVICE && t->calls[i].id == id) {
			assert_int_equal(t->calls[i].open_error, -EACCES);
			assert_true(mask_has(&t->calls[i].unanswered, DEVICE_ATTR_num_lag_ports));
		}
}

static void test_arguments(void **state)
{
	static char a[] = "hbl*", b[] = "mlx?";
	Test *t = *state;
	char *globs[] = {a, b, NULL};
	uint64_t id;

	t->config.hold_contexts = false;
	t->config.hbl = true;
	t->config.never_open = globs;
	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "ok");
	expect_answer(t, id);
	assert_string_equal(find_device(t, id)->argv,
			    "hold=no hbl=yes timeout=30000 never-open=hbl* never-open=mlx?");
	/* The worker has standard input, output, error, and its connection. */
	assert_int_equal(expect_answer(t, ask(t, 1, "descriptors")), 4);
}

static void test_forget(void **state)
{
	Test *t = *state;
	uint64_t sent, queued, again, last, asked = 1;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	assert_false(pool_forget(t->pool, 77, &asked)); /* it was never asked about */
	assert_int_equal(asked, 0);
	sent = ask(t, 0, "ok");
	for (uint32_t i = 1; i < 30; i++)
		ask(t, i, "ok");
	queued = ask(t, 30, "ok"); /* it is not sent yet: WORKER_WINDOW */
	assert_false(pool_forget(t->pool, 0, &asked));
	assert_int_equal(asked, sent);
	forget(t, 30);
	again = ask(t, 0, "ok");
	last = ask(t, 31, "ok");
	expect_answer(t, again);
	expect_answer(t, last);
	assert_false(pool_forget(t->pool, 31, &asked));
	assert_int_equal(asked, 0); /* it has ended */
	assert_int_equal(count_kind(t, CALL_DEVICE, sent), 0);
	assert_int_equal(count_kind(t, CALL_END, sent), 0);
	assert_int_equal(count_kind(t, CALL_END, queued), 0);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == last)
			assert_int_equal(t->calls[i].forgotten, 2);
}

static void test_forget_in_handler(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	t->forget_in_port = 1;
	id = ask(t, 1, "ok");
	other = ask(t, 2, "ok");
	wait_end(t, other);
	assert_int_equal(count_kind(t, CALL_PORT, id), 1);
	assert_int_equal(count_kind(t, CALL_END, id), 0);
	t->forget_in_port = 0;
	t->forget_in_end = 3;
	t->query_in_end = 4;
	wait_end(t, ask(t, 3, "ok"));
	RUN_UNTIL(t, find_end(t, t->next_id));
	t->forget_in_end = 5;
	wait_end(t, ask(t, 5, "crash"));
	t->forget_in_end = 6;
	wait_end(t, ask(t, 6, "crash"));
	expect_answer(t, ask(t, 6, "ok"));
}

/* On probation: forgetting the device ends the worker whose answer is being read. */
static void test_forget_in_handler_on_probation(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	wait_end(t, ask(t, 1, "crash"));
	wait_end(t, ask(t, 1, "crash"));
	t->forget_in_port = 1;
	id = ask(t, 1, "ok");
	RUN_UNTIL(t, count_kind(t, CALL_PORT, id) == 1);
	RUN_UNTIL(t, count_children() == 0);
	assert_int_equal(count_kind(t, CALL_END, id), 0);
}

static void test_events(void **state)
{
	Test *t = *state;
	Call *all = &t->calls[0], *one = &t->calls[1];

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	expect_answer(t, ask(t, 5, "events"));
	/* That of device 6 is missing, which the worker was not asked about; port 1025 becomes all
	 * ports. */
	assert_int_equal(t->n, 6);
	assert_int_equal(all->kind, CALL_EVENT);
	assert_int_equal(all->event.device, 5);
	assert_int_equal(all->event.port, EVENT_ALL_PORTS);
	assert_int_equal(all->event.reason, REASON_PORT_ERROR);
	assert_int_equal(one->kind, CALL_EVENT);
	assert_int_equal(one->event.port, 2);
	assert_int_equal(one->event.reason, REASON_PORT_ACTIVE);
}

/* 2000 events: the first ones are reported, and one event for the rest. The last, which has another
 * reason, is not lost. */
static void test_burst(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	expect_answer(t, ask(t, 1, "burst"));
	expect_event(t, 1, REASON_OVERRUN);
	expect_event(t, 1, REASON_CLIENT_REREGISTER);
	assert_in_range(count_events(t, 1, REASON_GID_CHANGE), 1, N_CALLS - 100);
	expect_answer(t, ask(t, 1, "ok"));
}

/* Events without end: the worker is replaced. */
static void test_flood(void **state)
{
	Test *t = *state;
	uint64_t old;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	old = expect_answer(t, ask(t, 1, "flood"));
	RUN_UNTIL(t, (t->n = 0, process_state(old)) == 0);
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), old);
}

/* Messages that the socket has no room for are sent later. */
static void test_socket_full(void **state)
{
	Test *t = *state;
	uint64_t id = 0;

	setenv("FAKE_WORKER_STOP_AT_FORGET", "1", 1);
	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	unsetenv("FAKE_WORKER_STOP_AT_FORGET");
	for (uint32_t i = 0; i < 1000; i++) {
		t->n = 0;
		setenv("FAKE_WORKER_STOP_AT_FORGET", "1", 1);
		id = ask(t, i, "ok");
		if (i % 10 == 0)
			wait_end(t, id);
	}
	unsetenv("FAKE_WORKER_STOP_AT_FORGET");
	RUN_UNTIL(t, (t->n = find_end(t, id) ? t->n : 0, find_end(t, id)));
	forget(t, 0);
	RUN_UNTIL(t, child_stopped());
	for (uint32_t i = 1; i < 1000; i++)
		forget(t, i);
	t->n = 0;
	id = ask(t, 5000, "ok");
	continue_children();
	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id)
			assert_int_equal(t->calls[i].forgotten, 1000);
}

/* The pool is freed while workers hang, start and answer. */
static void test_end_of_all(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop"));
	wait_end(t, ask(t, 2, "crash"));
	wait_end(t, ask(t, 2, "crash"));
	ask(t, 2, "ok");
	for (uint32_t i = 3; i < 30; i++)
		ask(t, i, "ok");
	forget(t, 4);
	t->pool = pool_free(t->pool);
	assert_null(pool_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answers),
		TEST(test_shared_out),
		TEST(test_cpus),
		TEST(test_errors_pass),
		TEST(test_open_error_passes),
		TEST(test_arguments),
		TEST(test_forget),
		TEST(test_forget_in_handler),
		TEST(test_forget_in_handler_on_probation),
		TEST(test_events),
		TEST(test_burst),
		TEST(test_flood),
		TEST(test_socket_full),
		TEST(test_end_of_all),
	};

	/* The warnings are expected here. */
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	/* what ctest of Debian 11 leaves open for each test; see test_arguments() */
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
		close(fd);
	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
