/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes an sd_bus_message of bytes. sd-bus has no function for that.
 *
 * A message that was received on one connection can be sent on another: systemd-stdio-bridge(1)
 * does so. So rdmad has a connection to itself. The bytes of a reply are written into one end and
 * are received as a message at the other end. Then sd_bus_send() sends that message to the bus,
 * through the queue of sd-bus, so that it keeps its place between the signals.
 *
 * The documentation of sd-bus does not promise that this works, and it needs two descriptors.
 * Callers must be prepared that it fails.
 */

#include <systemd/sd-bus.h>

typedef struct LongReplyRaw LongReplyRaw;

/* The connection is opened by the first long_reply_raw_make(). -ENOMEM. */
int long_reply_raw_new(LongReplyRaw **ret);
LongReplyRaw *long_reply_raw_free(LongReplyRaw *x);

/* Makes the reply to CALL. Its body is the SIZE bytes at BODY, which a BusWriter has written, and
 * SIGNATURE is the type of the body; neither is checked. The bytes are lost, since the memory of a
 * long body is given back while *RET, which is the caller's, gets it. A negative errno of any kind;
 * the next call tries again from the beginning. */
int long_reply_raw_make(LongReplyRaw *x, sd_bus_message *call, const char *signature, void *body,
			size_t size, sd_bus_message **ret);
