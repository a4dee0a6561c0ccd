/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The modules that are and were in the cage of a port, each by its serial number. They are a part
 * of the history of the port. A module that is found in other cages has an entry in the history of
 * each of those ports. No clock: times come in as arguments.
 */

#include "table.h"

/* The most that are kept of a port. The oldest is forgotten first. */
#define PAST_CABLES_MAX 16U

/* All zero: none. The oldest is the first, and only the last can be in the cage. */
typedef struct PastCables {
	PastCable *items;
	size_t n;
} PastCables;

void past_cables_done(PastCables *l);
/* The module SERIAL ("": none, or one that does not say it), of the kind PART, is in the cage NOW.
 * Nobody changes the module of a link that is up: another one is there since the link came up, at
 * UP_USEC (0: the link is down), if the cage was looked at before that. Returns whether that is
 * another one. */
bool past_cables_note(PastCables *l, const char *serial, const char *part, uint64_t up_usec,
		      uint64_t now);
/* Adds C at the end, or in place of the entry that began at the same time. An entry that has not
 * ended before C ends then. */
void past_cables_restore(PastCables *l, const PastCable *c);
