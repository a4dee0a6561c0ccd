/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Texts and the columns of a terminal. */

#include <stddef.h>

/* How many columns of the terminal TEXT takes. Bytes that are no characters take one each. Not more
 * than MOST columns are counted; *RET_BYTES is how many bytes take these. */
size_t fit_measure(const char *text, size_t most, size_t *ret_bytes);

/* TEXT, or its beginning with an ellipsis if it has more than WIDTH columns of the terminal. NULL
 * without memory. */
char *fit_text(const char *text, size_t width);

/* A copy of TEXT, in which each byte that no terminal can print is written as \x1b; *RET_WIDTH is
 * how many columns the copy takes. NULL without memory. */
char *fit_printable(const char *text, size_t *ret_width);
