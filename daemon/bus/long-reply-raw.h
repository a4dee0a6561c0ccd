/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes an sd_bus_message of bytes, which sd-bus has no call for.
 *
 * A message that came in on one connection may be sent on on another: that is how
 * systemd-stdio-bridge(1) passes messages along, and a call like any other to the second
 * connection. So there is a connection of the process to itself. The bytes of a reply are written
 * into one end, come out of the other as a message, and that goes to the bus by sd_bus_send(),
 * through sd-bus' own queue. Neither that queue nor the socket of the bus is touched otherwise.
 */

#include <systemd/sd-bus.h>

typedef struct LongReplyRaw LongReplyRaw;

int long_reply_raw_new(LongReplyRaw **ret);
LongReplyRaw *long_reply_raw_free(LongReplyRaw *x);

/* The reply to CALL whose body, of type SIGNATURE, is the SIZE bytes at BODY: bus_writer's, and not
 * looked at here. */
int long_reply_raw_make(LongReplyRaw *x, sd_bus_message *call, const char *signature,
			const void *body, size_t size, sd_bus_message **ret);
