/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-counters.h"

static int append_counters(sd_bus_message *m, const Counter *counters, size_t n)
{
	int r = sd_bus_message_open_container(m, 'a', attr_signature(ATTR_COUNTERS) + 1);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const Counter *c = &counters[i];

		r = sd_bus_message_append(m, "(sstsss)", counter_group_name(c->group), c->name,
					  c->value, counter_unit_name(c->unit),
					  counter_condition_name(c->condition), c->reason);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_reply_counters(sd_bus_message *call, const Table *table, bool complete,
		       uint64_t realtime_usec, uint64_t monotonic_usec)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_free_ Counter *counters = NULL;
	size_t n;
	int r = counters_interpret(table, complete, &counters, &n);

	if (r >= 0)
		r = sd_bus_message_new_method_return(call, &reply);
	if (r >= 0)
		r = append_counters(reply, counters, n);
	if (r >= 0)
		r = sd_bus_message_append(reply, "tt", realtime_usec, monotonic_usec);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}
