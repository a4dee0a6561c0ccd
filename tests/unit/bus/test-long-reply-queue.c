/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which long reply is next, and when. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "long-reply-queue.h"

#define RATE  1000000U /* a byte a microsecond */
#define START (1000 * USEC_PER_SEC)
/* What a user has saved up who has asked for nothing yet. */
#define SAVED ((size_t)LONG_REPLY_QUEUE_SAVED_USEC)

static int setup(void **state)
{
	return long_reply_queue_new(RATE, (LongReplyQueue **)state);
}

static int teardown(void **state)
{
	LongReplyQueue *a = *state;
	QueuedCall *c;

	while ((c = long_reply_queue_forget(a, NULL)))
		free(c);
	long_reply_queue_free(a);
	return 0;
}

/* A call NAME of SENDER, who is USER. */
static void add(LongReplyQueue *a, const char *sender, uid_t user, const char *name)
{
	bool new;

	assert_int_equal(long_reply_queue_add(a, sender, CONST_CAST(char *, name),
					      LONG_REPLY_GET_MANAGED_OBJECTS, &new),
			 0);
	if (new)
		assert_int_equal(long_reply_queue_identify(a, sender, user), 0);
}

/* NAME of USER is next at NOW and has SIZE bytes. */
static void expect(LongReplyQueue *a, uint64_t now, const char *name, uid_t user, size_t size)
{
	uint64_t when = 0;
	uid_t is = 0;
	QueuedCall *c = long_reply_queue_next(a, now, &is, &when);

	if (!c)
		fail_msg("%s has to wait %ju us", name, (uintmax_t)(when - now));
	assert_string_equal(c->call, name);
	assert_int_equal(is, user);
	long_reply_queue_charge(a, user, size, now);
	free(c);
}

static void expect_nobody(LongReplyQueue *a, uint64_t now, uint64_t when)
{
	uint64_t is = 0;
	uid_t user;

	assert_null(long_reply_queue_next(a, now, &user, &is));
	assert_int_equal(is, when);
}

static void test_rate(void **state)
{
	LongReplyQueue *a = *state;
	uint64_t now = START;

	assert_true(long_reply_queue_is_empty(a));
	for (unsigned int i = 0; i < 6; i++)
		add(a, ":1.1", 1000, "x");
	/* Replies are sent at once until the savings are spent; the last one may be larger than
	 * what is left. */
	expect(a, now, "x", 1000, SAVED / 2);
	expect(a, now, "x", 1000, SAVED / 4);
	expect(a, now, "x", 1000, SAVED);
	/* Then the rate decides. */
	expect_nobody(a, now, now + SAVED * 3 / 4);
	now += SAVED * 3 / 4;
	expect(a, now, "x", 1000, SAVED);
	expect_nobody(a, now, now + SAVED);
	now += SAVED;
	expect(a, now, "x", 1000, 1000);
	expect_nobody(a, now, now + 1000);
	/* Savings have a limit, also after a long time. */
	now += 100 * SAVED;
	expect(a, now, "x", 1000, SAVED + 5);
	assert_true(long_reply_queue_is_empty(a));
	/* Who has spent them is not forgotten when nobody waits. */
	expect_nobody(a, now, UINT64_MAX);
	add(a, ":1.1", 1000, "y");
	expect_nobody(a, now, now + 5);
}

/* The calls of a connection keep their order; connections of one user take turns, and users do. */
static void test_turns(void **state)
{
	LongReplyQueue *a = *state;

	add(a, ":1.1", 1000, "a1");
	add(a, ":1.1", 1000, "a2");
	add(a, ":1.1", 1000, "a3");
	expect(a, START, "a1", 1000, 0);
	add(a, ":1.2", 1000, "b1");
	add(a, ":1.2", 1000, "b2");
	add(a, ":1.3", 0, "c1");
	add(a, ":1.3", 0, "c2");
	add(a, ":1.3", 0, "c3");
	add(a, ":1.3", 0, "c4");
	/* A newcomer comes before whoever got the last reply. */
	expect(a, START, "c1", 0, 0);
	expect(a, START, "b1", 1000, 0);
	expect(a, START, "c2", 0, 0);
	expect(a, START, "a2", 1000, 0);
	expect(a, START, "c3", 0, 0);
	expect(a, START, "b2", 1000, 0);
	add(a, ":1.4", 7, "d1");
	expect(a, START, "c4", 0, 0);
	expect(a, START, "d1", 7, 0);
	expect(a, START, "a3", 1000, 0);
	expect_nobody(a, START, UINT64_MAX);
}

/* A connection or a user with one call after the other takes turns with one whose calls all wait:
 * neither is always first. */
static void test_asking_anew(void **state)
{
	static const struct {
		const char *sender;
		uid_t user;
	} others[] = {{":1.2", 1000}, {":1.3", 7}};
	LongReplyQueue *a = *state;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		for (unsigned int k = 0; k < 4; k++)
			add(a, ":1.1", 1000, "waits");
		expect(a, START, "waits", 1000, 1);
		add(a, others[i].sender, others[i].user, "anew");
		for (unsigned int k = 0; k < 3; k++) {
			expect(a, START, "anew", others[i].user, 1);
			add(a, others[i].sender, others[i].user, "anew");
			expect(a, START, "waits", 1000, 1);
		}
		expect(a, START, "anew", others[i].user, 1);
		assert_true(long_reply_queue_is_empty(a));
	}
}

