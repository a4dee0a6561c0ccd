/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that wait, on a bus that is the test itself: it says whose a connection is when it likes.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <malloc.h>

#include "bus-pair.h"
#include "compat.h"
#include "names.h"
#include "pending-call.h"

#define QUESTIONS_MAX 8192

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	BusCallers *callers;
	PendingCalls *calls;
	const PendingKind *kind;		  /* of the calls that come */
	PendingCall *kept;			  /* the last one */
	PendingList list;			  /* all of them */
	sd_bus_message *questions[QUESTIONS_MAX]; /* those that the bus has not answered */
	size_t n_questions, n_answered;
	unsigned int n_kept, n_refused, n_freed, n_identified;
	const char *padding;   /* what calls have as arguments; NULL: none */
	unsigned int n_errors; /* that callers got, and the name of the last */
	char error[80];
} Test;

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Test *t = userdata;
	int r;

	if (!sd_bus_message_is_method_call(m, "org.test", "Wait"))
		return 0;
	r = pending_call_new(t->calls, m, t->kind, t, &t->kept, error);
	if (sd_bus_error_is_set(error)) {
		t->n_refused++;
		return r;
	}
	assert_int_equal(r, 1);
	if (t->kept)
		pending_list_add(&t->list, t->kept);
	t->n_kept++;
	return 1;
}

static int on_question(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "GetConnectionUnixUser"))
		return 0;
	assert_true(t->n_questions < QUESTIONS_MAX);
	t->questions[t->n_questions++] = sd_bus_message_ref(m);
	return 1;
}

static int on_answer(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);

	if (e) {
		t->n_errors++;
		snprintf(t->error, sizeof(t->error), "%s", e->name);
	}
	return 0;
}

static int setup(void **state)
{
	static const PendingKind kind = {};
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->kind = &kind;
	bus_pair_open(&t->bus, &t->daemon);
	assert_true(bus_callers_new(t->daemon, &t->callers) >= 0);
	assert_true(pending_calls_new(t->daemon, t->callers, &t->calls) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_question, t) >= 0);
	assert_true(sd_bus_add_filter(t->daemon, NULL, on_call, t) >= 0);
	bus_pair_settle(t->bus, t->daemon);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	pending_calls_free(t->calls);
	bus_callers_free(t->callers);
	assert_null(t->list.first);
	while (t->n_questions > t->n_answered)
		sd_bus_message_unref(t->questions[t->n_answered++]);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

/* N calls of the connection SENDER arrive. */
static void call(Test *t, const char *sender, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(t->bus, &m, "org.rdma", "/", "org.test",
							   "Wait") >= 0);
		assert_true(sd_bus_message_set_sender(m, sender) >= 0);
		if (t->padding)
			assert_true(sd_bus_message_append(m, "s", t->padding) >= 0);
		assert_true(sd_bus_call_async(t->bus, NULL, m, on_answer, t, 0) >= 0);
		if (i % 64 == 63)
			bus_pair_settle(t->bus, t->daemon);
	}
	bus_pair_settle(t->bus, t->daemon);
}

/* The bus answers N questions: all are USER's. */
static void identify(Test *t, uid_t user, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		sd_bus_message *m = t->questions[t->n_answered++];

		assert_true(t->n_answered <= t->n_questions);
		assert_true(sd_bus_reply_method_return(m, "u", (uint32_t)user) >= 0);
		sd_bus_message_unref(m);
		bus_pair_settle(t->bus, t->daemon);
	}
}

static void free_all(Test *t)
{
	while (t->list.first)
		pending_call_free(t->list.first);
}

/* A user has so many places on all connections together; the place of a call that was answered is
 * free again. */
static void test_places_of_user(void **state)
{
	Test *t = *state;

	for (unsigned int round = 0; round < 20; round++) {
		char names[3][16];

		for (unsigned int i = 0; i < 3; i++)
			snprintf(names[i], sizeof(names[i]), ":%u.%u", round + 1, i);
		call(t, names[0], 200);
		call(t, names[1], 100);
		identify(t, 1000, 2);
		assert_int_equal(t->n_errors, (round + 1) * (300 - PENDING_USER_MAX));
		assert_string_equal(t->error, RDMAD_ERROR_LIMITS_EXCEEDED);
		/* and no place of another user is taken */
		call(t, names[2], 10);
		identify(t, 1001, 1);
		assert_int_equal(t->n_errors, (round + 1) * (300 - PENDING_USER_MAX));
		free_all(t);
	}
	assert_int_equal(t->n_refused, 0);
}

