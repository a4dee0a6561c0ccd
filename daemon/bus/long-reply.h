/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replies that are long: GetManagedObjects(), Properties.GetAll() of our interfaces, ListPorts().
 * Each is written at once, as it is sent: it holds for that moment, between what was signalled
 * before and what is signalled after. Who asks for more of them than is good for the others waits.
 */

#include "bus-raw-reply.h"
#include "bus-writer.h"
#include "cache.h"

typedef struct LongReplies LongReplies;

/*
 * Answers GetManagedObjects() and GetAll() on BUS from C, before sd-bus does. A user gets RATE
 * bytes a second of replies that are long (0: no limit); calls beyond that wait
 * (long-reply-queue.h). All must live as long as what is returned.
 */
int long_replies_new(sd_bus *bus, sd_event *event, const Cache *c, uint64_t rate,
		     LongReplies **ret);
LongReplies *long_replies_free(LongReplies *b);
DEFINE_CLEANUP(LongReplies, long_replies_free);

/* A kind of reply. SIGNATURE is that of the body; ESTIMATE says about how many bytes it will have,
 * WRITE writes it. An error of WRITE is the reply; 0 from it leaves CALL, which is rewound, to
 * others. */
typedef struct LongReplyKind {
	const char *signature;
	size_t (*estimate)(sd_bus_message *call, const Cache *c);
	int (*write)(BusWriter *w, sd_bus_message *call, const Cache *c, sd_bus_error *error);
} LongReplyKind;

/* Answers CALL, or has it wait. To be returned to sd-bus. */
int long_reply_answer(LongReplies *b, sd_bus_message *call, const LongReplyKind *kind,
		      sd_bus_error *error);
