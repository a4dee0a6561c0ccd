/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what 8 healthy devices have of it when others hang, in a guest with rdma_sim: how long
 * the service takes to start beside them, how long a change of a healthy device takes to be
 * signalled while they hang and when they begin to, how many processes and how much memory rdmad
 * has, and when all are fresh again after the hang has ended. Prints a table too.
 */

#include <sys/resource.h>

#include "bench.h"
#include "crowd.h"

#define HEALTHY 8U
#define ALL	((1U << HEALTHY) - 1)
/* Changes while the others hang: so many of each healthy device */
#define ROUNDS	     13U
#define ROUNDS_QUICK 2U
/* A device may be queried ten times a second because of events, and ten times more without a pause:
 * daemon/manager/schedule.c. The changes are slower, or that limit would be measured. */
#define PAUSE_USEC (20 * USEC_PER_MSEC)

static Fixture *f;

static void report(const char *what, const Crowd *c, bool together, double value, const char *unit,
		   double goal)
{
	char name[64];

	snprintf(name, sizeof(name), "hung-%u%s-%s", c->n_hung, together ? "-together" : "", what);
	bench_report(&(Figure){.figure = name,
			       .ports = c->n_hung + c->n_healthy,
			       .value = value,
			       .unit = unit,
			       .goal = goal,
			       .without_bus = true});
}

/* Each healthy device changes ROUNDS times, alone. Returns p50 and p99 in ms. */
static void change_each(Crowd *c, unsigned int rounds, double *ret_p50, double *ret_p99)
{
	double samples[ROUNDS * HEALTHY], ms[HEALTHY];
	size_t n = 0;

	for (unsigned int k = 0; k < rounds * HEALTHY; k++) {
		unsigned int i = k % HEALTHY;
		double begin = fixture_now_ms();

		crowd_change(c, i);
		crowd_wait_changes(c, 1U << i, begin, ms);
		samples[n++] = ms[i];
		usleep(PAUSE_USEC);
	}
	*ret_p50 = bench_percentile(samples, n, 0.5);
	*ret_p99 = bench_percentile(samples, n, 0.99);
}

/* The others begin to hang, and at the same moment the healthy devices change. Returns the longest
 * time until a change was signalled. */
static double hang_and_change(Crowd *c)
{
	double ms[HEALTHY], longest = 0, begin;

	crowd_hang(c, true);
	begin = fixture_now_ms();
	for (unsigned int i = 0; i < HEALTHY; i++)
		crowd_change(c, i);
	crowd_wait_changes(c, ALL, begin, ms);
	for (unsigned int i = 0; i < HEALTHY; i++)
		longest = MAX(longest, ms[i]);
	return longest;
}

static double heal(Crowd *c)
{
	double begin;

	crowd_heal(c);
	begin = fixture_now_ms();
	crowd_wait_stale(c, false);
	return fixture_now_ms() - begin;
}

static void measure(unsigned int n_hung, bool together)
{
	unsigned int rounds = bench.quick ? ROUNDS_QUICK : ROUNDS;
	Crowd *c = crowd_new(f, n_hung, HEALTHY, together, "[Daemon]\nReconcileIntervalSec=0\n");
	double p50, p99, begin = 0, healed;
	CrowdStart none = crowd_start(c), s;
	CrowdUsage u;

	if (n_hung > 0) {
		begin = hang_and_change(c);
		crowd_wait_stale(c, true);
		heal(c);
	}
	crowd_stop(c);
	crowd_hang(c, false);
	s = crowd_start(c);
	crowd_wait_stale(c, true);
	change_each(c, rounds, &p50, &p99);
	u = crowd_usage(c);
	healed = heal(c);
	printf("%4u %-8s %8.0f %8.0f %8.0f %8.1f %8.1f %8.0f %8u %8lu %8lu %8lu %8.0f\n", n_hung,
	       together ? "one" : "each own", none.healthy, s.name, s.healthy, p50, p99, begin,
	       c->processes, u.core, u.workers, u.peak, healed);
	report("start", c, together, s.healthy, "ms", 3000);
	report("change", c, together, p50, "ms", 0);
	report("change-p99", c, together, p99, "ms", 0);
	report("change-at-begin", c, together, begin, "ms", 2000);
	report("processes", c, together, c->processes, "", 0);
	report("memory-core", c, together, (double)u.core, "KiB", 0);
	report("memory-workers", c, together, (double)u.workers, "KiB", 0);
	report("healed", c, together, healed, "ms", 0);
	fflush(stdout);
	free(c);
}

int main(int argc, char *argv[])
{
	static const unsigned int n_hung[] = {0, 1, 10, 64, 200};

	bench_init(argc, argv);
	setpriority(PRIO_PROCESS, 0, 0); /* a client has the usual priority */
	f = fabric_new();
	run("modprobe rdma_sim");
	printf("8 healthy devices beside so many that hang, of one adapter or each of its own; "
	       "times in ms, memory in KiB (PSS)\n\n"
	       "%4s %-8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
	       "hung", "adapter", "none", "name", "healthy", "change", "p99", "begin", "processes",
	       "core", "workers", "peak", "healed");
	for (size_t i = 0; i < (bench.quick ? 3 : ARRAY_SIZE(n_hung)); i++) {
		measure(n_hung[i], false);
		if (n_hung[i] == 200)
			measure(n_hung[i], true);
	}
	return 0;
}
