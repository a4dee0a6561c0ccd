/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A disk that a test decides about. A program that is linked with it has its own pwrite(), pread(),
 * ftruncate(), renameat(), fdatasync(), fsync(), openat(), unlinkat(), mkdirat() and scandirat(),
 * which daemon/disk, daemon/past and daemon/record call. Nothing is synced: that would only take
 * time.
 */

#include <pthread.h>

#include "util.h"

typedef enum DiskCall {
	DISK_WRITE,
	DISK_READ,
	DISK_TRUNCATE,
	DISK_RENAME,
	DISK_SYNC,	     /* fdatasync() */
	DISK_SYNC_DIRECTORY, /* fsync() */
	DISK_OPEN,
	DISK_UNLINK,
	DISK_MKDIR,
	DISK_LIST,
	_DISK_CALL_MAX,
} DiskCall;

typedef struct DiskDouble {
	/* The calls from FAIL_FROM on, the first is 0, fail with ERROR; FAIL_N of them. A write
	 * that fails has written half. */
	unsigned int fail_from, fail_n;
	int error; /* 0: none fails */
	unsigned int n_calls, n_failed;
	bool failed[_DISK_CALL_MAX];
	/* Is told of each call that has worked; may be NULL. FD is the file or the directory, NAME
	 * in that the one that goes or comes. */
	void (*on_call)(DiskCall call, int fd, const char *name);
	/* Decides about each call in the place of FAIL_FROM: an errno, with which it fails, or 0;
	 * may be NULL. */
	int (*decide)(DiskCall call);

	/* under LOCK */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool hangs;	     /* each call waits until that is over */
	unsigned int n_hung; /* so many do */
} DiskDouble;

extern DiskDouble disk;

/* From now on the calls number FROM until FROM + N fail. ERROR 0: none does. */
void disk_fail(unsigned int from, unsigned int n, int error);
/* From now on each call waits; or none any more. */
void disk_hang(bool hangs);
/* Waits until a call does. */
void disk_wait_hung(void);
