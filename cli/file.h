/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that rdmactl writes. */

#include <stddef.h>

/* Writes TEXT beside PATH and moves it there: PATH is replaced as a whole or not at all. Negative
 * errno. */
int file_replace(const char *path, const char *text, size_t size);
