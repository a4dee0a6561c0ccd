/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answer to Port.GetCounters(). */

#include <systemd/sd-bus.h>

#include "counters.h"

/* Answers CALL with the counters in TABLE, which were read at these times; COMPLETE as for
 * counters_interpret(). */
int bus_reply_counters(sd_bus_message *call, const Table *table, bool complete,
		       uint64_t realtime_usec, uint64_t monotonic_usec);
