/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replies that can be long: those of LongReplyKind, which are GetManagedObjects(), GetAll() and
 * Get() of a table of devices and ports, Get() of the lists of the manager, ListPorts(),
 * FindPorts(), what histories, evidence, users and counters there are, and Introspect() of the
 * parent of all devices. Every method whose reply grows with what there is must be one of them.
 *
 * rdmad writes them itself, because sd-bus needs many times as long. Each reply has what is
 * published at the moment at which it is sent. So it fits the signals: a change that was signalled
 * before the reply is in it, and a change that is signalled after the reply is not.
 *
 * A reply that has at most LONG_REPLY_SHORT bytes is sent at once. If it has more, what was written
 * is dropped, and the call waits: a user who asks for many long replies within a short time gets
 * them later (long-reply-queue.h).
 *
 * This is the only header of the long replies that the rest of the daemon needs. Behind it are
 * long-reply-kinds (what is in each reply), long-reply-parts (how a very long one is written),
 * long-reply-queue (which call is answered next, and when) and long-reply-raw (how bytes become a
 * message).
 */

#include <systemd/sd-bus.h>

#include "bus-turns.h"
#include "cache.h"

/* A reply of at most so many bytes is answered at once; a longer one waits for its turn. No caller
 * notices the time that the bus needs for so many. */
#define LONG_REPLY_SHORT 16384U

typedef struct LongReplies LongReplies;
/* The question of a call: long-reply-kinds.h */
typedef struct LongReplyQuestion LongReplyQuestion;
/* A method that has a long reply, and what is in it: long-reply-kinds.h */
typedef struct LongReplyRow LongReplyRow;

/* One for each method that has a long reply. */
typedef enum LongReplyKind {
	LONG_REPLY_GET_MANAGED_OBJECTS,
	LONG_REPLY_GET_ALL,
	LONG_REPLY_GET,
	LONG_REPLY_LIST_PORTS,
	LONG_REPLY_FIND_PORTS,
	LONG_REPLY_LIST_HISTORIES,
	LONG_REPLY_PORT_HISTORY,
	LONG_REPLY_HISTORY,
	LONG_REPLY_EVIDENCE,
	LONG_REPLY_USERS,
	LONG_REPLY_COUNTERS,
	LONG_REPLY_FAR_COUNTERS,
	LONG_REPLY_INTROSPECT,
	_LONG_REPLY_KIND_MAX
} LongReplyKind;

/* The signature of the reply to ListPorts(), for the vtable. The signature follows from the
 * attribute tables and is empty until the first long_reply_kinds_init(). */
extern char long_reply_list_ports_signature[];

/*
 * Answers long calls that come in on BUS from CALLERS. ROWS are long_reply_rows. RATE is how many
 * bytes of long replies one user gets a second; 0 is no limit.
 * TURNS knows what the bus has taken. BUS, CALLERS, TURNS, EVENT, C and ROWS must live longer than
 * what is returned.
 */
int long_replies_new(sd_bus *bus, BusCallers *callers, BusTurns *turns, sd_event *event,
		     const Cache *c, const LongReplyRow *rows, uint64_t rate, LongReplies **ret);
/* Calls that still wait are forgotten: their callers get no answer from here. */
void long_replies_free(LongReplies *l);
DEFINE_CLEANUP(LongReplies, long_replies_free);

/* Answers CALL of the method KIND, now or when it is the caller's turn. Returns what a handler of
 * sd-bus has to return: 1, a negative errno, or 0 if the call is left to sd-bus. */
int long_reply_answer(LongReplies *l, sd_bus_message *call, LongReplyKind kind,
		      sd_bus_error *error);
/* The same without reading the arguments of CALL: it asks Q, which is copied. CALL may be what
 * call_ticket_new_call() has made. */
int long_reply_answer_question(LongReplies *l, sd_bus_message *call, LongReplyKind kind,
			       const LongReplyQuestion *q, sd_bus_error *error);
/*
 * The same for any method call, before sd-bus sees it: GetManagedObjects(), GetAll() and Get() of a
 * table of devices and ports, Get() of the lists of the manager, and Introspect() of the parent of
 * all devices are answered here, and 0 is returned for all others. A callback for the paths would
 * not do: to sd-bus a path that has one is an object, also where rdmad has none.
 */
int long_reply_offer(LongReplies *l, sd_bus_message *call, sd_bus_error *error);

/* A reply may be being written (long-reply-parts.h): D, or a port of it, is published otherwise
 * than before; a device has come, or is about to go. L may be NULL. */
void long_replies_changed(LongReplies *l, const Device *d);
void long_replies_moved(LongReplies *l);
