/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values of rows and entries of tables as words of scenarios: what is written is read back as it
 * was. */

#include <glib.h>

#include "table.h"
#include "word.h"

/* As word_write() and number_write(). */
void word_put(GString *to, const char *text);
void number_put(GString *to, uint64_t number, unsigned int digits);

/* Adds the scalar row A of VALUES: an enumeration by its name, a number, "raw:N", or a word. */
void row_text_put(GString *to, const Attribute *a, const void *values);
/* Sets the row from TEXT. -EINVAL: it is no value of the row. */
int row_text_parse(const Attribute *a, void *values, const char *text);

/* Adds ENTRY, which is of a table of the layout L: "index=0 gid=fe80:... type=1". A member that is
 * 0 or empty is left out. */
void entry_text_put(GString *to, const TableLayout *l, const void *entry);
/* Reads it into RET, which has room for an entry. -EINVAL: it is none. */
int entry_text_parse(const TableLayout *l, const char *text, void *ret);
