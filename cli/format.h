/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values as people read them: by the type and unit of their row, never by its name. */

#include "object.h"

/* VALUE with its unit on one line: "400 Gb/s", "4096 bytes", "0x2c9", "yes", "none". NULL without
 * memory. */
char *format_value(const Attribute *a, const Value *v);

/* The value of row I of O, "unavailable (REASON)", or "none" if the object does not have the row.
 * NULL without memory. */
char *format_row(const Object *o, size_t i);

/* Names of the members of an entry of a table, NULL at the end; NULL if TYPE is no table. Keys in
 * JSON, in capitals the headings of columns. */
const char *const *format_table_columns(AttrType type);

/* An entry of a table, or any other value without a row, on one line: members separated by blanks,
 * empty ones left out. */
char *format_entry(const Value *v);
