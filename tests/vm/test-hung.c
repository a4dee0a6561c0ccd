/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed and rdma_sim loaded: 200 of 208 devices
 * hang, each of another adapter; or 64 of 72, the virtual functions of one. rdmad starts all the
 * same, the others are served as if nothing had happened, the number of processes is bounded, and
 * all heal by themselves. Prints how long each took.
 */

#include "crowd.h"

#include "pool-limits.h"

#define HEALTHY 8U
#define ALL	((1U << HEALTHY) - 1)
/* Without reconciliation, which could hide that a change was missed. */
#define CONFIGURATION "[Daemon]\nReconcileIntervalSec=0\n"

static Fixture *f;

static void print_usage(Crowd *c)
{
	CrowdUsage u = crowd_usage(c);

	printf("  %u processes, %u at most; core %lu KiB, workers %lu KiB, all with the kernel's "
	       "share %lu KiB at most\n",
	       u.processes, c->processes, u.core, u.workers, u.peak);
	/* the core, and those that its pool may have */
	assert_true(c->processes <= 1 + POOL_PROCESSES_MAX);
}

/* The healthy devices change, each alone. */
static void change_each(Crowd *c)
{
	double ms[HEALTHY], longest = 0;

	for (unsigned int i = 0; i < HEALTHY; i++) {
		double begin = fixture_now_ms();

		crowd_change(c, i);
		crowd_wait_changes(c, 1U << i, begin, ms);
		longest = MAX(longest, ms[i]);
	}
	printf("  a change of a healthy one is signalled after %.1f ms at most\n", longest);
}

static void start(Crowd *c, const char *what)
{
	CrowdStart s = crowd_start(c);

	printf("  %u and %u devices, %s: name after %.0f ms, healthy ports after %.0f ms, started "
	       "after %.0f ms\n",
	       c->n_hung, c->n_healthy, what, s.name, s.healthy, s.started);
	print_usage(c);
}

static void heal(Crowd *c)
{
	double begin;

	crowd_heal(c);
	begin = fixture_now_ms();
	crowd_wait_stale(c, false);
	printf("  they go on: all are fresh after %.0f ms\n", fixture_now_ms() - begin);
	for (unsigned int i = 0; i < c->n_hung; i += 20)
		wait_equal(f, c->first_hung + i, 1);
	for (unsigned int i = 0; i < c->n_healthy; i++)
		wait_equal(f, c->first_healthy + i, 1);
}

/* TOGETHER: all that hang are of one adapter. BASE: first the service starts while none hangs. */
static void check(unsigned int n_hung, bool together, bool base)
{
	Crowd *c = crowd_new(f, n_hung, HEALTHY, together, CONFIGURATION);

	if (base) {
		start(c, "none hangs");
		crowd_stop(c);
	}
	crowd_hang(c, false);
	start(c, together ? "most hang, all of one adapter" : "most hang, each of another adapter");
	change_each(c);
	crowd_wait_stale(c, true);
	print_usage(c);
	change_each(c);
	heal(c);
	crowd_free(c);
}

static void test_each_alone(_unused_ void **state)
{
	check(200, false, true);
}

/* Fewer, as each process takes seconds of the machine that the guest runs on. */
static void test_one_adapter(_unused_ void **state)
{
	check(64, true, false);
}

static int setup(_unused_ void **state)
{
	setlinebuf(stdout);
	f = fabric_new();
	run("modprobe rdma_sim");
	return 0;
}

/* The arguments may name one test. */
int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_adapter),
		cmocka_unit_test(test_each_alone),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("hung", tests, setup, NULL);
}
