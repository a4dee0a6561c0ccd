/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose call is handled next: costs are numbers of the test. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "turns.h"

#define OWN    7777U
#define ALICE  1000U
#define BOB    1001U
#define ROOT   0U
#define SYSTEM 999U
#define SIZE   1000U

static int setup(void **state)
{
	Turns *t;

	assert_int_equal(turns_new(OWN, &t), 0);
	*state = t;
	return 0;
}

static void close_all(Turns *t)
{
	TurnsLine *line;

	while ((line = turns_any(t))) {
		for (Turn *turn; (turn = turns_take(line));)
			free(turn);
		turns_close(line);
	}
}

static int teardown(void **state)
{
	close_all(*state);
	turns_free(*state);
	turns_free(NULL);
	return 0;
}

static TurnsLine *open_unknown(Turns *t, const char *name)
{
	TurnsLine *line;

	assert_int_equal(turns_open(t, CONST_CAST(char *, name), &line), 0);
	return line;
}

static TurnsLine *open_line(Turns *t, const char *name, uid_t user)
{
	TurnsLine *line = open_unknown(t, name);

	assert_int_equal(turns_identify(line, user), 0);
	return line;
}

static void add(TurnsLine *line, unsigned int n, size_t size)
{
	while (n-- > 0) {
		Turn *turn = calloc(1, sizeof(*turn));

		assert_non_null(turn);
		turn->size = size;
		turn->next = turn; /* nothing that may stay */
		turns_add(line, turn);
	}
}

/* The next turn costs COST; returns the name of its line. */
static const char *next(Turns *t, uint64_t cost)
{
	const char *name;
	TurnsLine *line;
	uid_t user;
	Turn *turn = turns_next(t, &line, &user);

	assert_non_null(turn);
	name = turns_userdata(line);
	free(turn);
	turns_charge(t, user, cost);
	return name;
}

static void expect(Turns *t, uint64_t cost, const char *names)
{
	for (; *names; names++)
		assert_memory_equal(next(t, cost), names, 1);
}

static void test_empty(void **state)
{
	Turns *t = *state;
	TurnsLine *line;
	uid_t user;

	assert_true(turns_is_empty(t));
	assert_false(turns_is_ready(t));
	assert_null(turns_next(t, &line, &user));
	turns_charge(t, ALICE, 5);
	assert_null(turns_any(t));
}

/* Users take turns, and so do the connections of one of them; each has its calls in their order. */
static void test_round(void **state)
{
	Turns *t = *state;

	add(open_line(t, "a", ALICE), 4, SIZE);
	add(open_line(t, "b", ALICE), 2, SIZE);
	add(open_line(t, "c", BOB), 3, SIZE);
	assert_true(turns_is_ready(t));
	/* between users of equal cost any order is right; this is the one there is */
	expect(t, 10, "cacbcabaa");
	assert_true(turns_is_empty(t));
}

/* The calls of one cost five times as much as those of the other. */
static void test_cost(void **state)
{
	Turns *t = *state;
	unsigned int n[2] = {};

	add(open_line(t, "a", ALICE), 100, SIZE);
	add(open_line(t, "b", BOB), 100, SIZE);
	for (unsigned int i = 0; i < 60; i++) {
		TurnsLine *line;
		uid_t user;
		Turn *turn = turns_next(t, &line, &user);

		n[user - ALICE]++;
		free(turn);
		turns_charge(t, user, user == ALICE ? 50 : 10);
	}
	assert_int_equal(n[0], 10);
	assert_int_equal(n[1], 50);
}

/* Who comes later is next, and has saved up nothing. */
static void test_newcomer(void **state)
{
	Turns *t = *state;
	TurnsLine *b = open_line(t, "b", BOB);

	add(open_line(t, "a", ALICE), 20, SIZE);
	expect(t, 10, "aaaaaaaaaa");
	add(b, 4, SIZE);
	expect(t, 10, "bababab");
}

/* Who leaves the queue and comes back has still used what he has used. */
static void test_comes_back(void **state)
{
	Turns *t = *state;
	TurnsLine *b = open_line(t, "b", BOB);

	add(open_line(t, "a", ALICE), 20, SIZE);
	expect(t, 10, "a");
	add(b, 1, SIZE);
	expect(t, 100, "b");
	add(b, 1, SIZE);
	expect(t, 10, "aaaaaaaaa");
}

/* When nothing waits any more everybody begins anew. */
static void test_forgotten(void **state)
{
	Turns *t = *state;
	TurnsLine *a = open_line(t, "a", ALICE);
	const char *first;

	add(a, 10, SIZE);
	expect(t, 1000, "aaaaaaaaaa");
	add(open_line(t, "b", BOB), 3, SIZE);
	add(a, 3, SIZE);
	first = next(t, 10);
	assert_string_not_equal(first, next(t, 10));
}

