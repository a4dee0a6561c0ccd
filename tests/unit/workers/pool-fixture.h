/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of the pool share: a pool whose handler records its calls, and workers that do
 * what they are told (fake-worker.c). */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "pool.h"

#define FAKE_WORKER TEST_BUILD_DIR "/tests/unit/fake-worker"

/* Longer than anything here takes, on a slow machine under valgrind */
#define GUARD_USEC (60 * USEC_PER_SEC)
/* A deadline that only a worker which does not run misses */
#define PATIENT_USEC (30 * USEC_PER_SEC)
/* One that a stopped worker misses soon; long enough for one that runs, on a busy machine */
#define SHORT_USEC (1000 * USEC_PER_MSEC)

#define N_CALLS	       8192U
#define N_CHILDREN_MAX 512U

typedef struct Call {
	enum { CALL_DEVICE, CALL_PORT, CALL_END, CALL_EVENT, CALL_ASKING } kind;
	uint64_t id; /* of the query, but for CALL_EVENT */
	Event event; /* CALL_EVENT */
	uint32_t port;
	int error;
	QueryErrorCode code; /* CALL_END */
	int open_error;
	AttrMask unanswered;
	char text[160];	    /* of the end; CALL_ASKING: the name of the device */
	uint64_t pid;	    /* of the worker that answered */
	uint64_t forgotten; /* how many devices it had been told to forget */
	AttrText argv;	    /* its arguments */
	uint32_t n_table;   /* GIDs or character devices */
} Call;

typedef struct Test {
	sd_event *event;
	Pool *pool;
	Config config;
	Call calls[N_CALLS]; /* of the handler, in order */
	size_t n;
	uint64_t next_id;
	uint64_t adapter;	    /* of the devices that are asked next */
	char flag[32];		    /* a file that does not exist; see ask_once() */
	unsigned int n_descriptors; /* open before the test */
	bool no_leave; /* workers have no leave for queries of their own; if they have, for ports 1,
			  2 */
	bool refuses;  /* the handler does not take them for its own */
	/* Devices that the handler forgets, or asks, while it is called; 0: none */
	uint32_t forget_in_port, forget_in_end, query_in_end;
} Test;

/* For cmocka: *STATE is the Test, whose pool is not there yet. The teardown fails if a descriptor,
 * or a process that was not killed, is left. */
int setup(void **state);
int teardown(void **state);
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
/* The same with a clock of the test's own for the pool: it stands still while any worker runs, and
 * goes on to the next time that the pool waits for when all of them wait or are stopped. So no
 * time-out depends on how busy the machine is, and none takes any time. A worker must not sleep. */
int setup_clock(void **state);
#define CLOCK(f) cmocka_unit_test_setup_teardown(f, setup_clock, teardown)

/* With these a wedged worker is killed soon, and tried again soon. */
extern const PoolTiming quick;
/* With these no worker is killed or tried again by itself. */
extern const PoolTiming slow;
/* Makes the pool, whose workers are the program at PATH. It has one main lane. */
void start(Test *t, const char *path, uint64_t query_timeout_usec, const PoolTiming *timing);
/* The same, with the times and the main lanes that a pool has by itself. */
void start_as_is(Test *t, const char *path, uint64_t query_timeout_usec);

/* A query of DEVICE, its attributes and the ports 1 and 2, with a new id. WHAT is what the fake
 * worker is to do. */
Query make_query(Test *t, uint32_t device, const char *what);
/* Asks that query, and returns the id. */
uint64_t ask(Test *t, uint32_t device, const char *what);
/* The same, but only the first worker that reads it does WHAT. The others answer well. */
uint64_t ask_once(Test *t, uint32_t device, const char *what);
/* The same, but each worker that reads it does WHAT until the first call of heal(). */
uint64_t ask_until_healed(Test *t, uint32_t device, const char *what);
void heal(Test *t);
/* pool_forget() */
bool forget(Test *t, uint32_t device);

/* What was recorded; NULL if that has not come. */
const Call *find_end(const Test *t, uint64_t id);
const Call *find_device(const Test *t, uint64_t id);
unsigned int count_events(const Test *t, uint32_t device, EventReason reason);
unsigned int count_kind(const Test *t, unsigned int kind, uint64_t id);
/* How many queries have ended with ERROR. */
unsigned int count_ends(const Test *t, int error);

/* Run the loop until query ID has ended. */
const Call *wait_end(Test *t, uint64_t id);
/* The answer must be whole and without error. Returns the pid of the worker that gave it. */
uint64_t expect_answer(Test *t, uint64_t id);
void expect_error(Test *t, uint64_t id, int error, const char *text);
/* pool_query() must refuse DEVICE with ERROR. */
void expect_refused(Test *t, uint32_t device, int error);
/* Runs the loop until an event with REASON about all ports of DEVICE has come. */
void expect_event(Test *t, uint32_t device, EventReason reason);

/* The state letter of a process (proc(5)), 0 if there is none. */
char process_state(uint64_t pid);
/* The children of this process: at most N_RET pids into RET; returns their number. */
unsigned int children(unsigned int *ret, unsigned int n_ret);
/* How many there are, without the nursery. */
unsigned int count_children(void);
/* Whether PID has this name. */
bool is_named(uint64_t pid, const char *name);
/* Whether one of them is stopped. */
bool child_stopped(void);
void continue_children(void);

uint64_t now_usec(void);      /* of the pool's clock: CLOCK_MONOTONIC, or the test's own */
uint64_t real_now_usec(void); /* CLOCK_MONOTONIC */

/* Runs the loop once; a clock of the test's own does not go further than UNTIL_USEC. */
void run_once(Test *t, uint64_t until_usec);

/* Runs the loop until CONDITION. */
#define RUN_UNTIL(t, condition)                                                                    \
	do {                                                                                       \
		uint64_t until = now_usec() + GUARD_USEC, guard = real_now_usec() + GUARD_USEC;    \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (real_now_usec() > guard)                                               \
				fail_msg("waited too long for %s", #condition);                    \
			run_once(t, until);                                                        \
		}                                                                                  \
	} while (false)

/* Runs the loop until CONDITION, for USEC at most. */
#define RUN_FOR(t, usec, condition)                                                                \
	do {                                                                                       \
		uint64_t until = now_usec() + (usec);                                              \
                                                                                                   \
		while (!(condition) && now_usec() < until)                                         \
			run_once(t, until);                                                        \
	} while (false)
