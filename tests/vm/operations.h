/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The random operations. Only the seed and its number determine what an operation does, so that any
 * subset of a run can be done again.
 */

#include "world.h"

/* Does operation NUMBER of SEED, or nothing if it is not possible now. Writes what it did to the
 * SIZE bytes at RET_TEXT. */
void operation_do(World *w, uint64_t seed, uint32_t number, char *ret_text, size_t size);

/* Whether there is a quiet point after operation NUMBER. */
bool operation_is_quiet(uint64_t seed, uint32_t number);

/* Ends the faults of all ports without an event, as a repair would. Returns whether there were any.
 */
bool operation_end_faults(World *w);
/* Whether the device exists in this network namespace and has no fault. */
bool slot_is_sound(const WorldSlot *s);
