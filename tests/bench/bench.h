/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What every program of ./run bench shares: how it samples, and the line in which it reports.
 *
 * A figure is a ratio. The subject and its floor run in turns, round by round, all of them and all
 * that they talk to on one CPU: a wake-up across CPUs of a virtual machine costs more than a whole
 * D-Bus call. A round during which other processes had more than a tenth of that CPU is tried
 * again, within a budget. What counts is the best round.
 *
 * A program prints one JSON object a line and nothing else on stdout; tests/bench/run makes the
 * table of them. Errors end the program: half a benchmark is of no use.
 */

#include <sys/types.h>

#include "util.h"

typedef struct BenchOptions {
	const char *bus;       /* --bus=dbus-daemon (the default) or dbus-broker */
	bool quick;	       /* --quick: hardly any samples and few ports; it only has to work */
	unsigned int idle_sec; /* --idle=SECONDS for the program that counts wake-ups */
	unsigned int ports[8]; /* --ports=N,N,... : the curve; zero ends it */
	/* --what=THING --profile=FILE: the program that counts instructions writes callgrind's
	 * file of one thing */
	const char *profile, *what;
} BenchOptions;

extern BenchOptions bench;

/* Reads the options, pins this process, and with it all that it starts, to one CPU, and puts it
 * before others there if it may. */
void bench_init(int argc, char *argv[]);

/* "PROGRAM: message" on stderr, and the end. */
void bench_die(const char *format, ...) _printf_(1, 2) __attribute__((noreturn));

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t bench_now(void);

/* The CPU that others, and what makes load, may have: another one than ours, if there is one.
 * Called in a child before exec. */
void bench_pin_elsewhere(void);

/* A process whose CPU time is ours and not foreign. Its children count too, as they are now. */
void bench_own(pid_t pid);
void bench_disown(pid_t pid);

/* One of the things that are compared. */
typedef struct Subject {
	/* Does it once and returns how long that took, in nanoseconds. */
	uint64_t (*sample)(void *userdata);
	void *userdata;
	size_t at_least; /* samples a round; 0: 5. More are taken if there is time. */
	/* Results, in microseconds: the least of the rounds' medians and 99th percentiles */
	double p50, p99;
	double foreign; /* the share of other processes in the round with that median */
} Subject;

/* Samples all of them in interleaved rounds. */
void bench_measure(Subject *subjects, size_t n);

/* The P-th percentile of N samples, which it sorts. */
double bench_percentile(double *samples, size_t n, double p);

/* What is reported. Zero or NULL is "not known" or "none" wherever that makes sense. */
typedef struct Figure {
	const char *figure; /* "get-all": stable, a key of the JSON */
	unsigned int ports; /* the point of a curve */
	double value;
	const char *unit;
	const char *floor_name; /* what VALUE is compared with, measured in the same rounds */
	double floor;
	double goal;	  /* at most that many times the floor; if there is none, of the unit */
	double then;	  /* the goal after that one */
	bool goal_zero;	  /* the goal is 0 */
	bool without_bus; /* it is the same on every bus */
	double foreign;	  /* the largest share of other processes among what it comes from */
} Figure;

void bench_report(const Figure *f);
/* A figure of SUBJECT's median against FLOOR's; FLOOR NULL: of the median alone. */
void bench_report_ratio(const char *figure, unsigned int ports, const Subject *subject,
			const char *floor_name, const Subject *floor, double goal, double then);
