/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is to be asked about one device, and when. The manager's bookkeeping: dirty ports with their
 * reasons, the query under way, the calls that wait for an answer, and three clocks: pacing (a
 * storm of events costs a bounded number of queries), settling (what the kernel updates only after
 * it has told of a change is looked at again, at growing distances), and retrying after a failure;
 * and one more for what can wait until the news is out.
 */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "cache.h"
#include "event.h"
#include "source.h"

/* A call of Port.Query() that waits. */
typedef struct Waiter {
	struct Waiter *next;
	sd_bus_message *call;
	uint32_t port;
} Waiter;

typedef struct Schedule Schedule;

/* How long what nobody is told of waits after news: where there is one CPU, it would be done before
 * the bus has passed the news on. */
#define SCHEDULE_LATER_USEC (10 * USEC_PER_MSEC)

struct Schedule {
	Device *device;
	void *userdata; /* of the callbacks */

	/* may have changed, not yet asked about */
	PortSet dirty;
	bool dirty_attributes;
	uint32_t *reasons; /* [n_reasons], by port number; kept until the port has answered */
	uint32_t n_reasons;
	Waiter *waiting;
	bool sync; /* part of a look at everything */

	/* the query under way */
	uint64_t asked_id; /* 0: none */
	PortSet asked;	   /* not answered yet */
	bool asked_attributes;
	bool asked_pkeys;
	bool asked_sync;
	bool asked_failed;
	uint32_t *asked_reasons;
	Waiter *asked_waiting;

	PortSet pkeys_due; /* their P_Keys are to be read in the next query */
	/* what waits until the news is out: P_Keys, transitions for the journal */
	PortSet pkeys_later;
	sd_event_source *later;

	bool wedged;

	struct DeviceCounters
		*counters; /* NULL: nobody has asked for any yet; manager-counters.c */

	/* pacing: a bucket of queries, refilled at a steady rate */
	unsigned int tokens;
	uint64_t tokens_usec; /* CLOCK_MONOTONIC when they were counted */
	uint64_t ended_usec;
	sd_event_source *pace;

	PortSet settling;
	uint32_t settle_reasons;
	unsigned int settle_step;
	sd_event_source *settle;

	uint64_t retry_usec; /* the next delay, 0: nothing has failed */
	sd_event_source *retry;
};

/* New work for D, which then points to it. */
Schedule *schedule_new(Device *d, void *userdata);
/* Calls that wait must have been taken away before. */
Schedule *schedule_free(Schedule *w);

/* Marks PORT (or EVENT_ALL_PORTS, or a port that does not exist: all) for REASON. -ENOMEM. */
int schedule_mark(Schedule *w, uint32_t port, EventReason reason);
bool schedule_is_dirty(const Schedule *w);
/* PORT has gone: it is not asked about, and no answer is expected. */
void schedule_drop_port(Schedule *w, uint32_t port);

/* Whether a query may start at NOW_USEC (CLOCK_MONOTONIC); if not, *RET_USEC is when. Does not
 * count it. */
bool schedule_may_ask(Schedule *w, uint64_t now_usec, uint64_t *ret_usec);

/* Moves what is dirty to the query under way and fills *RET for it. */
void schedule_begin(Schedule *w, uint64_t id, uint64_t now_usec, Query *ret);
/* PORT has answered with an error: the reasons to ask about it are reasons of its next query too.
 */
void schedule_keep_reasons(Schedule *w, uint32_t port);
/* The query ended. The same for the ports that have not answered. */
void schedule_end(Schedule *w, uint64_t now_usec);

/* Marks the ports whose P_Keys a query has left for later. */
void schedule_pkeys(Schedule *w);

/* The next delay in a series after a change that the kernel may not have carried out in full yet; 0
 * when the series is over. */
uint64_t schedule_next_settle(Schedule *w);
/* Marks the ports that are settling, for the reasons for which they are. */
void schedule_settle(Schedule *w);
/* The delay before the next try after a failure: doubled each time. */
uint64_t schedule_next_retry(Schedule *w);

/* The reason to publish for a set of them: the most specific. */
EventReason reason_to_publish(uint32_t reasons);
