/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The last transitions of a port, and how often its link went down.
 *
 * A history belongs to the name of a port, such as mlx5_0/1, and not to its object: a device that
 * is reset comes back under its name with another index, and that is one of the things that its
 * history is read for. What has no port is kept in a HistoryList until it has one again. No clock:
 * times come in as arguments.
 */

#include "attribute.h"
#include "event.h"

/* The most transitions that are kept of a port, and the most ports that have gone. */
#define HISTORY_ENTRIES 32U
#define HISTORY_KEPT	256U

/* States beside those of enum ibv_port_state: before the first look, and without a device */
enum { STATE_UNKNOWN = 254, STATE_ABSENT = 255 };

typedef struct Transition {
	uint64_t realtime_usec, monotonic_usec;
	uint8_t from, to; /* enum ibv_port_state, or a state beside it */
	uint8_t reason;	  /* EventReason */
	bool taken;	  /* by history_take() */
} Transition;

/* All zero: nothing has been seen. */
typedef struct History {
	Transition *entries; /* a ring of ROOM entries of which N are used, the oldest at FIRST */
	uint8_t n, first, room;
	uint64_t link_downs; /* transitions to a lower state than active from a higher one */
} History;

void history_done(History *h);

/* Entry I, 0 the oldest. */
const Transition *history_entry(const History *h, size_t i);
static inline const Transition *history_last(const History *h)
{
	return h->n ? history_entry(h, h->n - 1U) : NULL;
}

/*
 * Notes that the state is now STATE: nothing if it was that already. The first that is ever seen is
 * a transition from STATE_UNKNOWN if that was when rdmad started, from STATE_ABSENT otherwise.
 * Returns whether it is a transition. What there is no memory for is not kept.
 */
bool history_note(History *h, uint32_t state, EventReason reason, uint64_t realtime_usec,
		  uint64_t monotonic_usec);

/* The oldest transition that it has not returned yet, NULL if there is none. */
const Transition *history_take(History *h);

/* Whether a transition takes the link down: to a lower state than active, and a lower than before.
 */
bool history_is_link_down(uint32_t from, uint32_t to);

/*
 * Since when the state has not been STATE: the CLOCK_MONOTONIC of the transition from it in
 * *RET_USEC, and *RET_EXACT, or of the oldest transition that is known. False: it is STATE, or
 * nothing is known.
 */
bool history_since_not(const History *h, uint32_t state, uint64_t *ret_usec, bool *ret_exact);

/* As attr_enumeration_text() names the states of a port, and "unknown" and "absent". */
const char *history_state_name(uint32_t state, AttrText ret);

/* Histories without a port, the one that has been there longest first. All zero: none. */
typedef struct HistoryList {
	struct KeptHistory *first;
	size_t n;
} HistoryList;

void history_list_done(HistoryList *l);
/* Takes what is in H, the history of port PORT of DEVICE. */
void history_keep(HistoryList *l, const char *device, uint32_t port, History *h);
/* Puts what was kept of that port, if anything was, before what is in H. */
void history_recall(HistoryList *l, const char *device, uint32_t port, History *h);
