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
/* Before entry I of the list. */
void json_next(FILE *f, size_t i);
/* Ends the list, and the output. */
void json_end(FILE *f);
/* Begins an output that is one line. */
void json_begin_line(FILE *f);

/* ", " if it is not the FIRST member, the key NAME and ": ". A name such as "gid_type" is written
 * GidType. */
void json_key(FILE *f, const char *name, bool first);
/* Begins an object about PORT, with its name and its object path. */
void json_begin_port(FILE *f, const Object *port);
/* The same of a port with this NAME and object path PATH. */
void json_begin_named(FILE *f, const char *name, const char *path);
/* TEXT in quotation marks. */
void json_text(FILE *f, const char *text);
/* V on one line. If TYPE is a table, its entries are objects with the names of the columns as keys.
 */
void json_value(FILE *f, AttrType type, const Value *v);
/* The value of row I of O, null if it has none. */
void json_row(FILE *f, const Object *o, size_t i);
/* All properties of O and its object path as an object. Each has a line of its own. */
void json_object(FILE *f, const Object *o);
