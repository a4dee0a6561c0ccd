/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of Port.GetCounters(). Counters are no attributes: nobody is told of their changes, and
 * they are read only when somebody asks. They are asked for
 * by a query of their own, when nothing of the device is dirty; when the device hangs, that query
 * fails like any other.
 */

#include "log.h"
#include "manager-private.h"

/* A caller gets counters that are at most so old. */
#define FRESH_USEC USEC_PER_SEC

struct DeviceCounters {
	PortCounters *ports; /* by number minus 1 */
	uint32_t n_ports;
	PendingList next;  /* calls for which nothing has been asked yet */
	PendingList calls; /* calls that the question under way answers */
	PortSet asked;	   /* the ports that it asks about and that have not answered */
	bool is_asked;	   /* there is a question under way */
};

/* Room for the counters of every port that D has now. */
static int reserve(Device *d, struct DeviceCounters **ret)
{
	struct DeviceCounters *c = d->schedule->counters;
	PortCounters *ports;

	if (!c) {
		c = d->schedule->counters = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
	}
	if (c->n_ports < d->n_ports) {
		ports = reallocarray(c->ports, d->n_ports, sizeof(*ports));
		if (!ports)
			return -ENOMEM;
		memset(ports + c->n_ports, 0, (d->n_ports - c->n_ports) * sizeof(*ports));
		c->ports = ports;
		c->n_ports = d->n_ports;
	}
	*ret = c;
	return 0;
}

int manager_counters(void *userdata, Port *p, const PortCounters **ret_counters,
		     PendingList **ret_list)
{
	struct DeviceCounters *c = NULL;
	Manager *m = userdata;
	const PortCounters *pc;
	int r = reserve(p->device, &c);

	if (r < 0)
		return r;
	if (p->device->schedule->wedged)
		return -ETIMEDOUT;
	pc = &c->ports[p->number - 1];
	if (pc->monotonic_usec && monotonic_usec(m) - pc->monotonic_usec < FRESH_USEC) {
		*ret_counters = pc;
		return 0;
	}
	if (c->is_asked && port_set_has(&c->asked, p->number)) {
		*ret_list = &c->calls;
	} else {
		*ret_list = &c->next;
		p->device->schedule->marked = true;
		manager_mark_flush(m);
	}
	return 1;
}

void manager_ask_counters(Manager *m, Device *d)
{
	struct DeviceCounters *c = d->schedule->counters;
	Query query;
	int r;

	if (!c || !c->next.first)
		return;
	query = (Query){
		.device = d->index, .adapter = d->now.values.sys_image_guid, .counters = true};
	memcpy(query.name, d->now.values.name, sizeof(query.name));
	query.id = manager_new_id(m, d);
	for (const PendingCall *call = c->next.first; call; call = call->next)
		port_set_add(&query.ports, call->port);
	r = manager_send(m, d, &query);
	if (r < 0) {
		log_debug_errno(r, "%s: cannot ask for counters: %m", d->now.values.name);
		bus_answer_counters(&c->next, 0, NULL, NULL, r,
				    r == -ETIMEDOUT ? "the device does not answer" : strerror(-r));
		return;
	}
	d->schedule->asked_id = query.id;
	c->is_asked = true;
	c->asked = query.ports;
	pending_list_move(&c->calls, &c->next);
}

bool manager_asked_counters(const Schedule *w)
{
	return w->counters && w->counters->is_asked;
}

void manager_on_counters(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot)
{
	struct DeviceCounters *c = d->schedule->counters;
	Port *p = device_port(d, number);
	PortCounters *pc;

	if (!p || number > c->n_ports || !port_set_has(&c->asked, number))
		return;
	port_set_remove(&c->asked, number);
	pc = &c->ports[number - 1];
	if (error == 0) {
		table_free(pc->table);
		pc->table = steal_pointer(&snapshot->tables[PORT_TABLE_COUNTERS]);
		pc->realtime_usec = realtime_now_usec();
		pc->monotonic_usec = monotonic_usec(m);
		TABLE_FOREACH(CounterEntry, e, pc->table)
			text_sanitize(CONST_CAST(char *, e->file), sizeof(e->file));
	}
	bus_answer_counters(&c->calls, number, p, pc, error, error < 0 ? strerror(-error) : "");
}

void manager_end_counters(Device *d, int error, const char *text)
{
	struct DeviceCounters *c = d->schedule->counters;

	c->is_asked = false;
	c->asked = (PortSet){};
	bus_answer_counters(&c->calls, 0, NULL, NULL, error < 0 ? error : -EIO,
			    error < 0 ? text : "the counters were not read");
}

void manager_refuse_counters(Device *d, uint32_t port, int error, const char *text)
{
	struct DeviceCounters *c = d->schedule->counters;

	if (!c)
		return;
	bus_answer_counters(&c->next, port, NULL, NULL, error, text);
	bus_answer_counters(&c->calls, port, NULL, NULL, error, text);
	if (port > 0 && port <= c->n_ports) {
		table_free(c->ports[port - 1].table);
		c->ports[port - 1] = (PortCounters){};
	}
}

void manager_free_counters(Device *d)
{
	struct DeviceCounters *c = d->schedule->counters;

	for (uint32_t i = 0; c && i < c->n_ports; i++)
		table_free(c->ports[i].table);
	if (c)
		free(c->ports);
	free(c);
	d->schedule->counters = NULL;
}
