/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the programs of ./run bench share: how they measure, and how they report.
 *
 * A figure is the ratio of a subject to its floor, which is the least that the same thing could
 * cost. The two are measured in turns, round by round. They and every process that they talk to run
 * on one CPU: in a virtual machine, to wake a process on another CPU costs more than a whole D-Bus
 * call. If other processes had more than a tenth of that CPU during a round, the round is repeated,
 * as long as there is time. The best round counts.
 *
 * A program prints one JSON object on each line of stdout and nothing else; tests/bench/run makes
 * the table from them. An error ends the program, because an incomplete benchmark is of no use.
 */

#include <sys/types.h>

#include "util.h"

typedef struct BenchOptions {
	const char *bus; /* --bus=dbus-daemon (the default) or dbus-broker */
	bool quick;	 /* --quick: few samples and few ports, to test that the program works */
	unsigned int idle_sec; /* --idle=SECONDS: how long the wake-ups are counted */
	unsigned int ports[8]; /* --ports=N,N,...: the numbers of ports to measure; 0 ends the list
				*/
	/* --what=THING --profile=FILE: the program that counts instructions writes the file of
	 * callgrind for one thing */
	const char *profile, *what;
} BenchOptions;

extern BenchOptions bench;

/* Reads the options. Pins this process, and every process that it starts, to one CPU, and gives it
 * a higher priority than others if that is allowed. */
void bench_init(int argc, char *argv[]);

/* Prints "PROGRAM: message" on stderr and ends the program. */
void bench_die(const char *format, ...) _printf_(1, 2) __attribute__((noreturn));

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t bench_now(void);

/* Moves the calling process to the other CPUs, if there are any. For processes that are not
 * measured, such as those that make load. It is called in a child before exec. */
void bench_pin_elsewhere(void);

/* Counts the CPU time of a process and of the children that it has now as our own, and no longer as
 * that of other processes. */
void bench_own(pid_t pid);
void bench_disown(pid_t pid);

/* One of the things that are measured and compared. */
typedef struct Subject {
	/* Does the thing once. Returns how long that took, in nanoseconds. */
	uint64_t (*sample)(void *userdata);
	void *userdata;
	size_t at_least; /* samples in a round, 0: 5. More are taken if there is time. */
	/* The results in microseconds: of all rounds the least median and the least 99th
	 * percentile */
	double p50, p99;
	double foreign; /* the share of the CPU, 0 to 1, that other processes had in the round of
			   P50 */
} Subject;

/* Measures the N subjects in turns, round by round. */
void bench_measure(Subject *subjects, size_t n);

/* Returns the value that the part P (0 to 1) of the N samples does not exceed. Sorts the samples.
 */
double bench_percentile(double *samples, size_t n, double p);

/* What is reported. Where 0 or NULL is no possible value, it means "not known" or "none". */
typedef struct Figure {
	const char *figure; /* the name, such as "get-all"; it is a key in the JSON and does not
			       change */
	unsigned int ports; /* the number of ports for which it was measured */
	double value;
	const char *unit;
	const char *floor_name; /* the floor, measured in the same rounds as VALUE */
	double floor;
	double goal; /* VALUE is to be at most this many times the floor; without a floor, this many
			units */
	double then; /* a stricter goal, for later */
	bool goal_zero;	  /* the goal is 0 */
	bool without_bus; /* the figure does not depend on the bus */
	double foreign; /* the largest share of other processes in the rounds that it comes from */
} Figure;

void bench_report(const Figure *f);
/* Reports the median of SUBJECT, and its ratio to the median of FLOOR. FLOOR may be NULL. */
void bench_report_ratio(const char *figure, unsigned int ports, const Subject *subject,
			const char *floor_name, const Subject *floor, double goal, double then);
