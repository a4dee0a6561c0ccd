/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The clock of the test, in the place of those of the machine. virtual-time.c has the functions of
 * the C library that read a clock, set a timer, wait, or draw a random number. The linker takes
 * them for the program and for the libraries that it uses: the event loop and the bus connections
 * are those of systemd as they are. Time stands still until the test moves it.
 */

#include <stdbool.h>
#include <stdint.h>

/* Numbers that depend on their seed and on nothing else. */
typedef struct Lots {
	uint64_t state;
} Lots;

uint64_t lots_next(Lots *l);
/* A number below N, which is not 0. */
uint32_t lots_below(Lots *l, uint32_t n);
/* Whether something happens that happens once in N times. */
static inline bool lots_once_in(Lots *l, uint32_t n)
{
	return lots_below(l, n) == 0;
}

/* Begins; what getrandom() gives depends on SEED. */
void virtual_time_init(uint64_t seed);
/* CLOCK_MONOTONIC and CLOCK_BOOTTIME in microseconds */
uint64_t virtual_now_usec(void);
/* CLOCK_REALTIME is that and OFFSET_USEC more than it was at first: somebody has set the clock. */
void virtual_realtime_set(int64_t offset_usec);
/* When the next timer of the event loop runs out; UINT64_MAX: never. */
uint64_t virtual_next_usec(void);
/* It is WHEN now. Time never goes back. */
void virtual_time_set(uint64_t when_usec);
/* The time of the machine, for what the user asked for. */
uint64_t machine_now_usec(void);
