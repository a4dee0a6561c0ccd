/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A D-Bus value as a tree, which stays when its message is freed. The value can have any type,
 * because a newer rdmad may send properties of any type. Strings have no control characters, so
 * they can be printed on a terminal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "attribute.h"
#include "util.h"

typedef enum ValueType {
	VALUE_NONE, /* no value, or one that cannot be shown: a file descriptor */
	VALUE_BOOL,
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_DOUBLE,
	VALUE_TEXT,
	VALUE_ARRAY,
	VALUE_STRUCT,
	VALUE_DICT, /* items are key, value, key, value, ... */
} ValueType;

typedef struct Value {
	ValueType type;
	union {
		bool boolean;
		uint64_t number;
		int64_t integer;
		double real;
		char *text;
		struct {
			struct Value *items;
			size_t n;
		};
	};
} Value;

/* Frees what V holds and makes it VALUE_NONE. */
void value_done(Value *v);
#define _cleanup_value_ _cleanup_(value_done)

/* Reads the next complete value of M; of a variant, what is in it. *RET must be VALUE_NONE; after
 * an error it may hold a part of the value. */
int value_read(sd_bus_message *m, Value *ret);
/* The same of a variant with an array: the value is the number of its entries. */
int value_read_count(sd_bus_message *m, Value *ret);
/* Makes V, a list of TYPE, its text (lib/model/list.h); leaves V alone if TYPE is no list. -ENOMEM.
 */
int value_join(AttrType type, Value *v);
/* Adds a VALUE_NONE to the end of an array, structure or dictionary; NULL without memory. */
Value *value_append(Value *v);
/* Makes *RET, a VALUE_NONE, that of a row as the bus publishes it. -ENOMEM: *RET may hold a part.
 */
int value_take(const AttrValue *published, Value *ret);
/* Makes *RET, a VALUE_NONE, a copy of TEXT. -ENOMEM. */
int value_set_text(Value *ret, const char *text);
/* Copies V with all that it holds; the caller ends *RET with value_done(). -ENOMEM. */
int value_copy(const Value *v, Value *ret);
/* Whether both have the same type and the same contents. */
bool value_equal(const Value *a, const Value *b);
/* The value of KEY in a dictionary with text keys; NULL if it has none, or V is no
 * dictionary, or NULL. */
const Value *value_lookup(const Value *v, const char *key);
/* The same of the dictionary that is member AT of V; NULL too if V is no structure, or has no such
 * member. */
const Value *value_tail(const Value *v, size_t at, const char *key);
/* The text of V; "" if V is no text, or NULL. */
const char *value_text(const Value *v);
/* The number of V; 0 if V is none, or NULL. */
uint64_t value_number(const Value *v);
/* How many items V has; 0 if V is no array, or NULL. */
static inline size_t value_count(const Value *v)
{
	return v && v->type == VALUE_ARRAY ? v->n : 0;
}
/* A loop over the items E of V: VALUE_FOREACH(e, v) ... */
#define VALUE_FOREACH(e, v)                                                                        \
	for (const Value *e = value_count(v) ? (v)->items : NULL, *e##_end = e ? e + (v)->n : e;   \
	     e < e##_end; e++)
/* Whether V is true, and not NULL. */
bool value_is_true(const Value *v);
/* Whether an entry of V, the array of a table, has a member that TEXT, a pattern of fnmatch(3) or a
 * number, matches. */
bool value_has_member(const Value *v, const char *text);
