/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manager.h"

#include <systemd/sd-daemon.h>
#include <time.h>

#include "log.h"
#include "names.h"
#include "simulator.h"
#include "source-kernel.h"
#include "watch-sleep.h"
#include "work.h"

/* Events that wait at the same time become one flush; under a storm that never pauses there is one
 * after this. */
#define FLUSH_DEADLINE_USEC (50 * USEC_PER_MSEC)
#define RECONNECT_USEC	    (500 * USEC_PER_MSEC)
/* Calls of Query() and Refresh() that may wait: over all callers, and of one of them, so that it
 * does not take the places of the others */
#define WAITING_MAX	   1024U
#define WAITING_CALLER_MAX 256U

#define ENUMERATE_RETRY_FIRST_USEC (250 * USEC_PER_MSEC)
#define ENUMERATE_RETRY_LAST_USEC  (30 * USEC_PER_SEC)

struct Manager {
	sd_event *event;
	Config config;
	char *bus_address;
	Cache cache;
	Source *source;
	bool simulated;

	Bus *bus;
	WatchSleep *sleep;
	sd_bus_slot *disconnected;
	sd_event_source *reconnect;
	bool ready;

	bool enumerate; /* the set of devices may have changed */
	bool enumerate_failed;
	uint64_t enumerate_retry_usec; /* the next delay */
	sd_event_source *enumerate_retry;
	sd_event_source *flush, *flush_deadline;
	sd_event_source *reconcile;
	uint32_t query_count;

	unsigned int n_syncing; /* devices that a look at everything has not reached yet */
	uint64_t last_sync_usec;
	sd_bus_message **refreshing; /* calls of Refresh() */
	size_t n_refreshing;
	size_t n_covered; /* the first of them: those that the look under way answers */
	size_t n_waiting;
	uint64_t lost_events;
	uint32_t last_active, last_devices, last_ports;
};

