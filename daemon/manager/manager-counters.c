/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of Port.GetCounters(). Counters are no attributes: nobody is told of their changes, and
 * they are read only when somebody asks. Such a question is one to the device like any other, takes
 * its turn after what is dirty, and shares its fate when the device hangs.
 */

#include "bus-counters.h"
#include "log.h"
#include "manager-private.h"

/* So old may counters be that a caller gets. */
#define FRESH_USEC USEC_PER_SEC

typedef struct PortCounters {
	Table *table;
	uint64_t realtime_usec, monotonic_usec; /* when it was read; 0: never */
} PortCounters;

struct DeviceCounters {
	PortCounters *ports; /* by number minus 1 */
	uint32_t n_ports;
	Waiter *waiting; /* for a question that has not been asked yet */
	bool is_asked;
	PortSet asked; /* not answered yet */
	Waiter *asked_waiting;
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

static int reply(sd_bus_message *call, const Port *p, const PortCounters *pc)
{
	/* InfiniBand always has PMA; others may have borrowed it. */
	bool complete = port_interfaces(&p->now) >> INTERFACE_INFINIBAND & 1;

	return bus_reply_counters(call, pc->table, complete, pc->realtime_usec, pc->monotonic_usec);
}

/* Answers those in *LIST that wait for PORT (0: all), with the counters, or else with ERROR. */
static void answer(Manager *m, Waiter **list, uint32_t port, const Port *p, const PortCounters *pc,
		   int error, const char *text)
{
	while (*list) {
		Waiter *w = *list;
		int r = 0;

		if (port != 0 && w->port != port) {
			list = &w->next;
			continue;
		}
		*list = w->next;
		if (error == 0)
			r = reply(w->call, p, pc);
		else
			manager_reply_error(w->call, error, text);
		if (r < 0)
			log_debug_errno(r, "Cannot answer with counters, ignoring: %m");
		sd_bus_message_unref(w->call);
		free(w);
		m->n_waiting--;
	}
}

int manager_counters(Manager *m, Port *p, sd_bus_message *call)
{
	struct DeviceCounters *c = NULL;
	Schedule *w = p->device->schedule;
	uint64_t now = monotonic_usec(m);
	const PortCounters *pc;
	Waiter *waiter, **list;
	int r = reserve(p->device, &c);

	if (r < 0)
		return r;
	if (w->wedged) {
		manager_reply_error(call, -ETIMEDOUT, p->now.values.last_error);
		return 0;
	}
	pc = &c->ports[p->number - 1];
	if (pc->monotonic_usec && now - pc->monotonic_usec < FRESH_USEC)
		return reply(call, p, pc);
	if (!manager_may_wait(m, call))
		return -ENOBUFS;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter)
		return -ENOMEM;
	list = c->is_asked && port_set_has(&c->asked, p->number) ? &c->asked_waiting : &c->waiting;
	*waiter = (Waiter){.next = *list, .call = sd_bus_message_ref(call), .port = p->number};
	*list = waiter;
	m->n_waiting++;
	manager_ask(m, p->device);
	return 0;
}

void manager_ask_counters(Manager *m, Device *d)
{
	struct DeviceCounters *c = d->schedule->counters;
	Query query = {.device = d->index, .counters = true};
	int r;

	if (!c || !c->waiting)
		return;
	memcpy(query.name, d->now.values.name, sizeof(query.name));
	query.id = manager_new_id(m, d);
	for (const Waiter *w = c->waiting; w; w = w->next)
		port_set_add(&query.ports, w->port);
	r = m->source->ops->query(m->source, &query);
	if (r < 0) {
		log_debug_errno(r, "%s: cannot ask for counters: %m", d->now.values.name);
		answer(m, &c->waiting, 0, NULL, NULL, r,
		       r == -ETIMEDOUT ? "the device does not answer" : strerror(-r));
		return;
	}
	d->schedule->asked_id = query.id;
	c->is_asked = true;
	c->asked = query.ports;
	c->asked_waiting = steal_pointer(&c->waiting);
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
		pc->realtime_usec = realtime_usec();
		pc->monotonic_usec = monotonic_usec(m);
		TABLE_FOREACH(CounterEntry, e, pc->table)
			text_sanitize(CONST_CAST(char *, e->file), sizeof(e->file));
	}
	answer(m, &c->asked_waiting, number, p, pc, error, error < 0 ? strerror(-error) : "");
}

void manager_end_counters(Manager *m, Device *d, int error, const char *text)
{
	struct DeviceCounters *c = d->schedule->counters;

	c->is_asked = false;
	c->asked = (PortSet){};
	answer(m, &c->asked_waiting, 0, NULL, NULL, error < 0 ? error : -EIO,
	       error < 0 ? text : "the counters were not read");
}

void manager_refuse_counters(Manager *m, Device *d, uint32_t port, int error, const char *text)
{
	struct DeviceCounters *c = d->schedule->counters;

	if (!c)
		return;
	answer(m, &c->waiting, port, NULL, NULL, error, text);
	answer(m, &c->asked_waiting, port, NULL, NULL, error, text);
	if (port > 0 && port <= c->n_ports) {
		table_free(c->ports[port - 1].table);
		c->ports[port - 1] = (PortCounters){};
	}
}

size_t manager_count_counters(const Device *d, const char *caller)
{
	const struct DeviceCounters *c = d->schedule->counters;
	size_t n = 0;

	for (const Waiter *w = c ? c->waiting : NULL; w; w = w->next)
		n += streq(sd_bus_message_get_sender(w->call), caller);
	for (const Waiter *w = c ? c->asked_waiting : NULL; w; w = w->next)
		n += streq(sd_bus_message_get_sender(w->call), caller);
	return n;
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