/* A hundred connections of one user share the rate of that user; another user waits for none of
 * them. */
static void test_many_connections(void **state)
{
	LongReplyQueue *a = *state;
	uint64_t now = START;
	size_t served = 0;
	char name[32];

	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), ":1.%u", i);
		add(a, name, 1000, "greedy");
	}
	expect(a, now, "greedy", 1000, SAVED + 10);
	expect_nobody(a, now, now + 10);
	add(a, ":2.1", 1001, "other");
	expect(a, now, "other", 1001, 1);
	for (uint64_t when = now; when != UINT64_MAX; served++) {
		QueuedCall *c;
		uid_t user;

		while (!(c = long_reply_queue_next(a, now, &user, &when)) && when != UINT64_MAX)
			now = when;
		if (!c)
			break;
		long_reply_queue_charge(a, user, SAVED, now);
		free(c);
	}
	assert_int_equal(served, 99);
	assert_int_equal(now, START + 10 + 98 * SAVED);
}

/* All users together have a rate too. */
static void test_many_users(void **state)
{
	LongReplyQueue *a = *state;
	char name[32];

	for (uid_t i = 0; i < 2 * LONG_REPLY_QUEUE_USERS; i++) {
		snprintf(name, sizeof(name), ":1.%u", i);
		add(a, name, i, "x");
	}
	for (uid_t i = 0; i < LONG_REPLY_QUEUE_USERS; i++)
		expect(a, START, "x", i, SAVED + 8);
	expect_nobody(a, START, START + 8);
	expect(a, START + 8, "x", LONG_REPLY_QUEUE_USERS, 1);
}

/* A call is answered only when its user is known. Calls of other connections do not wait for that.
 */
static void test_unknown(void **state)
{
	LongReplyQueue *a = *state;
	QueuedCall *c;
	bool new;

	assert_int_equal(long_reply_queue_add(a, ":1.1", CONST_CAST(char *, "a"),
					      LONG_REPLY_GET_MANAGED_OBJECTS, &new),
			 0);
	assert_true(new);
	assert_int_equal(long_reply_queue_add(a, ":1.1", CONST_CAST(char *, "b"),
					      LONG_REPLY_GET_MANAGED_OBJECTS, &new),
			 0);
	assert_false(new);
	expect_nobody(a, START, UINT64_MAX);
	add(a, ":1.2", 5, "c");
	expect(a, START, "c", 5, 1);
	assert_int_equal(long_reply_queue_identify(a, ":1.9", 5), 0);
	assert_int_equal(long_reply_queue_identify(a, ":1.1", 5), 0);
	expect(a, START, "a", 5, 1);
	c = long_reply_queue_forget(a, ":1.1");
	assert_string_equal(c->call, "b");
	free(c);
	assert_null(long_reply_queue_forget(a, ":1.1"));
	assert_true(long_reply_queue_is_empty(a));
}

/* If too many calls wait, the user with the most calls loses the last one. */
static void test_excess(void **state)
{
	LongReplyQueue *a = *state;
	QueuedCall *c;
	char name[32];

	for (unsigned int i = 0; i < LONG_REPLY_QUEUE_MAX; i++) {
		snprintf(name, sizeof(name), ":1.%u", i % 40);
		add(a, name, 1000, i == LONG_REPLY_QUEUE_MAX - 1 ? "last" : "greedy");
	}
	assert_null(long_reply_queue_excess(a));
	add(a, ":2.1", 1001, "other");
	c = long_reply_queue_excess(a);
	assert_string_equal(c->call, "last");
	free(c);
	assert_null(long_reply_queue_excess(a));
	add(a, ":1.1", 1000, "more");
	c = long_reply_queue_excess(a);
	assert_string_equal(c->call, "more");
	free(c);
}

/* Calls that have been answered do not count any more. */
static void test_excess_of_others(void **state)
{
	LongReplyQueue *a = *state;
	QueuedCall *c;

	for (unsigned int i = 0; i < LONG_REPLY_QUEUE_MAX / 2 + 2; i++)
		add(a, ":1.1", 1000, "greedy");
	for (unsigned int i = 0; i < 4; i++)
		expect(a, START, "greedy", 1000, 0);
	for (unsigned int i = 0; i < LONG_REPLY_QUEUE_MAX / 2 + 3; i++)
		add(a, ":2.1", 1001, "other");
	add(a, ":1.1", 1000, "last");
	c = long_reply_queue_excess(a);
	assert_non_null(c);
	assert_string_equal(c->call, "other");
	free(c);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rate),	TEST(test_turns),
		TEST(test_asking_anew), TEST(test_many_connections),
		TEST(test_many_users),	TEST(test_unknown),
		TEST(test_excess),	TEST(test_excess_of_others),
	};

	return cmocka_run_group_tests_name("long-reply-queue", tests, NULL, NULL);
}