static uint64_t realtime_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t monotonic_usec(const Manager *m)
{
	uint64_t now = 0;

	sd_event_now(m->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* Arms *S to fire DELAY_USEC from now, creating it at first. Failing to get a timer is failing to
 * get memory: said, and the reconcile timer makes good for it. */
static void arm(Manager *m, sd_event_source **s, uint64_t delay_usec,
		sd_event_time_handler_t handler, void *userdata, const char *name)
{
	uint64_t when = monotonic_usec(m) + delay_usec;
	int r;

	if (*s) {
		r = sd_event_source_set_time(*s, when);
		if (r >= 0)
			r = sd_event_source_set_enabled(*s, SD_EVENT_ONESHOT);
	} else {
		r = sd_event_add_time(m->event, s, CLOCK_MONOTONIC, when, USEC_PER_MSEC, handler,
				      userdata);
		if (r >= 0)
			sd_event_source_set_description(*s, name);
	}
	if (r < 0)
		log_warning_errno(r, "Cannot arm the timer \"%s\", ignoring: %m", name);
}

static bool is_armed(sd_event_source *s)
{
	return s && sd_event_source_get_enabled(s, NULL) > 0;
}

static void mark_flush(Manager *m);
static void ask(Manager *m, Device *d);
static void mark_device(Manager *m, Device *d, uint32_t port, EventReason reason);
static void mark_everything(Manager *m, EventReason reason);

/* Publishing */

static void publish_counts(Manager *m)
{
	uint32_t active = 0, ports = (uint32_t)cache_port_count(&m->cache);

	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t n = 0; n < m->cache.devices[i]->n_ports; n++)
			active += m->cache.devices[i]->ports[n]->now.values.state == 4;
	if (active == m->last_active && ports == m->last_ports &&
	    m->cache.n_devices == m->last_devices)
		return;
	m->last_active = active;
	m->last_ports = ports;
	m->last_devices = (uint32_t)m->cache.n_devices;
	if (m->bus)
		bus_publish_counts(m->bus);
}

static void publish_device(Manager *m, Device *d, CacheOp op, const AttrMask *changed)
{
	if (!d->published && op != CACHE_REMOVED) {
		d->published = true;
		op = CACHE_ADDED;
	}
	if (m->bus)
		bus_publish_device(m->bus, d, op, changed);
}

static void publish_port(Manager *m, Port *p, const PortChange *change, EventReason reason)
{
	char name[80];
	AttrValue was, is;

	if (!p->device->published)
		publish_device(m, p->device, CACHE_ADDED, NULL);
	p->published = true;
	if (m->bus)
		bus_publish_port(m->bus, p, change, reason);
	if (change->state_changed) {
		PortValues old = {.state = change->old_state};

		(void)attr_publish(&port_attributes[PORT_ATTR_state], &old, &was);
		(void)attr_publish(&port_attributes[PORT_ATTR_state], &p->now.values, &is);
		log_info("%s: %s -> %s (%s)", port_name(p, name), was.text, is.text,
			 event_reason_name(reason));
	}
}

/* Calls that wait */

static void waiter_answer(Manager *m, Waiter *w, const Port *p, int error, const char *text)
{
	int r;

	if (error == 0)
		r = bus_reply_query(w->call, p);
	else
		r = sd_bus_reply_method_errorf(w->call,
					       error == -ETIMEDOUT ? RDMAD_ERROR_TIMEOUT
					       : error == -ENODEV  ? RDMAD_ERROR_NOT_FOUND
								   : RDMAD_ERROR_QUERY_FAILED,
					       "%s", text);
	if (r < 0)
		log_debug_errno(r, "Cannot answer a query, ignoring: %m");
	sd_bus_message_unref(w->call);
	free(w);
	m->n_waiting--;
}

/* Answers those in *LIST that wait for PORT (0: all). */
static void waiters_answer(Manager *m, Waiter **list, uint32_t port, const Port *p, int error,
			   const char *text)
{
	while (*list) {
		Waiter *w = *list;

		if (port != 0 && w->port != port) {
			list = &w->next;
			continue;
		}
		*list = w->next;
		waiter_answer(m, w, p, error, text);
	}
}

/* Answers the calls of Refresh() that the look under way was for. The others, which came while it
 * went on, get the next one: a caller who never stops does not keep anybody waiting. */
static void refresh_answer(Manager *m, int error)
{
	size_t n = m->n_covered;

	for (size_t i = 0; i < n; i++) {
		if (error < 0)
			sd_bus_reply_method_errorf(m->refreshing[i], RDMAD_ERROR_QUERY_FAILED,
						   "Cannot enumerate the devices: %s",
						   strerror(-error));
		else
			sd_bus_reply_method_return(m->refreshing[i], NULL);
		sd_bus_message_unref(m->refreshing[i]);
	}
	m->n_refreshing -= n;
	m->n_waiting -= n;
	m->n_covered = 0;
	if (m->n_refreshing > 0) {
		memmove(m->refreshing, m->refreshing + n, m->n_refreshing * sizeof(*m->refreshing));
		mark_flush(m);
	}
}

static void sync_done(Manager *m)
{
	if (!m->enumerate_failed)
		m->last_sync_usec = realtime_usec();
	refresh_answer(m, 0);
}

/* Keeps n_syncing while a work's flags change. */
static void set_sync(Manager *m, Work *w, bool dirty, bool asked)
{
	bool was = w->sync || w->asked_sync;

	w->sync = dirty;
	w->asked_sync = asked;
	if (was && !dirty && !asked && --m->n_syncing == 0)
		sync_done(m);
	else if (!was && (dirty || asked))
		m->n_syncing++;
}

/* READY: everything has been asked once. */
static void check_ready(Manager *m)
{
	if (m->ready || m->enumerate)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Work *w = m->cache.devices[i]->work;

		if (!m->cache.devices[i]->published && !w->wedged &&
		    (w->asked_id || work_is_dirty(w)))
			return;
	}
	m->ready = true;
	if (m->bus && bus_acquire_name(m->bus) < 0) {
		sd_event_exit(m->event, EXIT_FAILURE);
		return;
	}
	log_info("Serving %zu devices with %zu ports", m->cache.n_devices,
		 cache_port_count(&m->cache));
	sd_notify(false, "READY=1\nSTATUS=Serving");
}

/* Timers of one device */

static int on_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Work *w = userdata;

	ask(w->userdata, w->device);
	return 0;
}

static int on_settle(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Work *w = userdata;

	work_settle(w);
	ask(w->userdata, w->device);
	return 0;
}

static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Work *w = userdata;

	if (work_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE) >= 0)
		ask(w->userdata, w->device);
	return 0;
}

/* Queries */

