/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a long reply is sent, with a bus that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <sys/syscall.h>
#include <time.h>

#include "bus-loop.h"
#include "bus-pair.h"
#include "bus-peer.h"
#include "clock.h"
#include "long-reply-kinds.h"
#include "long-reply-queue.h"
#include "names.h"

/* The reply to Introspect() is longer than what may be unsent, so the second one waits for the
 * first. */
#define DEVICES 4000U
#define CALLS	5U
/* Bytes in a second with which what a user has saved up does not suffice for two of them */
#define RATE 8000U

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	sd_event *event;
	BusCallers *callers;
	BusTurns *turns;
	BusLoop *loop;
	Cache cache;
	LongReplies *long_replies;
	unsigned int n_replies; /* that the bus has got */
	size_t size;		/* bytes of the body of the last one */
	bool nobody_knows;	/* whose calls they are; the replies are errors then */
} Test;

/* How far CLOCK_MONOTONIC is behind. Timers of the kernel do not know of it, so what is to happen
 * at a time of this clock happens at once. */
static time_t clock_behind;
/* Or it stands still at this time, in microseconds; 0: it does not. */
static uint64_t clock_stopped;
/* How far it goes on whenever somebody looks at it then, in microseconds. */
static uint64_t clock_step;

/* instead of that of libc, also for libsystemd */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_MONOTONIC && clock_stopped > 0) {
		clock_stopped += clock_step;
		*t = (struct timespec){(time_t)(clock_stopped / USEC_PER_SEC),
				       (long)(clock_stopped % USEC_PER_SEC * 1000)};
	} else if (clock == CLOCK_MONOTONIC)
		t->tv_sec -= clock_behind;
	return r;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Test *t = userdata;

	return long_reply_offer(t->long_replies, m, error);
}

static int on_question(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	const Test *t = userdata;

	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "GetConnectionUnixUser"))
		return 0;
	return t->nobody_knows ? sd_bus_reply_method_errorf(m, SD_BUS_ERROR_ACCESS_DENIED, "no")
			       : sd_bus_reply_method_return(m, "u", 1000);
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;
	const char *text;

	t->n_replies++;
	assert_int_equal(sd_bus_message_is_method_error(m, NULL) > 0, t->nobody_knows);
	if (t->nobody_knows)
		return 0;
	assert_true(sd_bus_message_read_basic(m, 's', &text) > 0);
	t->size = sizeof(uint32_t) + strlen(text) + 1;
	return 0;
}

static void on_broken(_unused_ void *userdata)
{
	fail();
}

static void add_devices(Cache *c)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		DeviceSnapshot s = {};
		DeviceChange device_change;
		AttrText name;

		snprintf(name, sizeof(name), "d%u", i);
		DEVICE_SUPPLY(&s, index, i);
		DEVICE_SUPPLY_TEXT(&s, name, name);
		assert_int_equal(cache_apply_device(c, &s, CHANGE_LIST, 0, &device_change),
				 CACHE_ADDED);
		device_snapshot_done(&s);
		device_change.device->published = true;
	}
}

/* Each user gets RATE bytes in a second. */
static int setup_rate(void **state, uint64_t rate)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->daemon);
	bus_pair_settle(t->bus, t->daemon);
	add_devices(&t->cache);
	assert_true(sd_event_new(&t->event) >= 0);
	assert_true(bus_callers_new(t->daemon, &t->callers) >= 0);
	assert_true(bus_turns_new(t->daemon, t->callers, &t->turns) >= 0);
	long_reply_kinds_init();
	assert_true(long_replies_new(t->daemon, t->callers, t->turns, t->event, &t->cache,
				     long_reply_rows, rate, &t->long_replies) >= 0);
	assert_true(bus_loop_new(t->daemon, t->event, t->turns, on_broken, NULL, &t->loop) >= 0);
	assert_true(sd_bus_add_filter(t->daemon, NULL, on_call, t) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_question, t) >= 0);
	*state = t;
	return 0;
}

static int setup(void **state)
{
	return setup_rate(state, UINT32_MAX);
}

static int setup_limited(void **state)
{
	return setup_rate(state, RATE);
}