/* Who is known is not asked for again, and counts at once. */
static void test_places_of_known_user(void **state)
{
	Test *t = *state;

	for (unsigned int round = 0; round < 3; round++) {
		call(t, ":1.1", 200);
		call(t, ":1.2", 100);
		if (round == 0)
			identify(t, 1000, 2);
		assert_int_equal(t->n_questions, 2);
		assert_int_equal(t->n_errors, (round + 1) * (300 - PENDING_USER_MAX));
		free_all(t);
	}
	assert_int_equal(t->n_refused, 2 * (300 - PENDING_USER_MAX));
}

/* A call that waits does not hold what came with it. */
static void test_no_message_is_kept(void **state)
{
	enum { SIZE = 60000 };
	Test *t = *state;
	char *padding = malloc(SIZE);
	size_t before, after;

	assert_non_null(padding);
	memset(padding, 'a', SIZE - 1);
	padding[SIZE - 1] = '\0';
	t->padding = padding;
	call(t, ":1.1", PENDING_USER_MAX);
	identify(t, 1000, 1);
	free_all(t);
	before = mallinfo2().uordblks;
	call(t, ":1.1", PENDING_USER_MAX);
	after = mallinfo2().uordblks;
	assert_int_equal(t->n_kept, 2 * PENDING_USER_MAX);
	print_message("a call that waits needs %zu bytes, with those of the test\n",
		      (after - before) / PENDING_USER_MAX);
	/* 0 with a sanitizer, which has an allocator of its own */
	assert_true(after - before < PENDING_USER_MAX * UINT64_C(1024));
	free(padding);
}

/* A bus that is slow to say whose calls they are: one connection cannot fill the place for all, and
 * many can leave no more than a few to each other. */
static void test_places_before_identified(void **state)
{
	Test *t = *state;
	char name[16];

	call(t, ":1.1", PENDING_MAX + 100);
	assert_int_equal(t->n_kept, PENDING_USER_MAX);
	for (unsigned int i = 2; i <= PENDING_MAX / PENDING_USER_MAX; i++) {
		snprintf(name, sizeof(name), ":1.%u", i);
		call(t, name, PENDING_USER_MAX);
	}
	assert_int_equal(t->n_kept, PENDING_MAX);
	call(t, ":1.99", PENDING_ALWAYS + 1);
	assert_int_equal(t->n_kept, PENDING_MAX + PENDING_ALWAYS);
	free_all(t);
	call(t, ":1.99", PENDING_ALWAYS + 1);
	assert_int_equal(t->n_kept, PENDING_MAX + 2 * PENDING_ALWAYS + 1);
}

/* Answered before it is known whose it was: what the bus says then is of nobody's interest. */
static void test_freed_before_identified(void **state)
{
	Test *t = *state;

	call(t, ":1.1", 3);
	pending_call_free(t->list.first->next);
	identify(t, 1000, 1);
	assert_int_equal(t->n_errors, 0);
	assert_non_null(t->list.first->next);
	assert_null(t->list.first->next->next);
	free_all(t);
	call(t, ":1.1", PENDING_USER_MAX);
	assert_int_equal(t->n_errors, 0);
}

static void count_freed(void *userdata)
{
	((Test *)userdata)->n_freed++;
}

static void free_identified(PendingCall *c, uid_t user, void *userdata)
{
	((Test *)userdata)->n_identified++;
	assert_int_equal(user, 1000);
	pending_call_free(c);
}

