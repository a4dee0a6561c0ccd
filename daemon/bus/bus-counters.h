/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Counters on the bus: Port.GetCounters(), and Manager.GetAllCounters() and GetCounterValues(),
 * whose replies are long. */

#include "bus-writer.h"
#include "long-reply-kinds.h"

/* "a(o...tta{sv})": the signature of the reply to GetAllCounters(), and to GetCounters(). */
extern const char bus_all_counters_signature[], bus_counters_signature[];
/* "a(...)a(...)": that of the reply to GetCounterValues(). */
extern const char bus_counter_values_signature[];

/* Port.GetCounters(a{sv}); USERDATA is the port. */
int bus_get_counters(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Manager.GetAllCounters(a{sv}); USERDATA is the Bus. */
int bus_get_all_counters(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Manager.GetCounterValues(a{sv}); USERDATA is the Bus. */
int bus_get_counter_values(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* Write the replies for their LongReplyRow. The text of the question has the paths of the ports. */
int bus_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       sd_bus_error *error);
int bus_all_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   sd_bus_error *error);
int bus_counter_values_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			     sd_bus_error *error);