static int teardown(void **state)
{
	Test *t = *state;

	clock_stopped = clock_step = 0;
	bus_loop_free(t->loop);
	long_replies_free(t->long_replies);
	bus_turns_free(t->turns);
	bus_callers_free(t->callers);
	cache_done(&t->cache);
	sd_event_unref(t->event);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

static void ask(Test *t)
{
	for (unsigned int i = 0; i < CALLS; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(t->bus, &m, NULL, RDMAD_DEVICE_PREFIX,
							   "org.freedesktop.DBus.Introspectable",
							   "Introspect") >= 0);
		assert_true(sd_bus_message_set_sender(m, ":1.7") >= 0);
		assert_true(sd_bus_call_async(t->bus, NULL, m, on_reply, t, UINT64_MAX) >= 0);
	}
}

/* Signals come faster than the bus takes them. A long reply waits until the bus has taken the one
 * before, and not until it has taken everything. */
static void test_signals_without_end(void **state)
{
	enum { WAITING = 100, STEPS_MAX = 20000 };
	Test *t = *state;

	ask(t);
	for (unsigned int n = 0; t->n_replies < CALLS; n++) {
		assert_true(n < STEPS_MAX);
		while (bus_peer_unsent(t->daemon) < WAITING)
			assert_true(sd_bus_emit_signal(t->daemon, "/", "a.b", "News", NULL) >= 0);
		assert_true(sd_bus_process(t->bus, NULL) >= 0);
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	}
}

/* The daemon reads the calls, asks whose they are, and hears it. */
static void begin(Test *t)
{
	for (unsigned int i = 0; i < 3; i++) {
		while (sd_event_run(t->event, 0) > 0)
			;
		if (i == 0)
			bus_pair_run(t->bus);
	}
}

/* While the bus takes nothing, at most one long reply is written. */
static void test_bus_takes_nothing(void **state)
{
	Test *t = *state;

	ask(t);
	begin(t);
	for (unsigned int i = 0; i < 50; i++)
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	/* the reply, and perhaps that rdmad wants to hear who leaves */
	assert_in_range(bus_peer_unsent(t->daemon), 1, 2);
	while (t->n_replies < CALLS) {
		bus_pair_run(t->bus);
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	}
}

/* A long reply was sent and taken a long time ago. That time is no reason to wait for the next one.
 */
static void test_asked_again_later(void **state)
{
	enum { STEPS_MAX = 2000 };
	Test *t = *state;

	/* not before the machine has started */
	clock_behind = (time_t)(monotonic_now_usec() / USEC_PER_SEC / 2);
	for (unsigned int calls = CALLS; calls <= 2 * CALLS; calls += CALLS) {
		ask(t);
		for (unsigned int n = 0; t->n_replies < calls; n++) {
			assert_true(n < STEPS_MAX);
			bus_pair_run(t->bus);
			assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
		}
		/* until rdmad knows that all was taken */
		while (bus_peer_unsent(t->daemon) > 0 || sd_event_run(t->event, 0) > 0)
			bus_pair_run(t->bus);
		clock_behind = 0;
	}
}

/* The bus does not say whose the calls are: each is told. */
static void test_nobody_knows(void **state)
{
	enum { STEPS_MAX = 2000 };
	Test *t = *state;

	t->nobody_knows = true;
	ask(t);
	for (unsigned int n = 0; t->n_replies < CALLS; n++) {
		assert_true(n < STEPS_MAX);
		bus_pair_run(t->bus);
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	}
}

static void step(Test *t)
{
	bus_pair_run(t->bus);
	assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
}

/* Both ends do all they can when the clock shows USEC: then the bus has got N replies, and no more.
 * A timer that is due fires at once, as it is later for the kernel. */
static void expect_replies(Test *t, uint64_t usec, unsigned int n)
{
	enum { STEPS_MAX = 20000 };

	clock_stopped = usec;
	for (unsigned int i = 0; t->n_replies < n; i++) {
		assert_true(i < STEPS_MAX);
		step(t);
	}
	for (unsigned int i = 0; i < 50; i++)
		step(t);
	assert_int_equal(t->n_replies, n);
}

