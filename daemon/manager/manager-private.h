/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The header that only the files of the manager share. Each file calls only files below it, which
 * tests/rooms/test-layers holds:
 *
 *   manager.c           life, the connection to the bus, the flush
 *   manager-devices.c   the set of devices
 *   manager-neighbors.c what is at the other ends of links
 *   manager-counters.c  counters that rdmad reads by itself
 *   manager-cable.c     the modules in the cages
 *   manager-query.c     asks, and takes answers
 *   manager-look.c      looks at everything: when they are over, READY and Refresh()
 *   manager-change.c    hands what has changed to those who take it: all below but the calls
 *   manager-expect.c    what is expected of ports, in files
 *   manager-calls.c     what callers want of the hardware
 *   manager-far.c       the counters of the ports at the other ends of links
 *   manager-health.c    how well devices and ports are, and their rails
 *   manager-signal.c    how many bits of a link are errors
 *   manager-publish.c   what goes to the shared memory and to the bus
 *   manager-users.c     who has queue pairs: the processes, and the journal
 *   manager-reading.c   what is read on demand
 *   manager-dirty.c     takes events in: what may have changed is marked
 *   manager-history.c   transitions: history and journal
 *   manager-evidence.c  what else devices and ports have shown
 *   manager-record.c    the record of all changes
 *   manager-base.c      timers, and what goes to the source
 *   schedule.c          what is to be asked about one device, and when
 */

#include "bus-neighbors.h"
#include "bus.h"
#include "change-text.h"
#include "clock.h"
#include "health.h"
#include "line-writer.h"
#include "manager.h"
#include "schedule.h"

/* Whom to ask for the other ends of links */
typedef struct NeighborAsk {
	struct Manager *manager;
	NeighborSource source;
	const char *path;  /* is there if the source can be asked; NULL: it is not asked */
	sd_bus_slot *slot; /* a question is under way */
} NeighborAsk;

struct Manager {
	sd_event *event;
	Config config;
	Cache cache;
	SharedMemory *memory;
	LineWriter *history_writer;	       /* NULL: histories are not kept in a file */
	sd_event_source *history_recall;       /* findings that are in the file are recalled */
	struct Recorder *recorder;	       /* NULL: changes are not recorded */
	sd_event_source *record_day;	       /* begins a segment of the record once a day */
	Source *source;			       /* what is watched */
	const struct ReadingRow *reading_rows; /* by QueryKind: manager_reading_rows */

	/* the connection to the bus */
	const char *bus_address; /* NULL: the system bus */
	Bus *bus;		 /* NULL: there is none at the moment */
	sd_event_source *reconnect;
	uint64_t reconnect_usec; /* the delay of the next try */
	bool has_name;		 /* org.rdma is ours on this connection */
	bool served;		 /* it was ours once, on any connection */

	/* marks and asks */
	sd_event_source *flush;
	GQueue later_due; /* the schedules that have left something for later, the first one first
			   */
	sd_event_source *later;
	uint32_t query_count;	   /* of all questions until now: half of the next one's number */
	uint32_t links_generation; /* Query.links_generation of the next question */
	uint64_t lost_events;	   /* how often a source said that it lost some */
	sd_event_source *reconcile;

	/* the set of devices */
	bool devices_due;	 /* the set may have changed: enumerate */
	uint64_t enumerate_usec; /* CLOCK_MONOTONIC; each enumeration moves it on by ENUMERATE_USEC,
				    and none takes place while it is too far ahead of now */
	sd_event_source *enumerate_pace;
	bool enumerate_failed;	       /* the last enumeration failed */
	uint64_t enumerate_retry_usec; /* the delay of the next try */
	sd_event_source *enumerate_retry;

	/* the other ends of links */
	NeighborAsk neighbor_asks[_NEIGHBOR_SOURCE_MAX];
	uint64_t neighbors_usec; /* the delay of the next question */
	sd_event_source *neighbors;
	sd_bus_slot *far_asked; /* a question for their counters is under way */

