/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The worker processes: which device is asked through which of them, and what happens when one
 * hangs or dies.
 *
 * One shared worker serves all devices. It starts with the first query.
 *
 * A query without any message from its worker for Config.query_timeout_usec ends with -ETIMEDOUT.
 * The worker is set aside together with that device, which is now *wedged*: pool_query() refuses
 * it. A new worker takes all other devices at once. If the old one answers after all, the event
 * REASON_RECOVERED says so. If it does not answer for PoolTiming.answer_usec, it is killed. When it
 * has really ended, the pool asks the same query again from time to time, in a worker of the
 * device's own. The first answer to that is reported as REASON_RECOVERED too.
 *
 * When a worker dies or breaks the protocol, the query that it was working on ends with -EPIPE. A
 * new worker takes the others, after a pause if that happens often. A device that spoils two
 * workers in a row is on *probation*: its queries go to a worker of its own until one of them is
 * answered in time.
 *
 * Whenever a worker is lost, the devices that it was asked about may have lost verbs events:
 * REASON_OVERRUN is reported for each. If one worker sends more than POOL_EVENTS_MAX events in a
 * second, the rest of that second is put together: one event for each device and reason, about all
 * its ports, and REASON_OVERRUN. A worker that goes on like that for POOL_FLOOD_SECONDS is
 * replaced.
 *
 * Everything happens on the event loop; no function here calls the handler. The handler may call
 * pool_query() and pool_forget(), but not pool_free(). See worker.h for SIGCHLD.
 */

#include "config.h"
#include "pool-limits.h"
#include "source.h"

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

/* For tests, which shorten the times. Applies from the next use of each. */
void pool_set_timing(Pool *p, const PoolTiming *timing);
