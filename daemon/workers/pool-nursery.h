/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The nursery, which makes the workers of a crisis (pool.h). */

#include "pool-private.h"

/* For pool_new() and pool_free(). */
int pool_nursery_init(Pool *p);
void pool_nursery_done(Pool *p);

/* A crisis begins: the workers that are started from now on come from the nursery. If it cannot be
 * started, the workers are executed as always. */
void pool_nursery_begin(Pool *p);
/* The crisis is over. */
void pool_nursery_end(Pool *p);
/* The nursery has been asked for the process of W. */
void pool_nursery_await(Pool *p, Worker *w);
