/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asks the nodes at the other ends of links by subnet management packets (SMP) with a directed
 * route of one hop: out of a port of this machine, to whatever is there. That needs no subnet
 * manager and no LID. Packets for counters go to a LID, which the node has from a subnet manager:
 * no route can be written into them. The packets go through umad, the kernel's device for them, and
 * none changes anything there.
 */

#include "far-end.h"
#include "unavailable.h"

/* A port of this machine */
typedef struct Hop {
	const char *device;
	uint32_t port;
	FarEnd end;	     /* after hop_ask() */
	UnavailableCode why; /* of an end that is not known, after hop_ask() */

	int fd; /* while it asks; negative: the port cannot be asked */
	int agent;
	unsigned int waits; /* for so many answers */
	unsigned int asked; /* those parts that have none yet, as FarEnd.parts */
} Hop;

/*
 * Asks for all N at the same time, what they are or, if COUNTERS, for the counters of their ports.
 * An end with type 0, or without counters, is not known: UNAVAILABLE_NOT_ASKED (there is no umad
 * for the port), UNAVAILABLE_NO_PERMISSION (umad cannot be opened), UNAVAILABLE_NOT_APPLICABLE (a
 * virtual function sends no packets of subnet management), UNAVAILABLE_NO_ANSWER (all packets were
 * lost, or a node that is protected by a key (M_Key) dropped them: nothing tells which),
 * UNAVAILABLE_REFUSED (the answer is an error, or says what no node is), or
 * UNAVAILABLE_NOT_CONFIGURED (it has no LID). Takes three seconds at most, if the kernel keeps its
 * own times.
 */
void hop_ask(Hop *hops, size_t n, bool counters);
