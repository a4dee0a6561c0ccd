/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other ends of the links. rdmad-neighbors and rdmad-networkd are asked a little after a link
 * has come up, then at growing distances, because the other end may not have said anything yet, and
 * in the end once in NeighborIntervalSec=. NetworkManager, which answers with all that it has, and
 * rdmad-fabric, to which the other ends answer at once, are asked the first time and the last times
 * only. Who is not on the machine is not asked.
 */

#include "decode.h"
#include "log.h"
#include "lookup.h"
#include "manager-private.h"
#include "name-index.h"

/* The code of the physical state of a link over which packets go. */
#define PHYS_STATE_LINK_UP 5U

static bool is_up(const Port *p)
{
	return p->now.values.state == PORT_STATE_ACTIVE;
}

/* A device that the configuration keeps closed sends no packet either. */
static bool is_asked_about(NeighborSource source, const Port *p)
{
	const PortValues *v = &p->now.values;

	if (source != NEIGHBORS_OF_FABRIC)
		return manager_has_interface(p);
	return p->answered && !v->stale && v->protocol == PROTOCOL_INFINIBAND &&
	       v->phys_state == PHYS_STATE_LINK_UP && p->now.open_error != -ECANCELED;
}

static bool is_known(const PortSnapshot *s)
{
	return mask_has(&s->supplied, PORT_ATTR_neighbor_source);
}

static uint8_t source_bit(const NeighborAsk *ask)
{
	return (uint8_t)(1U << ask->source);
}

/* P has the other end that S says, which may be none. */
static void take(Manager *m, Port *p, PortSnapshot *s)
{
	_cleanup_(port_change_done) PortChange change = {};

	/* of a link that is down the last other end stays: somebody looks for the cable */
	if (!is_known(s) && (is_known(&p->now) ? !is_up(p) : s->no_neighbor == p->now.no_neighbor))
		return;
	s->unmeasured = p->now.unmeasured;
	cache_apply_port(p, s, REASON_BIT(REASON_NEIGHBOR), realtime_now_usec(), &change);
	if (change.op != CACHE_UNCHANGED)
		manager_hand_on_port(m, &change);
}

/* Calls EACH with each port of which ASK has to ask for the other end. */
static void each_port(NeighborAsk *ask, void (*each)(NeighborAsk *ask, Port *p, void *userdata),
		      void *userdata)
{
	const Cache *c = &ask->manager->cache;

	for (size_t i = 0; i < c->n_devices; i++)
		for (uint32_t n = 0; n < c->devices[i]->n_ports; n++)
			if (is_asked_about(ask->source, c->devices[i]->ports[n]))
				each(ask, c->devices[i]->ports[n], userdata);
}

static void begin_hearing(NeighborAsk *ask, Port *p, void *userdata)
{
	p->heard &= (uint8_t)~source_bit(ask);
	(void)neighbor_ports_add(userdata, p);
}

static void hear_port(NeighborAsk *ask, Port *p, const PortSnapshot *other_end)
{
	const PortValues *old = &p->now.values;
	PortSnapshot s = *other_end;

	if (p->heard & source_bit(ask) || !is_asked_about(ask->source, p) ||
	    bus_neighbor_source(&p->now) < ask->source)
		return;
	p->heard |= source_bit(ask);
	/* Only lldpd says since when the other end is there: since it was found there. */
	if (ask->source != NEIGHBORS_OF_LLDPD && old->neighbor_guid == s.values.neighbor_guid &&
	    streq(TEXT_OF(old, neighbor_chassis), TEXT_OF(&s.values, neighbor_chassis)) &&
	    streq(TEXT_OF(old, neighbor_port), TEXT_OF(&s.values, neighbor_port)))
		s.values.neighbor_since = old->neighbor_since;
	texts_hold(s.values.texts);
	take(ask->manager, p, &s);
}

