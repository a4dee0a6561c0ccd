/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-print.h"
#include "json.h"

static const char *const problems[] = {
	[DIFFERENCE_MISSING] = "missing",
	[DIFFERENCE_UNEXPECTED] = "unexpected",
	[DIFFERENCE_VALUE] = "value",
	[DIFFERENCE_UNDECIDED] = "undecided",
};

/* The device or port, the attribute, and its value on the machine and on most machines. */
static void put_members(FILE *f, const Difference *d)
{
	json_add_text(f, difference_thing(d), d->kind->places[d->place].name);
	if (!d->row)
		return;
	json_add_text(f, "property", d->row->name);
	if (!d->object || !d->usual)
		return;
	json_add_row(f, "value", d->object, (size_t)(d->row - d->object->rows));
	json_add_row(f, "expected", d->usual, (size_t)(d->row - d->usual->rows));
}

/* Puts the differences that come from difference I. */
static void put_rest(FILE *f, const Differences *d, size_t i)
{
	json_open_list(f, "also");
	for (size_t k = 0; k < d->n; k++) {
		if (d->items[k].cause != i || k == i)
			continue;
		json_entry(f);
		json_open(f);
		put_members(f, &d->items[k]);
		json_close(f);
	}
	json_close_list(f);
}

static void put_deviation(FILE *f, const Differences *list, size_t i)
{
	const Difference *d = &list->items[i];

	json_open(f);
	json_add_text(f, "host", d->kind->members[d->member]->name);
	json_add_text(f, "group", d->kind->name);
	json_add_text(f, "problem", problems[d->type]);
	put_members(f, d);
	json_add_number(f, "agree", d->agree);
	json_add_number(f, "of", d->all);
	put_rest(f, list, i);
	json_close(f);
}

/* Puts the value of each machine for an undecided attribute, or the machines that have the thing.
 */
static void put_votes(FILE *f, const Difference *d)
{
	const Place *p = &d->kind->places[d->place];

	json_open_list(f, "votes");
	for (size_t i = 0; i < d->kind->n; i++) {
		const Object *o = p->objects[i];
		size_t row = d->row && o ? (size_t)(d->row - o->rows) : 0;

		if (!o || (d->row && !object_has(o, row)))
			continue;
		json_entry(f);
		json_open(f);
		json_add_text(f, "host", d->kind->members[i]->name);
		if (d->row)
			json_add_row(f, "value", o, row);
		json_close(f);
	}
	json_close_list(f);
}

static void put_undecided(FILE *f, const Differences *list, size_t i)
{
	const Difference *d = &list->items[i];

	json_open(f);
	json_add_text(f, "group", d->kind->name);
	put_members(f, d);
	put_votes(f, d);
	put_rest(f, list, i);
	json_close(f);
}

static void put_group(FILE *f, const Kind *k)
{
	json_open(f);
	json_add_text(f, "group", k->name);
	json_add_text(f, "hardware", k->hardware);
	json_open_list(f, "hosts");
	for (size_t i = 0; i < k->n; i++) {
		json_entry(f);
		json_text(f, k->members[i]->name);
	}
	json_close_list(f);
	json_close(f);
}

/* The deviations, or what is undecided. */
static void put_differences(FILE *f, const Differences *d, bool undecided)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].cause != i ||
		    (d->items[i].type == DIFFERENCE_UNDECIDED) != undecided)
			continue;
		json_next(f);
		if (undecided)
			put_undecided(f, d, i);
		else
			put_deviation(f, d, i);
	}
}

ExitStatus compare_print_json(Context *c, const Machines *m, const Kinds *k, const Differences *d)
{
	FILE *f = c->out;

	json_begin(f, "Deviations");
	put_differences(f, d, false);
	json_next_list(f, "Undecided");
	put_differences(f, d, true);
	json_next_list(f, "Groups");
	for (size_t i = 0; i < k->n; i++) {
		json_next(f);
		put_group(f, &k->items[i]);
	}
	json_next_list(f, "NoAnswer");
	for (size_t i = 0; i < m->n; i++) {
		if (!m->items[i].reason)
			continue;
		json_next(f);
		json_open(f);
		json_add_text(f, "host", m->items[i].name);
		json_add_text(f, "reason", m->items[i].reason);
		json_close(f);
	}
	json_end(f);
	return STATUS_OK;
}
