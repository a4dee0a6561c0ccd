/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The Varlink side: io.systemd.Metrics on a listening socket, for systemd-report(1) and
 * varlinkctl(1).
 *
 * Each local user may connect, so everything is bounded: connections, the length of a call, the
 * time that a client takes to send a call and to take the replies, and the replies that clients
 * have not taken. A client that breaks a bound loses its connection. No client delays another one.
 */

#include <systemd/sd-event.h>

#include "idle.h"
#include "source.h"

typedef struct Varlink Varlink;

/* Serves the listening socket FD, which belongs to *RET then. SOURCE and IDLE outlive *RET. */
int varlink_new(sd_event *event, int fd, Source *source, Idle *idle, Varlink **ret);
/* Closes all connections. Takes NULL. */
void varlink_free(Varlink *v);
DEFINE_CLEANUP(Varlink, varlink_free);