/* The device does not answer: what is published of it is stale. */
static void fail_device(Manager *m, Device *d, const PortSet *ports, int error, const char *text)
{
	AttrMask changed = cache_apply_device_error(d, text);

	publish_device(m, d, CACHE_CHANGED, &changed);
	for (uint32_t n = 1; n <= d->n_ports; n++) {
		PortChange change;

		if (!port_set_has(ports, n))
			continue;
		cache_apply_port_error(d->ports[n - 1], text, &change);
		publish_port(m, d->ports[n - 1], &change, REASON_QUERY);
	}
	if (m->bus)
		bus_publish_device_ports(m->bus, d);
	waiters_answer(m, &d->work->asked_waiting, 0, NULL, error, text);
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

	if (!d->work->wedged)
		log_warning("%s: %s; its values are stale until it answers", d->now.values.name,
			    text);
	d->work->wedged = true;
	fail_device(m, d, &all, -ETIMEDOUT, text);
	waiters_answer(m, &d->work->waiting, 0, NULL, -ETIMEDOUT, text);
	set_sync(m, d->work, false, false);
}

/* Asks about what is dirty of D, as soon as it may. */
static void ask(Manager *m, Device *d)
{
	Work *w = d->work;
	uint64_t now = monotonic_usec(m), when;
	Query query;
	int r;

	if (!work_is_dirty(w) || w->asked_id || w->wedged)
		return;
	if (!work_may_ask(w, now, &when)) {
		if (!is_armed(w->pace))
			arm(m, &w->pace, when - now, on_pace, w, "pace");
		return;
	}
	if (++m->query_count == 0)
		m->query_count = 1;
	work_begin(w, (uint64_t)m->query_count << 32 | d->index, now, &query);
	r = m->source->ops->query(m->source, &query);
	if (r >= 0)
		return;
	log_debug_errno(r, "%s: cannot ask: %m", d->now.values.name);
	if (r == -ETIMEDOUT) {
		wedge(m, d, "the device does not answer");
	} else {
		fail_device(m, d, &query.ports, r, strerror(-r));
		arm(m, &w->retry, work_next_retry(w), on_retry, w, "retry");
	}
	set_sync(m, w, w->sync, false);
	work_end(w, now);
	check_ready(m);
}

/* The device that was asked ID, NULL if that question is not open any more. */
static Device *asked_device(Manager *m, uint64_t id)
{
	Device *d = cache_device(&m->cache, (uint32_t)id);

	return d && d->work->asked_id == id ? d : NULL;
}

static void on_device(void *userdata, uint64_t id, DeviceSnapshot *snapshot)
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
	d->work->asked_attributes = false;
	publish_device(m, d, op, &changed);
}

static void on_port(void *userdata, uint64_t id, uint32_t number, int error, PortSnapshot *snapshot)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	Port *p = d ? device_port(d, number) : NULL;
	uint32_t reasons;
	PortChange change;

	if (!p || !port_set_has(&d->work->asked, number))
		return;
	reasons = d->work->asked_reasons[number];
	port_set_remove(&d->work->asked, number);
	if (error < 0) {
		d->work->asked_failed = true;
		cache_apply_port_error(p, strerror(-error), &change);
	} else {
		cache_apply_port(p, snapshot, !d->work->asked_pkeys, reasons, realtime_usec(),
				 &change);
		if (m->source->ops->netdevs_changed &&
		    (change.op == CACHE_ADDED || mask_has(&change.changed, PORT_ATTR_netdevs) ||
		     mask_has(&change.changed, PORT_ATTR_gids)))
			m->source->ops->netdevs_changed(m->source, d->index, number,
							p->now.tables[PORT_TABLE_NETDEVS],
							p->now.tables[PORT_TABLE_GIDS]);
	}
	publish_port(m, p, &change, reason_to_publish(reasons));
	waiters_answer(m, &d->work->asked_waiting, number, p, error,
		       error < 0 ? strerror(-error) : "");
}

