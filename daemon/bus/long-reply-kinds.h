/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is in each of the long replies. Only long-reply.c needs this. */

#include "bus-writer.h"
#include "long-reply.h"

/* A method that has a long reply. */
typedef struct LongReplyRow {
	const char *signature; /* of the body of the reply */

	/* About how many bytes the body of the reply to CALL will have. Reads nothing of CALL but
	 * its header. */
	size_t (*estimate)(sd_bus_message *call, const Cache *c);

	/* Writes the body of the reply to CALL, whose arguments have not been read, and returns 1.
	 * What has gone wrong in W is not looked at. A negative errno, perhaps with *ERROR, is the
	 * reply instead of a body. 0: rdmad has no such object or interface, so that sd-bus answers
	 * CALL, which is rewound. */
	int (*write)(BusWriter *w, sd_bus_message *call, const Cache *c, sd_bus_error *error);
} LongReplyRow;

/* By LongReplyKind. */
extern const LongReplyRow long_reply_rows[_LONG_REPLY_KIND_MAX];

/* Fills long_reply_list_ports_signature. Can be called again. */
void long_reply_kinds_init(void);
