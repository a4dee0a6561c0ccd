/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other ends of the links. rdmad-neighbors is asked a little after a link has come up, then at
 * growing distances, because the other end may not have said anything yet, and in the end once in
 * NeighborIntervalSec=. On a machine without lldpd it is not asked.
 */

#include "bus-neighbors.h"
#include "decode.h"
#include "log.h"
#include "manager-private.h"
#include "name-index.h"

static bool is_up(const Port *p)
{
	return p->now.values.state == PORT_STATE_ACTIVE;
}

static bool is_asked_about(const Port *p)
{
	return p->answered && !p->now.values.stale && mask_has(&p->now.valid, PORT_ATTR_netdev);
}

/* P has the other end that S says, which may be none. */
static void take(Manager *m, Port *p, PortSnapshot *s)
{
	_cleanup_(port_change_done) PortChange change = {};

	if (!mask_has(&s->supplied, PORT_ATTR_neighbor_source) &&
	    !mask_has(&p->now.supplied, PORT_ATTR_neighbor_source))
		return;
	s->unmeasured = p->now.unmeasured;
	cache_apply_port(p, s, REASON_BIT(REASON_NEIGHBOR), realtime_now_usec(), &change);
	if (change.op != CACHE_UNCHANGED)
		manager_hand_on_port(m, &change);
}

/* Calls EACH with each port that has another end to ask for. */
static void each_port(Manager *m, void (*each)(Manager *m, Port *p, void *userdata), void *userdata)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t n = 0; n < m->cache.devices[i]->n_ports; n++)
			if (is_asked_about(m->cache.devices[i]->ports[n]))
				each(m, m->cache.devices[i]->ports[n], userdata);
}

static void begin_hearing(_unused_ Manager *m, Port *p, void *userdata)
{
	p->is_heard = false;
	*(bool *)userdata = true;
}

/* INTERFACE, which may be of no port, has the other end S. */
static void hear(Manager *m, const char *interface, const PortSnapshot *s)
{
	const NameOwner *o =
		name_index_find(m->cache.names, NAME_NETDEV, interface, strlen(interface));

	/* an other end is no name, so the list stays as it is */
	for (; o; o = o->next) {
		Port *p = o->owner;
		PortSnapshot own = *s;

		/* a bond and a VLAN are names of the port, too */
		if (p->is_heard || !is_asked_about(p) || !streq(interface, p->now.values.netdev))
			continue;
		p->is_heard = true;
		take(m, p, &own);
	}
}

/* Of a link that is down the last other end stays: somebody looks for the cable. */
static void lose(Manager *m, Port *p, _unused_ void *userdata)
{
	PortSnapshot nothing = {.parts = READ_NEIGHBOR};

	if (!p->is_heard && is_up(p))
		take(m, p, &nothing);
}

static void take_answer(Manager *m, sd_bus_message *answer)
{
	const char *interface;
	PortSnapshot s;
	int r;

	while ((r = bus_next_neighbor(answer, realtime_now_usec(), &interface, &s)) > 0)
		hear(m, interface, &s);
	if (r == 0)
		each_port(m, lose, NULL);
}

static int on_answer(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	Manager *m = userdata;
	int r = bus_take_neighbors(answer);

	m->neighbors_asked = sd_bus_slot_unref(m->neighbors_asked);
	if (r < 0)
		log_debug_errno(r, "Cannot learn what is at the other ends of links: %m");
	else
		take_answer(m, answer);
	return 0;
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	bool is_wanted = false;

	m->neighbors_usec = MIN(2 * m->neighbors_usec, m->config.neighbor_usec);
	manager_neighbors_start(m);
	if (m->neighbors_asked)
		return 0;
	each_port(m, begin_hearing, &is_wanted);
	if (access(m->lldpd_socket, F_OK) < 0)
		each_port(m, lose, NULL);
	else if (is_wanted && m->bus)
		(void)bus_ask_neighbors(m->bus, on_answer, m, &m->neighbors_asked);
	return 0;
}

void manager_neighbors_start(Manager *m)
{
	if (!m->lldpd_socket || !m->config.neighbor_usec)
		return;
	manager_start_timer(m, &m->neighbors, MAX(m->neighbors_usec, NEIGHBORS_SOON_USEC), on_time,
			    m, "neighbors");
}

void manager_neighbors_forget(Manager *m)
{
	m->neighbors_asked = sd_bus_slot_unref(m->neighbors_asked);
}
