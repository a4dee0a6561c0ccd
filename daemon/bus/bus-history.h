/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The histories of ports on the bus: Port.GetHistory(), and those of the Manager, which know the
 * ports that have gone too. */

#include "bus-writer.h"
#include "history.h"
#include "long-reply-kinds.h"

/* A transition: transition_layout of table-columns.h */
#define BUS_TRANSITION "(ttsssa{sv})"
/* An entry of ListHistories(): the name of the port, and the rest. */
#define BUS_HISTORY "(sa{sv})"

/* Writes the transitions of H, the oldest first, as an array of BUS_TRANSITION. */
void bus_put_transitions(BusWriter *w, const History *h);

/* Port.GetHistory(a{sv}); USERDATA is the port. */
int bus_port_get_history(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Manager.GetHistory(s, a{sv}); USERDATA is the Bus. */
int bus_manager_get_history(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* The functions of ListHistories() for its LongReplyRow. */
int bus_histories_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
size_t bus_histories_estimate(const LongReplyQuestion *q, const Cache *c);
int bus_histories_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			sd_bus_error *error);
