/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which processes run between a change and its signal: the kernel's tracepoints of the scheduler,
 * of work queues and of system calls. Needs root, and the guest of tests/vm/in-guest.
 */

/* Chooses the tracepoints. */
void trace_init(void);
/* Forgets what was recorded and records from now on. */
void trace_begin(void);
/* Records no more. */
void trace_end(void);
/* Prints what was recorded, with the time in µs since BEGIN_MS (CLOCK_MONOTONIC). */
void trace_print(double begin_ms);
