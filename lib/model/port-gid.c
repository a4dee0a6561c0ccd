/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port.h"

GidChoice gid_choice_of(const GidEntry *g, const char *port_netdev, const char *port_master)
{
	GidChoice c = {.type = g->type, .index = g->index};

	memcpy(c.gid, g->gid, sizeof(c.gid));
	c.where = gid_where(g->netdev, g->vlan_id, g->namespace, port_netdev, port_master);
	return c;
}

static GidChoice choice_of(const PortValues *v, const GidEntry *g)
{
	return gid_choice_of(g, TEXT_OF(v, netdev), TEXT_OF(v, netdev_master));
}

bool port_prefers_gid(const PortValues *v, const GidEntry *a, const GidEntry *b)
{
	const GidChoice x = choice_of(v, a), y = choice_of(v, b);

	return gid_compare(&x, &y) < 0;
}

const GidEntry *port_best_gid(const PortSnapshot *s)
{
	const GidEntry *best = NULL;
	GidChoice best_choice;

	TABLE_FOREACH(GidEntry, g, s->tables[PORT_TABLE_GIDS]) {
		GidChoice choice = choice_of(&s->values, g);

		if (g->namespace != GID_NAMESPACE_OWN ||
		    (best && gid_compare(&choice, &best_choice) >= 0))
			continue;
		best = g;
		best_choice = choice;
	}
	return best;
}
