/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Answers of GetCounters() as rdmactl has read them. */

#include "sample.h"

/* What CLOCK_REALTIME was when CLOCK_MONOTONIC was 0. */
#define NOW_USEC (UINT64_C(1800000000) * USEC_PER_SEC)

/* One more number of the list V. */
void answer_add_number(Value *v, uint64_t n);
/* The port at PATH, which has a set of its own, was read at USEC; WHY: it could not be read. */
void answer_add_port(Samples *all, const char *path, uint64_t usec, const char *why);
/* One more counter of the last port. */
void answer_add_counter(Samples *all, const char *name, uint64_t n, const char *condition);
