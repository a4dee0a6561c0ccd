/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ports that stopped being active together have one cause, which is in none of their cables. */

#include "histories.h"

/* A port was active, and was not any more. Virtual functions, which fall with their adapter, and
 * representors are left out. */
typedef struct Fall {
	uint64_t usec;	   /* CLOCK_REALTIME */
	uint64_t previous; /* when the port fell before that; 0: never */
	const Object *port;
	const char *adapter;
} Fall;

typedef struct Falls {
	const Histories *histories;
	Fall *items; /* in the order of time */
	size_t n;
	/* how many ports have the protocol that was asked for last */
	char protocol[16];
	size_t n_protocol;
} Falls;

void falls_done(Falls *f);
/* Finds the falls of the ports that are there. False: no memory. */
bool falls_gather(const Histories *h, Falls *ret);

/* The identity of the adapter of PORT, which may be NULL. */
const char *falls_adapter(const Histories *h, const Object *port);
/* Whether N ports are so many of those with the protocol of PORT, or of all if PORT is NULL, that
 * it is no chance if all of them have the same trouble at once: half of them. */
bool falls_are_many(Falls *f, const Object *port, size_t n);

/* Which other ports fell with ENTRY, at USEC, and are as it is since then: "7 other ports", or if
 * all are of its adapter, "1 other port of the adapter"; behind "at leaf-r07-a: " if one system is
 * at the other ends of all of them. False: none, or so few that it may be
 * chance. */
#define FALLS_TEXT_SIZE 128U
bool falls_together(Falls *f, const Value *entry, uint64_t usec, char ret[FALLS_TEXT_SIZE]);
