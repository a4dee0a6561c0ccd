/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of an answer of rdmad-processes, and what is not. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus-pair.h"
#include "bus-processes.h"

/* When the kernel was asked for the holders */
#define ASKED_USEC 1000000U

typedef struct Test {
	sd_bus *bus, *other;
	sd_bus_message *answer; /* that is being made */
	Table *holders;
} Test;

static HolderEntry *holder(Test *t, uint32_t i)
{
	assert_true(i < t->holders->n);
	return (HolderEntry *)(void *)t->holders->entries + i;
}

static void begin(Test *t)
{
	t->answer = sd_bus_message_unref(t->answer);
	assert_true(sd_bus_message_new_signal(t->bus, &t->answer, "/", "a.b", "Answer") >= 0);
}

static int setup(void **state)
{
	static const HolderEntry entries[] = {
		{.kind = USER_PROCESS, .pid = 11, .qps = 1},
		{.kind = USER_KERNEL, .name = "ib_core", .qps = 2},
		{.kind = USER_PROCESS, .pid = 12, .qps = 4},
		{.kind = USER_PROCESS, .pid = 20, .qps = 8},
	};
	Test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	bus_pair_open(&t->bus, &t->other);
	t->holders = table_new(entries, ARRAY_SIZE(entries), sizeof(entries[0]));
	assert_non_null(t->holders);
	begin(t);
	assert_true(sd_bus_message_open_container(t->answer, 'a', "(uuutss)") >= 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	sd_bus_message_unref(t->answer);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->other);
	table_free(t->holders);
	free(t);
	return 0;
}

static void say(Test *t, uint32_t thread, uint32_t pid, uint32_t uid, uint64_t started,
		const char *name, const char *cgroup)
{
	assert_true(sd_bus_message_append(t->answer, "(uuutss)", thread, pid, uid, started, name,
					  cgroup) >= 0);
}

static int take(Test *t)
{
	assert_true(sd_bus_message_seal(t->answer, 1, 0) >= 0);
	return bus_take_processes(t->answer, t->holders, ASKED_USEC);
}

static int end(Test *t)
{
	assert_true(sd_bus_message_close_container(t->answer) >= 0);
	return take(t);
}

/* Two threads of one process are one holder; what is not known of the others stays so. */
static void test_threads(void **state)
{
	Test *t = *state;

	say(t, 12, 10, 1000, 5, "train", "/system.slice/train.service");
	say(t, 11, 10, 1000, 5, "train", "/system.slice/train.service");
	assert_int_equal(end(t), 0);
	assert_int_equal(t->holders->n, 3);
	assert_int_equal(holder(t, 0)->pid, 10);
	assert_int_equal(holder(t, 0)->qps, 5);
	assert_int_equal(holder(t, 0)->uid, 1000);
	assert_int_equal(holder(t, 0)->started, 5);
	assert_string_equal(holder(t, 0)->name, "train");
	assert_string_equal(holder(t, 0)->cgroup, "/system.slice/train.service");
	assert_string_equal(holder(t, 1)->name, "ib_core");
	assert_int_equal(holder(t, 1)->qps, 2);
	assert_int_equal(holder(t, 2)->pid, 20);
	assert_int_equal(holder(t, 2)->started, 0);
}

/* A process that started after the kernel was asked has the number of another one. One that is said
 * twice is as it was said first. What nobody has asked for is left out. */
static void test_others(void **state)
{
	Test *t = *state;

	say(t, 11, 11, 1000, ASKED_USEC + 1, "late", "/late");
	say(t, 12, 12, 0, ASKED_USEC, "first", "/first");
	say(t, 12, 12, 1000, 5, "second", "/second");
	say(t, 20, 0, 1000, 5, "none", "/none");
	say(t, 20, 20, 1000, 0, "never", "/never");
	say(t, 99, 99, 1000, 5, "other", "/other");
	assert_int_equal(end(t), 0);
	assert_int_equal(t->holders->n, 4);
	assert_int_equal(holder(t, 0)->started, 0);
	assert_string_equal(holder(t, 0)->name, "");
	assert_string_equal(holder(t, 2)->name, "first");
	assert_int_equal(holder(t, 2)->uid, 0);
	assert_int_equal(holder(t, 3)->pid, 20);
	assert_int_equal(holder(t, 3)->started, 0);
	for (uint32_t i = 0; i < t->holders->n; i++)
		assert_string_not_equal(holder(t, i)->name, "other");
}

static void test_texts(void **state)
{
	Test *t = *state;
	char longer[400];

	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	say(t, 11, 11, 1000, 5, "a\nb\x1b[31m", longer);
	say(t, 12, 12, 1000, 5, longer, "");
	assert_int_equal(end(t), 0);
	assert_null(strpbrk(holder(t, 0)->name, "\n\x1b"));
	assert_int_equal(strlen(holder(t, 0)->cgroup), sizeof(holder(t, 0)->cgroup) - 1);
	assert_int_equal(strlen(holder(t, 2)->name), sizeof(holder(t, 2)->name) - 1);
}

/* Nothing is known after an answer that is none. */
static void test_wrong(void **state)
{
	Test *t = *state;

	begin(t);
	assert_int_equal(take(t), -EBADMSG);
	begin(t);
	assert_true(sd_bus_message_append(t->answer, "s", "x") >= 0);
	assert_int_equal(take(t), -EBADMSG);
	begin(t);
	assert_true(sd_bus_message_append(t->answer, "a(uuuts)", 1, 11, 11, 1000, (uint64_t)5,
					  "x") >= 0);
	assert_int_equal(take(t), -EBADMSG);
	begin(t);
	assert_true(sd_bus_message_append(t->answer, "a(uuutss)s", 0, "x") >= 0);
	assert_int_equal(take(t), -EBADMSG);
	assert_int_equal(t->holders->n, 4);
	assert_int_equal(holder(t, 0)->started, 0);
	begin(t);
	assert_true(sd_bus_message_append(t->answer, "a(uuutss)", 0) >= 0);
	assert_int_equal(take(t), 0);
	assert_int_equal(t->holders->n, 4);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_threads),
		TEST(test_others),
		TEST(test_texts),
		TEST(test_wrong),
	};

	return cmocka_run_group_tests_name("bus-processes", tests, NULL, NULL);
}
