/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A lane: a place for one worker, with the requests that wait while there is none. A lane starts a
 * worker when a request waits, after a pause if the last ones did not live long. No function here
 * calls the SourceHandler.
 */

#include "pool-private.h"

/* -ENOMEM, or another error of sd-event. */
int lane_init(Lane *l, Pool *p);
/* Frees the requests that wait. The worker, if there is one, is the caller's. */
void lane_done(Lane *l);

/* Gives R to the worker, which is started if there is none. The lane owns R now. */
void lane_submit(Lane *l, Request *r);
/* Gives the requests that wait to the worker, which is started if there is none: now, or when the
 * pause is over. */
void lane_run(Lane *l);
/* Takes the worker out of service and returns it. The request that it works on stays with it, the
 * others wait again. SPOILER: see pool_report_lost(). */
Worker *lane_detach(Lane *l, const PoolDevice *spoiler);
/* A worker was lost: sets when the next may be started. */
void lane_pause(Lane *l);
