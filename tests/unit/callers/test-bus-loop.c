/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the connection is read and written, and when each call is handled, with a bus that is the
 * test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <time.h>

#include "bus-loop.h"
#include "bus-pair.h"
#include "bus-peer.h"
#include "bus-writer.h"
#include "names.h"
#include "turns.h"

#define DBUS "org.freedesktop.DBus"
/* The socket takes all of them, and by far not as many replies. */
#define CALLS	   200U
#define REPLY_SIZE 1000
/* Connections, and their users */
#define ALICE ":1.7"
#define OTHER ":1.8" /* of Alice, too */
#define BOB   ":1.9"

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	sd_event *event;
	BusCallers *callers;
	BusTurns *turns;
	BusLoop *loop;
	/* what the bus says of a connection; NULL: nothing, until answer_question() */
	const char *question_error;
	bool silent;
	sd_bus_message *questions[4];
	size_t n_questions;

	void (*costs)(bool is_bob); /* does what a call of Bob costs, and the first of
				     * Alice; NULL: nothing */
	bool alice_has_paid;
	char order[64]; /* in which calls were handled: 'b' is Bob's */
	size_t n_order;
	size_t size;	       /* of the arguments of a call, as the door has measured */
	unsigned int n_read;   /* calls that the daemon has read, */
	unsigned int n_calls;  /* and handled */
	unsigned int n_broken; /* ends of the connection that it has heard of */
	unsigned int n_replies, n_limits, n_timeouts; /* that the bus has got */
	unsigned int bob;  /* the reply to Bob's call was this one; 0: it has not come */
	unsigned int news; /* so many replies came before the signal; 0: it has not come */
} Test;

/* The door */
static int on_call(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;
	char text[REPLY_SIZE + 1];
	bool is_bob;
	int r;

	if (!sd_bus_message_is_method_call(m, "a.b", "Call"))
		return 0;
	if (bus_turns_is_turn(t->turns, m)) {
		/* what is read from now on is not of this turn */
		assert_false(bus_turns_is_pending(t->turns));
	} else {
		t->n_read++;
		r = bus_turns_admit(t->turns, m);
		assert_true(r >= 0);
		if (r == 0) {
			assert_int_equal(bus_turns_wait(t->turns, m, t->size), 0);
			return 1;
		}
	}
	is_bob = streq(sd_bus_message_get_sender(m), BOB);
	t->n_calls++;
	if (t->n_order < sizeof(t->order))
		t->order[t->n_order++] = is_bob ? 'b' : 'a';
	if (t->costs && (is_bob || !t->alice_has_paid)) {
		t->costs(is_bob);
		t->alice_has_paid |= !is_bob;
	}
	memset(text, 'a', REPLY_SIZE);
	text[REPLY_SIZE] = '\0';
	return sd_bus_reply_method_return(m, "s", text);
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	if (sd_bus_message_is_method_error(m, RDMAD_ERROR_LIMITS_EXCEEDED))
		t->n_limits++;
	else if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_TIMEOUT))
		t->n_timeouts++;
	else
		assert_false(sd_bus_message_is_method_error(m, NULL));
	t->n_replies++;
	return 0;
}

static int on_reply_to_bob(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Test *t = userdata;

	on_reply(m, userdata, error);
	t->bob = t->n_replies;
	return 0;
}

static int say_user(Test *t, sd_bus_message *question)
{
	const char *name;

	if (t->question_error)
		return sd_bus_reply_method_errorf(question, t->question_error, "no");
	assert_true(sd_bus_message_read_basic(question, 's', &name) > 0);
	return sd_bus_reply_method_return(question, "u", streq(name, BOB) ? 1001 : 1000);
}

static void answer_question(Test *t)
{
	sd_bus_message *question;

	assert_true(t->n_questions > 0);
	question = t->questions[--t->n_questions];
	assert_true(say_user(t, question) >= 0);
	sd_bus_message_unref(question);
}

