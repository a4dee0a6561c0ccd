/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs worlds. A seed is a number that says all that happens in one, and in what order. If one
 * fails, its steps are taken out as long as it still fails, and what is left is printed.
 *
 *     world [--steps=N] [--seconds=N] [--verbose] [SEED...]
 *     world --plants
 *
 * Each SEED is run; then, until the seconds are over, those from today's on: YYYYMMDD * 100000.
 * --plants plants one bug after the other (planted.h), and says which run finds it.
 */

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "laws.h"
#include "planted.h"
#include "virtual-time.h"
#include "world.h"

#define STEPS	    20000U
#define SHORTER_MAX 400U
/* A planted bug has to be found in so many runs. */
#define PLANT_RUNS 50U
/* In seconds: a run that takes longer does not end. */
#define RUN_MAX 300U

typedef struct Run {
	uint64_t seed;
	uint64_t *numbers;
	size_t n;
	RunResult result;
	size_t failed_at; /* the step */
} Run;

typedef struct Report {
	RunResult result;
	uint64_t step; /* the last one that began */
} Report;

static void silence(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		exit(2);
}

static int report_fd = -1;

static void report_step(void)
{
	Report r = {.step = law_step};

	(void)!write(report_fd, &r, sizeof(r));
}

/* In a process of its own: whatever it breaks is gone with it. Returns whether all laws held. */
static bool run(Run *r, bool quietly)
{
	Report report = {};
	int pipe_fds[2], status;
	pid_t pid;

	fflush(NULL);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		exit(2);
	if (pid == 0) {
		report_fd = pipe_fds[1];
		atexit(report_step);
		if (quietly)
			silence();
		alarm(RUN_MAX);
		run_world(r->seed, r->numbers, r->n, &report.result);
		(void)!write(pipe_fds[1], &report, sizeof(report));
		_exit(EXIT_SUCCESS);
	}
	close(pipe_fds[1]);
	report.step = r->n; /* it could not say */
	(void)!read(pipe_fds[0], &report, sizeof(report));
	close(pipe_fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		exit(2);
	r->result = report.result;
	r->failed_at = (size_t)report.step;
	if (WIFSIGNALED(status) && !quietly)
		fprintf(stderr, "it ended with signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* The steps of R without those from AT on, N of them; false: then it does not fail. */
static bool fails_without(Run *r, size_t at, size_t n)
{
	Run shorter = {.seed = r->seed, .numbers = malloc((r->n + 1) * sizeof(uint64_t))};

	if (!shorter.numbers)
		exit(2);
	memcpy(shorter.numbers, r->numbers, at * sizeof(uint64_t));
	memcpy(shorter.numbers + at, r->numbers + at + n, (r->n - at - n) * sizeof(uint64_t));
	shorter.n = r->n - n;
	if (run(&shorter, true)) {
		free(shorter.numbers);
		return false;
	}
	free(r->numbers);
	r->numbers = shorter.numbers;
	r->n = MIN(shorter.n, shorter.failed_at + 1);
	return true;
}

/* Takes out halves, quarters, and so on. */
static void make_shorter(Run *r)
{
	unsigned int tries = 0;

	r->n = MIN(r->n, r->failed_at + 1);
	for (size_t size = r->n / 2; size > 0; size /= 2)
		for (size_t at = 0; at + size <= r->n && tries < SHORTER_MAX; tries++)
			if (!fails_without(r, at, size))
				at += size;
}

static void make_run(uint64_t seed, size_t steps, Run *ret)
{
	Lots lots = {seed};

	*ret = (Run){.seed = seed, .numbers = malloc(steps * sizeof(uint64_t)), .n = steps};
	if (!ret->numbers)
		exit(2);
	for (size_t i = 0; i < steps; i++)
		ret->numbers[i] = lots_next(&lots);
}

/* Runs SEED. Returns whether all laws held. */
static bool run_seed(uint64_t seed, size_t steps)
{
	bool good;
	Run r;

	make_run(seed, steps, &r);
	good = run(&r, false);
	if (good) {
		printf("seed %ju: %zu steps, %.1f h, %ju times quiet, %ju times played, "
		       "digest %016jx\n",
		       (uintmax_t)seed, steps, (double)r.result.virtual_usec / 3600e6,
		       (uintmax_t)r.result.quiet, (uintmax_t)r.result.played,
		       (uintmax_t)r.result.digest);
	} else {
		printf("seed %ju fails at step %zu\n", (uintmax_t)seed, r.failed_at);
		make_shorter(&r);
		printf("%zu steps are enough:\n", r.n);
		law_verbose = true;
		(void)run(&r, false);
	}
	free(r.numbers);
	return good;
}

/* Which run finds the bug, which is planted: first the one that did before. Returns whether one
 * does. */
static bool find_plant(const Plant *plant, size_t steps)
{
	planted = plant->name;
	bool is_small = plant->seed <= SMALL_SEED;

	for (uint64_t n = 0; n <= PLANT_RUNS; n++) {
		uint64_t other = is_small ? n : SMALL_SEED - 1 + 2 * n;
		uint64_t seed = n == 0 ? plant->seed : other;
		bool good;
		Run r;

		make_run(seed, steps, &r);
		good = run(&r, true);
		free(r.numbers);
		if (good)
			continue;
		printf("seed %3ju finds at step %5zu: %s\n", (uintmax_t)seed, r.failed_at, planted);
		return true;
	}
	printf("nothing finds: %s\n", planted);
	return false;
}

static bool find_plants(size_t steps)
{
	bool good = true;

	for (size_t i = 0; i < n_plants; i++)
		good &= find_plant(&plants[i], steps);
	return good;
}

static uint64_t seed_of_today(void)
{
	time_t now = time(NULL);
	struct tm day;

	gmtime_r(&now, &day);
	return (uint64_t)((day.tm_year + 1900) * 10000 + (day.tm_mon + 1) * 100 + day.tm_mday) *
	       100000;
}

static uint64_t number(const char *text)
{
	uint64_t n;

	if (text_to_u64(text, UINT64_MAX, &n) < 0) {
		fprintf(stderr, "%s: expected a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"steps", required_argument, NULL, 'n'},
						{"seconds", required_argument, NULL, 's'},
						{"verbose", no_argument, NULL, 'v'},
						{"plants", no_argument, NULL, 'p'},
						{}};
	uint64_t seconds = 0, end, seed = seed_of_today();
	size_t steps = STEPS;
	bool good = true;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'n')
			steps = (size_t)number(optarg);
		else if (c == 's')
			seconds = number(optarg);
		else if (c == 'v')
			law_verbose = true;
		else if (c == 'p')
			return find_plants(steps) ? EXIT_SUCCESS : EXIT_FAILURE;
		else
			return 2;
	}
	end = machine_now_usec() + seconds * USEC_PER_SEC;
	for (; optind < argc && good; optind++)
		good = run_seed(number(argv[optind]), steps);
	for (; good && machine_now_usec() < end; seed++)
		good = run_seed(seed, steps);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
