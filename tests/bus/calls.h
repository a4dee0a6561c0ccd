/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls of clients who do not wait for one reply before they send the next call. */

#include "fixture.h"

/* How many replies have come: without an error, with LimitsExceeded, with another error. */
typedef struct Replies {
	unsigned int good, limit, other;
} Replies;

/* The handler of a reply for sd_bus_call_method_async(): counts it in USERDATA, a Replies. */
int calls_on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Sends N calls of METHOD without options. R counts the replies and must stay where it is until BUS
 * is closed or all have come. */
void calls_send(sd_bus *bus, const char *path, const char *interface, const char *method,
		unsigned int n, Replies *r);
/* Waits until N replies have come in all; a test failure after two minutes without one. */
void calls_wait(sd_bus *bus, const Replies *r, unsigned int n);

/* One call of the fixture's client, which must succeed. */
void calls_ping(Fixture *f);
void calls_refresh(Fixture *f);
/* The time by CLOCK_MONOTONIC. */
uint64_t calls_now_usec(void);