/* However many users there are of one class, the other has its half. */
static void test_classes(void **state)
{
	static const uid_t system_users[] = {ROOT, SYSTEM, OWN};
	Turns *t = *state;
	unsigned int n = 0;

	for (uid_t u = 0; u < 50; u++)
		add(open_line(t, "o", ALICE + u), 10, SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(system_users); i++)
		add(open_line(t, "s", system_users[i]), 10, SIZE);
	for (unsigned int i = 0; i < 40; i++)
		n += next(t, 10)[0] == 's';
	assert_int_equal(n, 20);
}

/* A class that comes later has saved up nothing either. */
static void test_late_class(void **state)
{
	Turns *t = *state;

	add(open_line(t, "a", ALICE), 20, SIZE);
	expect(t, 10, "aaaaaaaaaa");
	add(open_line(t, "r", ROOT), 5, SIZE);
	expect(t, 10, "rararararaaaa");
}

/* The classes, too, begin anew when nothing waits. */
static void test_forgotten_classes(void **state)
{
	Turns *t = *state;

	add(open_line(t, "r", ROOT), 10, SIZE);
	expect(t, 1000, "rrrrrrrrrr");
	add(open_line(t, "a", ALICE), 3, SIZE);
	add(open_line(t, "r", ROOT), 3, SIZE);
	assert_string_not_equal(next(t, 10), next(t, 10));
}

/* Nothing is handled before the user is known; then he has his place. */
static void test_unknown(void **state)
{
	Turns *t = *state;
	TurnsLine *u = open_unknown(t, "u"), *line;
	uid_t user;

	add(u, 3, SIZE);
	assert_false(turns_is_empty(t));
	assert_false(turns_is_ready(t));
	assert_null(turns_next(t, &line, &user));
	add(open_line(t, "a", ALICE), 2, SIZE);
	expect(t, 10, "a");
	assert_int_equal(turns_identify(u, BOB), 0);
	expect(t, 11, "uauu");
	assert_true(turns_is_empty(t));
}

/* What is taken out of a line does not count any more. */
static void test_take(void **state)
{
	Turns *t = *state;
	TurnsLine *a = open_line(t, "a", ALICE), *b = open_line(t, "b", ALICE);

	assert_true(turns_line_is_empty(a));
	add(a, 2, TURNS_USER_BYTES / 2);
	add(b, 1, 0);
	assert_false(turns_line_is_empty(a));
	assert_false(turns_has_room(b, 1, false));
	free(turns_take(a));
	assert_true(turns_has_room(b, TURNS_USER_BYTES / 2, false));
	free(turns_take(a));
	assert_null(turns_take(a));
	assert_true(turns_has_room(b, TURNS_USER_BYTES, false));
	assert_false(turns_has_room(b, TURNS_USER_BYTES + 1, false));
	turns_close(a);
	expect(t, 1, "b");
}

/* Exactly so many bytes of a user, on whichever connection, and a quarter more of refusals. */
static void test_room_of_user(void **state)
{
	Turns *t = *state;
	TurnsLine *a = open_line(t, "a", ALICE), *b = open_line(t, "b", ALICE);
	TurnsLine *u = open_unknown(t, "u");

	add(a, 1, TURNS_USER_BYTES - 1);
	assert_true(turns_has_room(b, 1, false));
	assert_false(turns_has_room(b, 2, false));
	assert_true(turns_has_room(b, TURNS_USER_BYTES / 4 + 1, true));
	assert_false(turns_has_room(b, TURNS_USER_BYTES / 4 + 2, true));
	/* others are not concerned */
	assert_true(turns_has_room(open_line(t, "c", BOB), TURNS_USER_BYTES, false));
	assert_true(turns_has_room(u, TURNS_USER_BYTES, false));
	add(u, 1, 1000);
	assert_false(turns_has_room(u, TURNS_USER_BYTES - 999, false));
	/* the user of the connection has them, too, as soon as he is known */
	assert_int_equal(turns_identify(u, ALICE), 0);
	assert_false(turns_has_room(b, 1, false));
}

/* When all of a class have as much as there may be, each still has a little. The others are not
 * concerned. */
static void test_room_of_class(void **state)
{
	Turns *t = *state;
	TurnsLine *bob = open_line(t, "b", BOB), *root = open_line(t, "r", ROOT);
	TurnsLine *u = open_unknown(t, "u");
	uid_t user = 2000;

	for (; user < 2000 + TURNS_BYTES / TURNS_USER_BYTES - 1; user++)
		add(open_line(t, "x", user), 1, TURNS_USER_BYTES);
	add(open_line(t, "y", user), 1, TURNS_USER_BYTES - 1);
	assert_true(turns_has_room(bob, TURNS_ALWAYS_BYTES + 1, false));
	add(open_line(t, "z", user + 1), 1, 1);
	assert_true(turns_has_room(bob, TURNS_ALWAYS_BYTES, false));
	assert_false(turns_has_room(bob, TURNS_ALWAYS_BYTES + 1, false));
	assert_true(turns_has_room(root, TURNS_USER_BYTES, false));
	assert_true(turns_has_room(u, TURNS_USER_BYTES, false));
}