static void on_end(void *userdata, uint64_t id, int error, const char *reason)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	char text[128];
	Work *w;
	uint64_t delay;

	if (!d)
		return;
	w = d->work;
	/* what hardware says may be no text, and could not be an answer on the bus */
	text_copy(text, sizeof(text), reason);
	text_sanitize(text, sizeof(text));
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
		mark_flush(m);
	}
	waiters_answer(m, &w->asked_waiting, 0, NULL, -EIO, "the port was not read");
	if (!d->published)
		publish_device(m, d, CACHE_ADDED, NULL);

	if ((error < 0 && error != -ETIMEDOUT) || w->asked_failed)
		arm(m, &w->retry, work_next_retry(w), on_retry, w, "retry");
	else if (error == 0)
		w->retry_usec = 0;

	set_sync(m, w, w->sync, false);
	work_end(w, monotonic_usec(m));
	if (!is_armed(w->settle) || w->settle_step == 0) {
		delay = port_set_is_empty(&w->settling) ? 0 : work_next_settle(w);
		if (delay)
			arm(m, &w->settle, delay, on_settle, w, "settle");
	}
	if (m->bus)
		bus_publish_device_ports(m->bus, d);
	publish_counts(m);
	check_ready(m);
	ask(m, d);
}

/* The set of devices */

static void remove_port(Manager *m, Port *p)
{
	Work *w = p->device->work;

	work_drop_port(w, p->number);
	waiters_answer(m, &w->asked_waiting, p->number, NULL, -ENODEV, "the port has gone");
	waiters_answer(m, &w->waiting, p->number, NULL, -ENODEV, "the port has gone");
	if (m->source->ops->netdevs_changed)
		m->source->ops->netdevs_changed(m->source, p->device->index, p->number, NULL, NULL);
	if (m->bus)
		bus_publish_port_removed(m->bus, p);
	cache_remove_port(p);
}

static void remove_device(Manager *m, Device *d)
{
	log_info("%s: removed", d->now.values.name);
	waiters_answer(m, &d->work->asked_waiting, 0, NULL, -ENODEV, "the device has gone");
	waiters_answer(m, &d->work->waiting, 0, NULL, -ENODEV, "the device has gone");
	set_sync(m, d->work, false, false);
	m->source->ops->forget(m->source, d->index);
	while (d->n_ports > 0)
		remove_port(m, d->ports[d->n_ports - 1]);
	if (d->published)
		publish_device(m, d, CACHE_REMOVED, NULL);
	work_free(d->work);
	cache_remove_device(&m->cache, d);
}

static void follow_rename(Manager *m, Device *d)
{
	for (uint32_t n = 0; n < d->n_ports; n++) {
		Port *p = d->ports[n];
		PortChange change = {.op = CACHE_CHANGED,
				     .interfaces_were = port_interfaces(&p->now)};

		if (!cache_apply_port_device_name(p) || !p->published)
			continue;
		mask_set(&change.changed, PORT_ATTR_device_name, true);
		publish_port(m, p, &change, REASON_DEVICE);
	}
}

/* Brings one device of an enumeration into the cache. */
static void take_device(Manager *m, DeviceSnapshot *s)
{
	uint32_t index = s->values.index, ports_were;
	Device *d = cache_device(&m->cache, index);
	AttrMask changed;
	Port *excess;
	int op;

	ports_were = d ? d->n_ports : 0;
	op = cache_apply_device(&m->cache, s, 0, &d, &changed);
	if (op < 0) {
		log_error_errno(op, "Cannot keep device %u, ignoring it: %m", index);
		return;
	}
	if (!d->work && !work_new(d, m)) {
		log_error_errno(-ENOMEM, "Cannot keep device %u, ignoring it: %m", index);
		cache_remove_device(&m->cache, d);
		return;
	}
	if (op == CACHE_ADDED)
		log_info("%s: added, %u ports", d->now.values.name, d->n_ports);
	while ((excess = cache_excess_port(d)))
		remove_port(m, excess);
	if (op == CACHE_ADDED || d->n_ports > ports_were) {
		mark_device(m, d, EVENT_ALL_PORTS, m->ready ? REASON_DEVICE : REASON_STARTUP);
		/* what Refresh() finds is part of it */
		if (m->n_covered > 0)
			mark_device(m, d, EVENT_ALL_PORTS, REASON_REFRESH);
	}
	if (op == CACHE_CHANGED) {
		publish_device(m, d, op, &changed);
		if (mask_has(&changed, DEVICE_ATTR_name))
			follow_rename(m, d);
	}
}

static int on_enumerate_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	m->enumerate = true;
	mark_flush(m);
	return 0;
}

