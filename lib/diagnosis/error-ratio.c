/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "error-ratio.h"

#include <math.h>

#include "poisson.h"
#include "util.h"

#define PER_BITS 1e18
#define DAY_USEC (24 * 3600 * USEC_PER_SEC)

/* Rounds to a number that fits. */
static uint64_t round_up(double x)
{
	return x < PER_BITS ? (uint64_t)ceil(x) : (uint64_t)PER_BITS;
}

ErrorRatio error_ratio(uint64_t n, double bits)
{
	double lower, upper;

	poisson_bounds(n, &lower, &upper);
	return (ErrorRatio){.lower = (uint64_t)MIN(lower / bits * PER_BITS, PER_BITS),
			    .upper = round_up(upper / bits * PER_BITS),
			    .ratio = n >= ERRORS_LEAST ? round_up((double)n / bits * PER_BITS) : 0};
}

/*
 * Before the correction of errors a link may have the following ratio, so that it has one of 1e-12
 * after that (IEEE 802.3): 2.4e-4 with RS(544,514), which lanes of 50 Gb/s and more have (clause
 * 138); 5e-5 with RS(528,514) (clause 95); 1e-8 with the code of 10GBASE-R (clause 110). "rs" is
 * both of the former: a link of more than 100 Gb/s has such lanes, and another one may have them.
 */
uint64_t error_limit(const char *fec_mode, uint64_t rate)
{
	if (streq(fec_mode, "rs"))
		return rate > UINT64_C(100000000000) ? UINT64_C(240000000000000)
						     : UINT64_C(50000000000000);
	return streq(fec_mode, "baser") ? UINT64_C(10000000000) : 0;
}

uint32_t error_margin(uint64_t upper, uint64_t limit)
{
	return upper < limit ? (uint32_t)(1000 * log10((double)limit / (double)upper)) : 0;
}

uint64_t error_meter_take(ErrorMeter *m, ErrorCount now, uint64_t rate)
{
	if (!m->first.usec || rate != m->rate || now.n < m->last.n || now.usec < m->last.usec ||
	    now.is_corrected != m->last.is_corrected)
		*m = (ErrorMeter){.rate = rate, .first = now, .next = now};
	if (now.usec - m->next.usec >= DAY_USEC) {
		m->first = m->next;
		m->next = now;
	}
	m->last = now;
	return now.usec - m->first.usec;
}

ErrorRatio error_meter_ratio(const ErrorMeter *m)
{
	double seconds = (double)(m->last.usec - m->first.usec) / (double)USEC_PER_SEC;

	return error_ratio(m->last.n - m->first.n, seconds * (double)m->rate);
}
