/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The header that only the files of the workers share: script-processes.c has what the kernel does
 * for the pool, script-workers.c what a worker does. */

#include "pool.h"
#include "script-workers.h"

#define PROCESSES 128U
/* Events that a worker has not read: as many as there can be kinds of */
#define EVENTS 64U

/* What stands for a process. */
typedef struct Process {
	bool used;
	pid_t pid;
	int pidfd; /* an eventfd of the core's, readable when the process has ended; negative: the
		      core has none */
	int peer;  /* its end of the connection; negative: closed */
	bool ended;
	bool killed; /* it ends when the driver lets it */
	bool is_nursery;
	Event events[EVENTS]; /* that it has not read */
	size_t n_events;
} Process;

struct ScriptWorkers {
	Script *script;
	Config config;
	Pool *pool;
	Process processes[PROCESSES];
	pid_t n_pids;
	unsigned int start_errors;
};

/* The world that has workers */
extern ScriptWorkers *workers;

/* A worker that serves at PEER; NULL: there is no place. */
Process *process_new(ScriptWorkers *w, int peer);
void process_end(Process *p);
/* The query that P works on; NULL: none */
Asked *process_current(const Process *p);
/* Whether P is in a device that hangs. */
bool process_hangs(const Process *p);
