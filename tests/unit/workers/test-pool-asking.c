/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of workers, when one asks by itself because of an event. */

#include "pool-fixture.h"

#include <signal.h>

#include "log.h"

/* Runs the loop until there are N calls of KIND about query ID, and returns the last of them. */
static const Call *wait_calls(Test *t, unsigned int kind, uint64_t id, unsigned int n)
{
	const Call *last = NULL;

	RUN_UNTIL(t, count_kind(t, kind, id) == n);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == kind && t->calls[i].id == id)
			last = &t->calls[i];
	return last;
}

static void expect_own_error(Test *t, uint64_t id, int error, const char *text)
{
	const Call *end = wait_calls(t, CALL_END, id, 2);

	assert_string_equal(end->text, text);
	assert_int_equal(end->error, error);
}

/* Asks device 1 and waits until the worker has answered, and has stopped after that. */
static uint64_t ask_stopping(Test *t, const char *what)
{
	uint64_t id = ask(t, 1, what);

	wait_end(t, id);
	RUN_UNTIL(t, child_stopped());
	return id;
}

/* The answer comes like any other, after the event and the word that the worker asks. */
static void test_own(void **state)
{
	Test *t = *state;
	uint64_t id, pid;
	const Call *c;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	id = ask(t, 1, "own");
	pid = expect_answer(t, id);
	wait_calls(t, CALL_END, id, 2);
	assert_int_equal(t->n, 4 + 4);
	c = &t->calls[4];
	assert_int_equal(c[0].kind, CALL_EVENT);
	assert_int_equal(c[0].event.device, 1);
	assert_int_equal(c[0].event.port, 1);
	assert_int_equal(c[0].event.reason, REASON_LID_CHANGE);
	assert_int_equal(c[1].kind, CALL_ASKING);
	assert_int_equal(c[1].id, id);
	assert_int_equal(c[1].port, 1);
	assert_string_equal(c[1].text, "own"); /* which the worker has not said */
	assert_int_equal(c[2].kind, CALL_PORT);
	assert_int_equal(c[2].id, id);
	assert_int_equal(c[2].port, 1);
	assert_int_equal(c[2].n_table, 100);
	assert_int_equal(c[3].kind, CALL_END);
	assert_int_equal(c[3].error, 0);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), pid);
}

/* While it is under way the device takes no other query. */
static void test_own_is_under_way(void **state)
{
	Test *t = *state;
	uint64_t id, asked;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	id = ask(t, 1, "own-then-stop");
	wait_calls(t, CALL_ASKING, id, 1);
	expect_refused(t, 1, -EBUSY);
	RUN_UNTIL(t, child_stopped());
	pool_forget(t->pool, 1, &asked);
	assert_int_equal(asked, id);
	continue_children();
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, id), 1);
}

/* The core does not want the answer: the event is there all the same. */
static void test_own_refused(void **state)
{
	Test *t = *state;
	uint64_t id, pid;

	t->refuses = true;
	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	id = ask(t, 1, "own");
	pid = expect_answer(t, id);
	wait_calls(t, CALL_ASKING, id, 1);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), pid);
	assert_int_equal(count_events(t, 1, REASON_LID_CHANGE), 1);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
	assert_int_equal(count_kind(t, CALL_PORT, id), 2);
}

/* The clock of the core runs from the word that the worker asks. */
static void test_own_hangs(void **state)
{
	Test *t = *state;
	uint64_t id, pid, other;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	id = ask(t, 1, "own-then-stop");
	pid = expect_answer(t, id);
	wait_calls(t, CALL_ASKING, id, 1);
	other = ask(t, 2, "ok");
	assert_int_not_equal(expect_answer(t, other), pid); /* it does not wait for a time-out */
	expect_own_error(t, id, -ETIMEDOUT,
			 "no answer for 1000 ms while reading port 1 of own-then-stop");
	expect_refused(t, 1, -ETIMEDOUT);
	kill((pid_t)pid, SIGCONT);
	expect_event(t, 1, REASON_RECOVERED);
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, id), 2);
}

static void test_own_hangs_in_end(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	id = ask(t, 1, "own-then-stop-in-end");
	expect_own_error(t, id, -ETIMEDOUT,
			 "no answer for 1000 ms while reading the end of own-then-stop-in-end");
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
}

/* The worker hangs before it says that it asks: the next query of the core finds that. */
static void test_hangs_before_own(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	ask_stopping(t, "late-own");
	id = ask(t, 1, "ok");
	expect_error(t, id, -ETIMEDOUT, "no answer for 1000 ms while reading ok");
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	expect_answer(t, ask(t, 1, "ok"));
}

