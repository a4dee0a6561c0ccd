/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answer to a query, as far as the worker has sent it, and the rules for it (wire.h, source.h).
 */

#include "wire.h"

/* Zero-initialise. */
typedef struct Answer {
	/* The object that came last. Its tables may still follow, so it is not delivered yet. */
	enum { OBJECT_NONE, OBJECT_DEVICE, OBJECT_PORT } object;
	bool has_device;		/* the device has come */
	PortSet has_ports;		/* the ports that have come */
	uint32_t port;			/* OBJECT_PORT: its number */
	int port_error;			/* OBJECT_PORT: its error */
	DeviceSnapshot device_snapshot; /* OBJECT_DEVICE: what it has */
	PortSnapshot port_snapshot;	/* OBJECT_PORT: what it has */
	WireAssembly assembly;		/* the table of the object that is not complete yet */
} Answer;

/* Empties A for the next query. */
void answer_reset(Answer *a);
/* Whether a part of the answer has come. */
static inline bool answer_has_begun(const Answer *a)
{
	return a->object != OBJECT_NONE;
}
/* The rule that M breaks as the next part of the answer to Q; NULL if it breaks none. Q NULL:
 * nothing was asked. */
const char *answer_check(const Answer *a, const Query *q, const WireMessage *m);
/* Take a part that answer_check() has let pass. A must have no object that is not delivered.
 * -ENOMEM. */
int answer_take_device(Answer *a, const WireDevice *m);
int answer_take_port(Answer *a, const WirePort *m);
/* One page of a table of the object. -EBADMSG if it does not continue the last one, -ENOMEM. */
int answer_take_table(Answer *a, const WireTable *page);
/* Describes the next message of the answer to Q, as text for messages: "port 2 of mlx5_0". */
void answer_describe_next(const Answer *a, const Query *q, char *buffer, size_t size);
