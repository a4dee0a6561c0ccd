/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the source about what is dirty, puts the answers into the cache and what they change on the
 * bus. */

#include "log.h"
#include "manager-private.h"

static int on_counts(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if (m->bus)
		bus_publish_counts(m->bus);
	return 0;
}

/* A switch that goes down takes many ports with it, which are the news: the counts come after. */
void manager_publish_counts(Manager *m)
{
	uint32_t devices = (uint32_t)m->cache.n_devices, ports = (uint32_t)m->cache.n_ports;
	uint32_t active = m->cache.n_active;

	if (devices == m->last_devices && ports == m->last_ports && active == m->last_active)
		return;
	m->last_devices = devices;
	m->last_ports = ports;
	m->last_active = active;
	if (m->ready && !timer_runs(m->counts))
		manager_start_timer(m, &m->counts, SCHEDULE_LATER_USEC, on_counts, m, "counts");
}

void manager_publish_device(Manager *m, Device *d, CacheOp op, const AttrMask *changed)
{
	if (!d->published && op != CACHE_REMOVED) {
		d->published = true;
		op = CACHE_ADDED;
	}
	if (m->bus)
		bus_publish_device(m->bus, d, op, changed);
}

void manager_publish_port(Manager *m, Port *p, const PortChange *change, EventReason reason)
{
	if (!p->device->published)
		manager_publish_device(m, p->device, CACHE_ADDED, NULL);
	p->published = true;
	/* first: whoever hears of the change on the bus finds it in the memory */
	shared_memory_put(m->memory, p, change->op != CACHE_UNCHANGED);
	if (m->bus)
		bus_publish_port(m->bus, p, change, reason);
}

/* Timers of one device */

static int on_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;

	manager_ask(w->userdata, w->device);
	return 0;
}

static int on_later(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;

	manager_log_states(w->device);
	schedule_pkeys(w);
	manager_ask(w->userdata, w->device);
	return 0;
}

/* What can wait until the news of the device is out is done then. */
static void later(Manager *m, Schedule *w)
{
	if (!timer_runs(w->later))
		manager_start_timer(m, &w->later, SCHEDULE_LATER_USEC, on_later, w, "later");
}

static int on_settle(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;
	Manager *m = w->userdata;

	m->links_generation++;
	schedule_settle(w);
	manager_ask(w->userdata, w->device);
	return 0;
}

static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;

	if (schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE) >= 0)
		manager_ask(w->userdata, w->device);
	return 0;
}

/* Looks at the device again later. Only a look that was due makes the next one later still: else a
 * burst of events about a port that fails would leave it stale for long after it answers again. */
static void retry_later(Manager *m, Schedule *w)
{
	if (!timer_runs(w->retry) || w->retry_usec == 0)
		manager_start_timer(m, &w->retry, schedule_next_retry(w), on_retry, w, "retry");
}

/* Queries */

/* The device does not answer: what is published of it is stale. */
static void fail_device(Manager *m, Device *d, const PortSet *ports, int error, const char *text)
{
	AttrMask changed = cache_apply_device_error(d, text);

	manager_publish_device(m, d, CACHE_CHANGED, &changed);
	for (uint32_t n = 1; n <= d->n_ports; n++) {
		PortChange change;

		if (!port_set_has(ports, n))
			continue;
		cache_apply_port_error(d->ports[n - 1], text, &change);
		manager_publish_port(m, d->ports[n - 1], &change, REASON_QUERY);
	}
	if (m->bus)
		bus_publish_device_ports(m->bus, d);
	manager_answer_queries(m, &d->schedule->asked_waiting, 0, NULL, error, text);
}

static PortSet all_ports(const Device *d)
{
	PortSet s = {};

	for (uint32_t n = 1; n <= d->n_ports; n++)
		port_set_add(&s, n);
	return s;
}

/* The device takes no queries until the source says RECOVERED. */
static void wedge(Manager *m, Device *d, const char *text)
{
	PortSet all = all_ports(d);

	if (!d->schedule->wedged)
		log_warning("%s: %s; its values are stale until it answers", d->now.values.name,
			    text);
	d->schedule->wedged = true;
	fail_device(m, d, &all, -ETIMEDOUT, text);
	manager_answer_queries(m, &d->schedule->waiting, 0, NULL, -ETIMEDOUT, text);
	manager_refuse_counters(m, d, 0, -ETIMEDOUT, text);
	manager_set_sync(m, d->schedule, false, false);
}

uint64_t manager_new_id(Manager *m, const Device *d)
{
	if (++m->query_count == 0)
		m->query_count = 1;
	return (uint64_t)m->query_count << 32 | d->index;
}

/* Asks about what is dirty of D, as soon as it may. */
void manager_ask(Manager *m, Device *d)
{
	Schedule *w = d->schedule;
	uint64_t now = monotonic_usec(m), when;
	Query query;
	int r;

	if (w->asked_id || w->wedged)
		return;
	if (schedule_is_dirty(w) && !schedule_may_ask(w, now, &when)) {
		if (!timer_runs(w->pace))
			manager_start_timer(m, &w->pace, when - now, on_pace, w, "pace");
		manager_ask_counters(m, d);
		return;
	}
	if (!schedule_is_dirty(w)) {
		manager_ask_counters(m, d);
		return;
	}
	schedule_begin(w, manager_new_id(m, d), now, &query);
	query.links_generation = m->links_generation;
	r = m->source->ops->query(m->source, &query);
	if (r >= 0)
		return;
	log_debug_errno(r, "%s: cannot ask: %m", d->now.values.name);
	if (r == -ETIMEDOUT) {
		wedge(m, d, "the device does not answer");
	} else {
		fail_device(m, d, &query.ports, r, strerror(-r));
		retry_later(m, w);
	}
	manager_set_sync(m, w, w->sync, false);
	schedule_end(w, now);
	manager_check_ready(m);
}

