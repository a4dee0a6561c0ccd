/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The worker processes: which device is asked through which of them, and what happens when one
 * hangs or dies.
 *
 * One worker, that of a *main lane*, serves all devices up to POOL_MAIN_DEVICES. On a machine with
 * more, and with several CPUs, there are more main lanes (POOL_MAIN_MAX): the devices are shared
 * out among them, in groups, and are read in parallel. Each device keeps its main lane, which is
 * its *home*. A worker starts with the first query.
 *
 * Time-out: a query without any message from its worker for Config.query_timeout_usec ends with
 * -ETIMEDOUT. Its device is now *wedged*: pool_query() refuses it. The worker stays with the
 * device, in a lane of its own. If it answers after all, the event REASON_RECOVERED says so. If it
 * does not answer for PoolTiming.answer_usec, it is killed. When it has really ended, the pool asks
 * the same query again from time to time, in a new worker. The first answer to that is reported as
 * REASON_RECOVERED too. Devices that hung at the same time take turns with that.
 *
 * Patience: a query that others wait for is not given a whole time-out. After a quarter of it
 * (POOL_PATIENCE) its worker is *set aside* with the device, in a lane of its own. This is only a
 * suspicion: the query goes on with its time-out, and an answer in time counts. The others are
 * split in two halves, each with a new worker. In each, those whose last query was answered come
 * first. As many devices may hang for the same reason, a
 * *crisis* begins: patience is short (POOL_PATIENCE_CRISIS) until none has been set aside for one
 * time-out. So the number of workers doubles as long as each of them hangs, and the healthy devices
 * among 200 that hang have answered before one time-out is over. (A machine that is slow at the
 * moment has more patience: pool_patience_usec().)
 *
 * The workers of a crisis come from a *nursery* (shared/nursery.h): to execute one takes most of a
 * tenth of a second where there are hundreds of devices, as each makes a list of them all. The
 * nursery is started with the crisis, and has opened nothing. It is asked and not waited for. If it
 * ends, hangs or lies, it is given up, and workers are executed as always.
 *
 * The virtual functions of one adapter have one firmware, and hang together. So devices of an
 * adapter on which one hangs are not split in halves with the others, but get a worker of their
 * own first: all other devices are asked without any of them, and keep their worker.
 *
 * When the crisis is over and nothing waits in a lane, it ends, and its devices go back to their
 * homes. A device that was set aside goes back when it has answered within the patience that there
 * is without a crisis; until then it is asked again from time to time. So a wrong suspicion on a
 * slow machine costs processes for a short time, but no answer.
 *
 * A worker that reads an event may ask the device by itself (wire.h). If the core takes that for a
 * query of its own (SourceHandler.asking), all of the above applies to it. If not, because the
 * core's own query of the device was on its way, or nobody has asked this worker about the device,
 * the answer is checked like any other and goes to nobody. If it does not come, the worker hangs in
 * that device all the same. To ask without leave, or for a port without, or with another id than
 * that of the leave, breaks the protocol.
 *
 * Processes: there are POOL_PROCESSES_MAX at most. If more devices hang, those that could not be
 * asked for a time-out are wedged too; they are tried again as those that hang. The last places
 * (POOL_PROCESSES_KEPT) are only for devices whose last query was answered.
 *
 * When a worker dies or breaks the protocol, the query that it was working on ends with -EPIPE. A
 * new worker takes the others, after a pause if that happens often. A device that spoils two
 * workers in a row, because they die or hang, is on *probation*: its queries go to a worker of its
 * own until one of them is answered within the patience.
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
/* As SourceOps.hurry. */
void pool_hurry(Pool *p, uint32_t device);
/* As SourceOps.forget. Returns whether the device was wedged: it takes queries again. *RET_ASKED is
 * the id of the query that was under way, 0 if there was none. */
bool pool_forget(Pool *p, uint32_t device, uint64_t *ret_asked);

/* For tests, which shorten the times. Applies from the next use of each. */
void pool_set_timing(Pool *p, const PoolTiming *timing);
/* For tests: N main lanes, from 1 to POOL_MAIN_MAX, and not as many as there are CPUs. To be called
 * before the first query.
 */
void pool_set_main(Pool *p, unsigned int n);
