/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One attack: the arena is made, attackers and a victim come, and afterwards everything is looked
 * at. */

#include "arena.h"
#include "attack.h"
#include "victim.h"

typedef struct Latency {
	double p99_ms, max_ms;
	unsigned int calls, refused;
} Latency;

typedef struct Result {
	Latency probes[_PROBE_MAX];
	Count count;	     /* what the attackers have done, in all */
	double peak_mib;     /* the most memory that the service had */
	double growth_mib;   /* how much more it had afterwards than before */
	unsigned int fds;    /* the most descriptors that it had */
	unsigned int leaked; /* how many more it had afterwards than before */
	double cpu;	     /* how much of a processor it used during the attack */
	/* The memory of the bus: before, the most, and afterwards */
	double bus_before_mib, bus_peak_mib, bus_after_mib;
	double first_ms; /* how long the first Ping after the attack took */
	/* What is wrong afterwards, or was refused to the victim; "" if nothing is. */
	char wrong[640];
} Result;

/* USERS attack for USEC. */
Result battle(const ArenaSetup *setup, const Attack *k, unsigned int users, uint64_t usec);
