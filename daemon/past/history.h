/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The last transitions of a port, and how often its link went down.
 *
 * A history belongs to the name of a port, such as mlx5_0/1, and not to its object: a device that
 * is reset comes back under its name with another index, and people read the history to learn about
 * resets too. The history of a port that has gone is kept in a HistoryList until there is a port of
 * that name again. No clock: times come in as arguments.
 */

#include "attribute.h"
#include "event.h"
#include "past-cables.h"
#include "past-findings.h"
#include "port-name.h"
#include "port.h"
#include "table-columns.h"

/* The most transitions that are kept of a port, and the most ports that were seen to go. */
#define HISTORY_ENTRIES 32U
#define HISTORY_KEPT	256U
/* The most ports in a list: as many as may be there at once, which have not been seen yet since
 * rdmad started, and those that have gone. */
#define HISTORY_LIST_MAX (RDMA_PORTS_MAX + HISTORY_KEPT)
/* The most times at which the link of a port went down that are kept: of a link that flaps the
 * transitions are soon forgotten. */
#define HISTORY_LINK_DOWNS 256U

/* States beside those of enum ibv_port_state: any but active, as an event said, before the port was
 * read; before the first look; and without a device */
enum { STATE_NOT_ACTIVE = 253, STATE_UNKNOWN = 254, STATE_ABSENT = 255 };

/* The state was FROM, and has been TO since then. */
typedef struct Transition {
	uint64_t realtime_usec;	 /* when it was noticed */
	uint64_t monotonic_usec; /* 0: that was before the machine was booted */
	uint8_t from, to;	 /* enum ibv_port_state, or a state beside it */
	uint8_t reason;		 /* the EventReason of the query that noticed it */
	bool taken;		 /* history_take() has returned it */
	uint32_t rate_mbit; /* the highest rate of the link while it was TO, Mbit/s; 0: unknown */
	/* who was on a link that went down: so many queue pairs of so many processes; 0: nobody, or
	 * it is not known */
	uint32_t qps, processes;
} Transition;

/* All zero: nothing has been seen. */
typedef struct History {
	Transition *entries; /* a ring, [room] */
	uint8_t n;	     /* how many of its entries are in use */
	uint8_t first;	     /* which of them is the oldest */
	uint8_t room;
	uint16_t n_downs, first_down, room_downs; /* the same of the next ring */
	uint64_t *downs; /* when the link went down, CLOCK_REALTIME in us: a ring, [room_downs] */
	uint64_t link_downs; /* how many transitions took the link down, those forgotten too */
	uint64_t since_usec; /* since when they are counted, CLOCK_REALTIME; 0: nothing was seen */
	PastFindings findings;
	PastCables cables;
} History;

/* Frees what H has; it is empty afterwards. */
void history_done(History *h);

/* Entry I of H->n, 0 is the oldest. */
const Transition *history_entry(const History *h, size_t i);
/* The latest, NULL if there is none. */
static inline const Transition *history_last(const History *h)
{
	return h->n ? history_entry(h, h->n - 1U) : NULL;
}

/* When the link went down, CLOCK_REALTIME in us: time I of H->n_downs, 0 is the oldest. */
uint64_t history_link_down(const History *h, size_t i);
/* The first of these times that is not before USEC: an index, H->n_downs if there is none. An
 * administrator may have set the clock back, so they need not be in order; all times from that one
 * on are taken. */
size_t history_link_downs_since(const History *h, uint64_t usec);

/*
 * Notes that the state is now STATE, because of REASON. Returns whether that is a transition: false
 * if the state was STATE already, or if it is what the last event left open (STATE_NOT_ACTIVE). The
 * first one since the machine was booted comes from STATE_UNKNOWN if REASON is REASON_STARTUP, from
 * STATE_ABSENT otherwise.
 * Without memory it is counted but not kept.
 */
bool history_note(History *h, uint32_t state, EventReason reason, uint64_t realtime_usec,
		  uint64_t monotonic_usec);

/*
 * Notes what an event says: PORT_ACTIVE, or PORT_ERROR, after which an active port is not active
 * any more. Other reasons say nothing of the state. Returns whether that is a transition. Without a
 * first look there is none.
 */
bool history_note_event(History *h, EventReason reason, uint64_t realtime_usec,
			uint64_t monotonic_usec);