/* What the bus gets */
static int on_message(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	if (sd_bus_message_is_signal(m, "a.b", "News"))
		t->news = t->n_replies + 1;
	if (!sd_bus_message_is_method_call(m, DBUS, "GetConnectionUnixUser"))
		return 0;
	if (!t->silent)
		return say_user(t, m);
	assert_true(t->n_questions < ARRAY_SIZE(t->questions));
	t->questions[t->n_questions++] = sd_bus_message_ref(m);
	return 1;
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

/* Both do. */
static void settle(Test *t)
{
	for (bool did = true; did;) {
		did = bus_pair_run(t->bus);
		did |= run_daemon(t);
	}
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->daemon);
	assert_true(sd_event_new(&t->event) >= 0);
	assert_true(bus_callers_new(t->daemon, &t->callers) >= 0);
	assert_true(bus_turns_new(t->daemon, t->callers, &t->turns) >= 0);
	assert_true(bus_loop_new(t->daemon, t->event, t->turns, on_broken, t, &t->loop) >= 0);
	assert_true(sd_bus_add_filter(t->daemon, NULL, on_call, t) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_message, t) >= 0);
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
	bus_turns_free(t->turns);
	bus_callers_free(t->callers);
	sd_event_unref(t->event);
	while (t->n_questions > 0)
		sd_bus_message_unref(t->questions[--t->n_questions]);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

static void send_calls(Test *t, const char *sender, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(t->bus, &m, NULL, "/", "a.b", "Call") >=
			    0);
		assert_true(sd_bus_message_set_sender(m, sender) >= 0);
		assert_true(sd_bus_call_async(t->bus, NULL, m,
					      streq(sender, BOB) ? on_reply_to_bob : on_reply, t,
					      UINT64_MAX) >= 0);
	}
}

/* The daemon knows who they are. */
static void introduce(Test *t)
{
	static const char *const names[] = {ALICE, OTHER, BOB};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		send_calls(t, names[i], 1);
		settle(t);
	}
	assert_int_equal(t->n_replies, ARRAY_SIZE(names));
	t->n_read = t->n_calls = t->n_replies = t->bob = 0;
}

/* Nobody reads the replies: the daemon reads all calls, and sends few replies. When they are read,
 * all calls are answered. What is signalled meanwhile comes before the calls that wait. */
static void test_replies_that_nobody_reads(void **state)
{
	Test *t = *state;
	unsigned int sent;

	introduce(t);
	send_calls(t, ALICE, CALLS);
	run_daemon(t);
	assert_int_equal(t->n_read, CALLS);
	/* the socket holds twice what it was asked for, and is drained below a quarter of that */
	assert_true(t->n_calls > 0 &&
		    t->n_calls * REPLY_SIZE <= BUS_LOOP_SOCKET / 2 + 2 * REPLY_SIZE);
	assert_true(bus_peer_unsent(t->daemon) <= 1);
	assert_false(run_daemon(t)); /* and it does not spin */
	sent = t->n_calls;
	assert_true(sd_bus_emit_signal(t->daemon, "/", "a.b", "News", NULL) >= 0);
	settle(t);
	assert_int_equal(t->n_calls, CALLS);
	assert_int_equal(t->n_replies, CALLS);
	assert_int_equal(t->news, sent + 1);
}

/* Signals that the bus does not take wait: some, so that N messages wait to be sent. */
static void hold_up(Test *t, uint64_t n)
{
	while (bus_peer_unsent(t->daemon) < n)
		assert_true(sd_bus_emit_signal(t->daemon, "/", "a.b", "Other", NULL) >= 0);
}

/* Signals come without end: the bus never takes them all, and calls have their turns all the same,
 * one for each time that it takes something. */
static void test_signals_without_end(void **state)
{
	enum { MANY = 300 };
	Test *t = *state;

	introduce(t);
	hold_up(t, MANY);
	send_calls(t, ALICE, 2);
	for (unsigned int i = 0; i < 20; i++)
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
	assert_int_equal(t->n_read, 2);
	assert_int_equal(t->n_calls, 0);
	/* the bus takes some, and there are others at once */
	for (unsigned int before = 0; t->n_calls < 2; before = t->n_calls) {
		assert_true(sd_bus_process(t->bus, NULL) >= 0);
		hold_up(t, MANY);
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
		assert_true(t->n_calls <= before + 1);
	}
}

static void use_processor(unsigned int msec);

/* The bus takes all that the socket holds, again and again, and there is always more to write:
 * calls are read nevertheless, also in a loop that has other things to do. */
static void test_always_writing(void **state)
{
	Test *t = *state;

	introduce(t);
	hold_up(t, 300);
	send_calls(t, ALICE, 2);
	for (unsigned int i = 0; i < 4; i++) {
		bus_pair_run(t->bus);
		hold_up(t, 300);
		use_processor(1);
		assert_true(sd_event_run(t->event, 0) >= 0);
	}
	assert_int_equal(t->n_read, 2);
}

/* Beside hundreds of calls of one user, on two connections, another one waits for what was sent
 * before, and for one more. */
