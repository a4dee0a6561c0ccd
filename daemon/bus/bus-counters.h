/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Counters on the bus: Manager.GetCounters(), whose reply is long. Programs ask all the time, so
 * the names of counters stand once for all ports that have the same. */

#include "bus-writer.h"
#include "long-reply-kinds.h"

/* "a(...)a(...)": the signature of the reply */
extern const char bus_counters_signature[];

/* Manager.GetCounters(a{sv}); USERDATA is the Bus. */
int bus_get_counters(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* Write the reply for its LongReplyRow: the counters of the ports, or those of the ports at the
 * other ends of their links. The text of the question has the paths of the ports. */
int bus_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       sd_bus_error *error);
int bus_far_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   sd_bus_error *error);
