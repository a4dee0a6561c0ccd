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
#include "names.h"

/* The reply to Introspect() is longer than what may be unsent, so the second one waits for the
 * first. */
#define DEVICES 4000U
#define CALLS	5U

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	sd_event *event;
	BusCallers *callers;
	BusTurns *turns;
	BusLoop *loop;
	Cache cache;
	LongReplies *long_replies;
	unsigned int n_replies; /* that the bus has got */
} Test;

/* How far CLOCK_MONOTONIC is behind. Timers of the kernel do not know of it, so what is to happen
 * at a time of this clock happens at once. */
static time_t clock_behind;

/* instead of that of libc, also for libsystemd */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_MONOTONIC)
		t->tv_sec -= clock_behind;
	return r;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Test *t = userdata;

	return long_reply_offer(t->long_replies, m, error);
}

static int on_question(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	return sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "GetConnectionUnixUser")
		       ? sd_bus_reply_method_return(m, "u", 1000)
		       : 0;
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	assert_false(sd_bus_message_is_method_error(m, NULL));
	t->n_replies++;
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

static int setup(void **state)
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
				     long_reply_rows, UINT32_MAX, &t->long_replies) >= 0);
	assert_true(bus_loop_new(t->daemon, t->event, t->turns, on_broken, NULL, &t->loop) >= 0);
	assert_true(sd_bus_add_filter(t->daemon, NULL, on_call, t) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_question, NULL) >= 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

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

/* While the bus takes nothing, at most one long reply is written. */
static void test_bus_takes_nothing(void **state)
{
	Test *t = *state;

	ask(t);
	/* the daemon reads the calls, asks whose they are, and hears it */
	for (unsigned int i = 0; i < 3; i++) {
		while (sd_event_run(t->event, 0) > 0)
			;
		if (i == 0)
			bus_pair_run(t->bus);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asked_again_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals_without_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bus_takes_nothing, setup, teardown),
	};

	return cmocka_run_group_tests_name("long-reply-sent", tests, NULL, NULL);
}