	/* counters that are read for the judge */
	uint32_t counter_device; /* devices with a lower index have had their turn */
	sd_event_source *counter_timer;

	/* the modules in the cages */
	bool may_read_modules;
	sd_event_source *cable;
	sd_bus_slot *cable_asked;	     /* a question is under way */
	uint32_t cable_device, cable_number; /* about this port */
	uint64_t cable_begin_usec;	     /* since then, CLOCK_MONOTONIC */

	/* looks at everything */
	bool ready;		   /* everything has been asked once, or that takes too long */
	sd_event_source *start;	   /* until then: looks for that, every START_STEP */
	unsigned int start_steps;  /* how often it has looked */
	uint32_t n_answered;	   /* devices that had answered when it looked last */
	bool looking;		   /* a look at everything goes on */
	uint64_t last_sync_usec;   /* CLOCK_REALTIME when a look was last complete, 0: never */
	PendingList refresh_next;  /* calls of Refresh() that wait for the next one */
	PendingList refresh_asked; /* those that the one that goes on answers */
	uint64_t refresh_usec;	   /* CLOCK_MONOTONIC: the next one does not begin before */
	sd_event_source *refresh_pace;

	sd_event_source *judge; /* looks what became of the hardware of devices that have gone */

	/* the judge */
	Health *health;
	sd_event_source *health_timer;
	bool health_soon;	    /* it runs because something has changed */
	bool health_told;	    /* the judge has told of something */
	bool rails_due;		    /* something has changed that decides about rails */
	uint64_t judge_usec;	    /* CLOCK_MONOTONIC: nothing is judged before */
	uint64_t compare_usec;	    /* CLOCK_MONOTONIC: the ports are not compared before */
	AttrVerdict machine_health; /* the worst of all */
	uint64_t booted_usec;	    /* when the machine was started, as the clock said last */
	Table *machine_findings;

	/* what is expected */
	const char *expect_path; /* NULL: nothing */
	struct ExpectReading
		*expect_reading;	/* the files are being read anew; NULL: they are not */
	sd_event_source *expect_source; /* says when that has been done */
	bool expect_again;		/* then they are to be read once more */

	/* the counts of org.rdma.Manager: what they were when that was last said */
	uint32_t said_devices, said_ports, said_active;
	sd_event_source *counts;
};

