/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JSON for scripts. The output of a command is one object with the number of this format,
 * "Version", and one or more lists, such as "Ports"; monitor and counters --watch print such an
 * object on each line. Keys are written as the names of properties are on D-Bus, numbers are
 * numbers, and an unavailable value is null. Only the fields of "query" have the names that they
 * have in C. Keys stay; more of them may be added. (libsmartcols writes JSON too, but with all keys
 * in lower case and without objects in arrays.)
 */

#include "object.h"

/* Begins the output, with the list called KEY. */
void json_begin(FILE *f, const char *key);
/* Ends that list, and begins the next. */
void json_next_list(FILE *f, const char *key);
/* Before each entry of the list. */
void json_next(FILE *f);
/* Ends the list, and the output. */
void json_end(FILE *f);
/* Begins an output that is one line, an object. */
void json_begin_line(FILE *f);

/* The commas between members and between entries come by themselves. So the brackets have to be
 * written by these functions, and one output at a time. */

/* Begins and ends an object. */
void json_open(FILE *f);
void json_close(FILE *f);
/* Begins the member KEY, a list, and ends it. */
void json_open_list(FILE *f, const char *key);
void json_close_list(FILE *f);
/* Before each entry of such a list: the entries are on one line, or each has one of its own. */
void json_entry(FILE *f);
void json_entry_line(FILE *f);
/* Begins an object about PORT, with its name and its object path. */
void json_open_port(FILE *f, const Object *port);
/* The same of a port with this NAME and object path PATH. */
void json_open_named(FILE *f, const char *name, const char *path);

/* The key of a member, whose value follows. A name such as "gid_type" is written GidType. */
void json_key(FILE *f, const char *name);
/* A member with its value. TEXT and V may be NULL: null. */
void json_add_text(FILE *f, const char *key, const char *text);
void json_add_number(FILE *f, const char *key, uint64_t n);
/* The same of a number that is 0 if it is not known: null. */
void json_add_known(FILE *f, const char *key, uint64_t n);
void json_add_bool(FILE *f, const char *key, bool b);
void json_add_value(FILE *f, const char *key, AttrType type, const Value *v);
/* The value of row I of O, null if it has none. */
void json_add_row(FILE *f, const char *key, const Object *o, size_t i);

/* TEXT in quotation marks. */
void json_text(FILE *f, const char *text);
/* V on one line. If TYPE is a table, its entries are objects with the names of the columns as keys.
 */
void json_value(FILE *f, AttrType type, const Value *v);
/* All properties of O and its object path as an object. Each has a line of its own. */
void json_object(FILE *f, const Object *o);
