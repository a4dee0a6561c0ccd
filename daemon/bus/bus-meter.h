/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Measures what the calls of each user cost, keeps the account of that (budget.h), and says what is
 * to be done with the next call.
 *
 * The time of the processor that a turn of the event loop needs is charged to the caller whose call
 * was dispatched in it: sd-bus dispatches one a turn. So everything counts that the call causes
 * there: reading it, the reply, and an error. Not charged are long replies, which are written in
 * turns of their own and are limited by their bytes (long-reply-queue.h), and replies to calls that
 * have waited, which are limited by their number (pending-call.h).
 *
 * "Nobody waits" means that the calls that are in the socket are less than BUS_METER_BACKLOG bytes,
 * some 50 calls, and need less than BUS_METER_WAIT_NSEC, if each needs as long as those since
 * nobody has waited. The socket has room for some 200 calls; what the bus could not put there is
 * not seen. That is looked at once in BUS_METER_LOOK_NSEC of charged time. A client that waits for
 * each reply before it makes the next call leaves nothing there, so it never meets a limit; and
 * neither do some dozens of them.
 *
 * What waits to be sent is not counted while fewer than BUS_METER_SHORT_QUEUE messages wait, which
 * are 2 MiB at most. From then on each reply is counted until it was sent: sd-bus sends in order,
 * and says how many messages wait. Signals are among them, so a reply may be counted for longer. It
 * is counted with what sd-bus needs for a message beside its body. Of a reply that sd-bus writes,
 * the size is not known; it is taken from the time: sd-bus does not write more than
 * BUS_METER_BYTES_PER_USEC.
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

#define BUS_METER_BACKLOG	 8192
#define BUS_METER_WAIT_NSEC	 UINT64_C(10000000)
#define BUS_METER_CALL		 128U /* bytes that a short call has */
#define BUS_METER_LOOK_NSEC	 UINT64_C(1000000)
#define BUS_METER_BYTES_PER_USEC 64U
#define BUS_METER_SHORT_QUEUE	 128U
#define BUS_METER_MESSAGE	 1024U /* what sd-bus needs for a message */
#define BUS_METER_LATER		 4096U /* a reply to a call that has waited */

typedef struct BusMeter BusMeter;

/* Measures the calls that come in on BUS from CALLERS. BUSY is how many microseconds the calls of
 * one user may take while others wait, 0: no limit. All outlive *RET. */
int bus_meter_new(sd_bus *bus, sd_event *event, BusCallers *callers, uint64_t busy, BusMeter **ret);
BusMeter *bus_meter_free(BusMeter *m);
DEFINE_CLEANUP(BusMeter, bus_meter_free);

/* A call of the connection SENDER begins: *RET is what is to be done with it. What it costs is
 * charged to SENDER in any case. -ENOMEM, or the bus cannot be asked who SENDER is. */
int bus_meter_begin(BusMeter *m, const char *sender, BudgetVerdict *ret);
/* A reply of SIZE bytes was sent to the caller of the call that began last; if this is not called,
 * sd-bus has written it. */
void bus_meter_add_reply(BusMeter *m, size_t size);
