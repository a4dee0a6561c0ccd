/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The queries of one device, and their times. The schedule knows the ports and parts of the next
 * query and of the query under way, and the calls that wait for each. Queries because of events and
 * queries for callers are kept apart: each kind has its own pace, so that a program that calls all
 * the time does not delay the news for the others. A schedule has four timers:
 *
 *   pace    limits the number of queries, however many events and callers there are
 *   settle  repeats a query at growing distances: the kernel tells of some changes before it has
 *           carried them out
 *   retry   repeats a query that has failed
 *   later   does the work without signals, when the changed values are on the bus; the manager has
 *           one for all devices
 */

#include <glib.h>

#include "cache.h"
#include "event.h"
#include "pending-call.h"
#include "source.h"
#include "token-bucket.h"

struct Manager;

/* The manager sends the signals of changed values first. After this time it reads the parts that a
 * reason has read later, and writes the journal and the counts: on a machine with one CPU this work
 * would otherwise be done before the bus has passed the signals on. */
#define SCHEDULE_LATER_USEC (10 * USEC_PER_MSEC)

/* A port in a query. */
typedef struct AskPort {
	uint32_t reasons; /* why, a mask of REASON_BIT; kept until the port has answered */
	uint8_t parts;	  /* READ_*: what to read of the port when it is read next; 0 for the query
			     under way, which reads the same of all */
	bool is_in;	  /* to be read; of the query under way, not answered yet */
} AskPort;

/* The ports and parts of one query. */
typedef struct Ask {
	AskPort *ports;	     /* [n_reasons] of the schedule, by port number */
	uint32_t n;	     /* how many of them are in it */
	bool attributes;     /* those of the device are to be read too */
	bool health;	     /* the same of the health of its function */
	bool whole;	     /* it is part of a look at everything */
	PendingList queries; /* calls of Port.Query() that wait for it; none of events */
} Ask;

/* What is to happen to a port after the query under way. */
typedef struct PortLater {
	uint8_t left;	  /* READ_*: to be read SCHEDULE_LATER_USEC from now */
	bool is_settling; /* the kernel may still be changing its values */
} PortLater;

typedef struct Schedule {
	struct Manager *manager;
	Device *device;

	Ask next;		/* what may have changed and has not been asked about yet */
	Ask callers;		/* what only callers want and has not been asked about yet */
	Ask asked;		/* the query under way */
	PortLater *later_ports; /* [n_reasons], by port number */
	uint32_t n_reasons; /* of all three asks, and of LATER_PORTS: room for port numbers below
			       this */

	bool marked;		  /* there is something new to ask about since the last flush */
	uint64_t asked_id;	  /* of the query under way, 0: there is none */
	QueryKind asked_kind;	  /* what it asks for; if there is none, QUERY_ATTRIBUTES */
	bool is_hurried;	  /* it is to end soon */
	unsigned int asked_parts; /* READ_*: what it reads of its ports */
	bool asked_callers;	  /* it asks what callers want, perhaps beside what events want */
	bool asked_open;	  /* Query.is_open */

	uint32_t n_looks;    /* of MEANS_CHECK; it begins with the index of the device */
	bool device_left;    /* the attributes of the device are to be read with what is left */
	bool only_left;	     /* NEXT has only parts of LEFT, and nothing that an event asked for */
	uint64_t later_usec; /* when, on CLOCK_MONOTONIC; 0: nothing is left */
	GList later;	     /* in Manager.later_due then */

	/* The device does not answer. It takes no query until the source says RECOVERED. */
	bool wedged;
	/* The device was wedged, and has not answered since. */
	bool recovering;

	/* pacing: a token for each query because of events. A query for callers takes none, and
	 * neither does the one later query for the parts that the query of an event has left.
	 */
	TokenBucket tokens;
	uint64_t callers_usec; /* callers get no query before this time */
	sd_event_source *pace;

	uint32_t n_settling;	  /* ports that are settling */
	uint32_t settle_reasons;  /* why */
	unsigned int settle_step; /* how many looks of the series have been */
	sd_event_source *settle;

	uint64_t retry_usec; /* the next delay, 0: nothing has failed, and no retry is due */
	sd_event_source *retry;
} Schedule;

