/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Texts and numbers with units as people write them on a command line or in a file. */

#include "util.h"

/* Seconds, with a fraction. False if TEXT is something else, or too large for microseconds in 64
 * bits. */
bool parse_seconds(const char *text, uint64_t *ret_usec);
/* A time with its unit: "30s", "10min", "12h", "7d". False if TEXT is something else, or no time
 * at all. */
bool parse_duration(const char *text, uint64_t *ret_usec);
/* A time in the past, in microseconds since 1970: so long before NOW_USEC as parse_duration()
 * reads, a local time "2026-11-24 01:02:03.456" of which the seconds or the fraction may be
 * missing, or
 * "@1763950000.5", seconds since 1970. False if TEXT is something else. */
bool parse_when(const char *text, uint64_t now_usec, uint64_t *ret_usec);
/* A rate in bit/s, with k, M, G or T and perhaps b/s, bit/s or bps: "400G", "2.5 Gb/s". A rate
 * below 1 Mb/s is refused: somebody who writes 400 has forgotten the unit. */
bool parse_rate(const char *text, uint64_t *ret);
