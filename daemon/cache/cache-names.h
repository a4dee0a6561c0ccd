/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The names that devices and ports of the cache have in its name index. Only cache.c calls these.
 */

#include "cache.h"

/* D has the names of V once more, or once less. */
void names_count_device(Device *d, const DeviceValues *v, bool more);
/* P has the names of S once more, or once less; of the GIDs only those that are not in STAY, which
 * may be NULL. */
void names_count_port(Port *p, const PortSnapshot *s, const Table *stay, bool more);
/* P will have the names of S, of whose tables TABLES are other ones. The new names come first: one
 * that stays neither goes nor comes. */
void names_change_port(Port *p, const PortSnapshot *s, unsigned int tables);
/* D will have the names of V in place of those that it has; as names_change_port(). */
void names_change_device(Device *d, const DeviceValues *v);
