/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answer to a query as text, with the raw values: a line for each attribute and for each entry
 * of a table. For people and tests that want to see what a worker reads. */

#include <stdio.h>

#include "query-run.h"

/* A sink that prints to its userdata, a FILE. */
extern const Sink print_sink;
