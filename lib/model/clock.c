/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"

#include <time.h>

#include "util.h"

static uint64_t now_usec(clockid_t clock)
{
	struct timespec t;

	/* cannot fail: these clocks exist on every Linux */
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

uint64_t monotonic_now_usec(void)
{
	return now_usec(CLOCK_MONOTONIC);
}

uint64_t boottime_now_usec(void)
{
	return now_usec(CLOCK_BOOTTIME);
}

uint64_t realtime_now_usec(void)
{
	return now_usec(CLOCK_REALTIME);
}
