/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The evidence of ports, on the bus. */

#include "long-reply-kinds.h"

/* An entry: evidence_layout of table-columns.h */
#define BUS_EVIDENCE "(ttssssa{sv})"

/* The functions of Manager.GetEvidence() for its LongReplyRow. */
int bus_evidence_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
int bus_evidence_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       sd_bus_error *error);
