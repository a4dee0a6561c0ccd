/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A program started as a child process, with a connection to it. */

#include <sys/types.h>

/* The descriptor at which the child finds its end of the connection. */
#define CHILD_FD 3

typedef struct Child {
	pid_t pid;
	int pidfd; /* becomes readable when the process has ended */
	int fd;	   /* this end of the connection */
} Child;

/* Makes such a connection, of which the own end does not block. The caller closes both ends. */
int child_connect(int *ret_own, int *ret_theirs);

/*
 * Starts PROGRAM with the arguments ARGV. The child has standard input, output and error of this
 * process, and CHILD_FD: one end of a new SOCK_SEQPACKET connection, which blocks. It has no other
 * descriptor, its signals have their default actions, and none is blocked.
 *
 * The caller closes both descriptors of *RET, of which FD does not block, and reaps the process. A
 * negative errno: nothing was started, or it has ended and is reaped.
 */
int child_start(const char *program, char *const argv[], Child *ret);
