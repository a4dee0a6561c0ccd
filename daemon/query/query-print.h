/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answer to a query as text, one line an attribute, raw: for people and tests that look at a
 * worker. */

#include <stdio.h>

#include "query-run.h"

/* Prints to USERDATA, a FILE. */
extern const Sink print_sink;
