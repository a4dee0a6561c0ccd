/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of workers, when one dies, lies, or cannot be started. */

#include "pool-fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "log.h"

/* Replaces that of the C library. It can fail as on a machine that has no descriptor left. */
static bool no_pidfd;

int pidfd_open(pid_t pid, unsigned int flags)
{
	if (!no_pidfd)
		return (int)syscall(SYS_pidfd_open, pid, flags);
	errno = ENFILE;
	return -1;
}

/* Likewise, as on a machine without memory. */
static bool no_timer;

int sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
		      uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	static __typeof__(sd_event_add_time) *original;

	if (no_timer)
		return -ENOMEM;
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "sd_event_add_time");
	return original(e, ret, clock, usec, accuracy, callback, userdata);
}

static void test_crash(void **state)
{
	Test *t = *state;
	uint64_t old, id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	ask(t, 9, "ok");
	old = expect_answer(t, ask(t, 1, "ok"));
	id = ask(t, 1, "crash");
	other = ask(t, 2, "ok");
	expect_error(t, id, -EPIPE, "worker died: signal 11");
	assert_int_not_equal(expect_answer(t, other), old);
	expect_event(t, 9, REASON_OVERRUN);
	expect_event(t, 1, REASON_OVERRUN); /* it was asked for less than its events may say */
	expect_answer(t, ask(t, 1, "ok"));

	expect_error(t, ask(t, 1, "exit"), -EPIPE, "worker died: exit status 3");
	id = ask(t, 3, "half-and-crash");
	expect_error(t, id, -EPIPE, "worker died: signal 11");
	assert_int_equal(count_kind(t, CALL_DEVICE, id), 1);
	RUN_UNTIL(t, count_children() <= 1);
}

/* A worker that dies after its answer: the answer counts. */
static void test_answer_and_crash(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "answer-and-crash");
	expect_answer(t, id);
	/* This may reach the worker that dies, or the next one. */
	other = ask(t, 2, "ok");
	wait_end(t, other);
	expect_event(t, 1, REASON_OVERRUN);
	expect_answer(t, ask(t, 3, "ok"));
}

static void test_hang_up(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	id = ask(t, 1, "hang-up");
	other = ask(t, 2, "ok");
	expect_error(t, id, -EPIPE, "worker closed its connection");
	expect_answer(t, other);
	RUN_UNTIL(t, count_children() == 1);
}

/* After the second crash in a row a device is on probation: the third crash does not touch the
 * others.
 */
static void test_crash_twice(void **state)
{
	Test *t = *state;
	uint64_t shared, own;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	wait_end(t, ask(t, 1, "crash"));
	wait_end(t, ask(t, 1, "crash"));
	shared = expect_answer(t, ask(t, 2, "ok"));
	for (unsigned int i = 0; i < 4; i++)
		expect_error(t, ask(t, 1, "crash"), -EPIPE, "worker died: signal 11");
	assert_int_equal(expect_answer(t, ask(t, 2, "ok")), shared);
	assert_int_equal(count_events(t, 2, REASON_OVERRUN), 0);
	own = expect_answer(t, ask(t, 1, "ok"));
	assert_int_not_equal(own, shared);
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	RUN_UNTIL(t, count_children() == 1);
}

/* Only crashes in a row count: an answer in between begins anew. */
static void test_crash_answer_crash(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	wait_end(t, ask(t, 1, "crash"));
	expect_answer(t, ask(t, 1, "ok"));
	wait_end(t, ask(t, 1, "crash"));
	shared = expect_answer(t, ask(t, 2, "ok"));
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 0);
}

/* A worker that ends at once: a query that it was sent fails, and one that it was not sent fails
 * when it has waited too long. There are pauses between restarts. */
/* Whether the query of device 1 that is asked now spares the library, as its answer says. */
static bool spares_library(Test *t, const char *what)
{
	uint64_t id = ask(t, 1, what);

	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id)
			return t->calls[i].open_error == -EAGAIN;
	fail();
	return false;
}

/* The library of a device that has failed is not asked for a while, by no worker. */
static void test_library_failed(void **state)
{
	Test *t = *state;
	uint64_t pid;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	assert_false(spares_library(t, "ok"));
	assert_false(spares_library(t, "library"));
	assert_true(spares_library(t, "ok"));
	pid = expect_answer(t, ask(t, 2, "ok"));
	expect_error(t, ask(t, 2, "exit"), -EPIPE, "worker died: exit status 3");
	assert_true(spares_library(t, "ok"));
	assert_int_not_equal(expect_answer(t, ask(t, 2, "ok")), pid);
	RUN_FOR(t, POOL_LIBRARY_PAUSE_USEC - USEC_PER_SEC, false);
	assert_true(spares_library(t, "ok"));
	RUN_FOR(t, USEC_PER_SEC, false);
	assert_false(spares_library(t, "ok"));
}

static void test_exit_at_once(void **state)
{
	Test *t = *state;
	uint64_t ids[6], began = now_usec();

	start(t, "/bin/false", PATIENT_USEC, &quick);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(wait_end(t, ids[i])->error, -EPIPE);
	/* The pauses between the six are 0, 10, 20, 40 and 40 ms. */
	assert_true(now_usec() - began >= 110 * USEC_PER_MSEC);
}

