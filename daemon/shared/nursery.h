/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How a process has others made that are like itself: by a *nursery*, a child that has started up
 * to the point where it would serve, and is forked there. What the start has cost is not paid
 * again, and the new processes share the memory. Their parent is that of the nursery.
 *
 * The connection to the nursery is a SOCK_SEQPACKET socket. Each request has an answer, in the same
 * order.
 */

#include "child.h"

/* For the parent, whose socket does not block. */

/* Asks NURSERY for a process that serves at FD, which the caller closes in any case. A negative
 * errno: there will be no answer. */
int nursery_ask(int nursery, int fd);
/* As child_start(), but if NURSERY is not negative it is asked for the process. Then PID is 0, and
 * PIDFD negative. If it cannot be asked, ARGV is executed. */
int nursery_start(int nursery, char *const argv[], Child *ret);
/* 1 and an answer: the process, a child of the caller that is not reaped, or a negative errno. 0:
 * the nursery has ended. -EAGAIN: there is no answer yet. */
int nursery_receive(int nursery, pid_t *ret);

/* For the nursery. The descriptor that the next request has, at which the new process is to serve.
 * 0: the parent has closed the connection; or a negative errno. */
int nursery_read_request(int fd);
/* Returns in each new process: the descriptor at which it is to serve. In the
 * nursery itself: 0 when the parent has closed the connection, or a negative errno. The process may
 * have no other thread, and no descriptor that the new ones must not share. */
int nursery_serve(int fd);
