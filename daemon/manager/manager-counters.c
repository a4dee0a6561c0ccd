/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of Port.GetCounters(), and of Manager.GetAllCounters() and GetCounterValues(), which
 * differ only by what the reply looks like. Counters are no attributes: nobody is told of their
 * changes, and they are read only when somebody asks. They are asked for by a query of their own,
 * when nothing of the device is dirty; when the device hangs, that query fails like any other.
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

	/* for GetAllCounters() */
	PortSet wanted;	 /* what the next reading is to read */
	PortSet left;	 /* what the one that goes on has not asked about yet */
	bool takes_part; /* it waits for this device */
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
		for (uint32_t i = 0; i < d->n_ports; i++)
			d->ports[i]->counters = &ports[i];
	}
	*ret = c;
	return 0;
}

static bool is_fresh(const Manager *m, const PortCounters *pc)
{
	return pc->monotonic_usec && monotonic_usec(m) - pc->monotonic_usec < FRESH_USEC;
}

static void set_error(PortCounters *pc, int error, const char *text)
{
	pc->error = error;
	text_copy(pc->error_text, sizeof(pc->error_text), text);
}

/* The same for all PORTS of D. */
static void set_errors(struct DeviceCounters *c, const PortSet *ports, int error, const char *text)
{
	for (uint32_t n = 1; n <= c->n_ports; n++)
		if (port_set_has(ports, n))
			set_error(&c->ports[n - 1], error, text);
}

static PortSet steal_set(PortSet *s)
{
	PortSet set = *s;

	*s = (PortSet){};
	return set;
}

/* GetAllCounters() */

static void end_reading(Manager *m);

/* The reading that goes on does not wait for the device of C any more. */
static void leave_reading(Manager *m, struct DeviceCounters *c)
{
	if (!c->takes_part)
		return;
	c->takes_part = false;
	c->left = (PortSet){};
	if (--m->all_left == 0)
		end_reading(m);
}

/* Ends the reading, although some devices have not answered. What they answer later is not lost:
 * their question goes on. */
static void give_up_reading(Manager *m)
{
	/* first: the end of this reading may be the beginning of the next one */
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		struct DeviceCounters *c = m->cache.devices[i]->schedule->counters;

		if (c)
			c->takes_part = false;
	}
	m->all_left = 0;
	end_reading(m);
}

static int on_all_deadline(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if (m->all_left > 0)
		give_up_reading(m);
	return 0;
}

void manager_left_all_counters(void *userdata)
{
	Manager *m = userdata;

	if (m->all_left > 0 && !m->all_asked.first)
		give_up_reading(m);
}

/* D takes part in the reading that begins, with what is wanted of it and is to be read. */
static void join_reading(Manager *m, Device *d)
{
	struct DeviceCounters *c = d->schedule->counters;

	c->left = steal_set(&c->wanted);
	for (uint32_t n = 1; n <= c->n_ports; n++)
		if (port_set_has(&c->left, n) && (n > d->n_ports || is_fresh(m, &c->ports[n - 1])))
			port_set_remove(&c->left, n);
	if (d->schedule->wedged) {
		set_errors(c, &c->left, -ETIMEDOUT, d->now.values.last_error);
		c->left = (PortSet){};
	}
	if (port_set_is_empty(&c->left))
		return;
	/* until they have been read */
	set_errors(c, &c->left, -ETIMEDOUT, "the device does not answer in time");
	c->takes_part = true;
	m->all_left++;
	/* a question that an earlier reading has left behind answers this one too */
	for (uint32_t n = 1; n <= c->n_ports; n++)
		if (c->is_asked && port_set_has(&c->asked, n))
			port_set_remove(&c->left, n);
	d->schedule->marked |= !port_set_is_empty(&c->left);
}

static void begin_reading(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		if (m->cache.devices[i]->schedule->counters)
			join_reading(m, m->cache.devices[i]);
	if (m->all_left == 0)
		return;
	manager_mark_flush(m);
	/* one time-out for what each device does when it is asked, and one for itself */
	manager_start_timer(m, &m->all_deadline, 2 * m->config.query_timeout_usec, on_all_deadline,
			    m, "all counters");
}