/* What is known stays, and is looked at as before. */
static void enumerate_fail(Manager *m, int error)
{
	if (!m->enumerate_failed) {
		log_warning_errno(error, "Cannot enumerate the devices, will try again: %m");
		m->enumerate_retry_usec = ENUMERATE_RETRY_FIRST_USEC;
	}
	m->enumerate_failed = true;
	arm(m, &m->enumerate_retry, m->enumerate_retry_usec, on_enumerate_retry, m,
	    "enumerate again");
	m->enumerate_retry_usec = MIN(2 * m->enumerate_retry_usec, ENUMERATE_RETRY_LAST_USEC);
	refresh_answer(m, error);
}

static void enumerate(Manager *m)
{
	DeviceSnapshot *devices = NULL;
	size_t n = 0, k = 0;
	int r = m->source->ops->enumerate(m->source, &devices, &n);

	if (r < 0) {
		enumerate_fail(m, r);
		return;
	}
	if (m->enumerate_failed)
		log_notice("The devices could be enumerated again");
	m->enumerate_failed = false;
	/* The look at everything is not over before all that there is has been taken in. */
	m->n_syncing++;
	while (k < m->cache.n_devices) {
		Device *d = m->cache.devices[k];
		bool found = false;

		for (size_t i = 0; i < n && !found; i++)
			found = devices[i].values.index == d->index;
		if (found)
			k++;
		else
			remove_device(m, d);
	}
	for (size_t i = 0; i < n; i++)
		take_device(m, &devices[i]);
	device_array_free(devices, n);
	publish_counts(m);
	if (--m->n_syncing == 0)
		sync_done(m);
}

/* Flush */

static void flush(Manager *m)
{
	if (m->n_refreshing > 0 && m->n_covered == 0) {
		m->n_covered = m->n_refreshing;
		mark_everything(m, REASON_REFRESH);
	}
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	sd_event_source_set_enabled(m->flush_deadline, SD_EVENT_OFF);
	if (m->enumerate) {
		m->enumerate = false;
		enumerate(m);
	}
	for (size_t i = 0; i < m->cache.n_devices; i++)
		ask(m, m->cache.devices[i]);
	check_ready(m);
}

static int on_flush(_unused_ sd_event_source *s, void *userdata)
{
	flush(userdata);
	return 0;
}

static int on_flush_deadline(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	flush(userdata);
	return 0;
}

static void mark_flush(Manager *m)
{
	if (is_armed(m->flush))
		return;
	sd_event_source_set_enabled(m->flush, SD_EVENT_ONESHOT);
	arm(m, &m->flush_deadline, FLUSH_DEADLINE_USEC, on_flush_deadline, m, "flush deadline");
}

/* Events */

static void mark_device(Manager *m, Device *d, uint32_t port, EventReason reason)
{
	const uint32_t whole = REASON_BIT(REASON_STARTUP) | REASON_BIT(REASON_RECONCILE) |
			       REASON_BIT(REASON_REFRESH) | REASON_BIT(REASON_RESUME) |
			       REASON_BIT(REASON_OVERRUN);

	if (reason == REASON_RECOVERED) {
		if (d->work->wedged)
			log_info("%s: answers again", d->now.values.name);
		d->work->wedged = false;
	}
	if (work_mark(d->work, port, reason) < 0)
		log_warning("%s: no memory to note an event, ignoring", d->now.values.name);
	else if (whole & REASON_BIT(reason) && !d->work->wedged)
		set_sync(m, d->work, true, d->work->asked_sync);
}

static void on_event(void *userdata, const Event *e)
{
	Manager *m = userdata;
	Device *d;

	log_debug("event: device %u port %u %s", e->device, e->port, event_reason_name(e->reason));
	if (e->reason == REASON_OVERRUN)
		m->lost_events++;
	mark_flush(m);
	if (e->device != EVENT_ALL_DEVICES) {
		d = cache_device(&m->cache, e->device);
		if (d)
			mark_device(m, d, e->port, e->reason);
		if (!d || e->reason == REASON_DEVICE || e->reason == REASON_DEVICE_FATAL)
			m->enumerate = true;
		return;
	}
	m->enumerate = true;
	/* Some device came, went or has another name: the enumeration finds out which. */
	if (e->reason == REASON_DEVICE)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++)
		mark_device(m, m->cache.devices[i], EVENT_ALL_PORTS, e->reason);
}

static void mark_everything(Manager *m, EventReason reason)
{
	on_event(m, &(Event){EVENT_ALL_DEVICES, EVENT_ALL_PORTS, reason});
}

