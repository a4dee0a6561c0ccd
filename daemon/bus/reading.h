/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Readings of a port on demand: its counters, those of the port at the other end of its link, and
 * the owners of queue pairs on it. No signal tells of their changes. The manager makes them
 * (manager-reading.c); they are declared here because the bus shows them.
 */

#include <systemd/sd-bus.h>

#include "cache.h"
#include "pending-call.h"
#include "source.h"

/* A caller gets what is at most so old. */
#define READING_FRESH_USEC USEC_PER_SEC

typedef enum ReadingStep {
	READING_IDLE,
	READING_WANTED,	   /* the source will be asked */
	READING_ASKED,	   /* the source has been asked */
	READING_COMPLETING /* the source has answered, and somebody else is asked for the rest */
} ReadingStep;

/* One kind of what was read of one port. */
typedef struct Reading {
	struct Reading *next; /* in Port.readings */
	Port *port;
	QueryKind kind;
	ReadingStep step;
	bool is_own;	     /* rdmad reads it for itself alone, and does not keep the table */
	uint64_t began_usec; /* CLOCK_MONOTONIC: when it was idle last */

	/* what was read last */
	Table *table;
	bool partial;				/* there was no time to read all */
	uint64_t realtime_usec, monotonic_usec; /* when; 0: never */
	uint64_t boottime_usec;			/* CLOCK_BOOTTIME when the source was asked */
	/* 0, or a negative errno and what it means: it could not be read later */
	int error;
	char error_text[96];	/* each text of Unavailable fits */
	const Unavailable *why; /* of that, as who was asked says; NULL: nobody says it */

	PendingList calls;	 /* those that wait for it: bus_resume_calls() */
	sd_bus_slot *completing; /* the question to somebody else */
} Reading;

/* The reading of P, which may be NULL; NULL: no program has called for that kind. */
static inline Reading *reading_of(const Port *p, QueryKind kind)
{
	Reading *r = p ? p->readings : NULL;

	while (r && r->kind != kind)
		r = r->next;
	return r;
}
