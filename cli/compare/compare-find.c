/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-find.h"

#include "compare-rows.h"

void differences_done(Differences *d)
{
	free(d->items);
	*d = (Differences){};
}

/* The place that is compared, and the differences found there. */
typedef struct Look {
	const Kind *kind;
	const IgnoredRows *ignored;
	size_t place;
	Differences *found;
} Look;

int differences_add(Differences *d, const Difference *new)
{
	if (!array_grow(d->items, d->n))
		return -ENOMEM;
	d->items[d->n++] = *new;
	return 0;
}

static int add(const Look *l, Difference d)
{
	d.kind = l->kind;
	d.place = l->place;
	return differences_add(l->found, &d);
}

bool same_value(const Object *a, const Object *b, size_t row)
{
	const Value *x = object_value(a, row), *y = object_value(b, row);

	return x && y ? value_equal(x, y) : x == y;
}

/* Whether O is there and has the property, with a value or without. */
static bool votes(const Object *o, size_t row)
{
	return o && object_has(o, row);
}

const Object *find_majority(const Kind *k, const Place *p, size_t row, size_t *ret_agree,
			    size_t *ret_all)
{
	const Object *usual = NULL;
	size_t lead = 0, agree = 0, all = 0;

	/* each other one cancels one: what more than half have is left */
	for (size_t i = 0; i < k->n; i++) {
		if (!votes(p->objects[i], row))
			continue;
		if (lead == 0)
			usual = p->objects[i];
		lead = same_value(usual, p->objects[i], row) ? lead + 1 : lead - 1;
	}
	for (size_t i = 0; i < k->n; i++) {
		if (!votes(p->objects[i], row))
			continue;
		all++;
		agree += same_value(usual, p->objects[i], row);
	}
	/* one port in another mode has properties that the others do not have at all */
	*ret_agree = agree;
	*ret_all = 2 * all > p->n ? all : 0;
	return 2 * agree > *ret_all && *ret_all > 0 ? usual : NULL;
}

/* Whether two machines differ, without a majority; *RET_ABSENT: one of them has no value. */
static bool differs_somewhere(const Look *l, size_t row, bool *ret_absent)
{
	const Place *p = &l->kind->places[l->place];
	const Object *first = NULL;
	bool differs = false;

	*ret_absent = false;
	for (size_t i = 0; i < l->kind->n; i++) {
		const Object *o = p->objects[i];

		if (!votes(o, row))
			continue;
		first = first ? first : o;
		differs |= !same_value(first, o, row);
		*ret_absent |= !object_value(o, row);
	}
	return differs;
}

static int compare_row(const Look *l, const Attribute *a, size_t row)
{
	const Place *p = &l->kind->places[l->place];
	Difference d = {.type = DIFFERENCE_VALUE, .row = a};
	int r = 0;

	d.usual = find_majority(l->kind, p, row, &d.agree, &d.all);
	if (!d.usual) {
		d.type = DIFFERENCE_UNDECIDED;
		d.member = NO_MEMBER;
		return d.all > 0 && differs_somewhere(l, row, &d.is_absent) ? add(l, d) : 0;
	}
	for (size_t i = 0; r == 0 && d.agree < d.all && i < l->kind->n; i++) {
		const Object *o = p->objects[i];

		if (!votes(o, row) || same_value(o, d.usual, row))
			continue;
		d.member = i;
		d.object = o;
		d.is_absent = !object_value(o, row) || !object_value(d.usual, row);
		r = add(l, d);
	}
	return r;
}

/* Whether machines have what is at this place, as most do. */
static int compare_presence(const Look *l)
{
	const Kind *k = l->kind;
	const Place *p = &k->places[l->place];
	bool common = place_is_common(k, p);
	Difference d = {.type = common ? DIFFERENCE_MISSING : DIFFERENCE_UNEXPECTED,
			.agree = common ? p->n : k->n - p->n,
			.all = k->n};
	int r = 0;

	if (2 * p->n == k->n) {
		d.type = DIFFERENCE_UNDECIDED;
		d.member = NO_MEMBER;
		return add(l, d);
	}
	for (size_t i = 0; r == 0 && i < k->n; i++) {
		if (common == !!p->objects[i])
			continue;
		d.member = i;
		d.object = p->objects[i];
		r = add(l, d);
	}
	return r;
}

static int compare_place(const Look *l)
{
	const Kind *k = l->kind;
	const Place *p = &k->places[l->place];
	const Attribute *rows = p->is_port ? port_attributes : device_attributes;
	const bool *ignored = p->is_port ? l->ignored->port : l->ignored->device;
	size_t n = p->is_port ? (size_t)_PORT_ATTR_MAX : (size_t)_DEVICE_ATTR_MAX;
	int r = compare_presence(l);

	/* of what only a few machines have, nothing is expected */
	for (size_t i = 0; r == 0 && 2 * p->n >= k->n && i < n; i++) {
		/* the name is compared of what was found to correspond */
		bool name = rows == device_attributes && i == DEVICE_ATTR_name;

		if (!ignored[i] && (name || row_is_compared(&rows[i])))
			r = compare_row(l, &rows[i], i);
	}
	return r;
}

ExitStatus differences_find(const Kinds *k, const IgnoredRows *ignored, Differences *ret)
{
	_cleanup_differences_ Differences d = {};
	Look l = {.ignored = ignored, .found = &d};
	int r = 0;

	for (size_t i = 0; i < k->n; i++) {
		l.kind = &k->items[i];
		for (l.place = 0; r == 0 && l.place < l.kind->n_places; l.place++)
			r = compare_place(&l);
	}
	if (r < 0)
		return out_of_memory();
	*ret = d;
	d = (Differences){};
	return STATUS_OK;
}
