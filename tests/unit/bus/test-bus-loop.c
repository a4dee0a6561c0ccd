/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the connection is read and written, with a bus that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-loop.h"
#include "bus-pair.h"

#define CALLS 20000U
/* Of replies of this size the socket takes a few dozen. */
#define REPLY_SIZE 4000

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	sd_event *event;
	BusCallers *callers;
	BusMeter *meter;
	BusLoop *loop;
	unsigned int n_calls, n_replies, n_broken;
	uint64_t longest;    /* queue that was seen */
	uint64_t n_at_news;  /* how many messages waited when the signal was sent */
	unsigned int before; /* replies that came before the signal; 0: it has not come */
} Test;

static int on_call(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;
	char text[REPLY_SIZE + 1];
	uint64_t n = 0;

	if (!sd_bus_message_is_method_call(m, "a.b", "Call"))
		return 0;
	assert_true(sd_bus_get_n_queued_write(t->daemon, &n) >= 0);
	t->longest = MAX(t->longest, n);
	t->n_calls++;
	memset(text, 'a', REPLY_SIZE);
	text[REPLY_SIZE] = '\0';
	return sd_bus_reply_method_return(m, "s", text);
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	assert_false(sd_bus_message_is_method_error(m, NULL));
	t->n_replies++;
	return 0;
}

static int on_news(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	if (sd_bus_message_is_signal(m, "a.b", "News"))
		t->before = t->n_replies + 1;
	return 0;
}

static void on_broken(void *userdata)
{
	Test *t = userdata;

	t->n_broken++;
}

/* The daemon does all it can; returns whether it did anything. */
static bool run_daemon(Test *t)
{
	bool did = false;
	int r;

	while ((r = sd_event_run(t->event, 0)) > 0)
		did = true;
	assert_int_equal(r, 0);
	return did;
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->daemon);
	assert_true(sd_event_new(&t->event) >= 0);
	assert_true(bus_callers_new(t->daemon, &t->callers) >= 0);
	assert_true(bus_meter_new(t->daemon, t->event, t->callers, 0, &t->meter) >= 0);
	assert_true(bus_loop_new(t->daemon, t->event, t->meter, on_broken, t, &t->loop) >= 0);
	assert_true(sd_bus_add_filter(t->daemon, NULL, on_call, t) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_news, t) >= 0);
	while (sd_bus_is_ready(t->bus) == 0 || sd_bus_is_ready(t->daemon) == 0) {
		bus_pair_run(t->bus);
		run_daemon(t);
	}
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	bus_loop_free(t->loop);
	bus_meter_free(t->meter);
	bus_callers_free(t->callers);
	sd_event_unref(t->event);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

static void send_calls(Test *t, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_call_method_async(t->bus, NULL, NULL, "/", "a.b", "Call",
						     on_reply, t, NULL) >= 0);
}

/* Nobody reads the replies: the daemon stops reading calls, and what waits does not grow. When they
 * are read, all calls are answered. What is signalled meanwhile comes before all calls that were
 * not read yet. */
static void test_replies_that_nobody_reads(void **state)
{
	Test *t = *state;
	unsigned int read;

	send_calls(t, CALLS);
	/* This sends what the socket takes, and reads nothing. */
	for (uint64_t n = UINT64_MAX, left = 0; left != n;) {
		n = left;
		run_daemon(t);
		assert_true(sd_bus_get_n_queued_write(t->bus, &left) >= 0);
	}
	read = t->n_calls;
	assert_true(read >= BUS_LOOP_UNSENT && read < CALLS);
	assert_false(run_daemon(t)); /* and it does not spin */
	assert_true(sd_bus_emit_signal(t->daemon, "/", "a.b", "News", NULL) >= 0);
	while (t->n_replies < CALLS) {
		bool did = run_daemon(t);

		assert_true(bus_pair_run(t->bus) || did);
	}
	print_message("%u calls were read at once, %u replies came before the signal\n", read,
		      t->before - 1);
	assert_int_equal(t->n_calls, CALLS);
	assert_true(t->longest <= BUS_LOOP_UNSENT);
	assert_int_equal(t->before, read + 1);
}

/* The connection ends, with calls that were not answered: that is heard once. */
static void assert_broken(Test *t)
{
	while (t->n_broken == 0)
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	assert_false(run_daemon(t));
	assert_int_equal(t->n_broken, 1);
}

static void test_other_end_leaves(void **state)
{
	Test *t = *state;

	send_calls(t, 1000);
	run_daemon(t);
	sd_bus_close(t->bus);
	assert_broken(t);
}

static void test_closed_here(void **state)
{
	Test *t = *state;

	send_calls(t, 10);
	sd_bus_close(t->daemon);
	assert_broken(t);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_replies_that_nobody_reads),
		TEST(test_other_end_leaves),
		TEST(test_closed_here),
	};

	return cmocka_run_group_tests_name("bus-loop", tests, NULL, NULL);
}
