/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How many of the bits of a link are errors, as far as a counter of errors can tell. The number of
 * errors is by Poisson (poisson.h), so a short time says little: then there are bounds, and no
 * ratio.
 */

#include <stdbool.h>
#include <stdint.h>

/* Of fewer errors no ratio is known: ten are three too many or too few by chance. */
#define ERRORS_LEAST 10

/* Errors in 10^18 bits */
typedef struct ErrorRatio {
	uint64_t lower,
		upper;	/* with 95 % confidence it is not below the one, nor above the other */
	uint64_t ratio; /* 0: there were fewer than ERRORS_LEAST errors */
} ErrorRatio;

/* The ratio of N errors in BITS bits, of which there is one at least. */
ErrorRatio error_ratio(uint64_t n, double bits);

/* How many errors in 10^18 bits the forward error correction FEC_MODE (as in FecMode) of a link of
 * RATE bit/s corrects, so that the link is as good as it has to be; 0: that is not known. */
uint64_t error_limit(const char *fec_mode, uint64_t rate);

/* How far UPPER, which is not 0, is below LIMIT, in thousandths of a factor of ten; 0: it is not.
 */
uint32_t error_margin(uint64_t upper, uint64_t limit);

/* What a counter of errors had when it was read */
typedef struct ErrorCount {
	uint64_t n, usec;  /* of CLOCK_MONOTONIC, not 0 */
	bool is_corrected; /* it counts bits that FEC has corrected; else what is left */
} ErrorCount;

/* Measures a ratio over one day to two. Zeroed, it has not begun. */
typedef struct ErrorMeter {
	uint64_t rate;
	ErrorCount first, next, last; /* NEXT will be the first a day after it was read */
} ErrorMeter;

/* Takes what the counter of a link of RATE bit/s has now. Begins again if the counter has gone
 * back or is another one, or the rate is. Returns since how many us it measures. */
uint64_t error_meter_take(ErrorMeter *m, ErrorCount now, uint64_t rate);
/* The ratio over that time, which is not 0. */
ErrorRatio error_meter_ratio(const ErrorMeter *m);
