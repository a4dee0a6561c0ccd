/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* rdmactl counters --watch: how much the counters of ports change in a second. */

#include "rdmactl.h"
#include "sample.h"
#include "selection.h"

/* Reads the counters of END of the ports at this interval and prints the changes, until SIGINT or
 * SIGTERM comes, all ports have gone away, or nobody reads the output any more. The worst status is
 * that of a port that went away. */
ExitStatus counters_watch(Context *c, const Selection *s, SampleEnd end, uint64_t interval_usec);
