/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How often a link went down by itself. A network interface that an administrator has set down is
 * no fault of the link. */

#include "seen.h"

/* Events that are noticed within this time may have happened in any order, or at once. */
#define SLACK_USEC (3 * USEC_PER_SEC)
/* Whether these two times are no farther apart than that. */
bool flaps_are_at_once(uint64_t a, uint64_t b);

/* Counts DOWNS, the times in LinkDowns of a history, from SINCE to UNTIL, as a clock that was wrong
 * leaves others among them, and without those that EVIDENCE of that port says to be the work of an
 * administrator. DOWNS may be NULL or of another type. *RET_LAST is the last of these times, if
 * RET_LAST is not NULL and there is one. */
size_t flaps_count(const Value *downs, uint64_t since, uint64_t until, const SeenSource *evidence,
		   const Value **ret_last);
