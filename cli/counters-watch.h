/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* rdmactl counters --watch: how much the counters of a port change in a second. */

#include "rdmactl.h"

/* Reads the counters of the port at PATH at this interval and prints the changes, until SIGINT or
 * SIGTERM comes, the port goes away, or nobody reads the output any more. NAME is printed. */
ExitStatus counters_watch(Context *c, const char *name, const char *path, uint64_t interval_usec);
