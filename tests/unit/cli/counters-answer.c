/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters-answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static Value *append_item(Value *v, ValueType type)
{
	Value *item = value_append(v);

	assert_non_null(item);
	item->type = type;
	return item;
}

static void append_text(Value *v, const char *text)
{
	append_item(v, VALUE_TEXT)->text = strdup(text);
}

void answer_add_number(Value *v, uint64_t n)
{
	append_item(v, VALUE_UNSIGNED)->number = n;
}

void answer_add_port(Samples *all, const char *path, uint64_t usec, const char *why)
{
	Value *set, *port, *tail;

	all->sets.type = all->ports.type = VALUE_ARRAY;
	set = append_item(&all->sets, VALUE_STRUCT);
	for (size_t i = 0; i < 3; i++)
		append_item(set, VALUE_ARRAY);
	port = append_item(&all->ports, VALUE_STRUCT);
	append_text(port, path);
	answer_add_number(port, all->sets.n - 1);
	append_item(port, VALUE_ARRAY);
	answer_add_number(port, why ? 0 : NOW_USEC + usec);
	answer_add_number(port, why ? 0 : usec);
	tail = append_item(port, VALUE_DICT);
	if (why) {
		append_text(tail, "ErrorMessage");
		append_text(tail, why);
	}
}

/* The item UNDER of TAIL, which is made the first time. */
static Value *item_under(Value *tail, const char *under, ValueType type)
{
	for (size_t i = 0; i < tail->n; i += 2)
		if (streq(tail->items[i].text, under))
			return &tail->items[i + 1];
	append_text(tail, under);
	return append_item(tail, type);
}

void answer_add_counter(Samples *all, const char *name, uint64_t n, const char *condition)
{
	Value *set = &all->sets.items[all->sets.n - 1], *port = &all->ports.items[all->ports.n - 1];
	bool missing = streq(condition, "missing");
	Value *which;

	if (missing || streq(condition, "saturated")) {
		which = item_under(&port->items[5], missing ? "Missing" : "Saturated",
				   missing ? VALUE_DICT : VALUE_ARRAY);
		answer_add_number(which, port->items[2].n);
		if (missing)
			append_text(which, "no-value");
	}
	append_text(&set->items[0], "counters");
	append_text(&set->items[1], name);
	append_text(&set->items[2], "events");
	answer_add_number(&port->items[2], n);
}
