/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The connection in the event loop: when it is read, and when it is written.
 *
 * sd_bus_attach_event() reads a call whenever there is one, whether or not the bus takes the
 * replies. So replies that the bus is slow to take, or does not take, would need more and more
 * memory, and each signal would wait behind all of them. Here no call is read while BUS_LOOP_UNSENT
 * or more messages wait to be sent. The calls wait in the bus instead, which bounds how many each
 * user may have there, and a signal waits behind few replies.
 *
 * sd_bus_attach_event() also returns to the event loop after each message. While calls come
 * without a pause, as many are taken here as fit into BUS_LOOP_TURN_USEC.
 */

#include <systemd/sd-event.h>

#include "bus-meter.h"

/* A reply that is sent at once has at most 16 KiB, so these are 2 MiB. It is fewer than those at
 * which signals that are held are sent again (bus-signal.c). */
#define BUS_LOOP_UNSENT 128U
/* Bytes that the socket takes before messages wait: what an ordinary user gets (net.core.wmem_max).
 * sd-bus asks for 8 MiB, which root would get, and a signal would wait behind all that is there. */
#define BUS_LOOP_SOCKET	   212992
#define BUS_LOOP_TURN_USEC 100U

typedef struct BusLoop BusLoop;

typedef void (*BusLoopBroken)(void *userdata);

/* Reads and writes BUS in EVENT. METER hears which time of the processor is that of a message.
 * BROKEN is called once when the connection has ended, whoever has ended it; *RET may not be freed
 * there. All outlive *RET. */
int bus_loop_new(sd_bus *bus, sd_event *event, BusMeter *meter, BusLoopBroken broken,
		 void *userdata, BusLoop **ret);
BusLoop *bus_loop_free(BusLoop *l);
DEFINE_CLEANUP(BusLoop, bus_loop_free);