static inline uint64_t monotonic_usec(const Manager *m)
{
	uint64_t now = 0;

	sd_event_now(m->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* The number of the next question to D, never 0. */
static inline uint64_t manager_new_id(Manager *m, const Device *d)
{
	if (++m->query_count == 0)
		m->query_count = 1;
	return (uint64_t)m->query_count << 32 | d->index;
}

/* A link has come up: so long afterwards its other end may have been heard. */
#define NEIGHBORS_SOON_USEC (2 * USEC_PER_SEC)

/* Whether the network interface of P is known, which only a port on Ethernet has: others may be
 * asked about it. */
static inline bool manager_has_interface(const Port *p)
{
	return p->answered && !p->now.values.stale && mask_has(&p->now.valid, PORT_ATTR_netdev);
}

/* manager-base.c */

static inline bool timer_runs(sd_event_source *s)
{
	return s && sd_event_source_get_enabled(s, NULL) > 0;
}

/* Has *S run HANDLER once DELAY_USEC from now; *S is made the first time. Without
 * memory for it, it does not run: a message says so, and the periodic look finds what is missed. */
void manager_start_timer(Manager *m, sd_event_source **s, uint64_t delay_usec,
			 sd_event_time_handler_t handler, void *userdata, const char *name);
/* The same, unless it runs already. */
void manager_await_timer(Manager *m, sd_event_source **s, uint64_t delay_usec,
			 sd_event_time_handler_t handler, void *userdata, const char *name);
/* Gives the source QUERY of D, with what every question says. As SourceOps.query. */
int manager_send(Manager *m, const Device *d, Query *query);

/* manager-dirty.c */

/* Notes that there is something to flush. */
void manager_mark_flush(Manager *m);
/* Drops the flush if it would do nothing, because all that was marked has been asked: the event of
 * a device that asks by itself comes in one turn of the event loop with the answer. */
void manager_spare_flush(Manager *m);
void manager_mark_device(Device *d, uint32_t port, EventReason reason);
void manager_mark_everything(Manager *m, EventReason reason);
/* SourceHandler's functions of the same names. */
void manager_on_event(void *userdata, const Event *e);
void manager_on_noted(void *userdata, const Event *e);

/* manager-history.c */

/* Reads the histories that DIRECTORY has, and keeps them there from now on. */
void manager_history_start(Manager *m, const char *directory);
/* All is written, as far as the disk answers. */
void manager_history_end(Manager *m);
/* A taker: notes the state in the history, and in *CHANGE what that changes. */
void manager_history_port(Manager *m, PortChange *change);
/* Whether P, which has been read, has transitions for the journal. */
bool manager_is_untold(const Port *p);
/* An event about P has come. If it says that P is active, or is not active any more, that is noted,
 * even if it is over when P is read. Returns whether it was. */
bool manager_note_event(Manager *m, Port *p, EventReason reason);
/* Tells the journal and the file of the transitions of P that they have not been told of. Returns
 * whether one of them has taken the link down. */
bool manager_log_states(Manager *m, Port *p);
/* The findings about P or its device are other ones; or those of D, if it has no ports; or those of
 * the machine. */
void manager_note_findings(Manager *m, Port *p);
void manager_note_device_findings(Manager *m, const Device *d);
void manager_note_all_findings(Manager *m);
/* QPS queue pairs of PROCESSES were on P when its link went down last. */
void manager_note_users(Manager *m, Port *p, uint32_t qps, uint32_t processes);
/* P goes: its history stays. As manager_log_states(). */
bool manager_note_absence(Manager *m, Port *p);
/* D is called NAME no longer, or has gone. */
void manager_note_device_absence(Manager *m, const Device *d, const char *name);

/* manager-evidence.c */

/* Takers. */
void manager_evidence_port(Manager *m, PortChange *change);
void manager_evidence_device(Manager *m, DeviceChange *change);
/* An event about port NUMBER, or with EVENT_ALL_PORTS about all of D. Returns whether it is
 * evidence. */
bool manager_evidence_event(Manager *m, Device *d, uint32_t number, EventReason reason);
/* D goes: what it has shown stays. */
void manager_evidence_absence(Manager *m, Device *d);

/* manager-record.c */

typedef struct Recorder Recorder;

/* Records what M publishes in STATE_DIRECTORY. NULL: nothing is recorded, because the configuration
 * says so, STATE_DIRECTORY is NULL, or there is no memory. */
Recorder *recorder_new(Manager *m, const char *state_directory);
/* NULL is allowed; returns NULL. */
Recorder *recorder_free(Recorder *r);
/* From now on changes are recorded: everything has been asked once. */
void manager_record_start(Manager *m);
/* A taker, after the change has been published. */
void manager_record_device(Manager *m, DeviceChange *change);
/* A question to D, which has been published, has ended. Only the first one is recorded. */
void manager_record_asked(Manager *m, const Device *d);
/* A taker, after the change has been published. Takes the tables that *CHANGE owns. */
void manager_record_port(Manager *m, PortChange *change);
/* A port or device is about to be freed. */
void manager_record_settle(Manager *m);
/* The finding F about port NUMBER of D or its device, 0: about D, which has no ports, NULL: about
 * the machine, has begun or ended, or is another one. */
void manager_record_finding(Manager *m, const Device *d, uint32_t number, const PastFinding *f);
/* An event about port P of D, NULL: about D, is in its history, or is evidence. */
void manager_record_event(Manager *m, Device *d, Port *p, EventReason reason);

/* manager-reading.c */

/* The functions of one kind of readings on demand. */
typedef struct ReadingRow {
	const char *name; /* for messages */
	size_t size;	  /* of its structure, which begins with a Reading */
	PortTable table;  /* that of the answer of the source */
	/* Its question ends soon when there is something else to be asked; then the answer may be
	 * a part (-ETIME). */
	bool gives_way;
	/* Asks somebody else than the source, but one that has_far; the reading is at
	 * READING_WANTED. NULL: the source is asked. */
	void (*begin)(Manager *m, Reading *r);
	/* Makes the text in T valid, whatever a worker says. */
	void (*clean)(Table *t);
	/* Asks somebody else for the rest. True: manager_finish_reading() follows. May be NULL, as
	 * what follows. */
	bool (*complete)(Manager *m, Reading *r);
	/* All that can be known is known. True: it is to be read once more. */
	bool (*finished)(Manager *m, Reading *r);
	/* The reading has failed. */
	void (*failed)(Reading *r);
} ReadingRow;

/* The reading of P, made the first time; NULL without memory. */
Reading *manager_reserve_reading(Port *p, QueryKind kind);
/* BusHandler.read(). */
int manager_read(void *userdata, Port *p, QueryKind kind);
/* All that can be known is known. */
void manager_finish_reading(Manager *m, Reading *r);
void manager_fail_reading(Reading *r, int error, const char *text);
/* D is to be asked soon for what is wanted of it. */
void manager_mark_readings(Manager *m, Device *d);
/* Asks D for what is wanted of it. No question may be under way. */
void manager_ask_readings(Manager *m, Device *d);
/* Something else is to be asked of D: a question under way that gives way is to end soon. */
void manager_hurry_reading(Manager *m, const Device *d);
/* Port NUMBER has answered a question that is not one for attributes. */
void manager_on_reading(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot);
/* The query for readings has ended. */
void manager_end_reading(Device *d, int error, const char *text);
/* PORT (0: all) of D has gone, or does not answer any more. */
void manager_refuse_readings(Device *d, uint32_t port, int error, const char *text);
void manager_free_readings(Port *p);

/* manager-users.c */

typedef struct UsersReading {
	Reading reading;
	bool went_down;	      /* the journal is to be told */
	unsigned int n_reads; /* for the journal, that were not complete */
} UsersReading;

/* The functions of its ReadingRow. */
void manager_clean_users(Table *t);
bool manager_describe_users(Manager *m, Reading *r);
bool manager_finished_users(Manager *m, Reading *r);
void manager_failed_users(Reading *r);
/* The link of P has gone down: the journal is told who had queue pairs on it, when that is known.
 */
void manager_want_users(Manager *m, Port *p);
/* The connection to the bus ends: nobody says what processes are. */
void manager_forget_processes(Manager *m);

/* manager-expect.c */

/* Reads what is expected at PATH, NULL: nothing. -ENOMEM. */
int manager_expect_start(Manager *m, const char *path);
void manager_expect_end(Manager *m);

/* manager-health.c */

/* -ENOMEM */
int manager_health_start(Manager *m);
void manager_health_end(Manager *m);
/* BusHandler.acknowledge(). */
int manager_acknowledge(void *userdata, Port *p, const char *check, const char *text);
/* Judges a little later what is to be judged. */
void manager_health_judge_soon(Manager *m);
/* If the clock was set, all is to be judged again. */
void manager_health_follow_clock(Manager *m);
/* All devices have been asked once: judges them now, before anybody is told of them. */
void manager_health_judge_all(Manager *m);
/* Takers. */
void manager_health_port(Manager *m, PortChange *change);
void manager_health_device(Manager *m, DeviceChange *change);
/* An event may say something by itself. */
void manager_health_event(Manager *m, const Event *e);
/* The counters of P may have been read. */
void manager_health_counters(Manager *m, Port *p);
/* P, or D without ports, is about to be freed. */
void manager_health_forget_port(Manager *m, Port *p);
void manager_health_forget_device(Manager *m, Device *d);

/* manager-signal.c */

/* A taker. */
void manager_signal_port(Manager *m, PortChange *change);
/* The counters of P may have been read. */
void manager_signal_counters(Manager *m, Port *p);
/* P is about to be freed, or begins anew. */
void manager_signal_forget(Port *p);

/* manager-far.c */

/* ReadingRow.begin */
void manager_begin_far(Manager *m, Reading *r);
bool manager_finished_far(Manager *m, Reading *r);
/* As manager_neighbors_forget(). */
void manager_far_forget(Manager *m);

/* manager-calls.c */

/* The rows of all kinds but QUERY_ATTRIBUTES. */
extern const ReadingRow manager_reading_rows[_QUERY_KIND_MAX];

/* BusHandler's functions of the same names. */
int manager_query(void *userdata, Port *p, uint64_t max_age_usec, PendingList **ret_list);
PendingList *manager_refresh(void *userdata);
void manager_status(void *userdata, BusStatus *ret);
/* Answers all calls about PORT (0: all) of D that wait with ERROR and TEXT. */
void manager_refuse_calls(Device *d, uint32_t port, int error, const char *text);

/* manager-publish.c */

void manager_publish_counts(Manager *m);
/* Takers. A device that nobody has heard of is new: the op says so afterwards. */
void manager_publish_device(Manager *m, DeviceChange *change);
void manager_publish_port(Manager *m, PortChange *change);

/* manager-change.c */

/* Says of D what can wait until the changed values are on the bus: its transitions, and who was on
 * a link that has gone down. */
void manager_tell_later(Manager *m, Device *d);
/* Hands the change to those who take it. */
void manager_hand_on_port(Manager *m, PortChange *change);
void manager_hand_on_device(Manager *m, DeviceChange *change);
/* Says only that D is there, with CACHE_ADDED, or goes, with CACHE_REMOVED. */
void manager_announce_device(Manager *m, Device *d, CacheOp op);

/* manager-look.c */

/* Has the next periodic look at everything come after the configured time, if there is any. */
void manager_start_reconcile(Manager *m);
/* Begins a look at everything for those who called Refresh(), if there are any and no other look
 * answers them: now, or when a second has passed since the last one began. */
void manager_begin_refresh(Manager *m);
/* Has READY said at last, also if some devices have not answered by then. */
void manager_limit_start(Manager *m);
/* Answers the calls of Refresh() that the look which goes on was for. */
void manager_answer_refresh(Manager *m, int error);
/* After an enumeration, and after a query: says READY once everything has been asked once, and ends
 * the look at everything once all devices have had their part in it. */
void manager_check_look(Manager *m);

/* manager-query.c */

/* Asks about what is dirty of D, as soon as it may. */
void manager_ask(Manager *m, Device *d);
/* What W has left for later is not done. */
void manager_drop_later(Manager *m, Schedule *w);
/* SourceHandler's functions of the same names. */
bool manager_on_asking(void *userdata, const Query *query);
void manager_on_device(void *userdata, uint64_t id, DeviceSnapshot *snapshot);
void manager_on_port(void *userdata, uint64_t id, uint32_t number, int error,
		     PortSnapshot *snapshot);
void manager_on_end(void *userdata, uint64_t id, int error, QueryErrorCode code,
		    const char *reason);

/* manager-counters.c */

/* From now on counters are read from time to time, if the configuration says so. */
void manager_counters_start(Manager *m);

/* manager-neighbors.c */

/* From now on the other ends of links are asked for, if there is somebody to ask. */
void manager_neighbors_start(Manager *m);
/* The connection to the bus ends: the question that is under way gets no answer. */
void manager_neighbors_forget(Manager *m);

/* manager-cable.c */

/* From now on modules are read, if the configuration says so. */
void manager_cable_start(Manager *m);
/* As manager_neighbors_forget(). */
void manager_cable_forget(Manager *m);

/* manager-devices.c */

/* Brings the cache to the set of devices that the source has now. */
void manager_enumerate(Manager *m);