/* The bus needs BUSY_USEC to take a reply: then it has as much time for all else, PAUSE_USEC. */
static void check_pause(Test *t, uint64_t busy_usec, uint64_t pause_usec)
{
	uint64_t start = monotonic_now_usec() / 2;

	clock_stopped = start;
	ask(t);
	begin(t);
	assert_int_equal(t->n_replies, 0);
	expect_replies(t, start + busy_usec, 1);
	expect_replies(t, start + busy_usec + pause_usec - 1, 1);
	expect_replies(t, start + busy_usec + pause_usec, 2);
	/* the bus takes the others at once */
	while (t->n_replies < CALLS) {
		clock_stopped += USEC_PER_MSEC;
		step(t);
	}
}

static void test_pause(void **state)
{
	check_pause(*state, 300 * USEC_PER_MSEC, 300 * USEC_PER_MSEC);
}

/* A bus that stood still was not busy. */
static void test_longest_pause(void **state)
{
	check_pause(*state, 2 * USEC_PER_SEC, USEC_PER_SEC);
}

/* A user who has had what he had saved up waits as long as his rate says. */
static void test_rate(void **state)
{
	Test *t = *state;
	uint64_t start = monotonic_now_usec() / 2, wait;

	clock_stopped = start;
	ask(t);
	expect_replies(t, start, 1);
	wait = t->size * USEC_PER_SEC / RATE;
	assert_true(start > LONG_REPLY_QUEUE_SAVED_USEC && wait > LONG_REPLY_QUEUE_SAVED_USEC);
	for (unsigned int n = 1; n <= 2; n++) {
		uint64_t when = start + n * wait - LONG_REPLY_QUEUE_SAVED_USEC;

		expect_replies(t, when - 1, n);
		expect_replies(t, when, n + 1);
	}
}

static int on_objects(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	assert_true(sd_bus_message_has_signature(m, "a{oa{sa{sv}}}"));
	t->n_replies++;
	return 0;
}

/* ":1.7" asks for all objects, and so slow is the daemon that it writes them in 100 parts or more.
 * It does what it can until N of them, or somewhat more, are written. */
static void ask_objects(Test *t, unsigned int n)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	clock_stopped = monotonic_now_usec();
	clock_step = 100;
	assert_true(sd_bus_message_new_method_call(t->bus, &m, NULL, RDMAD_ROOT_PATH,
						   "org.freedesktop.DBus.ObjectManager",
						   "GetManagedObjects") >= 0);
	assert_true(sd_bus_message_set_sender(m, ":1.7") >= 0);
	assert_true(sd_bus_call_async(t->bus, NULL, m, on_objects, t, UINT64_MAX) >= 0);
	while (n-- > 0)
		step(t);
	assert_int_equal(t->n_replies, 0);
}

static void leave(Test *t, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(t->bus, &m, "/org/freedesktop/DBus",
					      "org.freedesktop.DBus", "NameOwnerChanged") >= 0);
	assert_true(sd_bus_message_append(m, "sss", name, name, "") >= 0);
	assert_true(sd_bus_message_set_sender(m, "org.freedesktop.DBus") >= 0);
	assert_true(sd_bus_send(t->bus, m, NULL) >= 0);
}

/* While a reply is written, others leave: it comes all the same. */
static void test_others_leave(void **state)
{
	enum { STEPS_MAX = 5000 };
	Test *t = *state;

	ask_objects(t, 20);
	for (unsigned int n = 0; t->n_replies == 0; n++) {
		assert_true(n < STEPS_MAX);
		leave(t, ":1.8");
		step(t);
	}
}

/* While a reply is written, who has asked for it leaves: no more of it is written. */
static void test_caller_leaves(void **state)
{
	Test *t = *state;

	ask_objects(t, 20);
	leave(t, ":1.7");
	for (unsigned int n = 0; n < 1000; n++)
		step(t);
	assert_int_equal(t->n_replies, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asked_again_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals_without_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bus_takes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_knows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longest_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rate, setup_limited, teardown),
		cmocka_unit_test_setup_teardown(test_others_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(test_caller_leaves, setup, teardown),
	};

	return cmocka_run_group_tests_name("long-reply-sent", tests, NULL, NULL);
}
