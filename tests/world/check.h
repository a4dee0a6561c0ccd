/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The laws of a quiet point: whatever has happened, all is as it is in the world. */

#include "manager-private.h"
#include "script.h"

/* Devices, ports and values */
void check_cache(const Script *s, const Cache *cache);
/* The same of the devices that do not hang */
void check_healthy(const Script *s, const Cache *cache);
/* A reader of the shared memory finds what the cache has. */
void check_memory(const Manager *m);
/* What is published of the health of devices and ports is what the judge says, and what a judge
 * finds that begins now, the judge of M has found. M has another judge afterwards: only for a
 * process that ends. */
void check_health(Manager *m);
