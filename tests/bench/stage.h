/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A private bus (bench.bus says which) with rdmad and floors on it, all of them on our CPU and
 * counted as ours. Errors end the program, and what it started ends with it.
 */

#include <limits.h>

#include "bench.h"
#include "raw.h"

#define STAGE_PORTS_PER_DEVICE 8U

typedef struct Stage {
	char directory[64]; /* temporary; removed at the end */
	char socket[80];
	char address[96]; /* the same, as a D-Bus address */
	pid_t bus;
	bool limited; /* set before rdmad is started: long replies have the rate that is the default
		       */
	char words[4][PATH_MAX]; /* what RDMAD points to */
	const char *rdmad[8];
} Stage;

Stage *stage_new(void);
Stage *stage_free(Stage *s);
DEFINE_CLEANUP(Stage, stage_free);

/* Starts a program and, if NAME is not NULL, waits until it owns that. Its output goes to the
 * file "log" in the directory. */
pid_t stage_start(Stage *s, const char *name, const char *const *argv);
/* The same without waiting; ELSEWHERE: on another CPU, and not counted as ours. */
pid_t stage_spawn(Stage *s, const char *const *argv, bool elsewhere);
/* Prints what they have written and ends the program. */
void stage_fail(const Stage *s, const char *format, ...) _printf_(2, 3) __attribute__((noreturn));
/* Ends it by SIGTERM and waits for that. */
void stage_stop(pid_t pid);

/* A program beside this one. To be freed. */
char *stage_program(const char *name);

/* How to run rdmad with N_PORTS simulated InfiniBand ports (0: on the kernel), without
 * reconciliation and, so that it is the cost of replies that is measured, without a limit on them;
 * valid until the next call. The ports are those of devices with up to eight each:
 * sim0/1 to sim0/8, sim1/1 and so on. */
const char *const *stage_rdmad(Stage *s, unsigned int n_ports);
/* Runs it. WRAPPER are words before its own, such as those of valgrind (NULL-terminated; NULL:
 * none). */
pid_t stage_start_rdmad(Stage *s, unsigned int n_ports, const char *const *wrapper);

/* Our own connection; a program may have several. */
Raw *stage_connect(const Stage *s);

/* The object path of the port I, from 0; to be used at once. */
const char *stage_port_path(unsigned int i);
/* Its name. */
const char *stage_port_name(unsigned int i);
