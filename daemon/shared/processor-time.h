/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long the processor has worked for the calling thread, in nanoseconds. While others have the
 * processor it stands still: what a thing costs is the same on a busy machine. */

#include <stdint.h>
#include <time.h>

static inline uint64_t processor_now_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}
