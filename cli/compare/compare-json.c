/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-print.h"
#include "json.h"

static const char *const problems[] = {
	[DIFFERENCE_MISSING] = "missing",
	[DIFFERENCE_UNEXPECTED] = "unexpected",
	[DIFFERENCE_VALUE] = "value",
	[DIFFERENCE_UNDECIDED] = "undecided",
};

static void put_text(FILE *f, const char *key, const char *text, bool first)
{
	json_key(f, key, first);
	json_text(f, text);
}

static void put_number(FILE *f, const char *key, size_t n)
{
	json_key(f, key, false);
	fprintf(f, "%zu", n);
}

/* The device or port, the attribute, and its value on the machine and on most machines. */
static void put_members(FILE *f, const Difference *d, bool first)
{
	put_text(f, difference_thing(d), d->kind->places[d->place].name, first);
	if (!d->row)
		return;
	put_text(f, "property", d->row->name, false);
	if (!d->object || !d->usual)
		return;
	json_key(f, "value", false);
	json_row(f, d->object, (size_t)(d->row - d->object->rows));
	json_key(f, "expected", false);
	json_row(f, d->usual, (size_t)(d->row - d->usual->rows));
}

/* Puts the differences that come from difference I. */
static void put_rest(FILE *f, const Differences *d, size_t i)
{
	size_t n = 0;

	json_key(f, "also", false);
	fputc('[', f);
	for (size_t k = 0; k < d->n; k++) {
		if (d->items[k].cause != i || k == i)
			continue;
		fputs(n++ > 0 ? ", {" : "{", f);
		put_members(f, &d->items[k], true);
		fputc('}', f);
	}
	fputc(']', f);
}

static void put_deviation(FILE *f, const Differences *list, size_t i)
{
	const Difference *d = &list->items[i];

	fputc('{', f);
	put_text(f, "host", d->kind->members[d->member]->name, true);
	put_text(f, "group", d->kind->name, false);
	put_text(f, "problem", problems[d->type], false);
	put_members(f, d, false);
	put_number(f, "agree", d->agree);
	put_number(f, "of", d->all);
	put_rest(f, list, i);
	fputc('}', f);
}

/* Puts the value of each machine for an undecided attribute, or the machines that have the thing.
 */
static void put_votes(FILE *f, const Difference *d)
{
	const Place *p = &d->kind->places[d->place];
	size_t n = 0;

	json_key(f, "votes", false);
	fputc('[', f);
	for (size_t i = 0; i < d->kind->n; i++) {
		const Object *o = p->objects[i];
		size_t row = d->row && o ? (size_t)(d->row - o->rows) : 0;

		if (!o || (d->row && !object_has(o, row)))
			continue;
		fputs(n++ > 0 ? ", {" : "{", f);
		put_text(f, "host", d->kind->members[i]->name, true);
		if (d->row) {
			json_key(f, "value", false);
			json_row(f, o, row);
		}
		fputc('}', f);
	}
	fputc(']', f);
}

static void put_undecided(FILE *f, const Differences *list, size_t i)
{
	const Difference *d = &list->items[i];

	fputc('{', f);
	put_text(f, "group", d->kind->name, true);
	put_members(f, d, false);
	put_votes(f, d);
	put_rest(f, list, i);
	fputc('}', f);
}

static void put_group(FILE *f, const Kind *k)
{
	fputc('{', f);
	put_text(f, "group", k->name, true);
	put_text(f, "hardware", k->hardware, false);
	json_key(f, "hosts", false);
	fputc('[', f);
	for (size_t i = 0; i < k->n; i++) {
		if (i > 0)
			fputs(", ", f);
		json_text(f, k->members[i]->name);
	}
	fputs("]}", f);
}

/* The deviations, or what is undecided. */
static void put_differences(FILE *f, const Differences *d, bool undecided)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].cause != i ||
		    (d->items[i].type == DIFFERENCE_UNDECIDED) != undecided)
			continue;
		json_next(f, n++);
		if (undecided)
			put_undecided(f, d, i);
		else
			put_deviation(f, d, i);
	}
}

ExitStatus compare_print_json(Context *c, const Machines *m, const Kinds *k, const Differences *d)
{
	FILE *f = c->out;
	size_t n = 0;

	json_begin(f, "Deviations");
	put_differences(f, d, false);
	json_next_list(f, "Undecided");
	put_differences(f, d, true);
	json_next_list(f, "Groups");
	for (size_t i = 0; i < k->n; i++) {
		json_next(f, i);
		put_group(f, &k->items[i]);
	}
	json_next_list(f, "NoAnswer");
	for (size_t i = 0; i < m->n; i++) {
		if (!m->items[i].reason)
			continue;
		json_next(f, n++);
		fputc('{', f);
		put_text(f, "host", m->items[i].name, true);
		put_text(f, "reason", m->items[i].reason, false);
		fputc('}', f);
	}
	json_end(f);
	return STATUS_OK;
}
