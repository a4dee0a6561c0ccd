/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the parts of the bus share, and nobody else sees: bus.c has the connection and the objects,
 * bus-signal.c says what has changed. */

#include "bus-wait-for.h"
#include "bus.h"
#include "long-reply.h"

struct Bus {
	struct Manager *manager;
	sd_bus *bus;
	BusWait *waits;
	LongReplies *long_replies;
	sd_event_source *exit;
	bool signals; /* the name is ours, or about to be */

	/* Ports with something to say, while the bus does not take anything: first and last. */
	struct PortHeld *held, *held_last;
	sd_event_source *drain;
};

/* Forgets what is held. */
void bus_signals_done(Bus *b);
