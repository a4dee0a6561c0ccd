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

/* The functions for LongReplyRow, of Port.GetHistory(), of Manager.GetHistory() and of
 * ListHistories(). */
int bus_port_history_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
int bus_port_history_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   sd_bus_error *error);
int bus_history_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
int bus_history_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		      sd_bus_error *error);
int bus_histories_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
int bus_histories_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			sd_bus_error *error);
