/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Values of rows and entries of tables as words: what is written is read back as it was. A word has
 * no white space, no quotation mark, no star and no control byte: these, '%', '#' and '=' are
 * written as %XX.
 */

#include <glib.h>

#include "table.h"

/* Adds TEXT as a word; an empty one is "%". */
void word_put(GString *to, const char *text);
/* Reads such a word into RET, which has room for SIZE bytes. -EINVAL: it is none, or is too long.
 */
int word_parse(const char *word, char *ret, size_t size);

/* Adds NUMBER with at least DIGITS digits: in front of the others zeros. */
void number_put(GString *to, uint64_t number, unsigned int digits);

/* Adds the scalar row A of VALUES: an enumeration by its name, a number, "raw:N", or a word. */
void row_text_put(GString *to, const Attribute *a, const void *values);
/* Sets the row from TEXT. -EINVAL: it is no value of the row. */
int row_text_parse(const Attribute *a, void *values, const char *text);

/* Adds ENTRY, which is of a table of the layout L: "index=0 gid=fe80:... type=1". What is 0 or
 * empty is left out. */
void entry_text_put(GString *to, const TableLayout *l, const void *entry);
/* Reads it into RET, which has room for an entry. -EINVAL: it is none. */
int entry_text_parse(const TableLayout *l, const char *text, void *ret);
