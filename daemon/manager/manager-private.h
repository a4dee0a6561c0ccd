/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the parts of the manager share, and nobody else sees: manager.c takes events in and flushes,
 * manager-devices.c keeps the set of devices, manager-query.c asks and takes answers,
 * manager-calls.c answers who waits,
 * manager-counters.c reads counters.
 */

#include <time.h>

#include "manager.h"
#include "schedule.h"
#include "watch-sleep.h"

struct Manager {
	sd_event *event;
	Config config;
	char *bus_address;
	Cache cache;
	SharedMemory *memory;
	Source *source;
	bool simulated;

	Bus *bus;
	WatchSleep *sleep;
	sd_bus_slot *disconnected;
	sd_event_source *reconnect;
	uint64_t reconnect_usec; /* the next delay */
	bool ready;		 /* everything has been asked once */
	bool has_name;
	bool served; /* the name on the bus was ours once */

	bool enumerate; /* the set of devices may have changed */
	bool enumerate_failed;
	uint64_t enumerate_retry_usec; /* the next delay */
	sd_event_source *enumerate_retry;
	uint64_t enumerated_usec; /* when those until now have earned their time */
	sd_event_source *enumerate_pace;
	sd_event_source *flush;
	sd_event_source *reconcile;
	sd_event_source *counts;
	uint32_t query_count;
	uint32_t links_generation; /* Query.links_generation of the next one */
	size_t n_seen;		   /* the first devices of the cache, all published */

	unsigned int n_syncing; /* devices that a look at everything has not reached yet */
	uint64_t last_sync_usec;
	sd_bus_message **refreshing; /* calls of Refresh() */
	size_t n_refreshing;
	size_t n_covered; /* the first of them: those that the look under way answers */
	size_t n_waiting;
	uint64_t lost_events;
	HistoryList histories; /* of the ports that have gone */
	uint32_t last_active, last_devices, last_ports;
};

static inline uint64_t realtime_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static inline uint64_t monotonic_usec(const Manager *m)
{
	uint64_t now = 0;

	sd_event_now(m->event, CLOCK_MONOTONIC, &now);
	return now;
}

static inline bool timer_runs(sd_event_source *s)
{
	return s && sd_event_source_get_enabled(s, NULL) > 0;
}

/* Arms *S to fire DELAY_USEC from now, creating it at first. Failing to get a timer is failing to
 * get memory: said, and the reconcile timer makes good for it. */
void manager_start_timer(Manager *m, sd_event_source **s, uint64_t delay_usec,
			 sd_event_time_handler_t handler, void *userdata, const char *name);
/* Notes that there is something to flush. */
void manager_mark_flush(Manager *m);
void manager_mark_device(Manager *m, Device *d, uint32_t port, EventReason reason);
void manager_mark_everything(Manager *m, EventReason reason);
/* Says READY once everything has been asked. */
void manager_check_ready(Manager *m);

/* Brings the cache to the set of devices that the source has now. */
void manager_enumerate(Manager *m);

/* The number of the next question to D, never 0. */
uint64_t manager_new_id(Manager *m, const Device *d);
/* Asks about what is dirty of D, as soon as it may. */
void manager_ask(Manager *m, Device *d);
/* SourceHandler's functions of the same names. */
void manager_on_device(void *userdata, uint64_t id, DeviceSnapshot *snapshot);
void manager_on_port(void *userdata, uint64_t id, uint32_t number, int error,
		     PortSnapshot *snapshot);
void manager_on_end(void *userdata, uint64_t id, int error, const char *reason);
void manager_publish_counts(Manager *m);
void manager_publish_device(Manager *m, Device *d, CacheOp op, const AttrMask *changed);
void manager_publish_port(Manager *m, Port *p, const PortChange *change, EventReason reason);

/* P has been read, for REASON: notes its state, and in *CHANGE what that changes. Returns whether
 * that is a transition for the journal. */
bool manager_note_state(Manager *m, Port *p, EventReason reason, PortChange *change);
/* Tells the journal of the transitions of D that it has not been told of. */
void manager_log_states(Device *d);
/* The device of P has another name, to which a history may belong. */
void manager_note_rename(Manager *m, Port *p, PortChange *change);
/* P goes: its history stays. */
void manager_note_absence(Manager *m, Port *p);

/* Answers those calls in *LIST that wait for PORT (0: all): with what is known of P, or if ERROR is
 * negative with that. */
void manager_answer_queries(Manager *m, Waiter **list, uint32_t port, const Port *p, int error,
			    const char *text);
/* Answers the calls of Refresh() that the look under way was for. */
void manager_answer_refresh(Manager *m, int error);
/* Whether one more call of who made CALL may wait. */
bool manager_may_wait(const Manager *m, sd_bus_message *call);
/* Answers a call with what became of the question: ERROR, a negative errno, and TEXT. */
void manager_reply_error(sd_bus_message *call, int error, const char *text);

/* Asks for the counters that are wanted, if D has nothing better to do. */
void manager_ask_counters(Manager *m, Device *d);
/* Whether it is counters that W has asked for. */
bool manager_asked_counters(const Schedule *w);
/* The counters of port NUMBER have come. */
void manager_on_counters(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot);
/* The question for counters has ended. */
void manager_end_counters(Manager *m, Device *d, int error, const char *text);
/* Answers the calls for counters of PORT (0: all) of D with ERROR: the port has gone, or the device
 * answers no more. */
void manager_refuse_counters(Manager *m, Device *d, uint32_t port, int error, const char *text);
/* How many of the calls for counters of D are CALLER's. */
size_t manager_count_counters(const Device *d, const char *caller);
void manager_free_counters(Device *d);

/* Everything has been looked at. */
void manager_sync_done(Manager *m);
/* Keeps n_syncing while a work's flags change. */
void manager_set_sync(Manager *m, Schedule *w, bool dirty, bool asked);
