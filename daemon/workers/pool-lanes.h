/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which device is asked in which lane (pool.h). */

#include "pool-private.h"

/* For pool_new() and pool_free(): the main lanes, and the timer of crises. */
int pool_lanes_init(Pool *p);
/* No worker may be left. */
void pool_lanes_done(Pool *p);

/* The lane that W works in, NULL if it has been taken out of service. */
Lane *pool_find_lane(Pool *p, const Worker *w);
/* Gives the requests that wait for a place to workers, as far as there are places. */
void pool_run_lanes(Pool *p);

/* Gives D a lane of its own, if it has none. No query of it may be waiting in another one. */
int pool_isolate(PoolDevice *d);
/* Takes D back to its home. If it has a lane of its own, that ends, and with it its worker. */
void pool_release(PoolDevice *d);
/* The worker of L keeps the others waiting: it goes to a lane of its own, together with the device
 * D that it works on. A crisis begins, or lasts longer. -ENOMEM: nothing has changed. */
int pool_set_aside(Lane *l, PoolDevice *d);
/* Starts new workers for the requests that wait in L, which has none: one, or two. If an adapter
 * has a device that hangs, its others go to the second. If not, each gets half of them. */
void pool_split(Lane *l);
/* Ends L if nothing is left to do in it, and no crisis goes on: its devices go back to their
 * homes. To be called whenever L may have become idle. */
void pool_settle(Lane *l);
