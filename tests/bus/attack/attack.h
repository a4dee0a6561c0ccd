/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What an attack is, and what an attacker knows. attacks.c has the table of all attacks. */

#include "connection.h"

/* An attacker: a process of a user of its own. */
typedef struct Attacker {
	const char *socket; /* the path of the socket of the bus */
	const char *owner;  /* the unique name of what is attacked */
	Count *count;	    /* shared with the tester */
	uint64_t end_usec;  /* CLOCK_MONOTONIC: it stops then */
} Attacker;

typedef struct Attack {
	const char *name, *what;
	unsigned int ports;	    /* that rdmad has */
	const char *before, *after; /* commands of the simulator around the attack, one a line */
	unsigned int users_each;    /* each attacking user is so many users (0: 1) */
	double keeps_mib;	    /* what the allocator may keep of it; 0: as of most */

	/* A flood: each user has so many connections, and each of them sends MESSAGES in turns. See
	 * Flood for the others. */
	unsigned int connections, window;
	bool unread, keep_fds;
	unsigned int messages_of; /* so many connections of a user send MORE instead of MESSAGES */
	const Message *messages, *more;

	/* Something else: does it until the end, or returns earlier. */
	void (*run)(const Attacker *a);
} Attack;

/* Ends with an attack without a name. */
extern const Attack attacks[];

/* The attacker's whole life. */
void attack_run(const Attack *k, const Attacker *a);
/* Sends the messages of K on its connections until the end. */
void attack_flood(const Attack *k, const Attacker *a);
/* Whether there is time left. */
bool attack_goes_on(const Attacker *a);
