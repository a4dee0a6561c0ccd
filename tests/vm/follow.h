/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the signals as a client does, and compares each with the history of what was true. It
 * finds a value that was never true, a value that is older than one published before, and a
 * transition that was not signalled.
 */

#include "published.h"
#include "world.h"

/* How long values were published that were not true any more: samples in microseconds. */
typedef struct Staleness {
	uint32_t *usec;
	size_t n;
} Staleness;

typedef struct Follower {
	Fixture *f;
	World *w;
	Objects objects;   /* what is published, as the signals say */
	FILE *report;	   /* gets a line for each thing that is wrong */
	int n_divergences; /* how many lines these are */
	size_t n_signals;  /* how many signals have come */
	/* of changes with a verbs event, of changes of interfaces, and of any change while a device
	 * hangs, fails or is slow */
	Staleness verbs, netdev, faulty;
} Follower;

/* Processes the signals that have come. If there are none, waits up to WAIT_USEC for one. */
void follow(Follower *o, uint64_t wait_usec);
/* Begins with what is published now. */
void follow_begin(Follower *o);
/* To be called at a quiet point. Checks that what the signals said equals what can be read, and
 * that each transition was signalled. */
void follow_check(Follower *o);
/* Whether the signal of the last change of the port has not come yet. */
bool follow_is_waiting(const Follower *o, unsigned int slot, unsigned int port);
/* Stops waiting for signals of changes that are not published yet. */
void follow_give_up(Follower *o);
