/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A helper (helper.h) that tells rdmad what another program has heard, by LLDP, of the other ends
 * of the links of this machine: rdmad-neighbors of lldpd, rdmad-networkd of systemd-networkd. */

#include <stdint.h>

#include "attribute.h"
#include "helper.h"

/* The other end of one link. What it does not say is 0 or "". */
typedef struct Neighbor {
	char interface[16]; /* of this machine */
	AttrText system, port, port_text, chassis, address;
	uint32_t vlan, frame;
	int32_t pfc;	     /* a mask of priorities; -1: it does not say it */
	uint64_t ets;	     /* byte i: the percent of traffic class i; UINT64_MAX: it does not */
	uint64_t since_usec; /* when it began to say what it says now, CLOCK_REALTIME */
} Neighbor;

/* Gets one other end. A negative errno: no more of them. */
typedef int (*OnNeighbor)(void *userdata, const Neighbor *n);

typedef struct NeighborReader {
	/* Asks the other program, and tells ON with FOR_WHOM of each other end that it knows, one
	 * for each link, with texts that text_sanitize() has seen. Blocks as long as the other
	 * program does. 0 or more, or a negative errno. */
	int (*read)(const char *socket, OnNeighbor on, void *for_whom);
	const char *socket; /* where the other program listens */
	/* The object of its unit, if systemd listens at the socket, and starts it with a question:
	 * it is asked only while it runs. NULL: none. */
	const char *unit;
} NeighborReader;

/* helper_main() with NAME at PATH, and List() -> a(ssssssuuitt): of each other end that READER
 * tells, the network interface of this machine, and of the other end the name of the system, the
 * port, its description, the chassis, the address, the VLAN, the largest frame, the priorities with
 * flow control as a mask (-1: not known), the percents of the traffic classes as bytes in the order
 * of memory (UINT64_MAX: not known), and since when it says that (CLOCK_REALTIME in us). A READER
 * that has not ended after 5 s ends the program, and rdmad gets an error. */
int neighbor_main(const char *name, const char *path, const char *program,
		  const NeighborReader *reader);
