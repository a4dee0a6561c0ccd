/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A thread that may wait for the disk, so that the rest of the program need not. A struct embeds
 * DiskThread; what the thread and the rest of the program share in that struct is under LOCK. At
 * the end the thread is waited for, but not for ever: a thread that hangs is abandoned, and frees
 * the struct when it ends.
 */

#include <pthread.h>

#include "util.h"

typedef struct DiskThread {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* broadcast after each change that the other side waits for */

	/* under LOCK */
	bool stop;	/* RUN is to return */
	bool finished;	/* it has returned */
	bool abandoned; /* nobody waits for that any more */

	void (*run)(void *userdata);
	void (*destroy)(void *userdata);
	void *userdata;
} DiskThread;

void disk_thread_init(DiskThread *t);
void disk_thread_done(DiskThread *t);

/*
 * Calls RUN(USERDATA) in a thread of its own, which gets no signal: they are for the event loop.
 * DESTROY is called once after RUN has returned, by disk_thread_end() or by the thread; it calls
 * disk_thread_done(). A negative errno: there is no thread, and DESTROY is not called.
 */
int disk_thread_start(DiskThread *t, void (*run)(void *), void (*destroy)(void *), void *userdata);
/* Waits for a change until USEC of CLOCK_MONOTONIC; UINT64_MAX is for ever. LOCK is held. False:
 * that is over. */
bool disk_thread_wait(DiskThread *t, uint64_t usec);
/* Tells the thread to stop and waits for that, at most PATIENCE_USEC. Afterwards T is not to be
 * used. Returns whether it has stopped. */
bool disk_thread_end(DiskThread *t, uint64_t patience_usec);