/* The device hangs also if the core has not taken the query for its own. */
static void test_own_refused_hangs(void **state)
{
	Test *t = *state;
	uint64_t id, behind;

	t->refuses = true;
	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	id = ask(t, 1, "own-then-stop");
	wait_calls(t, CALL_ASKING, id, 1);
	behind = ask(t, 1, "ok");
	expect_error(t, behind, -ETIMEDOUT,
		     "no answer for 1000 ms while reading port 1 of own-then-stop");
	expect_refused(t, 1, -ETIMEDOUT);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, behind), 1);
	assert_int_equal(count_kind(t, CALL_DEVICE, behind), 0);
}

static void test_own_crashes(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "own-then-crash");
	expect_own_error(t, id, -EPIPE, "worker died: signal 11");
	expect_answer(t, ask(t, 1, "ok"));
}

/* A query of the core that has crossed the worker's own, about the same device, is answered after
 * it. */
static void test_crossing(void **state)
{
	Test *t = *state;
	uint64_t first, second, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	first = ask_stopping(t, "late-own");
	second = ask(t, 1, "ok");
	other = ask(t, 2, "ok");
	continue_children();
	assert_int_equal(expect_answer(t, second), expect_answer(t, other));
	assert_int_equal(count_kind(t, CALL_ASKING, first), 1);
	assert_int_equal(count_events(t, 1, REASON_LID_CHANGE), 1);
	assert_int_equal(count_kind(t, CALL_END, first), 1);
	assert_int_equal(count_kind(t, CALL_PORT, first), 2);
	assert_int_equal(count_children(), 1);
}

/* The core has been slow: there are two before the answer to its query. */
static void test_crossing_twice(void **state)
{
	Test *t = *state;
	uint64_t first, second, old;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	first = ask_stopping(t, "late-own-twice");
	old = expect_answer(t, first);
	second = ask(t, 1, "ok");
	continue_children();
	assert_int_equal(expect_answer(t, second), old);
	assert_int_equal(count_kind(t, CALL_ASKING, first), 2);
	assert_int_equal(count_kind(t, CALL_END, first), 1);
}

/* But there is an end to that, though each of them is answered in time. */
static void test_crossing_for_ever(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, 400 * USEC_PER_MSEC, &slow);
	ask_stopping(t, "late-own-for-ever");
	id = ask(t, 2, "ok");
	continue_children();
	expect_error(t, id, -EPIPE,
		     "worker broke the protocol: queries of its own in place of that of the core");
}

/* Both stay with the worker that is slow, and the others get another one. */
static void test_crossing_slow(void **state)
{
	Test *t = *state;
	uint64_t old, second, other;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	old = expect_answer(t, ask_stopping(t, "late-own-dawdles"));
	second = ask(t, 1, "ok");
	other = ask(t, 2, "ok");
	continue_children();
	assert_int_not_equal(expect_answer(t, other), old);
	assert_int_equal(expect_answer(t, second), old);
	expect_event(t, 1, REASON_RECOVERED); /* the next worker is to listen to its events */
	expect_answer(t, ask(t, 1, "ok"));
	RUN_UNTIL(t, process_state(old) == 0);
}

/* The worker hangs in its own query: that of the core, which is behind, ends once. */
static void test_crossing_hangs(void **state)
{
	Test *t = *state;
	uint64_t first, second;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	first = ask_stopping(t, "late-own-then-stop");
	second = ask(t, 1, "ok");
	continue_children();
	wait_calls(t, CALL_ASKING, first, 1);
	expect_error(t, second, -ETIMEDOUT, "no answer for 1000 ms while reading port 1 of ok");
	expect_refused(t, 1, -ETIMEDOUT);
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, second), 1);
	assert_int_equal(count_kind(t, CALL_END, first), 1);
}

static void test_crossing_crashes(void **state)
{
	Test *t = *state;
	uint64_t second;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	ask_stopping(t, "late-own-then-crash");
	second = ask(t, 1, "ok");
	continue_children();
	expect_error(t, second, -EPIPE, "worker died: signal 11");
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, second), 1);
}

/* The device is forgotten while both are under way. */
static void test_crossing_forgotten(void **state)
{
	Test *t = *state;
	uint64_t first, second, asked;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	first = ask_stopping(t, "late-own-then-stop");
	second = ask(t, 1, "ok");
	continue_children();
	wait_calls(t, CALL_ASKING, first, 1);
	RUN_UNTIL(t, child_stopped());
	pool_forget(t->pool, 1, &asked);
	assert_int_equal(asked, second);
	continue_children();
	expect_answer(t, ask(t, 1, "ok"));
	assert_int_equal(count_kind(t, CALL_END, second), 0);
	assert_int_equal(count_kind(t, CALL_END, first), 1);
}