/* Up to a tenth earlier or later, so that a cluster's machines do not all ask at once. */
static uint64_t reconcile_delay(const Manager *m)
{
	uint64_t spread = m->config.reconcile_usec / 5;

	return m->config.reconcile_usec - spread / 2 + (spread ? (uint64_t)random() % spread : 0);
}

static int on_reconcile(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	mark_everything(m, REASON_RECONCILE);
	arm(m, &m->reconcile, reconcile_delay(m), on_reconcile, m, "reconcile");
	return 0;
}

/* The bus */

static int connect_bus(Manager *m);

static int on_reconnect(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if (m->bus) {
		/* here and not in the handler below, which runs inside the connection */
		m->sleep = watch_sleep_free(m->sleep);
		m->disconnected = sd_bus_slot_unref(m->disconnected);
		m->bus = bus_free(m->bus);
	}
	if (connect_bus(m) < 0 || (m->ready && bus_acquire_name(m->bus) < 0)) {
		if (m->bus) {
			m->sleep = watch_sleep_free(m->sleep);
			m->disconnected = sd_bus_slot_unref(m->disconnected);
			m->bus = bus_free(m->bus);
		}
		arm(m, &m->reconnect, RECONNECT_USEC, on_reconnect, m, "reconnect");
		return 0;
	}
	log_info("Connected to the bus again");
	return 0;
}

static int on_disconnected(_unused_ sd_bus_message *message, void *userdata,
			   _unused_ sd_bus_error *error)
{
	Manager *m = userdata;

	log_warning("The bus has gone, connecting again");
	arm(m, &m->reconnect, 0, on_reconnect, m, "reconnect");
	return 0;
}

static int connect_bus(Manager *m)
{
	int r = bus_new(m, m->bus_address, &m->bus);

	if (r < 0)
		return r;
	r = sd_bus_match_signal(bus_connection(m->bus), &m->disconnected, NULL,
				"/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
				"Disconnected", on_disconnected, m);
	if (r < 0)
		return log_error_errno(r, "Cannot watch the bus connection: %m");
	if (m->simulated)
		return 0;
	r = watch_sleep_new(bus_connection(m->bus), on_event, m, &m->sleep);
	if (r < 0)
		(void)log_warning_errno(r, "Cannot watch for suspend and resume, ignoring: %m");
	return 0;
}

/* Calls from the bus */

const Cache *manager_cache(const Manager *m)
{
	return &m->cache;
}

sd_event *manager_event_loop(const Manager *m)
{
	return m->event;
}

Source *manager_simulator(const Manager *m)
{
	return m->simulated ? m->source : NULL;
}

void manager_status(const Manager *m, ManagerStatus *ret)
{
	*ret = (ManagerStatus){.simulated = m->simulated,
			       .reconcile_usec = m->config.reconcile_usec,
			       .last_sync_usec = m->last_sync_usec,
			       .lost_events = m->lost_events};
	if (!m->simulated)
		source_kernel_status(m->source, &ret->monitor_mode);
}

static size_t count_of_caller(const Waiter *list, const char *caller)
{
	size_t n = 0;

	for (; list; list = list->next)
		n += streq(sd_bus_message_get_sender(list->call), caller);
	return n;
}

/* Whether one more call of who made CALL may wait. */
static bool may_wait(const Manager *m, sd_bus_message *call)
{
	const char *caller = sd_bus_message_get_sender(call);
	size_t n = 0;

	if (m->n_waiting < WAITING_CALLER_MAX)
		return true;
	if (m->n_waiting >= WAITING_MAX)
		return false;
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Work *w = m->cache.devices[i]->work;

		n += count_of_caller(w->waiting, caller) +
		     count_of_caller(w->asked_waiting, caller);
	}
	for (size_t i = 0; i < m->n_refreshing; i++)
		n += streq(sd_bus_message_get_sender(m->refreshing[i]), caller);
	return n < WAITING_CALLER_MAX;
}

