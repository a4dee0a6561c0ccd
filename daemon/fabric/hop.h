/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asks the nodes at the other ends of links by subnet management packets (SMP) with a directed
 * route of one hop: out of a port of this machine, to whatever is there. That needs no subnet
 * manager and no LID. The packets go through umad, the kernel's device for them.
 */

#include "far-end.h"

/* A port of this machine */
typedef struct Hop {
	const char *device;
	uint32_t port;
	FarEnd end; /* after hop_ask() */

	int fd; /* while it asks; negative: the port cannot be asked */
	int agent;
	unsigned int waits; /* for so many answers */
} Hop;

/*
 * Asks for all N at the same time; the end of one that cannot ask, or gets no answer, has type 0:
 * there is no umad for it, it is that of a virtual function, a key protects the other node
 * (M_Key), or nothing is there. Takes two seconds at most, if the kernel keeps its own times.
 */
void hop_ask(Hop *hops, size_t n);
