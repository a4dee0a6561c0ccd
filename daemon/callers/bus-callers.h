/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Callers: the user of each connection that calls rdmad.
 *
 * Only the bus knows the user. rdmad asks the bus once for each connection (GetConnectionUnixUser)
 * and does not wait: the bus may ask something of rdmad first. All calls of the same connection
 * share the one question. A bus never gives the name of a connection (":1.42") to another one later
 * (D-Bus specification, "Unique Connection Name"), so the answer is true for as long as it is kept.
 *
 * The memory is bounded: callers without a reference are at most BUS_CALLERS_MAX; the one that was
 * used longest ago is forgotten first, and rdmad asks for it again when it calls again.
 */

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "util.h"

#define BUS_CALLERS_MAX 2048U

typedef struct BusCallers BusCallers;
/* One connection. Two references to the same connection are the same pointer. */
typedef struct BusCaller BusCaller;

/* A wait until the bus has said who a caller is. The struct is a part of the waiter, which fills in
 * the first two members. */
typedef struct CallerWait {
	/*
	 * ERROR is 0: the caller is USER. -ENXIO: the connection has left. -EREMOTEIO or another:
	 * the bus has not answered in 25 seconds, or with an error; then the connection may still
	 * be there, and its call needs an answer: bus_peer_reply_unknown(). The function is called
	 * once, and may free the waiter.
	 */
	void (*told)(void *userdata, int error, uid_t user);
	void *userdata;

	/* bus-callers.c's own; AT is NULL: it does not wait */
	struct CallerWait *next, **at;
} CallerWait;

/* The callers on BUS, which outlives *RET. -ENOMEM. */
int bus_callers_new(sd_bus *bus, BusCallers **ret);
/* Nobody may have a reference or wait. NULL is allowed. */
BusCallers *bus_callers_free(BusCallers *c);
DEFINE_CLEANUP(BusCallers, bus_callers_free);

/* *RET is a reference to the connection NAME. The bus is asked who it is, unless that is known or
 * has been asked already. -ENOMEM, or the question cannot be sent. */
int bus_callers_find(BusCallers *c, const char *name, BusCaller **ret);
BusCaller *bus_caller_ref(BusCaller *caller);
/* NULL is allowed. Returns NULL. */
BusCaller *bus_caller_unref(BusCaller *caller);
DEFINE_CLEANUP(BusCaller, bus_caller_unref);

const char *bus_caller_name(const BusCaller *caller);
/* Whether the bus has said who it is: *RET. */
bool bus_caller_knows_user(const BusCaller *caller, uid_t *ret);
/* Whether this was not asked before about CALLER since it is kept. */
bool bus_caller_is_new(BusCaller *caller);
/* A pointer for whoever keeps something of CALLER, with a reference to it; NULL at first. */
void **bus_caller_kept(BusCaller *caller);
/* WAIT is told when the bus has said it, which has not been the case. The caller needs a reference
 * for as long. */
void bus_caller_await(BusCaller *caller, CallerWait *wait);
/* WAIT is not told. Nothing happens if it does not wait. */
void caller_wait_cancel(CallerWait *wait);