static void test_turns(void **state)
{
	Test *t = *state;
	unsigned int sent;

	introduce(t);
	send_calls(t, ALICE, CALLS / 2);
	send_calls(t, OTHER, CALLS / 2);
	run_daemon(t);
	sent = t->n_calls;
	send_calls(t, BOB, 1);
	settle(t);
	assert_int_equal(t->n_replies, CALLS + 1);
	assert_true(t->bob > sent && t->bob <= sent + 2);
}

static void use_processor(unsigned int msec)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < msec);
}

static void cost_time(bool is_bob)
{
	if (!is_bob)
		use_processor(100);
}

/* Bytes that nobody has written: that takes no time. */
static uint64_t more_written;

uint64_t __real_bus_writer_written(void);
uint64_t __wrap_bus_writer_written(void);
uint64_t __wrap_bus_writer_written(void)
{
	return __real_bus_writer_written() + more_written;
}

/* Two calls of Bob cost more than a nanosecond for each byte of Alice. */
static void cost_bytes(bool is_bob)
{
	if (is_bob)
		use_processor(8);
	else
		more_written += 10 << 20;
}

/* A call of Alice costs more than all of Bob's: she has one turn, or two, before his last. */
static void check_cost(Test *t, void (*costs)(bool is_bob))
{
	unsigned int n_alice = 0, n_bob = 0;

	introduce(t);
	send_calls(t, ALICE, 50);
	run_daemon(t);
	t->costs = costs;
	t->n_order = 0;
	send_calls(t, BOB, 5);
	settle(t);
	for (unsigned int i = 0; i < t->n_order && n_bob < 5; i++) {
		n_bob += t->order[i] == 'b';
		n_alice += t->order[i] == 'a';
	}
	assert_int_equal(n_bob, 5);
	assert_true(n_alice <= 2);
}

static void test_time_counts(void **state)
{
	check_cost(*state, cost_time);
}

static void test_bytes_count(void **state)
{
	check_cost(*state, cost_bytes);
}

/* Calls that came while nobody knew whose they are: with them the user has too many. */
static void test_too_many_of_a_stranger(void **state)
{
	Test *t = *state;

	send_calls(t, BOB, 1);
	settle(t);
	t->silent = true;
	t->size = TURNS_USER_BYTES / 4;
	send_calls(t, ALICE, 4); /* the first one is handled, and three wait */
	settle(t);
	t->size = TURNS_USER_BYTES / 2;
	send_calls(t, OTHER, 2); /* the same */
	settle(t);
	/* nothing is handled until the bus reads what Bob gets */
	t->size = 0;
	send_calls(t, BOB, 50);
	run_daemon(t);
	while (t->n_questions > 0)
		answer_question(t);
	run_daemon(t);
	settle(t);
	assert_int_equal(t->n_replies, 1 + 4 + 2 + 50);
	assert_int_equal(t->n_limits, t->n_read - t->n_calls);
	/* who is known last has too many, and one of the other was refused before */
	assert_true(t->n_limits == 2 || t->n_limits == 4);
}

/* The first call of a connection is handled at once, the others when its user is known. */
static void test_unknown(void **state)
{
	Test *t = *state;

	t->silent = true;
	send_calls(t, ALICE, 10);
	settle(t);
	assert_int_equal(t->n_read, 10);
	assert_int_equal(t->n_replies, 1);
	answer_question(t);
	settle(t);
	assert_int_equal(t->n_replies, 10);
	assert_int_equal(t->n_calls, 10);
}

/* It is not, while others wait. */
static void test_unknown_while_others_wait(void **state)
{
	Test *t = *state;

	t->silent = true;
	send_calls(t, ALICE, 2);
	send_calls(t, BOB, 1);
	run_daemon(t);
	assert_int_equal(t->n_read, 3);
	assert_int_equal(t->n_calls, 1);
}

/* Who has left gets nothing for what waited. */
static void test_left(void **state)
{
	Test *t = *state;
	uint64_t when;

	t->question_error = SD_BUS_ERROR_NAME_HAS_NO_OWNER;
	send_calls(t, ALICE, 100);
	settle(t);
	assert_int_equal(t->n_read, 100);
	assert_int_equal(t->n_calls, 1);
	assert_int_equal(t->n_replies, 1);
	assert_false(bus_turns_is_ready(t->turns, &when));
}

/* The bus has another reason: each call is told. */
static void test_nobody_knows(void **state)
{
	Test *t = *state;

	t->question_error = SD_BUS_ERROR_ACCESS_DENIED;
	send_calls(t, ALICE, 10);
	settle(t);
	assert_int_equal(t->n_calls, 1);
	assert_int_equal(t->n_replies, 10);
	assert_int_equal(t->n_timeouts, 9);
}

