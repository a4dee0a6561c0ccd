/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two cables that are exchanged. On a machine whose ports are each at a switch of their own, the
 * names of the switches mostly have the order of the ports; if all do but two, each of which is
 * where the other one would be, somebody has taken one cable for the other. */

#include "check-parts.h"
#include "checks.h"
#include "rail-numbers.h"

/* Ours: two that are exchanged are found by the order of the others, of which there are two at
 * least. */
#define PORTS_LEAST 4U

static void say(CheckRun *r, const RailNumber *one, const RailNumber *other, size_t n)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor];
	char name[96];

	r->port = one->port;
	r->device = object_list_device(r->objects, r->port);
	if (!check_is_expected(r, row))
		check_find(r, row,
			   "the port is at %s, and %s at %s: exchanged, they would have the order "
			   "of the other %zu ports",
			   object_text(one->port, PORT_ATTR_neighbor),
			   object_name(other->port, name),
			   object_text(other->port, PORT_ATTR_neighbor), n - 2);
	r->port = r->device = NULL;
}

void look_for_swapped_rails(CheckRun *r)
{
	_cleanup_(rail_numbers_done) RailNumbers rails = {};
	const RailNumber *wrong[2] = {};
	size_t n = 0, n_wrong = 0;

	/* if ports were named, only these are checked */
	if (r->n_names > 0)
		return;
	if (rail_numbers_find(r->objects, &rails) < 0) {
		r->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; rails.by_neighbor && i < rails.n; i++) {
		const RailNumber *rail = &rails.items[i];

		n += !rail->is_another;
		if (rail->is_another || rail->number == rail->order)
			continue;
		if (n_wrong == ARRAY_SIZE(wrong))
			return;
		wrong[n_wrong++] = rail;
	}
	if (n < PORTS_LEAST || n_wrong < ARRAY_SIZE(wrong) || wrong[0]->number != wrong[1]->order ||
	    wrong[1]->number != wrong[0]->order)
		return;
	say(r, wrong[0], wrong[1], n);
}
