/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The events of the pool: those that it makes itself, and a limit for those of a worker. */

#include "pool-private.h"

/* For pool_new() and pool_free(). */
int pool_events_init(Pool *p);
void pool_events_done(Pool *p);

/* Reports an event about all ports of D for each of the reasons, a set of REASON_BIT(). The report
 * comes later, on the event loop, so that the handler may do anything to the devices.
 */
void pool_report(PoolDevice *d, uint32_t reasons);
/* W is out of service, and what it held open of its devices is closed or no longer listened to:
 * REASON_OVERRUN for each but SPOILER, for which an event follows that says as much. SPOILER may
 * be NULL. */
void pool_report_lost(Pool *p, const Worker *w, const PoolDevice *spoiler);

/* Counts an event from PROCESS. False if it has sent too many for POOL_FLOOD_SECONDS. */
bool pool_count_event(Pool *p, Process *process);
/* Whether there is room for the event with REASON of D that was just counted. If not, an event for
 * the reason and REASON_OVERRUN are reported at the end of the second. */
bool pool_admit_event(PoolDevice *d, const Process *process, EventReason reason);
