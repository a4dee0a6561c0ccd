/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values as people read them. How a value is printed follows from the type and the unit of its row,
 * never from its name. */

#include "object.h"

/* VALUE with its unit on one line: "400 Gb/s", "4096 bytes", "0x2c9", "yes", "none". NULL without
 * memory. */
char *format_value(const Attribute *a, const Value *v);
/* A time of CLOCK_REALTIME in us for people, to be freed; NULL without memory. */
char *format_time(uint64_t usec);

/* The value of row I of O, "unavailable (REASON)", or "none" if the object does not have the row.
 * NULL without memory. */
char *format_row(const Object *o, size_t i);

/* The text of row I of O; "-" if it has none. */
const char *format_text(const Object *o, size_t i);

/* The logical state of PORT. In brackets follows that it is stale, or the physical state if it is
 * another one than a link that is up has: "active", "down (polling)". NULL without memory. */
char *format_state(const Object *port);

/* The names of the members of an entry of a table, with NULL at the end; NULL if TYPE is no table.
 * They are the keys in JSON and, in capitals, the headings of the columns. */
const char *const *format_table_columns(AttrType type);

/* Member I of these in ENTRY, an entry of a table of TYPE, wherever it is in the entry; NULL if it
 * is not there. */
const Value *format_find_member(AttrType type, size_t i, const Value *entry);
/* The text of the member called COLUMN of ENTRY; "" if it has none. */
const char *format_member_text(AttrType type, const char *column, const Value *entry);
/* Its number; 0 if it has none. */
uint64_t format_member_number(AttrType type, const char *column, const Value *entry);

/* Whether member I is one that most entries lack: an entry has it by name. */
bool format_is_named_member(AttrType type, size_t i);

/* The value V of member I of an entry of a table of TYPE, with the unit of its column. NULL without
 * memory. */
char *format_member(AttrType type, size_t i, const Value *v);

/* An entry of a table, or any other value that has no row, on one line. Members are separated by
 * blanks. Empty ones are left out, and those that an entry has by name. NULL without memory. */
char *format_entry(const Value *v);
