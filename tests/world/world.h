/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One run: the core as it is, in a world in which a list of numbers decides what happens. The same
 * numbers make the same run, byte for byte.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct RunResult {
	uint64_t virtual_usec; /* how much time has passed in it */
	uint64_t quiet;	       /* how often all laws were checked */
	uint64_t played;       /* how often the record was played */
	uint64_t digest;       /* of all that happened */
} RunResult;

/* Of the seeds above this the odd ones have workers (script-workers.h). */
#define SMALL_SEED 1000000U

/* The steps that NUMBERS say, of the seed SEED. A law that is broken ends the process. */
void run_world(uint64_t seed, const uint64_t *numbers, size_t n, RunResult *ret);