/* A new schedule for D, which then points to it. NULL: no memory. */
Schedule *schedule_new(Device *d, struct Manager *m);
/* No call may be waiting. */
void schedule_free(Schedule *w);

/* Marks PORT (or EVENT_ALL_PORTS, or a port that does not exist: all) for REASON. -ENOMEM. */
int schedule_mark(Schedule *w, uint32_t port, EventReason reason);
bool schedule_is_dirty(const Schedule *w);
/* Whether the query under way is to read PORT, which has not answered yet. */
bool schedule_is_asked(const Schedule *w, uint32_t port);
/* All these ports. */
PortSet schedule_asked_ports(const Schedule *w);
/* PORT has answered the query under way. Returns the reasons for which it was asked. */
uint32_t schedule_take_answer(Schedule *w, uint32_t port);
/* Whether the next query is to read PORT for any of REASONS, a mask of REASON_BIT. */
bool schedule_has_reason(const Schedule *w, uint32_t port, uint32_t reasons);
/* PORT has gone: it is not asked about, and no answer is expected. */
void schedule_drop_port(Schedule *w, uint32_t port);
/* The device has been found by a look at everything: its next query is part of it. */
void schedule_begin_whole(Schedule *w);
/* Whether the device has a part left in a look at everything. */
bool schedule_is_whole(const Schedule *w);
/* Ends its part in a look at everything. */
void schedule_end_whole(Schedule *w);

/* Whether a query may start at NOW_USEC (CLOCK_MONOTONIC); if not, *RET_USEC is when. Does not
 * count it. */
bool schedule_may_ask(Schedule *w, uint64_t now_usec, uint64_t *ret_usec);

/* Moves the ports that may be asked about at NOW_USEC to the query under way and fills *RET for it.
 * The others stay: an event neither hurries the query for callers, nor gets a longer query itself.
 * schedule_may_ask() has said yes. */
void schedule_begin(Schedule *w, uint64_t id, uint64_t now_usec, Query *ret);
/* The source asks Q by itself at NOW_USEC, which takes a token unless it has the answer already.
 * Returns whether that is the query under way now. If not, because there is no token or another
 * query is under way, what has been marked is asked later as if the source had not asked. */
bool schedule_adopt(Schedule *w, uint64_t now_usec, const Query *q);
/* The leave of the source for the next query of the device. */
Leave schedule_leave(const Schedule *w);
/* PORT has answered with an error: the reasons to ask about it are reasons of its next query too.
 */
void schedule_keep_reasons(Schedule *w, uint32_t port);
/* The query ended. The same for the ports that have not answered. */
void schedule_end(Schedule *w, uint64_t now_usec);

/* PARTS of PORT (or EVENT_ALL_PORTS) may have changed, though no event says so. The query under way
 * reads some of them; the next query of the port reads the others, SCHEDULE_LATER_USEC from now at
 * the latest. */
void schedule_doubt(Schedule *w, uint32_t port, unsigned int parts);
/* The same for the attributes of the device. */
void schedule_doubt_device(Schedule *w);
/* The query under way has read PARTS of PORT, perhaps more than it was asked for: they are not left
 * for later. */
void schedule_set_read(Schedule *w, uint32_t port, unsigned int parts);
/* Whether something was left for later. */
bool schedule_has_left(const Schedule *w);
/* Marks the ports of which something was left for later. */
void schedule_later(Schedule *w);

/* The next delay in a series after a change that the kernel may not have carried out in full yet; 0
 * when the series is over. */
uint64_t schedule_next_settle(Schedule *w);
/* Marks the ports that are settling, for the reasons for which they are. */
void schedule_settle(Schedule *w);
/* The delay before the next try after a failure: doubled each time. */
uint64_t schedule_next_retry(Schedule *w);
/* All of the device is fresh: no retry is due. */
void schedule_stop_retry(Schedule *w);
