/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of the ports at the other ends of links of InfiniBand. rdmad-fabric is asked for
 * them when a program calls, with one question at a time for all ports that are wanted by then.
 */

#include "decode.h"
#include "lookup.h"
#include "manager-private.h"

static void fail_because(Reading *r, const Unavailable *why)
{
	r->why = why;
	manager_fail_reading(r, -EIO, why->text);
}

static void refuse(Reading *r, UnavailableCode code)
{
	fail_because(r, &unavailable_rows[code]);
}

/* Calls EACH with the readings that are at STEP. */
static void each_at(Manager *m, ReadingStep step, void (*each)(Reading *r, void *userdata),
		    void *userdata)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t n = 0; n < m->cache.devices[i]->n_ports; n++) {
			Reading *r = reading_of(m->cache.devices[i]->ports[n], QUERY_FAR);

			if (r && r->step == step)
				each(r, userdata);
		}
}

static void add(Reading *r, void *userdata)
{
	if (neighbor_ports_add(userdata, r->port))
		r->step = READING_COMPLETING;
}

/* ERROR: there is no answer, or it says nothing of this port. */
static void fail(Reading *r, void *userdata)
{
	const int *error = userdata;

	if (*error == -ETIMEDOUT)
		manager_fail_reading(r, *error, "rdmad-fabric does not answer in time");
	else
		refuse(r, UNAVAILABLE_NOT_ASKED);
}

static void take(Manager *m, const NeighborPort *port, Table *counters, const Unavailable *why)
{
	const Port *p = device_port(lookup_device(&m->cache, port->name), port->number);
	Reading *r = reading_of(p, QUERY_FAR);

	if (!r || r->step != READING_COMPLETING) {
		table_free(counters);
		return;
	}
	if (!counters) {
		fail_because(r, why ? why : &unavailable_rows[UNAVAILABLE_NOT_ASKED]);
		return;
	}
	table_free(r->table);
	r->table = counters;
	r->realtime_usec = realtime_now_usec();
	r->monotonic_usec = monotonic_usec(m);
	manager_finish_reading(m, r);
}

static void ask_next(Manager *m);

static int on_answer(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	const Unavailable *why;
	NeighborPort port;
	Manager *m = userdata;
	Table *counters;
	int r = bus_take_neighbors(FAR_COUNTERS, answer);

	m->far_asked = sd_bus_slot_unref(m->far_asked);
	while (r >= 0 && (r = bus_next_far_counters(answer, &port, &counters, &why)) > 0)
		take(m, &port, counters, why);
	each_at(m, READING_COMPLETING, fail, &r);
	ask_next(m);
	return 0;
}

static void ask_next(Manager *m)
{
	NeighborPorts ports = {};
	int r = 0;

	if (m->far_asked)
		return;
	each_at(m, READING_WANTED, add, &ports);
	if (ports.n > 0)
		r = bus_ask_neighbors(m->bus, FAR_COUNTERS, &ports, on_answer, m, &m->far_asked);
	if (r < 0)
		each_at(m, READING_COMPLETING, fail, &r);
}

/* Over a link that is not active no packet goes but those of the subnet manager. */
void manager_begin_far(Manager *m, Reading *r)
{
	const char *umad = m->neighbor_asks[NEIGHBORS_OF_FABRIC].path;
	const PortSnapshot *now = &r->port->now;
	bool source_has_them = m->source->ops->has_far;

	if (now->values.protocol != PROTOCOL_INFINIBAND)
		refuse(r, UNAVAILABLE_NOT_APPLICABLE);
	else if (now->open_error == -ECANCELED)
		refuse(r, UNAVAILABLE_KEPT_CLOSED);
	else if (!source_has_them && (!m->bus || !umad || access(umad, F_OK) < 0))
		refuse(r, UNAVAILABLE_NOT_ASKED);
	else if (now->values.state != PORT_STATE_ACTIVE)
		refuse(r, now->values.state < PORT_STATE_INIT ? UNAVAILABLE_LINK_DOWN
							      : UNAVAILABLE_NOT_CONFIGURED);
	else if (source_has_them)
		manager_mark_readings(m, r->port->device);
	else
		ask_next(m);
}

bool manager_finished_far(Manager *m, Reading *r)
{
	if (health_take_counters(m->health, r->port, SAMPLE_REMOTE, r->table, r->realtime_usec,
				 r->monotonic_usec))
		manager_health_judge_soon(m);
	return false;
}

void manager_far_forget(Manager *m)
{
	int error = -ECONNRESET;

	m->far_asked = sd_bus_slot_unref(m->far_asked);
	each_at(m, READING_COMPLETING, fail, &error);
	each_at(m, READING_WANTED, fail, &error);
}
