/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "poisson.h"

#include <math.h>
#include <stdbool.h>

/* The chance that the truth is below the lower bound, and that it is above the upper one */
#define TAIL 0.025
/* More are not summed up. */
#define EXACT_MAX 1000000U
#define STEPS	  50U

/* The chance of N or more events, or of N or less, where MEAN, less or more than N, are to be
 * expected. The terms become smaller from N on. */
static double chance(uint64_t n, bool or_more, double mean)
{
	double term = exp((double)n * log(mean) - mean - lgamma((double)n + 1)), sum = 0;

	for (double k = (double)n; term > 1e-12 * sum; k += or_more ? 1 : -1) {
		sum += term;
		term *= or_more ? mean / (k + 1) : k / mean;
	}
	return sum;
}

/* The mean between NEAR and FAR, which is too far from N, at which that chance is TAIL. */
static double find_mean(uint64_t n, bool or_more, double near, double far)
{
	for (unsigned int i = 0; i < STEPS; i++) {
		double middle = (near + far) / 2;

		if (chance(n, or_more, middle) > TAIL)
			near = middle;
		else
			far = middle;
	}
	return far;
}

void poisson_bounds(uint64_t n, double *ret_lower, double *ret_upper)
{
	double is = (double)n, root = sqrt(is);

	if (n > EXACT_MAX) {
		*ret_lower = is - 2 * root;
		*ret_upper = is + 2 * root;
		return;
	}
	*ret_lower = n > 0 ? find_mean(n, true, is, 0) : 0;
	*ret_upper = find_mean(n, false, is, is + 4 * root + 8);
}