/* Notes that the link has RATE, in bit/s, now. The last transition keeps the highest one, if its
 * state is active. Returns whether that has changed it. */
bool history_note_rate(History *h, uint64_t rate);

/* Notes that the module SERIAL ("": none), of the kind PART, is in the cage NOW. Returns whether
 * that is another one. */
bool history_note_cable(History *h, const char *serial, const char *part, uint64_t now);

/* Notes that QPS queue pairs of PROCESSES were on the link when it went down last. Returns the
 * transition, NULL if none has taken it down. */
const Transition *history_note_users(History *h, uint32_t qps, uint32_t processes);

/* The oldest transition that this function has not returned yet, NULL if there is none. */
const Transition *history_take(History *h);

/* T as it is published. FROM and TO are room for the names of its states. */
PublishedTransition history_published(const Transition *t, AttrText from, AttrText to);

/* Whether a transition takes the link down: to a lower state than active, and a lower than before.
 */
bool history_is_link_down(uint32_t from, uint32_t to);

/*
 * Since when the state has not met STATE, as decode_state_meets() says, as CLOCK_MONOTONIC in
 * *RET_USEC: since the transition from such a state, then *RET_EXACT is true, or at least since the
 * oldest transition that is known. Returns false if the state meets STATE or nothing is known.
 */
bool history_since_not(const History *h, uint32_t state, uint64_t *ret_usec, bool *ret_exact);

/* The name of STATE as attr_enumeration_text() gives it, or "unknown" or "absent". RET is room for
 * a name that has to be made; it need not be what is returned. */
const char *history_state_name(uint32_t state, AttrText ret);

/* Adds T, which comes from a file, to the end of H; or if T is a transition once more, with what
 * was not known before, its state, its rate or its users, puts it in its place. Returns whether T
 * is new. The counts and the times at which the link went down are the caller's. */
bool history_restore(History *h, const Transition *t);
/* Adds a time at which the link went down. */
void history_restore_link_down(History *h, uint64_t realtime_usec);

/* The history of a port that has gone, or has not been seen since rdmad started, by its name. With
 * PORT_NUMBER_NONE it is that of a device that had no port, or of the machine when no device had
 * one, HISTORY_MACHINE: that has findings and nothing else. */
#define HISTORY_MACHINE "*"
typedef struct KeptHistory {
	struct KeptHistory *next, *previous; /* in the list */
	struct KeptHistory *next_same;	     /* of those with the same hash */
	AttrText device;
	uint32_t port; /* the number that it had for everybody outside; PORT_NUMBER_NONE */
	History history;
} KeptHistory;

/* The histories of such ports, the one that went first first. All zero: none. */
typedef struct HistoryList {
	KeptHistory *first, *last;
	size_t n;
	KeptHistory **buckets; /* [n_buckets], a power of two, by a hash of the name */
	uint32_t n_buckets;    /* 0: nothing was put into it */
} HistoryList;

/* Frees all histories; the list is empty afterwards. */
void history_list_done(HistoryList *l);
/* The entry of port PORT of DEVICE, which becomes the last, or a new one; NULL without memory. Of
 * more than twice HISTORY_LIST_MAX the first goes. */
KeptHistory *history_list_put(HistoryList *l, const char *device, uint32_t port);
/* The same, if there is one; NULL: none. It keeps its place. */
KeptHistory *history_list_find(const HistoryList *l, const char *device, uint32_t port);
/* Forgets what is empty, and the first of what is too much: of more than HISTORY_KEPT ports that
 * were seen to go, or more than HISTORY_LIST_MAX in all. */
void history_list_trim(HistoryList *l);
/* Moves H, the history of port PORT of DEVICE, to the end of the list; H is empty afterwards. */
void history_keep(HistoryList *l, const char *device, uint32_t port, History *h);
/* Finds the history that was kept of the port that NAME names ("mlx5_0/1", "mlx5_0:1", or "mlx5_0"
 * if one port of it is in the list). -ENOENT: nothing. -EEXIST: NAME names several. -EINVAL: no
 * port has such a name. */
int history_find(const HistoryList *l, const char *name, const KeptHistory **ret);
/* Moves what was kept of port PORT of DEVICE, if anything was, to the beginning of H. */
void history_recall(HistoryList *l, const char *device, uint32_t port, History *h);
