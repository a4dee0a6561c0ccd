/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define OWN_MAX	   64
#define NICENESS   (-15)
#define ROUNDS	   25
#define ROUND_NSEC UINT64_C(30000000) /* for one subject in one round */
#define BUDGET_NSEC                                                                                \
	UINT64_C(3000000000) /* for one subject in all rounds, repeated ones included              \
			      */
#define GUARD_SEC    600U    /* the program ends itself after this time */
#define FOREIGN_MAX  0.10
#define TRIES	     4
#define SAMPLES_MAX  20000
#define NSEC_PER_SEC UINT64_C(1000000000)

BenchOptions bench = {
	.bus = "dbus-daemon",
	.idle_sec = 60,
	.ports = {1, 16, 256, 1024, 4096},
};

static int cpu;
static pid_t own[OWN_MAX];
static size_t n_own;

void bench_die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

uint64_t bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Takes a higher priority than other processes, if that is allowed. If the kernel schedules by
 * autogroups, the niceness of a process counts only within its session, and the niceness of the
 * session counts among the sessions. So this process gets a session of its own and sets both. */
static void go_first(void)
{
	_cleanup_fclose_ FILE *f = NULL;

	setpriority(PRIO_PROCESS, 0, NICENESS);
	if (setsid() < 0)
		return;
	f = fopen("/proc/self/autogroup", "we");
	if (f)
		fprintf(f, "%d", NICENESS);
}

