/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Manager.WaitFor(): the callers that wait for ports.
 *
 * Nothing polls. When a port changes it is looked at for each wait that names it. When names come
 * or go all waits are looked at once more. Whose condition holds is answered after what else is
 * waiting in the event loop: a burst of changes is one answer, and one look at all. A caller that
 * leaves the bus is forgotten, and so are all when the connection goes.
 */

#include <systemd/sd-bus.h>

#include "cache.h"

struct Bus;
typedef struct BusWait BusWait;

/* The waits of the callers of B, which outlives them. */
int bus_wait_new(struct Bus *b, BusWait **ret);
/* No call may be waiting. */
BusWait *bus_wait_free(BusWait *w);
DEFINE_CLEANUP(BusWait, bus_wait_free);

/* P has changed: its values or its names. */
void bus_wait_mark_port(BusWait *w, const Port *p);
/* Other names have changed, or are about to. */
void bus_wait_mark_names(BusWait *w);

/* Takes CALL, a WaitFor(): answers it at once, or when the condition holds or the time is over. */
int bus_wait_call(BusWait *w, sd_bus_message *call, sd_bus_error *error);
