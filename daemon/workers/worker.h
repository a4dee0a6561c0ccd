/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One worker process (rdmad-query), its socket, and the requests given to it.
 *
 * Requests are answered strictly in order, so the oldest one, the head, is what the process works
 * on. A query that the process asks by itself (wire.h) becomes the head before those that it has
 * not begun. A worker that dies, breaks a rule of the protocol (wire.h) or sends nothing about its
 * head in time is reported; what to do then is its owner's (pool.h) decision. Nothing here blocks,
 * and the handler is called from the event loop only.
 *
 * The end of a process is learnt from a pidfd, so SIGCHLD need not be blocked; it must not be
 * ignored (SIG_IGN), or how a worker ended is lost.
 */

#include <sys/types.h>

#include "query-error.h"
#include "request.h"

/* Requests that one process is sent before it has answered the first: enough that it never waits
 * for the core. The others stay here, where they can be withdrawn. */
#define WORKER_WINDOW 16U

/* The head must be answered within so many times the time-out of a message. Without this a worker
 * that lies could send one part after the other for days, and the requests behind it would wait.
 * With the default time-out of 2 s it is 32 s: a device with 1024 ports may take 31 ms for each. So
 * long, too, may the process work on queries of its own before the first request that it was sent.
 */
#define WORKER_QUERY_TIMEOUTS 16U

typedef struct Worker Worker;

typedef struct WorkerHandler {
	/* Parts of the answer to R, the head. The handler may empty the snapshot. */
	void (*device)(void *userdata, Worker *w, Request *r, DeviceSnapshot *snapshot);
	void (*port)(void *userdata, Worker *w, Request *r, uint32_t port, int error,
		     PortSnapshot *snapshot);
	/* R is answered and now the handler's to free. */
	void (*end)(void *userdata, Worker *w, Request *r, int error, const char *text);
	void (*event)(void *userdata, Worker *w, const Event *event);
	/* The process asks R by itself: it becomes the head if the handler does not end the worker.
	 * The handler may complete the query, and sets the owner if somebody wants the answer.
	 * Returns NULL, or the rule that is broken. */
	const char *(*asking)(void *userdata, Worker *w, Request *r);
	/* No message has come for the head in the time set, or it was not answered in
	 * WORKER_QUERY_TIMEOUTS times that. The handler ends the worker or sets another time. */
	void (*stuck)(void *userdata, Worker *w);
	/* The head was not answered within the patience, and somebody waits for the answer to
	 * another request of this worker. The time-out runs on. */
	void (*slow)(void *userdata, Worker *w);
	/* The worker is of no use any more: it died, or lies. Called once; the handler takes the
	 * requests and ends it. */
	void (*failed)(void *userdata, Worker *w, QueryErrorCode code, const char *why);
	/* The process has ended and is reaped: the handler frees W. Nothing else frees it, but the
	 * end of the pool. */
	void (*exited)(void *userdata, Worker *w);
} WorkerHandler;

/* Starts ARGV, or asks NURSERY for a process if it is not negative. Then worker_pid() is 0, and the
 * worker takes requests, until worker_born(). TIMEOUT_USEC: see worker_set_timeout(). */
int worker_new(sd_event *event, char *const argv[], int nursery, uint64_t timeout_usec,
	       const WorkerHandler *handler, void *userdata, Worker **ret);
/* The nursery has made the child PID for W, which owns PIDFD now. PIDFD is negative: it could not,
 * so W has failed, and no request is to blame. To be called from the event loop: this may call the
 * handler. */
void worker_born(Worker *w, pid_t pid, int pidfd);
/* Kills the process if it has not ended, and reaps it if that needs no waiting. */
void worker_free(Worker *w);

/* For messages. */
pid_t worker_pid(const Worker *w);
/* The head: the request that the process works on, NULL if it has none. */
Request *worker_head(const Worker *w);
/* Whether W has no request. */
bool worker_is_idle(const Worker *w);
/* In handler->stuck(): the messages for the head came in time, but not the last of them. */
bool worker_never_ends(const Worker *w);
/* Describes the part of its first request that the process is reading now, as far as the messages
 * tell: "port 2 of mlx5_0". */
void worker_describe_head(const Worker *w, char *buffer, size_t size);

/* Has the query for users of DEVICE end soon, if the process works on it. */
void worker_hurry(Worker *w, uint32_t device);
/* Gives R to the worker, which owns it until it ends. */
void worker_submit(Worker *w, Request *r);
/* Takes back R if it was not sent yet. */
bool worker_withdraw(Worker *w, const Request *r);
/* Takes back all requests but the head, as if they had never been sent. Word of devices that have
 * gone is dropped: another worker knows nothing of them. If the head is a query of the process's
 * own, that of the core about the same device stays behind it. */
RequestQueue worker_take_requests(Worker *w);
/* Nobody wants the answers to requests of D any more. */
void worker_disown(Worker *w, const PoolDevice *d);

/* From now on handler->stuck() is called when no message has come for the head in TIMEOUT_USEC, or
 * when it is not answered after WORKER_QUERY_TIMEOUTS times that. For the first request the time
 * begins when the process has read it. */
void worker_set_timeout(Worker *w, uint64_t timeout_usec);
/* How long the head may take before handler->slow() is called, if requests that somebody waits for
 * are behind it. At first it is the time-out. */
void worker_set_patience(Worker *w, uint64_t patience_usec);
/* Whether the head has taken longer than that. */
bool worker_is_slow(Worker *w);
/* Closes the connection, at which the process exits, and kills it if it does not within GRACE_USEC.
 */
void worker_retire(Worker *w, uint64_t grace_usec);
/* Kills the process. This and worker_retire() free the requests that W still has. */
void worker_kill(Worker *w);
