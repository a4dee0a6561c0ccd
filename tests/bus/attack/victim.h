/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The victim: a process of another user who makes few calls and measures how long they take.
 *
 * A call is made every VICTIM_PERIOD_USEC, and never before the one before it has been answered. A
 * call that takes longer also counts for those that could not be made meanwhile: with the time that
 * they would have waited. So the 99th percentile is that of somebody who comes at any time.
 */

#include <stdatomic.h>
#include <sys/types.h>

#include "util.h"

#define VICTIM_PERIOD_USEC  (10 * USEC_PER_MSEC)
#define VICTIM_TIMEOUT_USEC (50 * USEC_PER_MSEC) /* of its WaitFor() */
#define VICTIM_SAMPLES	    65536U
/* Changes: the LID of port SEQ % VICTIM_PORTS becomes VICTIM_FIRST_LID + SEQ. */
#define VICTIM_CHANGES	 16384U
#define VICTIM_PORTS	 6U
#define VICTIM_FIRST_LID 1000U
/* These are for a call to answer when a port goes down, which the tester makes it do in the end. */
#define VICTIM_WAITS 3U

typedef enum Probe { PROBE_PING, PROBE_GET_ALL, PROBE_WAIT_FOR, PROBE_SIGNAL, _PROBE_MAX } Probe;

extern const char *const probe_names[_PROBE_MAX];

typedef struct Samples {
	unsigned int n, calls, refused;
	uint32_t usec[VICTIM_SAMPLES];
	_Atomic(uint64_t) begin; /* when the call was made that waits for a reply; 0: none does */
	char error[128];	 /* the first reply that was an error */
} Samples;

/* Shared with the tester. */
typedef struct Victim {
	Samples probes[_PROBE_MAX];
	_Atomic(uint64_t) changed[VICTIM_CHANGES]; /* when; 0: not yet */
	_Atomic(uint64_t) seen[VICTIM_CHANGES];	   /* the same */
	atomic_uint n_waits;			   /* how many of its waits were answered well */
	atomic_bool ready, stop, done;
	char broken[128]; /* what it could not do, and ended for that */
} Victim;

/* A call took USEC, and so did those that could not be made meanwhile, from VICTIM_PERIOD_USEC
 * less on. */
void victim_add_samples(Samples *s, uint64_t usec);

/* Makes room for what is shared. The program ends if there is none. */
Victim *victim_new(void);
Victim *victim_free(Victim *v);
/* Its whole life. PORTS: how many there are for changes. EMPTY: it is a client of the empty
 * service. It sets READY when it has begun. After STOP it makes no more calls, and sets DONE when
 * all have been answered. */
void victim_run(Victim *v, const char *address, unsigned int ports, bool empty)
	__attribute__((noreturn));
