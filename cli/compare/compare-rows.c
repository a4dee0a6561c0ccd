/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-rows.h"

#include "format.h"
#include "table-columns.h"

/* The first member of an entry that is compared; SIZE_MAX if there is none. */
static size_t find_compared_member(AttrType type)
{
	const TableLayout *l = table_layout(type);
	size_t published = 0;

	for (size_t i = 0; l && i < l->n_columns; i++) {
		if (!l->columns[i].is_published)
			continue;
		if (l->columns[i].unit != UNIT_ID)
			return published;
		published++;
	}
	return SIZE_MAX;
}

static bool class_is_compared(AttrClass class)
{
	switch (class) {
	case CLASS_IDENTITY:
	case CLASS_GENERATION:
	case CLASS_COUNTER:
	case _CLASS_MAX:
		return false;
	case CLASS_FIXED:
	case CLASS_CONST:
	case CLASS_DYNAMIC:
		break;
	}
	return true;
}

bool row_is_compared(const Attribute *a)
{
	if (a->interface == INTERFACE_RAW || a->type == ATTR_UNAVAILABLE ||
	    !unit_rows[a->unit].is_compared || !class_is_compared(a->class))
		return false;
	if (a->source == SOURCE_CORE)
		return a->type == ATTR_BOOL;
	return !table_layout(a->type) || find_compared_member(a->type) != SIZE_MAX;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(value_text(a), value_text(b));
}

/* Sorts the array V of texts and leaves each once. */
static void make_set(Value *v)
{
	size_t n = 0;

	sort(v->items, v->n, sizeof(*v->items), compare_texts);
	for (size_t i = 0; i < v->n; i++)
		if (n > 0 && value_equal(&v->items[n - 1], &v->items[i]))
			value_done(&v->items[i]);
		else
			v->items[n++] = v->items[i];
	v->n = n;
}

/* Replaces each entry of the table V by the text of one member. */
static int replace_entries(AttrType type, Value *v)
{
	size_t member = find_compared_member(type);

	for (size_t i = 0; i < v->n; i++) {
		const Value *m = format_find_member(type, member, &v->items[i]);
		char *text = m ? format_member(type, member, m) : strdup("");

		if (!text)
			return -ENOMEM;
		value_done(&v->items[i]);
		v->items[i] = (Value){.type = VALUE_TEXT, .text = text};
	}
	return 0;
}

int object_normalize(Object *o)
{
	for (size_t i = 0; i < o->n_rows; i++) {
		Value *v = &o->values[i];
		int r = 0;

		if (v->type != VALUE_ARRAY || !row_is_compared(&o->rows[i]))
			continue;
		if (table_layout(o->rows[i].type))
			r = replace_entries(o->rows[i].type, v);
		if (r < 0)
			return r;
		if (v->n > 0)
			make_set(v);
	}
	return 0;
}
