/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a shell */
#define VERIFY TEST_BUILD_DIR "/cli/rdmactl record verify"

/* Whether COMMAND, in which VERIFY is, ends without an error; SAID: what it has printed. */
bool are_verified(const char *command, char *said, size_t size);

/* Each record that a test has had written in DIRECTORY, the state directory of rdmad, or in a
 * folder of it, is one that rdmad can have written: rdmactl record verify. */
void assert_verified(const char *directory);
