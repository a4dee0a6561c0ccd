/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who callers are, on a bus that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-callers.h"
#include "bus-pair.h"

typedef struct Test {
	sd_bus *bus, *daemon; /* both ends of the connection */
	BusCallers *callers;
	unsigned int n_questions;
	bool silent;	   /* the bus answers nothing */
	bool no_number;	   /* it answers without a user */
	const char *error; /* what it answers; NULL: the number behind the dot of the name */
	unsigned int n_told, n_refused;
	uid_t told;
} Test;

static int on_question(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;
	const char *name;
	unsigned int user;

	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "GetConnectionUnixUser"))
		return 0;
	t->n_questions++;
	if (t->silent)
		return 1;
	if (t->no_number)
		return sd_bus_reply_method_return(m, "");
	if (t->error)
		return sd_bus_reply_method_errorf(m, t->error, "test");
	assert_true(sd_bus_message_read(m, "s", &name) > 0);
	assert_int_equal(sscanf(name, ":1.%u", &user), 1);
	return sd_bus_reply_method_return(m, "u", user);
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->daemon);
	assert_true(bus_callers_new(t->daemon, &t->callers) >= 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_question, t) >= 0);
	bus_pair_settle(t->bus, t->daemon);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	bus_callers_free(t->callers);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon);
	free(t);
	return 0;
}

static BusCaller *find(Test *t, unsigned int number)
{
	BusCaller *caller;
	char name[16];

	snprintf(name, sizeof(name), ":1.%u", number);
	assert_int_equal(bus_callers_find(t->callers, name, &caller), 0);
	assert_string_equal(bus_caller_name(caller), name);
	return caller;
}

/* A call of the connection NUMBER comes and is answered. */
static void call(Test *t, unsigned int number)
{
	bus_caller_unref(find(t, number));
	bus_pair_settle(t->bus, t->daemon);
}

static void on_told(void *userdata, int error, uid_t user)
{
	Test *t = userdata;

	t->n_told++;
	if (error < 0)
		t->n_refused++;
	else
		t->told = user;
}

/* All who wait for the same answer share one question, and those who come later know it. */
static void test_one_question(void **state)
{
	Test *t = *state;
	CallerWait waits[3] = {};
	BusCaller *callers[3];
	uid_t user;

	for (size_t i = 0; i < 3; i++) {
		waits[i] = (CallerWait){.told = on_told, .userdata = t};
		callers[i] = find(t, 7);
		assert_ptr_equal(callers[i], callers[0]);
		assert_false(bus_caller_knows_user(callers[i], &user));
		bus_caller_await(callers[i], &waits[i]);
	}
	caller_wait_cancel(&waits[1]);
	caller_wait_cancel(&waits[1]);
	bus_pair_settle(t->bus, t->daemon);
	assert_int_equal(t->n_questions, 1);
	assert_int_equal(t->n_told, 2);
	assert_int_equal(t->told, 7);
	assert_true(bus_caller_knows_user(callers[0], &user));
	assert_int_equal(user, 7);
	for (size_t i = 0; i < 3; i++)
		bus_caller_unref(callers[i]);
	call(t, 7);
	assert_int_equal(t->n_questions, 1);
}

/* An answer that is an error is not kept: the next call asks again. */
static void test_error(void **state)
{
	static const char *const errors[] = {SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_NAME_HAS_NO_OWNER};
	Test *t = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		CallerWait wait = {.told = on_told, .userdata = t};
		BusCaller *caller = find(t, 7);
		uid_t user;

		t->error = errors[i];
		bus_caller_await(caller, &wait);
		bus_pair_settle(t->bus, t->daemon);
		assert_int_equal(t->n_refused, i + 1);
		assert_int_equal(t->n_questions, i + 1);
		assert_false(bus_caller_knows_user(caller, &user));
		bus_caller_unref(caller);
	}
	t->error = NULL;
	call(t, 7);
	assert_int_equal(t->n_questions, 3);
	call(t, 7);
	assert_int_equal(t->n_questions, 3);
}

/* Who was used longest ago is forgotten; who is referred to is not. */
static void test_bound(void **state)
{
	Test *t = *state;
	BusCaller *held = find(t, 1);
	uid_t user;

	for (unsigned int i = 2; i < BUS_CALLERS_MAX + 2; i++)
		call(t, i);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + 1);
	call(t, 2); /* now 3 is the oldest */
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + 1);
	call(t, BUS_CALLERS_MAX + 2);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + 2);
	call(t, 2);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + 2);
	call(t, 3);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + 3);
	assert_true(bus_caller_knows_user(held, &user));
	assert_int_equal(user, 1);
	bus_caller_unref(held);
}

/* One in the middle is used again: those before it are still the oldest. */
static void test_order(void **state)
{
	Test *t = *state;
	unsigned int middle = BUS_CALLERS_MAX / 2;

	for (unsigned int i = 1; i <= BUS_CALLERS_MAX; i++)
		call(t, i);
	call(t, middle);
	call(t, middle);
	for (unsigned int i = 1; i < middle; i++)
		call(t, BUS_CALLERS_MAX + i);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + middle - 1);
	for (unsigned int i = middle; i < BUS_CALLERS_MAX + middle; i++)
		call(t, i);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + middle - 1);
	call(t, middle - 1);
	assert_int_equal(t->n_questions, BUS_CALLERS_MAX + middle);
}

/* The bus answers something that is no number: that is an error, and not a user. */
static void test_no_number(void **state)
{
	Test *t = *state;
	CallerWait wait = {.told = on_told, .userdata = t};
	BusCaller *caller = find(t, 7);

	t->no_number = true;
	bus_caller_await(caller, &wait);
	bus_pair_settle(t->bus, t->daemon);
	assert_int_equal(t->n_refused, 1);
	bus_caller_unref(caller);
}

/* A connection is new once. */
static void test_new(void **state)
{
	Test *t = *state;
	BusCaller *caller = find(t, 7);

	assert_true(bus_caller_is_new(caller));
	assert_false(bus_caller_is_new(caller));
	bus_caller_unref(caller);
	caller = find(t, 7);
	assert_false(bus_caller_is_new(caller));
	bus_caller_unref(caller);
}

/* The connection ends before the bus has answered. */
static void test_end_while_asking(void **state)
{
	Test *t = *state;
	CallerWait wait = {.told = on_told, .userdata = t};
	BusCaller *caller = find(t, 7);

	t->silent = true;
	bus_caller_await(caller, &wait);
	bus_pair_settle(t->bus, t->daemon);
	assert_int_equal(t->n_questions, 1);
	caller_wait_cancel(&wait);
	bus_caller_unref(caller);
	t->callers = bus_callers_free(t->callers);
	bus_pair_settle(t->bus, t->daemon);
	assert_int_equal(t->n_told, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_question),
		TEST(test_error),
		TEST(test_bound),
		TEST(test_order),
		TEST(test_no_number),
		TEST(test_new),
		TEST(test_end_while_asking),
	};

	return cmocka_run_group_tests_name("bus-callers", tests, NULL, NULL);
}
