/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A private bus (bench.bus says which one), with rdmad and the floors on it. All of them run on our
 * CPU, and their CPU time counts as ours. An error ends the program. When the program ends, what it
 * started ends too.
 */

#include <limits.h>

#include "bench.h"
#include "raw.h"

#define STAGE_PORTS_PER_DEVICE 8U

typedef struct Stage {
	char directory[64]; /* a temporary directory, removed at the end */
	char socket[80];    /* the path of the socket that the bus listens on */
	char address[96];   /* the same, as a D-Bus address */
	pid_t bus;
	bool limited; /* rdmad limits long replies as it does by default; to be set before it starts
		       */
	unsigned int per_device; /* the ports of each of its devices, 0: STAGE_PORTS_PER_DEVICE; to
				    be set before it starts */
	char words[4][PATH_MAX]; /* the strings that RDMAD points to */
	const char *rdmad[8];	 /* the words of the command that starts rdmad */
} Stage;

Stage *stage_new(void);
Stage *stage_free(Stage *s);
DEFINE_CLEANUP(Stage, stage_free);

/* Starts a program. If NAME is not NULL, waits until the program owns this bus name. Its output
 * goes to the file "log" in the directory. */
pid_t stage_start(Stage *s, const char *name, const char *const *argv);
/* The same without waiting. ELSEWHERE: it runs on another CPU, and its time does not count as ours.
 */
pid_t stage_spawn(Stage *s, const char *const *argv, bool elsewhere);
/* Prints a message and what the started programs have written, and ends the program. */
void stage_fail(const Stage *s, const char *format, ...) _printf_(2, 3) __attribute__((noreturn));
/* Sends SIGTERM to the process and waits until it has ended. */
void stage_stop(pid_t pid);

/* The path of the program NAME in the directory of this program. The caller frees it. */
char *stage_program(const char *name);

/* The command that runs rdmad with N_PORTS simulated InfiniBand ports, or with the devices of the
 * kernel if N_PORTS is 0. It runs without reconciliation. Unless LIMITED is set, it runs without a
 * limit on long replies, so that the cost of the replies is measured and not the limit. The result
 * is valid until the next call. A device has up to eight ports: sim0/1 to sim0/8, sim1/1 and so on.
 */
const char *const *stage_rdmad(Stage *s, unsigned int n_ports);
/* Starts rdmad with that command. WRAPPER has words to put before it, such as those of valgrind; it
 * ends with NULL, or is NULL. */
pid_t stage_start_rdmad(Stage *s, unsigned int n_ports, const char *const *wrapper);

/* Makes a connection to the bus. A program may have several. */
Raw *stage_connect(const Stage *s);

/* The object path of port number I, counted from 0. It is valid until the next call. */
const char *stage_port_path(unsigned int i);
/* The name of that port, such as "sim0/1". It is valid until the next call. */
const char *stage_port_name(unsigned int i);
