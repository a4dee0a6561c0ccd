/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A process that opens one device for one query, and ends with it: for devices that have one user
 * at a time and a library that may keep it open, crash or hang (query-dv.h). It is this program
 * again, which is asked for port after port on a socket, with the messages of wire.h. Whatever
 * becomes of it, the worker that started it goes on in bounded time.
 */

#include "query-dv.h"
#include "source.h"

/* After one that died, hung or lied no other is started for this time. */
#define ISOLATED_PAUSE_USEC (60 * USEC_PER_SEC)

/* What a worker knows of its isolated processes. */
typedef struct Isolation {
	const char *program;  /* NULL: this one */
	uint64_t answer_usec; /* an answer takes no longer; the end of a process a quarter of it */
	uint64_t start_usec;  /* CLOCK_MONOTONIC: none is started before */
	int stray; /* pidfd of one that was killed and has not ended; none is started meanwhile */
} Isolation;

/* The process of a query. */
typedef struct Isolated {
	Isolation *isolation;
	AttrText device; /* name, for messages */
	int pidfd;	 /* negative: there is none */
	int fd;
	bool failed; /* and there will be none */
} Isolated;

void isolation_done(Isolation *i);

/* For the ports of DEVICE; starts nothing yet. */
Isolated isolated_new(Isolation *i, const char *device);
/* Supplies what PROVIDER and verbs say of the port. A negative errno if that is nothing; logs why
 * if it is the process's fault. */
int isolated_query(Isolated *p, const DvProvider *provider, uint32_t device, uint32_t port,
		   PortSnapshot *s);
/* Ends the process, and waits for that. */
void isolated_done(Isolated *p);

/* In the process: answers on FD until it is closed. */
int isolated_serve(int fd, const DvProvider *provider);
