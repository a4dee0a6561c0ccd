/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The connection in the event loop: when it is read, when a call that waits has its turn, and when
 * it is written.
 *
 * sd_bus_attach_event() returns to the event loop after each message. While messages come without a
 * pause, as many are read here as fit into BUS_LOOP_TURN_USEC, and then as many of the calls that
 * wait are handled (bus-turns.h).
 */

#include <systemd/sd-event.h>

#include "bus-turns.h"

/* Bytes that the socket takes before messages wait. sd-bus asks for 8 MiB, which root would get. A
 * reply, and a signal, wait behind all that is there, and calls that wait are handled when a
 * quarter of it is left: so it has a few replies, and not many. */
#define BUS_LOOP_SOCKET	   16384
#define BUS_LOOP_TURN_USEC 100U

typedef struct BusLoop BusLoop;

typedef void (*BusLoopBroken)(void *userdata);

/* Reads and writes BUS in EVENT. TURNS has the calls that wait. BROKEN is called once when the
 * connection has ended, whoever has ended it; *RET may not be freed there. All outlive *RET. */
int bus_loop_new(sd_bus *bus, sd_event *event, BusTurns *turns, BusLoopBroken broken,
		 void *userdata, BusLoop **ret);
void bus_loop_free(BusLoop *l);
DEFINE_CLEANUP(BusLoop, bus_loop_free);
