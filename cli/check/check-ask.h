/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answers of rdmad, and of this machine, for checks. */

#include "check-finding.h"
#include "selection.h"

struct ifaddrs;

typedef struct Asker {
	Context *c;
	const Selection *chosen;
	uint64_t flap_usec; /* how far back it is asked when links went down */
	ExitStatus status;  /* not STATUS_OK: rdmad could not be asked, and it was said why. Nothing
			       more is asked then. */

	/* the last answers */
	Value histories;
	size_t history; /* the one that was looked at last */
	Value evidence;
	Value machine; /* what rdmad has found of no device */
	Sample sample;
	const Object *sampled; /* the port of SAMPLE */
	SampleList before;     /* earlier samples; empty: there are none */
	sd_bus_error error;    /* why there is no sample */
	struct ifaddrs *addresses;
} Asker;

/* Reads the counters of all ports that are chosen, and waits for USEC. */
ExitStatus asker_sample(Asker *a, uint64_t usec);
/* The functions of A for checks. Those about this machine are NULL if A asks another one. */
CheckAsk asker_functions(Asker *a);
void asker_done(Asker *a);