/* No worker can be started: queries fail when they have waited too long. */
static void test_no_worker(void **state)
{
	Test *t = *state;
	uint64_t ids[6];

	start(t, "/nonexistent/rdmad-query", PATIENT_USEC, &quick);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	assert_int_equal(t->n, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		expect_error(t, ids[i], -EPIPE, "no worker could be kept running");
}

/* There are no descriptors for a worker, and then there are again: no query fails. */
static void test_no_descriptors(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	struct rlimit limit, few;
	siginfo_t status;
	int taken[64];
	size_t n = 0;
	uint64_t id;

	timing.queue_usec = GUARD_USEC;
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < ARRAY_SIZE(taken) && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	id = ask(t, 1, "ok");
	assert_int_equal(waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	while (n > 0)
		close(taken[--n]);
	expect_answer(t, id);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A worker that cannot be watched is ended at once, and nothing is left of it. */
static void test_no_pidfd(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	siginfo_t status;
	uint64_t id;

	timing.queue_usec = GUARD_USEC;
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	no_pidfd = true;
	id = ask(t, 1, "ok");
	no_pidfd = false;
	assert_int_equal(waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	expect_answer(t, id);
}

/* The same, when it was started but cannot be put on the event loop. */
static void test_no_timer(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	siginfo_t status;
	uint64_t id;

	timing.queue_usec = GUARD_USEC;
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	/* The pool knows the device then, and has no worker. */
	wait_end(t, ask(t, 1, "crash"));
	RUN_UNTIL(t, count_children() == 0);
	no_timer = true;
	id = ask(t, 1, "ok");
	no_timer = false;
	assert_int_equal(waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	expect_answer(t, id);
}

static void test_lies(void **state)
{
	static const struct {
		const char *what, *rule;
	} lies[] = {
		{"garbage", "not a message"},
		{"truncated", "wrong size for its type"},
		{"oversized", "not a message"},
		{"wrong-id", "an answer to another question"},
		{"wrong-device", "an answer to another question"},
		{"wrong-port", "a port that was not asked for"},
		{"port-twice", "a port twice"},
		{"port-first", "a port before its device"},
		{"device-twice", "a device not in the first place"},
		{"device-with-port", "a device with a port number"},
		{"query-back", "a message of the other direction"},
		{"early-end", "an end without all ports"},
		{"empty-end", "an end without the device"},
		{"table-first", "a table without its object"},
		{"table-of-other-port", "a table without its object"},
		{"table-twice", "a table twice"},
		{"table-unfinished", "a table that does not go on"},
		{"table-in-the-middle", "a page that does not continue its table"},
		{"table-not-supplied", "a table that is not supplied"},
		{"chardevs-twice", "a table twice"},
		{"table-too-large", "table size out of bounds"},
		{"bad-event", "reason unknown"},
	};
	Test *t = *state;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	for (uint32_t i = 0; i < ARRAY_SIZE(lies); i++) {
		uint64_t id = ask(t, i, lies[i].what), other = ask(t, 1000 + i, "ok");
		char text[128];

		snprintf(text, sizeof(text), "worker broke the protocol: %s", lies[i].rule);
		expect_error(t, id, -EPIPE, text);
		expect_answer(t, other);
		assert_int_equal(count_kind(t, CALL_END, id), 1);
	}
	RUN_UNTIL(t, count_children() == 1);
}

/* Five ports may have 288 KiB each, and six may not. */
static void test_tables_together(void **state)
{
	Test *t = *state;
	Query q;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	q = make_query(t, 1, "tables-together");
	for (uint32_t port = 3; port <= 5; port++)
		port_set_add(&q.ports, port);
	assert_int_equal(pool_query(t->pool, &q), 0);
	wait_end(t, q.id);
	assert_int_equal(count_kind(t, CALL_PORT, q.id), 5);
	q = make_query(t, 1, "tables-together");
	for (uint32_t port = 3; port <= 6; port++)
		port_set_add(&q.ports, port);
	assert_int_equal(pool_query(t->pool, &q), 0);
	expect_error(t, q.id, -EPIPE,
		     "worker broke the protocol: the tables of the device are too large together");
}

/* A worker answers more than it was asked, or without being asked. */
static void test_unasked(void **state)
{
	Test *t = *state;
	Query q;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	q = make_query(t, 1, "port-twice");
	q.attributes = false;
	assert_int_equal(pool_query(t->pool, &q), 0);
	expect_error(t, q.id, -EPIPE, "worker broke the protocol: a device that was not asked for");
	q = make_query(t, 2, "ok");
	q.attributes = false;
	assert_int_equal(pool_query(t->pool, &q), 0);
	wait_end(t, q.id);
	assert_int_equal(count_kind(t, CALL_DEVICE, q.id), 0);

	expect_answer(t, ask(t, 3, "table-after-end"));
	expect_event(t, 3, REASON_OVERRUN);
	expect_answer(t, ask(t, 3, "ok"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_crash),
		TEST(test_answer_and_crash),
		TEST(test_hang_up),
		TEST(test_crash_twice),
		TEST(test_crash_answer_crash),
		TEST(test_exit_at_once),
		CLOCK(test_library_failed),
		TEST(test_no_worker),
		TEST(test_no_descriptors),
		TEST(test_no_pidfd),
		TEST(test_no_timer),
		TEST(test_lies),
		TEST(test_tables_together),
		TEST(test_unasked),
	};

	/* The warnings are expected here. */
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	return cmocka_run_group_tests_name("pool-crash", tests, NULL, NULL);
}
