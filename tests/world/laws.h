/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What must hold in the world. A law that is broken ends the process: the run has failed. */

#include <stdint.h>

#include "util.h"

/* The step that is done, for messages */
extern uint64_t law_step;
/* From now on each step is printed. */
extern bool law_verbose;

_Noreturn void law_broken(const char *format, ...) _printf_(1, 2);
/* Says what happens, if that is wanted, and adds it to the digest of the run. */
void note(const char *format, ...) _printf_(1, 2);
/* The same for the digest of all that has been said */
uint64_t note_digest(void);

#define LAW(condition, ...)                                                                        \
	do {                                                                                       \
		if (!(condition))                                                                  \
			law_broken(__VA_ARGS__);                                                   \
	} while (0)
