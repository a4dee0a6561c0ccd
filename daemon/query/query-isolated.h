/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A process that opens one device for one query, and ends with it: for devices that have one user
 * at a time and a library that may keep it open, crash or hang (query-dv.h). The process is this
 * program again (--isolated), which is asked for port after port on a socket, with the messages of
 * wire.h. If the process crashes, hangs or lies, the worker that started it goes on after a limited
 * time.
 */

#include "query-dv.h"

/* The isolated processes of a worker. */
typedef struct Isolation {
	const char *program;  /* what is started; NULL: this program */
	uint64_t answer_usec; /* how long to wait for an answer; for its end, a quarter of this */
	/* The pidfd of a process that was killed and has not ended yet, or negative. As long as it
	 * is there, no other process is started. */
	int stray;
} Isolation;

/* The process of a query. */
typedef struct Isolated {
	Isolation *isolation;
	AttrText device; /* name, for messages */
	int pidfd;	 /* negative: there is none */
	int fd;		 /* the connection to it */
	bool gave_up;	 /* it crashed, hung or lied */
	bool failed; /* so, or it could not be started, or is not to be: no other for this query */
} Isolated;

/* Does not wait for a process that has not ended. */
void isolation_done(Isolation *i);

/* For the ports of the device called DEVICE. Starts nothing: the first isolated_query() does,
 * unless SPARED. */
Isolated isolated_new(Isolation *i, const char *device, bool spared);
/* Supplies what PROVIDER and verbs say of the port, and S->open_error. A negative errno if that is
 * nothing. Logs if the process is to blame. */
int isolated_query(Isolated *p, const DvProvider *provider, uint32_t device, uint32_t port,
		   PortSnapshot *s);
/* Ends the process and waits until it has ended, but no longer than Isolation says. */
void isolated_done(Isolated *p);

/* In the process: answers on FD until it is closed. ANSWER_USEC: that of Isolation. A process that
 * takes longer is ended by the kernel. */
int isolated_serve(int fd, const DvProvider *provider, uint64_t answer_usec);
