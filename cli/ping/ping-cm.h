/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The connection manager of the kernel, by librdmacm. The library is loaded when it is needed: no
 * other command pays for it, and rdmactl runs where it is not installed.
 */

#include "ping-route.h"

/* Returns a descriptor that is readable when there is an event, or a negative errno; -ELIBACC: the
 * library cannot be loaded, and *RET_WHY says why. */
int ping_cm_open(struct rdma_event_channel **ret, const char **ret_why);
/* All tries must have ended. */
void ping_cm_close(struct rdma_event_channel *channel);

/* A request to a peer. */
typedef struct PingTry {
	struct rdma_event_channel *channel;
	PingWay *way;
	int wait_ms; /* the kernel gives up after that */
	struct rdma_cm_id *id;
	PingState state;
	uint64_t sent_usec;
} PingTry;

/* Begins T, of which CHANNEL, WAY and WAIT_MS are set, with a request to TO, from FROM if that is
 * not NULL. */
void ping_try_start(PingTry *t, const PingSocket *to, const PingSocket *from);
/* Ends it; it may be started again. */
void ping_try_end(PingTry *t);

/* Takes the next event, and goes on with the try that it is for: *RET, NULL if there is none. */
int ping_cm_next(struct rdma_event_channel *channel, PingTry **ret);