/* When all connections whose user is not known have as much as there may be, each still has one
 * call: there can be very many of them. */
static void test_room_of_unknown(void **state)
{
	Turns *t = *state;
	TurnsLine *bob = open_line(t, "b", BOB), *u = open_unknown(t, "u");

	for (unsigned int i = 0; i < TURNS_BYTES / TURNS_USER_BYTES; i++) {
		assert_true(turns_has_room(u, TURNS_UNKNOWN_BYTES + 1, false));
		add(open_unknown(t, "x"), 1, TURNS_USER_BYTES);
	}
	assert_true(turns_has_room(u, TURNS_UNKNOWN_BYTES, false));
	assert_false(turns_has_room(u, TURNS_UNKNOWN_BYTES + 1, false));
	assert_true(turns_has_room(bob, TURNS_USER_BYTES, false));
}

/* What has left makes room in its class, and on a connection whose user is not known. */
static void test_room_again(void **state)
{
	Turns *t = *state;
	TurnsLine *bob = open_line(t, "b", BOB), *u = open_unknown(t, "u"), *x = NULL;

	add(bob, 1, 1);
	add(u, 1, TURNS_USER_BYTES);
	for (uid_t user = 2000; user < 2000 + TURNS_BYTES / TURNS_USER_BYTES; user++) {
		x = open_line(t, "x", user);
		add(x, 1, TURNS_USER_BYTES);
	}
	assert_false(turns_has_room(bob, TURNS_USER_BYTES - 1, false));
	assert_false(turns_has_room(u, 1, false));
	free(turns_take(x));
	free(turns_take(u));
	assert_true(turns_has_room(bob, TURNS_USER_BYTES - 1, false));
	assert_true(turns_has_room(u, TURNS_USER_BYTES, false));
}

/* Calls that come between others of their connection are behind them. */
static void test_between(void **state)
{
	Turns *t = *state;
	TurnsLine *a = open_line(t, "a", ALICE);
	size_t sizes = 0;

	add(a, 1, 1);
	add(a, 1, 2);
	add(a, 1, 3);
	for (unsigned int i = 1; i <= 4; i++) {
		TurnsLine *line;
		uid_t user;
		Turn *turn = turns_next(t, &line, &user);

		assert_non_null(turn);
		sizes = 10 * sizes + turn->size;
		free(turn);
		turns_charge(t, user, 1);
		if (i == 1)
			add(a, 1, 4);
	}
	assert_int_equal(sizes, 1234);
	assert_true(turns_is_empty(t));
}

/* A connection that had nothing any more, and whose neighbour has had his last since. */
static void test_line_comes_back(void **state)
{
	Turns *t = *state;
	TurnsLine *a = open_line(t, "a", ALICE);

	add(a, 1, SIZE);
	add(open_line(t, "b", ALICE), 1, SIZE);
	expect(t, 1, "a");
	add(a, 1, SIZE);
	expect(t, 1, "ba");
	add(open_line(t, "c", BOB), 2, SIZE);
	add(a, 1, SIZE);
	expect(t, 10, "cac");
}

/* While one call waits, what others have cost counts; when none does, nobody has cost anything. */
static void test_last_call(void **state)
{
	Turns *t = *state;
	TurnsLine *b = open_line(t, "b", BOB), *a = open_line(t, "a", ALICE);

	add(a, 1, SIZE);
	add(b, 1, SIZE);
	expect(t, 100, "a");
	add(a, 1, SIZE);
	expect(t, 200, "ba");
	/* between users of equal cost it is the one whose connection was opened last */
	add(b, 1, SIZE);
	add(a, 1, SIZE);
	expect(t, 1, "ab");
}

/* Connections are closed in any order, and none of the others is lost. */
static void test_any(void **state)
{
	static const unsigned int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}};
	Turns *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		TurnsLine *lines[3];

		for (unsigned int k = 0; k < 3; k++)
			lines[k] = open_unknown(t, "x");
		for (unsigned int k = 0; k < 3; k++) {
			const TurnsLine *any = turns_any(t);

			assert_true(any == lines[0] || any == lines[1] || any == lines[2]);
			assert_non_null(any);
			turns_close(lines[orders[i][k]]);
			lines[orders[i][k]] = NULL;
		}
		assert_null(turns_any(t));
	}
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_forgotten_classes),
		TEST(test_empty),
		TEST(test_room_again),
		TEST(test_between),
		TEST(test_line_comes_back),
		TEST(test_last_call),
		TEST(test_any),
		TEST(test_round),
		TEST(test_cost),
		TEST(test_newcomer),
		TEST(test_comes_back),
		TEST(test_forgotten),
		TEST(test_classes),
		TEST(test_late_class),
		TEST(test_unknown),
		TEST(test_take),
		TEST(test_room_of_user),
		TEST(test_room_of_class),
		TEST(test_room_of_unknown),
	};

	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
