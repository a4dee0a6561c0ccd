/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The output of rdmactl compare. */

#include "compare-find.h"

/* Prints the kinds of machines, and below each how machines of it differ: one line for each
 * deviation, with all machines, devices and ports that have it. */
ExitStatus compare_print(Context *c, const Machines *m, const Kinds *k, const Differences *d);

/* Prints the same as JSON, with an entry for each deviation of each machine. */
ExitStatus compare_print_json(Context *c, const Machines *m, const Kinds *k, const Differences *d);

/* "device" or "port" */
const char *difference_thing(const Difference *d);
/* How many deviations and undecided things stand for themselves. */
size_t differences_count(const Differences *d, bool undecided);
