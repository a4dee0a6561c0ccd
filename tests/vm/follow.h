/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the signals as a client does, and holds each against what has ever been true: a value
 * that never was, one older than what was published before, a transition left out.
 */

#include "published.h"
#include "world.h"

/* How long something was published that was not true any more, in us. */
typedef struct Staleness {
	uint32_t *usec;
	size_t n;
} Staleness;

typedef struct Follower {
	Fixture *f;
	World *w;
	Objects objects;
	FILE *report; /* a line for each divergence */
	int n_divergences;
	size_t n_signals;
	Staleness verbs, netdev, faulty; /* faulty: while any device hangs, fails or is slow */
} Follower;

/* Takes in what has come, and waits up to WAIT_USEC for something to come. */
void follow(Follower *o, uint64_t wait_usec);
/* Starts from what is published now. */
void follow_begin(Follower *o);
/* At a quiet point: what the signals left is what can be read, and no transition is left out. */
void follow_check(Follower *o);
/* The last change of the port awaits its signal. */
bool follow_is_waiting(const Follower *o, unsigned int slot, unsigned int port);
/* No signal will come for what is not published yet. */
void follow_give_up(Follower *o);
