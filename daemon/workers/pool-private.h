/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state of the pool. Only pool*.c and lane.c include this. */

#include "child.h"
#include "pool-limits.h"
#include "worker.h"

typedef struct Pool Pool;

/* The functions that a lane calls. */
typedef struct LaneHandler {
	WorkerHandler worker; /* of the workers that lanes start; its USERDATA is the pool */
	/* No worker took R. R is the handler's to free. ERROR is -EPIPE: none could be kept running
	 * for PoolTiming.queue_usec. -ETIMEDOUT: there was no place for another process for a
	 * time-out. */
	void (*expired)(Pool *p, Request *r, int error);
} LaneHandler;

/* A place for one worker, and the requests that wait for it. */
typedef struct Lane {
	Pool *pool;
	struct Lane *next; /* in Pool.lanes */
	/* The only device that is asked here. NULL: the lane is shared. */
	PoolDevice *owner;
	Worker *worker; /* NULL: none is running here */
	/* WORKER was set aside with OWNER: it was sent requests that others answer now, so it ends
	 * when it has answered its head. */
	bool taken;
	/* WORKER has hung in OWNER, which is wedged, for a time-out or longer. */
	bool stuck;
	/* OWNER has answered without delay: it goes back to its home. */
	bool over;
	RequestQueue waiting;	/* requests that no worker has yet */
	sd_event_source *timer; /* runs while requests wait because no worker may be started yet */
	uint64_t pause_usec;	/* how long a restart waits when a worker is lost the next time */
	uint64_t failed_usec;	/* when a worker was last lost or could not be started; 0: never */
	uint64_t start_usec;	/* no worker is started before this time */
	bool failing;		/* the last start failed, and the log says so */
} Lane;

/* A port of a device, by its number. */
typedef struct PoolPort {
	uint32_t tables; /* bytes of its tables that were read last */
	bool is_probed;	 /* the probe asks it */
} PoolPort;

/* A device, from its first query to pool_forget(). To note that it hangs needs no memory. */
struct PoolDevice {
	Pool *pool;
	uint32_t index;	  /* kernel index */
	AttrText name;	  /* as in the last query; for messages */
	uint64_t adapter; /* likewise; 0: not known */
	/* The query that is under way for the core, NULL if there is none: one of the core, or one
	 * of a worker that the core takes for its own. */
	Request *request;
	/* The worker that was asked last: only its events of this device count. NULL: it is lost.
	 */
	Worker *asked;
	/* ASKED has answered: it may hold the device open, so events are lost with it. */
	bool heard;
	/* HEARD: the query of the core that ASKED has answered last, and what it may ask by itself
	 * because of that: the ports 1 to LEAVE_PORTS. */
	uint64_t leave_id;
	uint32_t leave_ports;
	PoolPort *ports;
	uint32_t n_ports; /* room for port numbers below this */
	uint32_t tables;  /* those of all ports */
	/* How many workers in a row it has spoilt: they hung or crashed when asked about it. */
	unsigned int spoilt;
	Lane *home; /* its main lane */
	/* Where it is asked: HOME, another shared one, or one of its own. */
	Lane *lane;
	/* The last query was answered in time. */
	bool proven;
	/* A query has hung, and no query since has been answered. The worker that hangs in it is
	 * that of its own lane, as long as that process exists. */
	bool wedged;
	/* Wedged: what the query that hung asked. The pool asks it again from time to time. */
	struct {
		uint64_t id;
		QueryKind kind;
		bool attributes, health;
		uint32_t parts, links_generation;
	} probe;
	uint64_t retry_at_usec; /* when the probe, or a slow device, is asked again; 0: it is not */
	uint64_t retry_usec;	/* the next pause before that */
	bool has_turn;		/* that is the turn of the device: Pool.turn_usec */
	uint64_t library_usec;	/* its vendor's library has failed, and is not asked before */
	/* A bit for each reason of which an event was dropped since the last report of such. */
	uint32_t dropped;
	/* A bit for each reason of the events that the pool is about to report itself. */
	uint32_t pending;
};

/* A worker process in whatever state, from its start until it is reaped. */
typedef struct Process {
	struct Process *next; /* in Pool.processes */
	Worker *worker;
	uint64_t second_usec;  /* when the second began in which N_EVENTS came */
	unsigned int n_events; /* that it sent in this second */
	unsigned int n_floods; /* seconds in a row in which it sent too many events */
} Process;

/* pool-nursery.h */
typedef struct Nursery {
	/* FD is closed when it is asked no more, PIDFD when it is reaped; negative: there is none
	 */
	Child process;
	sd_event_source *io, *exit;
	sd_event_source *timer;		     /* runs while workers wait for their processes: */
	Worker *waiting[POOL_PROCESSES_MAX]; /* a ring of N, from FIRST on */
	unsigned int first, n;
} Nursery;

struct Pool {
	sd_event *event;
	const SourceHandler *handler; /* the owner's, called with USERDATA */
	void *userdata;
	const LaneHandler *lane_handler; /* the pool's own */
	char **argv;			 /* the command line of a worker */
	uint64_t query_timeout_usec;	 /* the Config's */
	PoolTiming timing;
	/* The main lanes, of which N_MAIN are in use: each device has one of them as its home. */
	Lane main[POOL_MAIN_MAX];
	unsigned int n_main;
	Lane *lanes;		 /* the others */
	uint64_t crisis_usec;	 /* until then PATIENCE is short, and all lanes stay */
	uint64_t usual_usec;	 /* how long queries take on average, the last ones above all */
	sd_event_source *crisis; /* fires then */
	Nursery nursery;	 /* there is one in a crisis */
	uint64_t turn_usec;	 /* when the next wedged device may be tried again */
	sd_event_source *retry;	 /* fires at the first RETRY_AT_USEC of a device, or before */
	PoolDevice **devices;	 /* sorted by index */
	size_t n_devices;
	uint64_t tables;    /* bytes of the tables of all devices */
	Process *processes; /* N_PROCESSES, POOL_PROCESSES_MAX at most */
	unsigned int n_processes;
	sd_event_source *report; /* enabled while a device has something pending */
	sd_event_source *flood;	 /* runs while a device has dropped events */
};

static inline uint64_t pool_now_usec(const Pool *p)
{
	uint64_t now = 0;

	sd_event_now(p->event, CLOCK_MONOTONIC, &now);
	return now;
}

static inline bool pool_in_crisis(const Pool *p)
{
	return pool_now_usec(p) < p->crisis_usec;
}

/* How long a query may keep others waiting. In a crisis that is short, but on a machine that is
 * slow at the moment it is four times as long as a query usually takes. */
static inline uint64_t pool_patience_usec(const Pool *p)
{
	uint64_t timeout = p->query_timeout_usec;

	if (!pool_in_crisis(p))
		return timeout / POOL_PATIENCE;
	return MIN(MAX(4 * p->usual_usec, timeout / POOL_PATIENCE_CRISIS),
		   timeout / POOL_PATIENCE_SLOW);
}

/* The process of W, which is there until W has exited. */
static inline Process *pool_find_process(const Pool *p, const Worker *w)
{
	Process *process = p->processes;

	while (process->worker != w)
		process = process->next;
	return process;
}
