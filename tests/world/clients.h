/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The bus, and clients on it. Each client may read all objects; from then on it knows them from the
 * signals alone. Clients call methods and leave; the bus may stand still, or go away for a while.
 */

#include <stdbool.h>

#include "cache.h"
#include "virtual-time.h"

typedef struct Clients Clients;

/* No call may have to wait for longer than WAIT_USEC. */
Clients *clients_new(Lots *lots, uint64_t wait_usec);
/* CACHE is that of the core, and says which ports there are to call. */
void clients_serve(Clients *c, const Cache *cache);
/* The core has ended: the bus knows it no longer, and nobody waits for it. */
void clients_drop(Clients *c);
void clients_free(Clients *c);

/* Takes in and sends what there is, unless the bus stands still. Returns whether there was
 * anything. */
bool clients_process(Clients *c);

/* Whether there is a bus with the core on it, and the core has answered a call there: until then
 * the answer to its own first call may be on its way. */
bool clients_are_served(const Clients *c);

/* Each is one step: what happens is drawn by lot. */
void clients_call(Clients *c);
void clients_leave(Clients *c);
void clients_fault(Clients *c);

/* The bus works again. */
void clients_heal(Clients *c);
/* Whether calls have no answer yet. */
bool clients_wait(const Clients *c);
/* The time has jumped: from now on nobody can be expected to have been served in time. */
void clients_excuse(Clients *c);
/* One client reads all objects, ... */
void clients_read(Clients *c);
/* ... and when clients_wait() says no more, each client has to know the same from its signals.
 * Returns whether that could be compared: nothing was read, or a signal has come meanwhile. */
bool clients_check(Clients *c);
/* What clients_read() has read, after clients_check(). */
const struct Objects *clients_published(const Clients *c);
