/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A harness defines LLVMFuzzerTestOneInput(). libFuzzer calls it (RDMAD_FUZZ=ON), or replay.c does.
 * FUZZ_CHECK() checks what must be true for every input; the sanitizers check the memory.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
