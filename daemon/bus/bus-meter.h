/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Measures what the calls of each user cost, keeps the account of that (budget.h), and says what is
 * to be done with the next call.
 *
 * The time of the processor that sd-bus needs to handle a message is charged to the caller whose
 * call it was. So everything counts that the call causes there: reading it, the reply, and an
 * error. Not charged are long replies, which are written later and are limited by their bytes
 * (long-reply-queue.h), and replies to calls that have waited, which are limited by their number
 * (pending-call.h).
 *
 * "Nobody waits" means that the calls that are in the socket are less than BUS_METER_BACKLOG bytes,
 * some 50 calls, and need less than BUS_METER_WAIT_NSEC, if each needs as long as those since
 * nobody has waited. The socket has room for some 200 calls; what the bus could not put there is
 * not seen. That is looked at once in BUS_METER_LOOK_NSEC of charged time. A client that waits for
 * each reply before it makes the next call leaves nothing there, so it never meets a limit; and
 * neither do some dozens of them.
 *
 * A refusal needs as much of the bus as any reply. So while BUS_METER_UNSENT or more messages wait
 * to be sent, a call that would be refused is dropped: the bus allows each connection a number of
 * calls without an answer, so whoever floods it stops.
 *
 * Connections whose user is not known yet are one user together until the bus has said who they
 * are, and then what each has used is charged to its user. One of them may use half of that. When
 * all have used everything, the first call of a connection is still answered, until they have used
 * half as much again: a client that waits for each reply makes its second call when the bus has
 * said who it is. Then the first call is refused. So somebody who connects again and again gets no
 * more than one and a half users. A connection that goes on after many refusals gets no answer.
 */

#include <systemd/sd-event.h>

#include "budget.h"
#include "bus-callers.h"

#define BUS_METER_BACKLOG   8192
#define BUS_METER_WAIT_NSEC UINT64_C(10000000)
#define BUS_METER_CALL	    128U /* bytes that a short call has */
#define BUS_METER_LOOK_NSEC UINT64_C(1000000)
#define BUS_METER_UNSENT    32U

typedef struct BusMeter BusMeter;

/* Measures the calls that come in on BUS from CALLERS. BUSY is how many microseconds the calls of
 * one user may take while others wait, 0: no limit. All outlive *RET. */
int bus_meter_new(sd_bus *bus, sd_event *event, BusCallers *callers, uint64_t busy, BusMeter **ret);
BusMeter *bus_meter_free(BusMeter *m);
DEFINE_CLEANUP(BusMeter, bus_meter_free);

/* A call of the connection SENDER begins: *RET is what is to be done with it. What it costs is
 * charged to SENDER in any case. -ENOMEM, or the bus cannot be asked who SENDER is. */
int bus_meter_begin(BusMeter *m, const char *sender, BudgetVerdict *ret);
/* sd-bus begins to handle a message, or has done that: what it has used since bus_meter_start() is
 * charged, if it was a call. */
void bus_meter_start(BusMeter *m);
void bus_meter_stop(BusMeter *m);
