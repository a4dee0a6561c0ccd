/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How often a device may be asked because of events: a bucket of tokens, one for each query, which
 * is filled up at a steady rate. The core has the bucket of each device. A worker that may ask by
 * itself has a copy of it (Leave in source.h). */

#include "util.h"

/* A burst of this many queries because of events goes through at once, INIT to ARMED to ACTIVE
 * among them; then ten a second. So an interface of a port never has more than 20 signals of
 * changed values a second, and with the queries for callers 30. */
#define TOKENS_MAX 10U
#define TOKEN_USEC (100 * USEC_PER_MSEC)

typedef struct TokenBucket {
	uint32_t n;
	uint64_t usec; /* CLOCK_MONOTONIC when they were counted */
} TokenBucket;

/* Adds what has been earned until NOW_USEC. */
static inline void token_bucket_fill(TokenBucket *b, uint64_t now_usec)
{
	uint64_t earned = now_usec > b->usec ? (now_usec - b->usec) / TOKEN_USEC : 0;

	if (earned > 0) {
		b->n = (uint32_t)MIN(b->n + earned, (uint64_t)TOKENS_MAX);
		b->usec += earned * TOKEN_USEC;
	}
}

/* Takes one token. Returns false if there is none. */
static inline bool token_bucket_take(TokenBucket *b, uint64_t now_usec)
{
	token_bucket_fill(b, now_usec);
	if (b->n == 0)
		return false;
	if (b->n == TOKENS_MAX)
		b->usec = now_usec;
	b->n--;
	return true;
}

/* When the next token is earned. */
static inline uint64_t token_bucket_next_usec(const TokenBucket *b)
{
	return b->usec + TOKEN_USEC;
}
