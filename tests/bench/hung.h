/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What bus-hung, hung-core and hung-worker share. hung-core is rdmad with devices that do not
 * exist: numbers 1 to n_hung hang, HUNG_HEALTHY more do not, and have a port each. hung-worker
 * answers for them. The figure writes this memory, a file that HUNG_STATE names, and then the
 * number of each device that has changed, as a byte, into the pipe HUNG_CHANGES.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "util.h"

#define HUNG_STATE   "HUNG_STATE"
#define HUNG_CHANGES "HUNG_CHANGES"
#define HUNG_HEALTHY 8U

typedef struct HungState {
	uint32_t n_hung;
	bool together;	  /* those that hang are of one adapter; if not, each is one of its own */
	atomic_uint hang; /* a futex: 1 as long as they hang */
	atomic_uint lid[HUNG_HEALTHY];
} HungState;

/* Maps the file that the environment names. NULL: that fails. */
static inline HungState *hung_state(void)
{
	const char *path = getenv(HUNG_STATE);
	_cleanup_close_ int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -EBADF;
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof(HungState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}
