/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The leave of the worker: its permission to ask a device by itself (wire.h), because of events
 * that the worker has read. */

#include "event.h"
#include "source.h"

typedef struct HeldLeave {
	uint32_t device; /* kernel index */
	uint64_t id;	 /* of the query that it came with */
	AttrText name;	 /* of the device, in that query */
	Leave leave;
} HeldLeave;

typedef struct Leaves {
	HeldLeave *entries; /* of each device that the core has asked; in no order */
	size_t n;
	uint32_t links_generation; /* Query.links_generation of the last query of all */
} Leaves;

/* Notes the leave that Q gives, or that it takes one back. */
void leaves_note(Leaves *l, const Query *q);
void leaves_forget(Leaves *l, uint32_t device);
void leaves_done(Leaves *l);

/* The parts that the events of one turn touch, as far as one query can ask for them.
 * Zero-initialise. */
typedef struct Touched {
	unsigned int n;	  /* events */
	uint32_t device;  /* the first of which there was an event; nothing is noted of others */
	PortSet ports;	  /* of DEVICE */
	uint32_t reasons; /* a mask of REASON_BIT */
	bool more;	  /* another query is needed too: the core has to ask */
} Touched;

/* Whether all that E touches is one port, so that the worker may ask it by itself. */
bool touched_is_port(const Event *e);
void touched_add(Touched *t, const Event *e);

/* Whether the worker may ask for the parts in T at NOW_USEC (CLOCK_MONOTONIC). If it may, *RET is
 * the query, and the leave has one token less. */
bool leaves_take(Leaves *l, const Touched *t, uint64_t now_usec, Query *ret);