int manager_query(Manager *m, Port *p, uint64_t max_age_usec, sd_bus_message *call)
{
	Work *w = p->device->work;
	const PortValues *v = &p->now.values;
	uint64_t now = realtime_usec();
	Waiter *waiter;
	int r;

	if (!v->stale && v->last_query && now >= v->last_query &&
	    now - v->last_query <= max_age_usec)
		return bus_reply_query(call, p);
	if (!may_wait(m, call))
		return -ENOBUFS;
	waiter = calloc(1, sizeof(Waiter));
	if (!waiter)
		return -ENOMEM;
	waiter->call = sd_bus_message_ref(call);
	waiter->port = p->number;
	m->n_waiting++;
	if (w->wedged) {
		waiter_answer(m, waiter, p, -ETIMEDOUT, v->last_error);
		return 0;
	}
	r = work_mark(w, p->number, REASON_QUERY);
	if (r < 0) {
		waiter_answer(m, waiter, p, r, strerror(-r));
		return 0;
	}
	waiter->next = w->waiting;
	w->waiting = waiter;
	mark_flush(m);
	return 0;
}

int manager_refresh(Manager *m, sd_bus_message *call)
{
	sd_bus_message **calls;

	if (!may_wait(m, call))
		return -ENOBUFS;
	calls = reallocarray(m->refreshing, m->n_refreshing + 1, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	m->refreshing = calls;
	m->refreshing[m->n_refreshing++] = sd_bus_message_ref(call);
	m->n_waiting++;
	mark_flush(m);
	return 0;
}

/* Life */

static int open_source(Manager *m, const char *scenario, const char *worker)
{
	static const SourceHandler handler = {on_event, on_device, on_port, on_end};
	_cleanup_free_ char *message = NULL;
	int r;

	if (!scenario) {
		r = source_kernel_new(m->event, &m->config, worker, &handler, m, &m->source);
		if (r < 0)
			return log_error_errno(r, "Cannot set up what watches the kernel: %m");
		return 0;
	}
	m->simulated = true;
	r = simulator_new(m->event, &m->config, scenario, &handler, m, &m->source, &message);
	if (r < 0)
		return log_error_errno(r, "%s", message ? message : scenario);
	return 0;
}

int manager_new(sd_event *event, const Config *config, const char *bus_address,
		const char *scenario, const char *worker, Manager **ret)
{
	_cleanup_(manager_free_pointer) Manager *m = calloc(1, sizeof(Manager));
	int r;

	if (!m)
		return log_error_errno(-ENOMEM, "No memory to start: %m");
	m->event = sd_event_ref(event);
	m->config = *config;
	if (bus_address) {
		m->bus_address = strdup(bus_address);
		if (!m->bus_address)
			return log_error_errno(-ENOMEM, "No memory to start: %m");
	}
	r = sd_event_add_defer(event, &m->flush, on_flush, m);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the flush: %m");
	/* after all events that wait */
	sd_event_source_set_priority(m->flush, SD_EVENT_PRIORITY_IDLE);
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	r = open_source(m, scenario, worker);
	if (r < 0)
		return r;
	r = connect_bus(m);
	if (r < 0)
		return r;
	*ret = steal_pointer(&m);
	return 0;
}

int manager_start(Manager *m)
{
	int r = m->source->ops->start(m->source);

	if (r < 0)
		return log_error_errno(r, "Cannot watch for changes: %m");
	mark_everything(m, REASON_STARTUP);
	if (m->config.reconcile_usec)
		arm(m, &m->reconcile, reconcile_delay(m), on_reconcile, m, "reconcile");
	return 0;
}

Manager *manager_free(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		Work *w = m->cache.devices[i]->work;

		waiters_answer(m, &w->asked_waiting, 0, NULL, -ESHUTDOWN, "rdmad stops");
		waiters_answer(m, &w->waiting, 0, NULL, -ESHUTDOWN, "rdmad stops");
		work_free(w);
	}
	for (size_t i = 0; i < m->n_refreshing; i++)
		sd_bus_message_unref(m->refreshing[i]);
	free(m->refreshing);
	watch_sleep_free(m->sleep);
	sd_bus_slot_unref(m->disconnected);
	if (m->bus)
		bus_free(m->bus);
	sd_event_source_disable_unref(m->reconnect);
	sd_event_source_disable_unref(m->flush);
	sd_event_source_disable_unref(m->flush_deadline);
	sd_event_source_disable_unref(m->reconcile);
	sd_event_source_disable_unref(m->enumerate_retry);
	source_free(m->source);
	cache_done(&m->cache);
	sd_event_unref(m->event);
	free(m->bus_address);
	free(m);
	return NULL;
}