/* Pins this process to the last CPU that it may use: the first CPUs serve more interrupts. */
static void pin(void)
{
	cpu_set_t allowed, one;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			cpu = i;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void bench_pin_elsewhere(void)
{
	cpu_set_t others;

	CPU_ZERO(&others);
	for (int i = 0; i < (int)sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (i != cpu)
			CPU_SET(i, &others);
	sched_setaffinity(0, sizeof(others), &others); /* fails if there is no other CPU */
}

static void parse_ports(char *list)
{
	size_t n = 0;

	memset(bench.ports, 0, sizeof(bench.ports));
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		uint64_t value;

		if (n == ARRAY_SIZE(bench.ports) - 1 || text_to_u64(word, 32768, &value) < 0 ||
		    value == 0)
			bench_die("--ports: expected up to %zu numbers from 1 to 32768",
				  ARRAY_SIZE(bench.ports) - 1);
		bench.ports[n++] = (unsigned int)value;
	}
}

void bench_init(int argc, char *argv[])
{
	enum { BUS = 256, QUICK, IDLE, PORTS, PROFILE, WHAT };
	static const struct option options[] = {
		{"bus", required_argument, NULL, BUS},
		{"quick", no_argument, NULL, QUICK},
		{"idle", required_argument, NULL, IDLE},
		{"ports", required_argument, NULL, PORTS},
		{"profile", required_argument, NULL, PROFILE},
		{"what", required_argument, NULL, WHAT},
		{},
	};
	char quick_ports[] = "1,16";
	uint64_t seconds;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (c) {
		case BUS:
			bench.bus = optarg;
			break;
		case QUICK:
			bench.quick = true;
			bench.idle_sec = 1;
			parse_ports(quick_ports);
			break;
		case IDLE:
			if (text_to_u64(optarg, 86400, &seconds) < 0)
				bench_die("--idle: expected seconds");
			bench.idle_sec = (unsigned int)seconds;
			break;
		case PORTS:
			parse_ports(optarg);
			break;
		case PROFILE:
			bench.profile = optarg;
			break;
		case WHAT:
			bench.what = optarg;
			break;
		default:
			exit(2); /* getopt() has printed which option is wrong */
		}
	if (optind < argc)
		bench_die("unexpected argument \"%s\"", argv[optind]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	pin();
	go_first();
	alarm(GUARD_SEC + bench.idle_sec);
	prctl(PR_SET_PDEATHSIG,
	      SIGTERM); /* ^C of the terminal does not reach a session of our own */
}

/* Foreign CPU time */

/* The children count too: dbus-broker is the child of the program that started it. */
void bench_own(pid_t pid)
{
	char path[64];
	_cleanup_fclose_ FILE *f = NULL;
	pid_t child;

	if (n_own == OWN_MAX)
		bench_die("too many processes");
	own[n_own++] = pid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		bench_own(child);
}

void bench_disown(pid_t pid)
{
	for (size_t i = 0; i < n_own; i++)
		if (own[i] == pid)
			own[i] = own[--n_own];
}

static uint64_t process_nsec(pid_t pid)
{
	/* This clock has the time of all threads of the process, in nanoseconds. */
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t timeval_nsec(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

static uint64_t own_nsec(void)
{
	uint64_t sum = process_nsec(getpid());
	struct rusage ended;

	getrusage(RUSAGE_CHILDREN, &ended);
	sum += timeval_nsec(&ended.ru_utime) + timeval_nsec(&ended.ru_stime);
	for (size_t i = 0; i < n_own; i++)
		sum += process_nsec(own[i]);
	return sum;
}

/* The idle time of our CPU. The kernel counts it in ticks of 10 ms. That is exact enough: during a
 * measurement there is hardly any idle time. */
static uint64_t idle_nsec(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/stat", "re");
	char line[512], name[16];
	unsigned long long idle, iowait;

	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (f && fgets(line, sizeof(line), f))
		if (startswith(line, name) &&
		    sscanf(line, "%*s %*u %*u %*u %llu %llu", &idle, &iowait) == 2)
			return (idle + iowait) * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

/* Sampling */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double bench_percentile(double *samples, size_t n, double p)
{
	if (n == 0)
		return NAN;
	qsort(samples, n, sizeof(*samples), compare);
	return samples[MIN(n - 1, (size_t)(p * (double)n))];
}

typedef struct Round {
	double p50, p99, foreign;
} Round;

static Round sample_round(Subject *s, double *samples)
{
	size_t least = s->at_least ? s->at_least : 5, n = 0;
	uint64_t start, idle, ours, wall;
	Round r;

	if (bench.quick)
		least = MIN(least, 5U);
	s->sample(s->userdata); /* not counted: it fills the caches */
	idle = idle_nsec();
	ours = own_nsec();
	start = bench_now();
	do
		samples[n++] = (double)s->sample(s->userdata) / 1000;
	while (n < least || (!bench.quick && n < SAMPLES_MAX && bench_now() - start < ROUND_NSEC));
	wall = bench_now() - start;
	ours = own_nsec() - ours;
	idle = idle_nsec() - idle;
	r.p50 = bench_percentile(samples, n, 0.5);
	r.p99 = bench_percentile(samples, n, 0.99);
	r.foreign = ours + idle < wall ? (double)(wall - ours - idle) / (double)wall : 0;
	return r;
}

void bench_measure(Subject *subjects, size_t n)
{
	uint64_t deadline = bench_now() + (uint64_t)n * BUDGET_NSEC;
	double *samples = calloc(SAMPLES_MAX, sizeof(double));
	unsigned int least = bench.quick ? 1 : 3;

	if (!samples)
		bench_die("no memory");
	for (size_t i = 0; i < n; i++)
		subjects[i].p50 = subjects[i].p99 = INFINITY;
	for (unsigned int k = 0;
	     k < least || (!bench.quick && k < ROUNDS && bench_now() < deadline); k++)
		for (size_t i = 0; i < n; i++) {
			Subject *s = &subjects[i];
			Round r, again;

			r = sample_round(s, samples);
			for (int t = 1; t < TRIES && r.foreign > FOREIGN_MAX && !bench.quick &&
					bench_now() < deadline;
			     t++) {
				again = sample_round(s, samples);
				if (again.foreign < r.foreign)
					r = again;
			}
			if (r.p50 < s->p50) {
				s->p50 = r.p50;
				s->foreign = r.foreign;
			}
			s->p99 = MIN(s->p99, r.p99);
		}
	free(samples);
}

/* Report */

static void print_number(const char *key, double value, bool known)
{
	if (known && isfinite(value))
		printf(",\"%s\":%.6g", key, value);
	else
		printf(",\"%s\":null", key);
}

void bench_report(const Figure *f)
{
	bool has_floor = f->floor_name, has_goal = f->goal > 0 || f->goal_zero;
	double ratio = has_floor ? f->value / f->floor : 0;
	double judged = has_floor ? ratio : f->value;

	printf("{\"figure\":\"%s\"", f->figure);
	print_number("ports", f->ports, f->ports > 0);
	print_number("value", f->value, true);
	printf(",\"unit\":\"%s\"", f->unit);
	if (has_floor)
		printf(",\"floor_name\":\"%s\"", f->floor_name);
	else
		printf(",\"floor_name\":null");
	print_number("floor", f->floor, has_floor);
	print_number("ratio", ratio, has_floor);
	print_number("goal", f->goal, has_goal);
	print_number("then", f->then, f->then > 0);
	printf(",\"met\":%s", !has_goal ? "null" : judged <= f->goal ? "true" : "false");
	if (f->without_bus)
		printf(",\"bus\":null");
	else
		printf(",\"bus\":\"%s\"", bench.bus);
	print_number("foreign", f->foreign, true);
	puts("}");
}

void bench_report_ratio(const char *figure, unsigned int ports, const Subject *subject,
			const char *floor_name, const Subject *floor, double goal, double then)
{
	bench_report(&(Figure){
		.figure = figure,
		.ports = ports,
		.value = subject->p50,
		.unit = "us",
		.floor_name = floor ? floor_name : NULL,
		.floor = floor ? floor->p50 : 0,
		.goal = goal,
		.then = then,
		.foreign = floor ? MAX(subject->foreign, floor->foreign) : subject->foreign,
	});
}
