/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JSON for scripts: D-Bus names as keys, numbers as numbers, null for what is unavailable.
 * (libsmartcols writes JSON too, but with all keys in lower case and without objects in arrays.)
 */

#include "object.h"

/* TEXT in quotation marks. */
void json_text(FILE *f, const char *text);
/* V on one line; entries of a table of TYPE as objects with the names of its columns as keys. */
void json_value(FILE *f, AttrType type, const Value *v);
/* The value of row I of O, null if it has none. */
void json_row(FILE *f, const Object *o, size_t i);
/* All properties of O as an object, each on a line of its own behind INDENT blanks; and the object
 * path. */
void json_object(FILE *f, const Object *o, int indent);
/* The objects of one kind as an array. */
void json_objects(FILE *f, const ObjectList *l, bool ports);
