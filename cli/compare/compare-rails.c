/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-rails.h"

typedef struct Rails {
	const Kind *kind;
	Differences *found;
	const char **at; /* by member, and in it by place: the name of the switch, "" without one */
	const Object *
		*belong; /* by member: as Place.objects, of the machines that belong together */
	size_t *right;	 /* members without a deviation that have different switches */
	size_t n_right;
} Rails;

static void rails_done(Rails *r)
{
	free(r->at);
	free(r->belong);
	free(r->right);
}

static const char **at_of(const Rails *r, size_t member)
{
	return r->at + member * r->kind->n_places;
}

static bool is_at_same(const Rails *r, size_t a, size_t b)
{
	size_t p = 0;

	while (p < r->kind->n_places && streq(at_of(r, a)[p], at_of(r, b)[p]))
		p++;
	return p == r->kind->n_places;
}

/* Whether one of the ports of MEMBER is at the switch with this NAME; mostly that of place P is. */
static bool is_at(const Rails *r, size_t member, const char *name, size_t p)
{
	const char **at = at_of(r, member);
	size_t i = 0;

	if (streq(at[p], name))
		return true;
	while (i < r->kind->n_places && !streq(at[i], name))
		i++;
	return i < r->kind->n_places;
}

/* Whether MEMBER belongs to OTHER, in view of its port at place P. */
static bool belongs(const Rails *r, size_t member, size_t other, size_t p)
{
	const char **at = at_of(r, member);
	size_t all = 0, shared = 0;

	for (size_t i = 0; i < r->kind->n_places; i++) {
		if (!*at[i] || i == p)
			continue;
		all++;
		shared += is_at(r, other, at[i], i);
	}
	return 2 * shared > all;
}

static int compare_port(Rails *r, size_t member, size_t p)
{
	const Kind *k = r->kind;
	const Object *o = k->places[p].objects[member];
	Place together = {.objects = r->belong};
	Difference d = {.type = DIFFERENCE_VALUE,
			.kind = k,
			.place = p,
			.member = member,
			.row = &port_attributes[PORT_ATTR_neighbor],
			.object = o};

	for (size_t i = 0; i < k->n; i++) {
		bool here = *at_of(r, i)[p] && (i == member || belongs(r, member, i, p));

		r->belong[i] = here ? k->places[p].objects[i] : NULL;
		together.n += here;
	}
	d.usual = find_majority(k, &together, PORT_ATTR_neighbor, &d.agree, &d.all);
	if (!d.usual || same_value(o, d.usual, PORT_ATTR_neighbor))
		return 0;
	return differences_add(r->found, &d);
}

static int compare_member(Rails *r, size_t member)
{
	const size_t n_found = r->found->n;
	int ret = 0;

	for (size_t i = 0; i < r->n_right; i++)
		if (is_at_same(r, member, r->right[i]))
			return 0;
	for (size_t p = 0; ret == 0 && p < r->kind->n_places; p++)
		if (*at_of(r, member)[p])
			ret = compare_port(r, member, p);
	if (r->found->n == n_found)
		r->right[r->n_right++] = member;
	return ret;
}

static int find_in_kind(const Kind *k, Differences *d)
{
	_cleanup_(rails_done) Rails r = {
		.kind = k,
		.found = d,
		.at = calloc(k->n * k->n_places + 1, sizeof(*r.at)),
		.belong = calloc(k->n, sizeof(*r.belong)),
		.right = calloc(k->n, sizeof(*r.right)),
	};
	int ret = 0;

	if (!r.at || !r.belong || !r.right)
		return -ENOMEM;
	for (size_t i = 0; i < k->n; i++)
		for (size_t p = 0; p < k->n_places; p++) {
			const Place *place = &k->places[p];
			const Object *o = place->is_port ? place->objects[i] : NULL;

			at_of(&r, i)[p] = o ? object_text(o, PORT_ATTR_neighbor) : "";
		}
	for (size_t i = 0; ret == 0 && i < k->n; i++)
		ret = compare_member(&r, i);
	return ret;
}

ExitStatus rails_find(const Kinds *k, const IgnoredRows *ignored, Differences *d)
{
	if (ignored->port[PORT_ATTR_neighbor])
		return STATUS_OK;
	for (size_t i = 0; i < k->n; i++)
		if (find_in_kind(&k->items[i], d) < 0)
			return out_of_memory();
	return STATUS_OK;
}
