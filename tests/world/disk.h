/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The disk. The threads that write the histories and the record are threads here too, but only one
 * of them and the core runs at a time: a step says which. A thread stops at each call to the disk.
 * The disk may be slow, hang, be full or fail, and the process may be killed between two calls, or
 * in the middle of a write.
 */

#include <stdbool.h>
#include <stddef.h>

#include "virtual-time.h"

/* A new disk, with an empty directory for the state. */
void disk_begin(uint64_t seed);
/* No thread is left, and the directory is gone. */
void disk_end(void);
const char *disk_directory(void);
/* Whether the threads of the core have all been able to open their files: none that could not
 * writes anything any more. */
bool disk_is_open(void);
/* The newest segment of the record; false: there is none. */
bool disk_newest_segment(char *ret, size_t size);
/* A segment could not be removed, and one after it has gone in its place. */
bool disk_has_gap(void);

/* Each is one step: what happens is drawn from LOTS. */
void disk_step(Lots *lots);
void disk_fault(Lots *lots);
/* The disk works again. */
void disk_heal(void);
/* Time has passed: if the disk works, the threads have done what they can do. */
void disk_catch_up(void);
/* The core is killed now: what it has not written is never written. */
void disk_kill(void);
/* This process is a fork(), which has none of the threads. */
void disk_leave(void);
/* The threads that are left of it end with it. */
void disk_bury(void);