/* Some calls wait for nothing but to know whose they are. */
static void test_freed_by_identified(void **state)
{
	static const PendingKind kind = {.identified = free_identified, .freed = count_freed};
	Test *t = *state;

	t->kind = &kind;
	call(t, ":1.1", 2 * PENDING_USER_MAX);
	assert_int_equal(t->n_kept, PENDING_USER_MAX);
	identify(t, 1000, 1);
	assert_int_equal(t->n_identified, PENDING_USER_MAX);
	assert_int_equal(t->n_freed, PENDING_USER_MAX);
	assert_null(t->list.first);
	/* it is known now */
	call(t, ":1.1", 2 * PENDING_USER_MAX);
	assert_int_equal(t->n_identified, 3 * PENDING_USER_MAX);
	assert_int_equal(t->n_freed, 3 * PENDING_USER_MAX);
	assert_int_equal(t->n_errors, PENDING_USER_MAX);
	assert_null(t->list.first);
}

/* The bus does not say whose a call is: the caller hears of it and does not wait for ever. */
static void test_not_identified(void **state)
{
	static const PendingKind kind = {.freed = count_freed};
	Test *t = *state;

	t->kind = &kind;
	call(t, ":1.1", 1);
	assert_true(sd_bus_reply_method_errorf(t->questions[0], SD_BUS_ERROR_NO_REPLY, "late") >=
		    0);
	sd_bus_message_unref(t->questions[t->n_answered++]);
	bus_pair_settle(t->bus, t->daemon);
	assert_int_equal(t->n_freed, 1);
	assert_int_equal(t->n_errors, 1);
	assert_string_equal(t->error, SD_BUS_ERROR_TIMEOUT);
	assert_null(t->list.first);
	/* it is asked again */
	call(t, ":1.1", 1);
	identify(t, 1000, 1);
	assert_int_equal(t->n_errors, 1);
	assert_non_null(t->list.first);
}

static void depart(Test *t, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(t->bus, &m, "/org/freedesktop/DBus",
					      "org.freedesktop.DBus", "NameOwnerChanged") >= 0);
	assert_true(sd_bus_message_set_sender(m, "org.freedesktop.DBus") >= 0);
	assert_true(sd_bus_message_append(m, "sss", name, name, "") >= 0);
	assert_true(sd_bus_send(t->bus, m, NULL) >= 0);
	bus_pair_settle(t->bus, t->daemon);
}

/* Who leaves is forgotten, identified or not; but not by calls that are answered soon anyway. */
static void test_departures(void **state)
{
	static const PendingKind waits = {.freed = count_freed, .waits_long = true};
	static const PendingKind soon = {.freed = count_freed};
	Test *t = *state;

	t->kind = &soon;
	call(t, ":1.1", 1);
	t->kind = &waits;
	call(t, ":1.1", 2);
	call(t, ":1.2", 1);
	identify(t, 1000, 1);
	depart(t, ":1.3");
	assert_int_equal(t->n_freed, 0);
	depart(t, ":1.1");
	assert_int_equal(t->n_freed, 2);
	depart(t, ":1.2");
	assert_int_equal(t->n_freed, 3);
	/* nobody waits for long any more, then one again */
	depart(t, ":1.1");
	assert_int_equal(t->n_freed, 3);
	call(t, ":1.4", 1);
	depart(t, ":1.4");
	assert_int_equal(t->n_freed, 4);
}

/* A list that moves takes its calls with it; the end of the connection takes them out. */
static void test_lists(void **state)
{
	Test *t = *state;
	PendingList other = {};
	PendingCall *first;

	call(t, ":1.1", 3);
	t->list.first->port = 7;
	pending_list_move(&other, &t->list);
	assert_null(t->list.first);
	first = pending_list_find(&other, 7);
	assert_ptr_equal(first, other.first);
	assert_ptr_equal(pending_list_find(&other, 0), first);
	assert_null(pending_list_find(&other, 8));
	pending_call_free(first);
	assert_null(pending_list_find(&other, 7));
	assert_non_null(other.first->next);
	t->calls = pending_calls_free(t->calls);
	assert_null(other.first);
	/* answers to questions that nobody asks any more */
	identify(t, 1000, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_places_of_user),
		TEST(test_places_of_known_user),
		TEST(test_no_message_is_kept),
		TEST(test_places_before_identified),
		TEST(test_freed_before_identified),
		TEST(test_freed_by_identified),
		TEST(test_not_identified),
		TEST(test_departures),
		TEST(test_lists),
	};

	return cmocka_run_group_tests_name("pending-call", tests, NULL, NULL);
}
