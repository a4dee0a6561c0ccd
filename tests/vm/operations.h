/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The random operations. Each is determined by the seed and its number alone, so that any subset of
 * a run can be done again.
 */

#include "world.h"

/* Does operation NUMBER of SEED, which may turn out to be impossible now: then nothing. Writes what
 * it did into the SIZE bytes at RET_TEXT. */
void operation_do(World *w, uint64_t seed, uint32_t number, char *ret_text, size_t size);

/* Whether the test looks at everything after operation NUMBER. */
bool operation_is_quiet(uint64_t seed, uint32_t number);

/* Ends the faults of all ports, as a repair would: without a word. Whether there were any. */
bool operation_end_faults(World *w);
/* The device answers. */
bool slot_is_sound(const WorldSlot *s);
