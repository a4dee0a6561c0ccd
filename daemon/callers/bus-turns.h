/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * When each method call is handled: at once, or when it is its user's turn (turns.h).
 *
 * As long as no call waits and the bus has taken what was sent, a call is handled at once. From
 * then on rdmad reads on, so that the calls do not wait in the bus, which has no limit for them;
 * each call waits here, and the next one is handled when the bus has taken the replies before it.
 * So a reply, and a signal, wait behind few bytes, whatever clients ask for and do not read.
 *
 * Signals may come without a pause, so that the bus never takes all that was sent. Then a call has
 * its turn BUS_TURNS_USEC after the one before, if the bus has taken something since.
 *
 * A turn is charged with the time of the processor that sd-bus needs for the message, and with
 * BUS_TURNS_NSEC_PER_BYTE for each byte of the reply: that is about what dbus-daemon needs to pass
 * it on. Replies that are not written in that turn are limited where they wait: long replies by
 * their bytes (long-reply-queue.h).
 *
 * No call of a connection whose user is not known is handled, but for the first one if nobody
 * waits: the others wait until the bus has answered. If the connection has left meanwhile they are
 * dropped. So whoever connects, calls and leaves gets at most one reply for that.
 *
 * A call beyond the limits of turns.h is refused in the turn of its user, and dropped if there is
 * no room for that either: the bus allows each connection a number of calls without an answer, so
 * whoever floods it stops.
 */

#include "bus-callers.h"

#define BUS_TURNS_NSEC_PER_BYTE 10U
#define BUS_TURNS_USEC		(10 * USEC_PER_MSEC)

typedef struct BusTurns BusTurns;

/* For the calls that come in on BUS from CALLERS, which both outlive *RET. -ENOMEM. */
int bus_turns_new(sd_bus *bus, BusCallers *callers, BusTurns **ret);
/* Calls that wait are dropped. */
void bus_turns_free(BusTurns *t);
DEFINE_CLEANUP(BusTurns, bus_turns_free);

/* Whether CALL has waited, and this is its turn. The function is called once for each call, before
 * all others. */
bool bus_turns_is_turn(BusTurns *t, sd_bus_message *call);
/* Whether CALL is handled at once: 1, else 0. -ENOMEM, or the bus cannot be asked whose it is. */
int bus_turns_admit(BusTurns *t, sd_bus_message *call);
/* Keeps CALL, whose arguments take SIZE bytes, until its turn. -ENOMEM. */
int bus_turns_wait(BusTurns *t, sd_bus_message *call, size_t size);
/* CALL is refused with ERROR in its turn. -ENOMEM. */
int bus_turns_refuse(BusTurns *t, sd_bus_message *call, const sd_bus_error *error);

/* The bus has taken N of the messages that waited to be sent. */
void bus_turns_bus_takes(BusTurns *t, uint64_t n);
/* Marks the last message that was sent. */
void bus_turns_mark(BusTurns *t);
/* When the bus has taken what was marked last, by CLOCK_MONOTONIC; 0: not yet. */
uint64_t bus_turns_marked_usec(const BusTurns *t);
/* Whether a call waits whose user is known. *RET_WHEN is when it has its turn at the latest, by
 * CLOCK_MONOTONIC; UINT64_MAX: when the bus takes something. */
bool bus_turns_is_ready(const BusTurns *t, uint64_t *ret_when);
/* Begins the next turn, if it is time; else returns false. sd-bus is to handle messages as long as
 * bus_turns_is_pending(). */
bool bus_turns_begin(BusTurns *t);
/* The call whose turn it is was not handled yet. */
bool bus_turns_is_pending(const BusTurns *t);
void bus_turns_end(BusTurns *t);