/* INTERFACE, which may be of no port, has the other end S. */
static void hear_interface(NeighborAsk *ask, const char *interface, const PortSnapshot *s)
{
	const NameOwner *o = name_index_find(ask->manager->cache.names, NAME_NETDEV, interface,
					     strlen(interface));

	/* an other end is no name, so the list stays as it is */
	for (; o; o = o->next) {
		Port *p = o->owner;

		/* a bond and a VLAN are names of the port, too */
		if (streq(interface, TEXT_OF(&p->now.values, netdev)))
			hear_port(ask, p, s);
	}
}

/* PORT, which may be none, has the other end S. */
static void hear(NeighborAsk *ask, const NeighborPort *port, const PortSnapshot *s)
{
	Port *p;

	if (ask->source != NEIGHBORS_OF_FABRIC) {
		hear_interface(ask, port->name, s);
		return;
	}
	p = device_port(lookup_device(&ask->manager->cache, port->name), port->number);
	if (p)
		hear_port(ask, p, s);
}

static void lose(NeighborAsk *ask, Port *p, _unused_ void *userdata)
{
	PortSnapshot nothing = {.parts = READ_NEIGHBOR};

	/* what another one has told stays */
	if (!(p->heard & source_bit(ask)) &&
	    (!is_known(&p->now) || bus_neighbor_source(&p->now) == ask->source))
		take(ask->manager, p, &nothing);
}

static void take_answer(NeighborAsk *ask, sd_bus_message *answer)
{
	NeighborPort port;
	PortSnapshot s;
	int r;

	while ((r = bus_next_neighbor(ask->source, answer, realtime_now_usec(), &port, &s)) > 0) {
		hear(ask, &port, &s);
		port_snapshot_done(&s);
	}
	if (r == 0)
		each_port(ask, lose, NULL);
}

static int on_answer(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	NeighborAsk *ask = userdata;
	int r = bus_take_neighbors(ask->source, answer);

	ask->slot = sd_bus_slot_unref(ask->slot);
	if (sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		each_port(ask, lose, NULL);
	else if (r < 0)
		log_debug_errno(r, "Cannot learn what is at the other ends of links: %m");
	else
		take_answer(ask, answer);
	return 0;
}

static void begin_ask(NeighborAsk *ask)
{
	Manager *m = ask->manager;
	NeighborPorts ports = {};

	if (!ask->path || ask->slot)
		return;
	each_port(ask, begin_hearing, &ports);
	if (access(ask->path, F_OK) < 0)
		each_port(ask, lose, NULL);
	else if (ports.n > 0 && m->bus)
		(void)bus_ask_neighbors(m->bus, ask->source, &ports, on_answer, ask, &ask->slot);
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	bool is_first = m->neighbors_usec <= NEIGHBORS_SOON_USEC;

	m->neighbors_usec =
		MIN(2 * MAX(m->neighbors_usec, NEIGHBORS_SOON_USEC), m->config.neighbor_usec);
	manager_neighbors_start(m);
	for (size_t i = 0; i < ARRAY_SIZE(m->neighbor_asks); i++)
		if (i <= NEIGHBORS_OF_NETWORKD || is_first ||
		    m->neighbors_usec == m->config.neighbor_usec)
			begin_ask(&m->neighbor_asks[i]);
	return 0;
}

void manager_neighbors_start(Manager *m)
{
	bool asks = false;

	for (size_t i = 0; i < ARRAY_SIZE(m->neighbor_asks); i++)
		asks |= m->neighbor_asks[i].path != NULL;
	if (asks && m->config.neighbor_usec)
		manager_start_timer(m, &m->neighbors, MAX(m->neighbors_usec, NEIGHBORS_SOON_USEC),
				    on_time, m, "neighbors");
}

void manager_neighbors_forget(Manager *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->neighbor_asks); i++)
		m->neighbor_asks[i].slot = sd_bus_slot_unref(m->neighbor_asks[i].slot);
}
