/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The time now, in microseconds. */

#include <stdint.h>

/* Of CLOCK_MONOTONIC: for deadlines and ages. Nobody can set it, and it stands still while the
 * machine sleeps. */
uint64_t monotonic_now_usec(void);
/* Of CLOCK_BOOTTIME, since the machine was started: as the start of a process in /proc. */
uint64_t boottime_now_usec(void);
/* Of CLOCK_REALTIME, since 1970: for time stamps that people read. An administrator can set it,
 * back too. */
uint64_t realtime_now_usec(void);
/* USEC, less than three weeks, for poll(2), which does not wait for less than that. */
static inline int poll_msec(uint64_t usec)
{
	return (int)((usec + 999) / 1000);
}
