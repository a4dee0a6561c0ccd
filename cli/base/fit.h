/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes a table as narrow as the terminal, so that the terminal does not break lines in the middle
 * of a word. First columns that have SCOLS_FL_TRUNC are left out, the rightmost first. Then text is
 * shortened, with an ellipsis at its end, where the columns are widest; the first column, the name,
 * only when no other one can become shorter. Columns that are aligned to the right stay as they
 * are: a number without its end is a wrong number.
 */

#include <libsmartcols/libsmartcols.h>

/* Changes the table so that its lines have at most WIDTH columns, if that can be done.
 * *RET_LEFT_OUT has the headings of the columns that are left out, "LINK, MTU"; NULL if there are
 * none. The caller frees it. -ENOMEM. */
int fit_table(struct libscols_table *table, size_t width, char **ret_left_out);

/* TEXT, or its beginning with an ellipsis if it has more than WIDTH columns of the terminal. NULL
 * without memory. */
char *fit_text(const char *text, size_t width);
