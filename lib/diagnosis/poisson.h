/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How far a number of errors can be from what it is in the long run, by chance alone. */

#include <stdint.h>

/* N events were counted. Where their number is by Poisson, as of errors that do not depend on each
 * other, as many as *RET_LOWER to *RET_UPPER are to be expected in the same time: of all that is
 * said so at least 95 % is right, by the exact bounds of Garwood (1936). From a million on they are
 * a little wider. */
void poisson_bounds(uint64_t n, double *ret_lower, double *ret_upper);
