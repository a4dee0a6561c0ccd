/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which priority of Ethernet the packets of a port have, and which have flow control (PFC). */

#include "list.h"
#include "object.h"

/* Whether PORT takes the priority of a packet first of all from WHAT, dscp or pcp; false too if
 * nobody says it. */
bool priority_trusts(const Object *port, const char *what);
/* The priority of a packet with DSCP, if PORT trusts that. */
uint32_t priority_of_dscp(const Object *port, uint32_t dscp);
/* Whether PRIORITY of PORT has flow control. */
bool priority_has_pfc(const Object *port, uint32_t priority);
/* Whether others than PRIORITY have it, and PRIORITY not. */
bool priority_lacks_pfc(const Object *port, uint32_t priority);
