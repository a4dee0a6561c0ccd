/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nursery of the pool: where the workers of a crisis come from. */

#include "pool-fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "fake-worker.h"
#include "log.h"

#define WAITING 10U

static bool has_nursery(void)
{
	unsigned int pids[16], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++)
		if (is_named(pids[i], FAKE_NURSERY))
			return true;
	return false;
}

/* One device hangs, and the others get new workers. Returns one of these. */
static uint64_t begin_crisis(Test *t)
{
	uint64_t ids[WAITING], stuck, pid = 0;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	expect_answer(t, ask(t, 1, "ok"));
	assert_false(has_nursery());
	stuck = ask(t, 100, "stop");
	for (uint32_t i = 0; i < WAITING; i++)
		ids[i] = ask(t, 1 + i, "ok");
	for (uint32_t i = 0; i < WAITING; i++)
		pid = expect_answer(t, ids[i]);
	expect_error(t, stuck, -ETIMEDOUT, "no answer for 1000 ms while reading stop");
	assert_int_equal(count_ends(t, -EPIPE), 0);
	return pid;
}

/* They are forked, and children of this process all the same. Then the nursery goes. */
static void test_forks(void **state)
{
	Test *t = *state;
	uint64_t pid = begin_crisis(t);

	assert_true(is_named(pid, FAKE_FORKED));
	kill((pid_t)pid, SIGKILL);
	RUN_UNTIL(t, process_state(pid) == 0); /* it was reaped */
	RUN_UNTIL(t, !has_nursery());
	/* There is one in the next crisis too. */
	ask_until_healed(t, 101, "stop");
	expect_answer(t, ask(t, 1, "ok"));
	RUN_UNTIL(t, has_nursery());
	RUN_UNTIL(t, !has_nursery());
}

/* If there is none, or it is of no use, the workers are executed, and no device is to blame. */
static void test_without(void **state)
{
	static const char *const faults[] = {"ends", "refuses", "lies", "hangs"};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		uint64_t pid;

		setenv("FAKE_WORKER_NURSERY", faults[i], 1);
		pid = begin_crisis(t);
		unsetenv("FAKE_WORKER_NURSERY");
		assert_false(is_named(pid, FAKE_FORKED));
		RUN_UNTIL(t, !has_nursery());
		t->pool = pool_free(t->pool);
		while (waitpid(-1, NULL, 0) > 0)
			;
		t->n = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOCK(test_forks),
		CLOCK(test_without),
	};

	log_max_level = LOG_ERR;
	return cmocka_run_group_tests_name("pool-nursery", tests, NULL, NULL);
}