/* The device that was asked ID, NULL if that question is not open any more. */
static Device *asked_device(Manager *m, uint64_t id)
{
	Device *d = cache_device(&m->cache, (uint32_t)id);

	return d && d->schedule->asked_id == id ? d : NULL;
}

void manager_on_device(void *userdata, uint64_t id, DeviceSnapshot *snapshot)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	AttrMask changed;
	int op;

	if (!d)
		return;
	/* Identity comes from the enumeration: an answer cannot move the device, resize it, or
	 * rename it, which its ports would not hear of. */
	DEVICE_SUPPLY(snapshot, index, d->index);
	mask_set(&snapshot->supplied, DEVICE_ATTR_name, false);
	mask_set(&snapshot->supplied, DEVICE_ATTR_port_count, false);
	op = cache_apply_device(&m->cache, snapshot, realtime_usec(), &d, &changed);
	if (op < 0) {
		log_warning_errno(op, "%s: cannot keep the answer, ignoring: %m",
				  d->now.values.name);
		return;
	}
	d->schedule->asked_attributes = false;
	manager_publish_device(m, d, op, &changed);
}

void manager_on_port(void *userdata, uint64_t id, uint32_t number, int error,
		     PortSnapshot *snapshot)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	Port *p = d ? device_port(d, number) : NULL;
	uint32_t reasons;
	PortChange change;

	if (d && manager_asked_counters(d->schedule)) {
		manager_on_counters(m, d, number, error, snapshot);
		return;
	}
	if (!p || !port_set_has(&d->schedule->asked, number))
		return;
	reasons = d->schedule->asked_reasons[number];
	port_set_remove(&d->schedule->asked, number);
	if (error < 0) {
		d->schedule->asked_failed = true;
		schedule_keep_reasons(d->schedule, number);
		cache_apply_port_error(p, strerror(-error), &change);
	} else {
		cache_apply_port(p, snapshot, !d->schedule->asked_pkeys, reasons, realtime_usec(),
				 &change);
		if (manager_note_state(m, p, reason_to_publish(reasons), &change))
			later(m, d->schedule);
		if (m->source->ops->netdevs_changed &&
		    (change.op == CACHE_ADDED || mask_has(&change.changed, PORT_ATTR_netdevs) ||
		     mask_has(&change.changed, PORT_ATTR_gids)))
			m->source->ops->netdevs_changed(m->source, d->index, number,
							p->now.tables[PORT_TABLE_NETDEVS],
							p->now.tables[PORT_TABLE_GIDS]);
	}
	manager_publish_port(m, p, &change, reason_to_publish(reasons));
	manager_answer_queries(m, &d->schedule->asked_waiting, number, p, error,
			       error < 0 ? strerror(-error) : "");
}

void manager_on_end(void *userdata, uint64_t id, int error, const char *reason)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	char text[128];
	Schedule *w;
	uint64_t delay;

	if (!d)
		return;
	w = d->schedule;
	/* what hardware says may be no text, and could not be an answer on the bus */
	text_copy(text, sizeof(text), reason);
	text_sanitize(text, sizeof(text));
	if (manager_asked_counters(w)) {
		manager_end_counters(m, d, error, text);
		if (error == 0) {
			/* says nothing of what else is to be asked, or when */
			w->asked_id = 0;
			manager_ask(m, d);
			return;
		}
	}
	if (error == 0 && (!port_set_is_empty(&w->asked) || w->asked_attributes)) {
		error = -EPROTO;
		text_copy(text, sizeof(text), "the answer is incomplete");
	}
	if (error == -ETIMEDOUT) {
		wedge(m, d, text);
	} else if (error < 0) {
		log_debug("%s: %s", d->now.values.name, text);
		fail_device(m, d, &w->asked, error, text);
		/* it may be on its way out */
		m->enumerate = true;
		manager_mark_flush(m);
	}
	manager_answer_queries(m, &w->asked_waiting, 0, NULL, -EIO, "the port was not read");
	if (!d->published)
		manager_publish_device(m, d, CACHE_ADDED, NULL);

	if ((error < 0 && error != -ETIMEDOUT) || w->asked_failed)
		retry_later(m, w);
	else if (error == 0)
		w->retry_usec = 0;

	manager_set_sync(m, w, w->sync, false);
	schedule_end(w, monotonic_usec(m));
	if (!port_set_is_empty(&w->pkeys_later))
		later(m, w);
	if (!timer_runs(w->settle) || w->settle_step == 0) {
		delay = port_set_is_empty(&w->settling) ? 0 : schedule_next_settle(w);
		if (delay)
			manager_start_timer(m, &w->settle, delay, on_settle, w, "settle");
	}
	if (m->bus)
		bus_publish_device_ports(m->bus, d);
	manager_publish_counts(m);
	manager_check_ready(m);
	manager_ask(m, d);
}
