/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a port that checks look at, as they are now and as they were before: samples
 * whose ages are about doubled from each to the next, so that few of them say how much a counter
 * has grown in a minute and in a day.
 */

#include "sample.h"
#include "table.h"

/* From 5 minutes on that is more than a week. */
#define LADDER_SAMPLES 16U

typedef struct CounterLadder {
	Table *now;	  /* those that checks look at; NULL: nothing was read */
	uint32_t *places; /* where each of them is in the table that was read */
	uint32_t n_read;  /* how many that table had */
	/* the samples, the newest first */
	size_t n;
	uint64_t realtime_usec[LADDER_SAMPLES], monotonic_usec[LADDER_SAMPLES];
	uint64_t *values; /* now->n of each */
} CounterLadder;

/* Whether a check looks at the counter called NAME. */
typedef bool (*CounterIsUsed)(const void *userdata, const char *name);

void ladder_done(CounterLadder *l);
/* Takes those counters of READ that IS_USED. If there are other ones than before, or one has gone
 * backwards, L begins again. -ENOMEM: L is empty. */
int ladder_take(CounterLadder *l, const Table *read, uint64_t realtime_usec,
		uint64_t monotonic_usec, CounterIsUsed is_used, const void *userdata);
/* Which sample is the oldest that is at most MOST_USEC older than the newest, or else the youngest;
 * 0: there is no earlier one. */
size_t ladder_find(const CounterLadder *l, uint64_t most_usec);
/* Sample I of L, 0 is the newest; the caller ends *RET with sample_done(). -ENOMEM. */
int ladder_sample(const CounterLadder *l, size_t i, Sample *ret);
