/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The parts of fake-worker. Each function sends what it is called after, or ends the process. */

#include "wire.h"

/* The names of a process while it is a nursery, and of one that a nursery has forked */
#define FAKE_NURSERY "fake-nursery"
#define FAKE_FORKED  "fake-forked"

/* What the name of a device may ask the fake worker to do. */
typedef struct Act {
	const char *what;
	void (*act)(Query *q);
	enum {
		THEN_WAIT, /* for ever: the core must notice by itself that this was wrong */
		THEN_ANSWER,
		THEN_GO_ON
	} then;
} Act;

/* With queries that nobody has asked for; the last is empty. */
extern const Act own_acts[];

void say(const WireMessage *m);
void say_device(const Query *q);
void say_port(const Query *q, uint32_t port);
void say_end(const Query *q, int error, const char *text);
void say_event(uint32_t device, uint32_t port, EventReason reason);
/* The whole answer to Q. */
void answer(const Query *q);
/* As on a slow machine */
void dawdle(Query *q);
void crash(Query *q);