/* Leave from before the device was forgotten: the worker has not read that yet. */
static void test_forgotten_leave(void **state)
{
	Test *t = *state;
	uint64_t first, old;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	first = ask_stopping(t, "late-own");
	old = expect_answer(t, first);
	forget(t, 1);
	continue_children();
	assert_int_equal(expect_answer(t, ask(t, 2, "ok")), old);
	first = ask_stopping(t, "late-own");
	forget(t, 1);
	first = ask(t, 1, "ok");
	continue_children();
	assert_int_equal(expect_answer(t, first), old);
	assert_int_equal(count_kind(t, CALL_ASKING, first), 0);
}

/* Of a device that it does not serve: nobody wants the answer, and nothing waits for it for ever.
 */
static void test_other_device(void **state)
{
	Test *t = *state;
	uint64_t old, waiting;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	old = expect_answer(t, ask(t, 1, "own-of-other-device"));
	assert_int_equal(expect_answer(t, ask(t, 3, "ok")), old);
	old = expect_answer(t, ask(t, 1, "own-of-other-device-then-stop"));
	waiting = ask(t, 3, "ok");
	assert_int_not_equal(expect_answer(t, waiting), old);
	RUN_UNTIL(t, process_state(old) == 0);
	/* also if nothing does */
	old = expect_answer(t, ask(t, 1, "own-of-other-device-then-stop"));
	RUN_UNTIL(t, process_state(old) == 0);
	for (size_t i = 0; i < t->n; i++)
		assert_int_not_equal(t->calls[i].kind, CALL_ASKING);
}

/* The rule that the worker breaks ends the query behind. */
static void test_breaches(void **state)
{
	static const struct {
		const char *what, *why;
	} lies[] = {
		{"late-own-wrong-id",
		 "worker broke the protocol: a query of its own with another id than that of its "
		 "leave"},
		{"late-own-port-3",
		 "worker broke the protocol: a query of its own about a port for which it has no "
		 "leave"},
		{"own-unsaid", "worker broke the protocol: an answer to another question"},
	};
	Test *t = *state;
	PoolTiming timing = quick;
	uint64_t id;

	timing.queue_usec = GUARD_USEC; /* each lie costs a pause */
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		ask_stopping(t, lies[i].what);
		id = ask(t, 2, "ok");
		continue_children();
		expect_error(t, id, -EPIPE, lies[i].why);
		expect_answer(t, ask(t, 1, "ok"));
		expect_answer(t, ask(t, 2, "ok"));
	}
	id = ask(t, 1, "own-in-own");
	expect_own_error(t, id, -EPIPE,
			 "worker broke the protocol: a query of its own within another");
	expect_answer(t, ask(t, 1, "ok"));
	expect_error(t, ask(t, 1, "own-in-answer"), -EPIPE,
		     "worker broke the protocol: a query of its own within an answer");
}

static void test_without_leave(void **state)
{
	Test *t = *state;
	uint64_t id;

	t->no_leave = true;
	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	ask_stopping(t, "late-own");
	id = ask(t, 2, "ok");
	continue_children();
	expect_error(t, id, -EPIPE, "worker broke the protocol: a query of its own without leave");
}

/* The leave lasts until the next query is answered, not only until it is sent. */
static void test_leave_is_taken_back(void **state)
{
	Test *t = *state;
	uint64_t first, second;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	first = ask_stopping(t, "late-own");
	t->no_leave = true;
	second = ask(t, 1, "late-own");
	continue_children();
	expect_answer(t, second);
	assert_int_equal(count_kind(t, CALL_ASKING, first), 1);
	RUN_UNTIL(t, child_stopped());
	first = ask(t, 2, "ok");
	continue_children();
	expect_error(t, first, -EPIPE,
		     "worker broke the protocol: a query of its own without leave");
}

/* Queries that the core does not want, without end: the worker is replaced. */
static void test_flood(void **state)
{
	Test *t = *state;
	uint64_t old;

	t->refuses = true;
	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	old = expect_answer(t, ask(t, 1, "own-flood"));
	RUN_UNTIL(t, (t->n = 0, process_state(old)) == 0);
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_own),
		TEST(test_own_is_under_way),
		TEST(test_own_refused),
		CLOCK(test_own_hangs),
		CLOCK(test_own_hangs_in_end),
		CLOCK(test_hangs_before_own),
		CLOCK(test_own_refused_hangs),
		CLOCK(test_own_crashes),
		CLOCK(test_crossing),
		CLOCK(test_crossing_twice),
		TEST(test_crossing_for_ever),
		TEST(test_crossing_slow),
		CLOCK(test_crossing_hangs),
		CLOCK(test_crossing_crashes),
		CLOCK(test_crossing_forgotten),
		CLOCK(test_forgotten_leave),
		CLOCK(test_other_device),
		TEST(test_breaches),
		TEST(test_without_leave),
		CLOCK(test_leave_is_taken_back),
		TEST(test_flood),
	};

	/* The warnings are expected here. */
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	return cmocka_run_group_tests_name("pool-asking", tests, NULL, NULL);
}
