/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The pool's view of one device: whether it is on probation, whether it is wedged, and when a
 * wedged one is tried again (pool.h). */

#include "pool-private.h"

/* For pool_new() and pool_free(). */
int pool_devices_init(Pool *p);
void pool_devices_done(Pool *p);

/* The device with that kernel index, NULL if the pool does not have it. */
PoolDevice *pool_find_device(const Pool *p, uint32_t index);
/* Adds the device with INDEX, which the pool does not have yet; -ENOMEM. */
int pool_add_device(Pool *p, uint32_t index, PoolDevice **ret);
/* Takes D out of the pool and frees it. */
void pool_remove_device(PoolDevice *d);

/* D hangs while it answers QUERY, which becomes the probe: D is wedged. */
void pool_device_wedge(PoolDevice *d, const Query *query);
/* D has spoilt a worker: after POOL_PROBATION_FROM in a row it is on probation. Logs. */
void pool_device_spoil(PoolDevice *d);
/* D has answered. If it was wedged it is not any more, and REASON_RECOVERED is reported. PROMPT: in
 * the time that it would also have at its home, where it may go now. */
void pool_device_answer(PoolDevice *d, bool prompt);
/* Asks D its probe after a pause, which doubles each time. The worker for that is one of its own.
 * If D is not wedged, but slow, the core is to ask it then: REASON_RECOVERED is reported. */
void pool_device_retry_later(PoolDevice *d);

/* Makes room for the ports of D up to PORT. -ENOMEM. */
int pool_device_reserve(PoolDevice *d, uint32_t port);
/* Notes the tables that PORT of D, for which there is room, has now. Returns NULL, or the rule that
 * is broken: they are too large together with those of the other ports, or of the other devices. */
const char *pool_device_count_tables(PoolDevice *d, uint32_t port, const PortSnapshot *snapshot);