static void end_reading(Manager *m)
{
	do {
		bus_answer_all_counters(&m->all_asked);
		if (!m->all_next.first)
			break;
		pending_list_move(&m->all_asked, &m->all_next);
		begin_reading(m);
	} while (m->all_left == 0);
	if (m->all_left == 0 && m->all_deadline)
		sd_event_source_set_enabled(m->all_deadline, SD_EVENT_OFF);
}

int manager_want_counters(void *userdata, Port *p)
{
	struct DeviceCounters *c = NULL;
	PortCounters *pc;
	int r = reserve(p->device, &c);

	if (r < 0)
		return r;
	pc = &c->ports[p->number - 1];
	p->counters = pc;
	if (is_fresh(userdata, pc)) {
		pc->error = 0;
		return 0;
	}
	if (p->device->schedule->wedged) {
		set_error(pc, -ETIMEDOUT, p->now.values.last_error);
		return 0;
	}
	port_set_add(&c->wanted, p->number);
	return 1;
}

PendingList *manager_all_counters(void *userdata)
{
	Manager *m = userdata;

	if (m->all_left > 0)
		return &m->all_next;
	begin_reading(m);
	return m->all_left > 0 ? &m->all_asked : NULL;
}

/* GetCounters(), and the questions for both */

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
	if (is_fresh(m, pc)) {
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
	const char *text;
	Query query;
	int r;

	if (!c || (!c->next.first && port_set_is_empty(&c->left)))
		return;
	query = (Query){
		.device = d->index, .adapter = d->now.values.sys_image_guid, .counters = true};
	memcpy(query.name, d->now.values.name, sizeof(query.name));
	query.id = manager_new_id(m, d);
	for (const PendingCall *call = c->next.first; call; call = call->next)
		port_set_add(&query.ports, call->port);
	port_set_add_all(&query.ports, &c->left);
	r = manager_send(m, d, &query);
	if (r < 0) {
		log_debug_errno(r, "%s: cannot ask for counters: %m", d->now.values.name);
		text = r == -ETIMEDOUT ? "the device does not answer" : strerror(-r);
		bus_answer_counters(&c->next, 0, NULL, NULL, r, text);
		set_errors(c, &c->left, r, text);
		leave_reading(m, c);
		return;
	}
	d->schedule->asked_id = query.id;
	c->is_asked = true;
	c->asked = query.ports;
	c->left = (PortSet){};
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
	set_error(pc, error, error < 0 ? strerror(-error) : "");
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

	if (error >= 0)
		text = "the counters were not read";
	error = error < 0 ? error : -EIO;
	set_errors(c, &c->asked, error, text);
	c->is_asked = false;
	c->asked = (PortSet){};
	bus_answer_counters(&c->calls, 0, NULL, NULL, error, text);
	if (port_set_is_empty(&c->left))
		leave_reading(d->schedule->manager, c);
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
		c->ports[port - 1] = (PortCounters){.error = error};
		port_set_remove(&c->left, port);
		port_set_remove(&c->wanted, port);
	} else if (port == 0) {
		set_errors(c, &c->left, error, text);
		set_errors(c, &c->asked, error, text);
		c->left = (PortSet){};
	}
	if (port == 0 || (!c->is_asked && port_set_is_empty(&c->left)))
		leave_reading(d->schedule->manager, c);
}

void manager_free_counters(Device *d)
{
	struct DeviceCounters *c = d->schedule->counters;

	if (c)
		leave_reading(d->schedule->manager, c);
	for (uint32_t i = 0; i < d->n_ports; i++)
		d->ports[i]->counters = NULL;
	for (uint32_t i = 0; c && i < c->n_ports; i++)
		table_free(c->ports[i].table);
	if (c)
		free(c->ports);
	free(c);
	d->schedule->counters = NULL;
}
