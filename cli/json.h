/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JSON for scripts: D-Bus names as keys, numbers as numbers, null for what is unavailable.
 * (libsmartcols writes JSON too, but with all keys in lower case and without objects in arrays.)
 */

#include "object.h"

/* TEXT in quotation marks. */
void json_text(FILE *f, const char *text);
/* V on one line. If TYPE is a table, its entries are objects with the names of the columns as keys.
 */
void json_value(FILE *f, AttrType type, const Value *v);
/* The value of row I of O, null if it has none. */
void json_row(FILE *f, const Object *o, size_t i);
/* All properties of O and its object path as an object. Each has a line of its own, after INDENT
 * blanks. */
void json_object(FILE *f, const Object *o, int indent);
/* The ports or the devices of L as an array. */
void json_objects(FILE *f, const ObjectList *l, bool ports);