/* Those that are refused for another reason are told that. */
static void test_refused_and_nobody_knows(void **state)
{
	Test *t = *state;

	t->question_error = SD_BUS_ERROR_ACCESS_DENIED;
	t->size = TURNS_USER_BYTES;
	send_calls(t, ALICE, 6);
	settle(t);
	assert_int_equal(t->n_calls, 1);
	assert_int_equal(t->n_replies, 6);
	assert_int_equal(t->n_limits, 5);
}

/* Fills the socket, so that what comes next waits, and returns how many calls were handled. */
static unsigned int fill(Test *t)
{
	send_calls(t, ALICE, 100);
	run_daemon(t);
	assert_true(t->n_calls < 100);
	return t->n_calls;
}

/* More than a user may have: he is told, in his turn, and nothing is written before. */
static void test_too_many(void **state)
{
	Test *t = *state;
	unsigned int n;

	introduce(t);
	n = fill(t);
	t->size = TURNS_USER_BYTES;
	send_calls(t, OTHER, 5);
	run_daemon(t);
	assert_int_equal(t->n_read, 105);
	assert_int_equal(t->n_calls, n);
	assert_true(bus_peer_unsent(t->daemon) <= 1);
	/* and Bob, who has nothing that waits, is not concerned */
	t->size = TURNS_USER_BYTES - 4096;
	send_calls(t, BOB, 1);
	settle(t);
	assert_int_equal(t->n_limits, 5);
	assert_int_equal(t->n_calls, 101);
	assert_int_equal(t->n_replies, 106);
}

/* Even refusals are bounded: who goes on gets no answer. */
static void test_far_too_many(void **state)
{
	Test *t = *state;
	uint64_t left;

	if (getenv("RDMAD_TEST_VALGRIND"))
		return; /* ten thousand of the same call */
	introduce(t);
	fill(t);
	t->size = TURNS_USER_BYTES;
	/* a refusal takes some hundred bytes */
	for (unsigned int n = 0; n < TURNS_USER_BYTES / 4 * 5 / 100; n += CALLS) {
		send_calls(t, OTHER, CALLS);
		run_daemon(t);
		assert_int_equal(sd_bus_get_n_queued_write(t->bus, &left), 0);
		assert_int_equal(left, 0);
	}
	settle(t);
	assert_true(t->n_limits > 0);
	assert_int_equal(t->n_calls, 100);
	assert_true(t->n_limits < t->n_read - 100);
}

/* A refusal that the door asks for comes in its turn, with its text. */
static void test_refusal_waits(void **state)
{
	static const sd_bus_error error =
		SD_BUS_ERROR_MAKE_CONST(RDMAD_ERROR_LIMITS_EXCEEDED, "no");
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	Test *t = *state;
	uint64_t before, when;

	introduce(t);
	fill(t);
	before = bus_peer_unsent(t->daemon);
	assert_true(sd_bus_message_new_method_call(t->daemon, &m, NULL, "/", "a.b", "Call") >= 0);
	assert_true(sd_bus_message_set_sender(m, BOB) >= 0);
	assert_true(sd_bus_message_seal(m, 4711, 0) >= 0);
	assert_int_equal(bus_turns_refuse(t->turns, m, &error), 0);
	assert_int_equal(bus_peer_unsent(t->daemon), before);
	settle(t);
	assert_false(bus_turns_is_ready(t->turns, &when));
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

	introduce(t);
	send_calls(t, ALICE, CALLS);
	run_daemon(t);
	sd_bus_close(t->bus);
	assert_broken(t);
}

static void test_closed_here(void **state)
{
	Test *t = *state;

	send_calls(t, ALICE, 10);
	sd_bus_close(t->daemon);
	assert_broken(t);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_replies_that_nobody_reads),
		TEST(test_signals_without_end),
		TEST(test_always_writing),
		TEST(test_turns),
		TEST(test_unknown),
		TEST(test_unknown_while_others_wait),
		TEST(test_time_counts),
		TEST(test_bytes_count),
		TEST(test_too_many_of_a_stranger),
		TEST(test_left),
		TEST(test_nobody_knows),
		TEST(test_refused_and_nobody_knows),
		TEST(test_too_many),
		TEST(test_far_too_many),
		TEST(test_refusal_waits),
		TEST(test_other_end_leaves),
		TEST(test_closed_here),
	};

	return cmocka_run_group_tests_name("bus-loop", tests, NULL, NULL);
}
