/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The worker processes: which device is asked through which of them, and what happens when one
 * hangs or dies.
 *
 * One shared worker serves all devices. It starts with the first query.
 *
 * A query that gives no sign for Config.query_timeout_usec ends with -ETIMEDOUT. Its worker is set
 * aside together with that device, which is now *wedged*: pool_query() refuses it. A fresh worker
 * takes all other devices at once. When the old one answers after all, the event REASON_RECOVERED
 * says so. When it does not for a long time it is killed; once it has really ended, the pool asks
 * the same again from time to time, in a worker of the device's own, until there is an answer:
 * REASON_RECOVERED.
 *
 * When a worker dies or breaks the protocol, the query that it was working on ends with -EPIPE and
 * a fresh worker takes the others, after a pause if that happens often. A device that spoils two
 * workers in a row is on *probation*: its queries go to a worker of its own until one of them is
 * answered in time.
 *
 * Whenever a worker is lost, the devices that it was asked about may have lost verbs events:
 * REASON_OVERRUN for each. Of more events than POOL_EVENTS_MAX a second from one worker, one is
 * left for each device and reason at the end of the second, about all its ports, and
 * REASON_OVERRUN; a worker that goes on like that for POOL_FLOOD_SECONDS is replaced.
 *
 * Everything happens on the event loop; no call here calls the handler. The handler may call
 * pool_query() and pool_forget(), but not pool_free(). See worker.h for SIGCHLD.
 */

#include "config.h"
#include "source.h"

#define POOL_EVENTS_MAX	   256U
#define POOL_FLOOD_SECONDS 5U
/* Processes at one time, those that are wedged or on their way out included. Against a machine full
 * of processes in state D. */
#define POOL_PROCESSES_MAX 64U
/* Workers that a device may spoil in a row before it gets one of its own */
#define POOL_PROBATION_FROM 2U

typedef struct Pool Pool;

/* WORKER_PATH NULL: rdmad-query beside the running executable (a build tree), or else where it is
 * installed. CONFIG is not kept. */
int pool_new(sd_event *event, const Config *config, const char *worker_path,
	     const SourceHandler *handler, void *userdata, Pool **ret);
/* Kills all workers without waiting for their ends. */
Pool *pool_free(Pool *p);
DEFINE_CLEANUP(Pool, pool_free);

/* As SourceOps.query: -EBUSY, -ETIMEDOUT while the device is wedged, -ENOMEM. */
int pool_query(Pool *p, const Query *q);
/* As SourceOps.forget. Returns whether the device was wedged: it takes queries again. *RET_ASKED is
 * the id of the query that was under way, 0 if there was none. */
bool pool_forget(Pool *p, uint32_t device, uint64_t *ret_asked);

/* Times, for tests to shrink. */
typedef struct PoolTiming {
	uint64_t answer_usec; /* a wedged worker is killed after this */
	uint64_t exit_usec;   /* a worker whose connection was closed must have ended after this */
	uint64_t retry_usec;  /* pause before a wedged device is tried again: from, doubling, to */
	uint64_t retry_max_usec;
	uint64_t restart_usec; /* pause before the second restart in a row: from, doubling, to */
	uint64_t restart_max_usec;
	uint64_t calm_usec;  /* the next restart is without pause again after this time */
	uint64_t queue_usec; /* a query that no worker could take fails after this time */
} PoolTiming;

/* ANSWER: longer than the 60 s after which mlx5 gives up a firmware command, twice over: a port
 * query may take two commands. */
#define POOL_TIMING_DEFAULT                                                                        \
	{                                                                                          \
		.answer_usec = 150 * USEC_PER_SEC, .exit_usec = 5 * USEC_PER_SEC,                  \
		.retry_usec = USEC_PER_SEC, .retry_max_usec = 600 * USEC_PER_SEC,                  \
		.restart_usec = 100 * USEC_PER_MSEC, .restart_max_usec = 30 * USEC_PER_SEC,        \
		.calm_usec = 60 * USEC_PER_SEC, .queue_usec = 60 * USEC_PER_SEC,                   \
	}

void pool_set_timing(Pool *p, const PoolTiming *timing);
