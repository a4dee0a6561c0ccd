/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lldpd has heard of the other ends of the links of this machine, by its library liblldpctl,
 * which is loaded when it is needed. */

#include <stdint.h>

#include "attribute.h"

/* The other end of one link. What it does not say is 0 or "". */
typedef struct Neighbor {
	char interface[16]; /* of this machine */
	AttrText system, port, port_text, chassis, address;
	uint32_t vlan, frame;
	int32_t pfc;	     /* a mask of priorities; -1: it does not say it */
	uint64_t ets;	     /* byte i: the percent of traffic class i; UINT64_MAX: it does not */
	uint64_t since_usec; /* when it began to say what it says now, CLOCK_REALTIME */
} Neighbor;

typedef struct Lldpd Lldpd;

/* Loads the library. -ELIBACC: there is none; *RET_WHY says why. */
int lldpd_load(Lldpd **ret, const char **ret_why);
Lldpd *lldpd_unload(Lldpd *l);
DEFINE_CLEANUP(Lldpd, lldpd_unload);

/*
 * Asks the lldpd at SOCKET (NULL: that of the machine) and calls ON with each other end that it
 * knows, one for each link: of several systems on one link the one that it has known for longest. A
 * text is valid and has no control characters. Blocks for as long as lldpd does. A negative errno:
 * lldpd does not answer, or ON has returned it.
 */
int lldpd_read(Lldpd *l, const char *socket, int (*on)(void *userdata, const Neighbor *n),
	       void *userdata);
