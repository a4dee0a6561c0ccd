/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the source about what is dirty, puts the answers into the cache, and publishes what they
 * change. */

#include "log.h"
#include "manager-private.h"

/* Timers of one device */

static int on_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;

	manager_ask(w->manager, w->device);
	return 0;
}

void manager_drop_later(Manager *m, Schedule *w)
{
	if (w->later_usec)
		g_queue_unlink(&m->later_due, &w->later);
	w->later_usec = 0;
}

static int on_later(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	uint64_t now = monotonic_usec(m);
	Schedule *w;

	while ((w = g_queue_peek_head(&m->later_due)) && w->later_usec <= now) {
		manager_drop_later(m, w);
		manager_tell_later(m, w->device);
		schedule_later(w);
		manager_ask(m, w->device);
	}
	if (w)
		manager_start_timer(m, &m->later, w->later_usec - now, on_later, m, "later");
	return 0;
}

/* Does what can wait until the changed values of the device are on the bus. */
static void later(Manager *m, Schedule *w)
{
	if (!w->later_usec) {
		w->later_usec = monotonic_usec(m) + SCHEDULE_LATER_USEC;
		g_queue_push_tail_link(&m->later_due, &w->later);
	}
	manager_await_timer(m, &m->later, SCHEDULE_LATER_USEC, on_later, m, "later");
}

static int on_settle(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;

	w->manager->links_generation++;
	schedule_settle(w);
	manager_ask(w->manager, w->device);
	return 0;
}

/* Ports that are settling are looked at once more. */
static void await_settle(Manager *m, Schedule *w)
{
	uint64_t delay;

	if (w->n_settling == 0 || (timer_runs(w->settle) && w->settle_step > 0))
		return;
	delay = schedule_next_settle(w);
	if (delay)
		manager_start_timer(m, &w->settle, delay, on_settle, w, "settle");
}

static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Schedule *w = userdata;
	Device *d = w->device;

	if (schedule_mark(w, EVENT_ALL_PORTS, REASON_RECONCILE) < 0)
		return 0;
	/* The query that failed may have been one because of an event about it. */
	w->next.health = true;
	for (uint32_t i = 0; i < d->n_ports; i++)
		schedule_doubt(w, d->ports[i]->number, d->ports[i]->now.failed);
	manager_ask(w->manager, d);
	return 0;
}

/* Looks at the device again later. Only a look that was due makes the next one later still: else a
 * burst of events about a port that fails would leave it stale for long after it answers again. */
static void retry_later(Manager *m, Schedule *w)
{
	if (!timer_runs(w->retry))
		manager_start_timer(m, &w->retry, schedule_next_retry(w), on_retry, w, "retry");
}

/* Queries */

/* P has answered, or could not: ERROR, with TEXT. */
static void take_port(Manager *m, Port *p, uint32_t reasons, int error, QueryErrorCode code,
		      const char *text, PortSnapshot *snapshot)
{
	Schedule *w = p->device->schedule;
	_cleanup_(port_change_done) PortChange change;
	uint64_t now = realtime_now_usec();

	if (error < 0)
		cache_apply_port_error(p, error, code, text, reasons, now, &change);
	else
		cache_apply_port(p, snapshot, reasons, now, &change);
	/* an event says more of the state than the answer, which may be older */
	change.is_open = w->asked_open || schedule_has_reason(w, p->number, REASONS_OF_STATE);
	manager_hand_on_port(m, &change);
	/* The news is on its way. */
	if (error >= 0 && manager_is_untold(p))
		later(m, w);
}

/* The device does not answer, or PORTS of it do not: what is published of it is stale. */
static void fail_device(Manager *m, Device *d, const PortSet *ports, int error, QueryErrorCode code,
			const char *text)
{
	_cleanup_(device_change_done) DeviceChange change = {};

	cache_apply_device_error(d, error, code, text, realtime_now_usec(), &change);
	manager_hand_on_device(m, &change);
	for (uint32_t n = 1; n <= d->n_ports; n++)
		if (port_set_has(ports, n))
			take_port(m, d->ports[n - 1], 0, error, code, text, NULL);
	bus_answer_queries(&d->schedule->asked.queries, 0, NULL, error, text);
}

/* A question to D has ended: says which ports it has now. */
static void publish_ports(Manager *m, Device *d)
{
	if (m->bus)
		bus_publish_device_ports(m->bus, d);
	manager_record_asked(m, d);
}

static PortSet all_ports(const Device *d)
{
	PortSet s = {};

	for (uint32_t n = 1; n <= d->n_ports; n++)
		port_set_add(&s, n);
	return s;
}

/* The device takes no queries until the source says RECOVERED. */
static void wedge(Manager *m, Device *d, QueryErrorCode code, const char *text)
{
	Schedule *w = d->schedule;
	PortSet all = all_ports(d);

	if (!w->wedged)
		log_warning("%s: %s; its values are stale until it answers",
			    TEXT_OF(&d->now.values, name), text);
	w->wedged = true;
	w->recovering = false;
	fail_device(m, d, &all, -ETIMEDOUT, code, text);
	manager_refuse_calls(d, 0, -ETIMEDOUT, text);
	schedule_end_whole(w);
}

/* The source does not take the question. */
static void fail_ask(Manager *m, Device *d, const Query *query, int error)
{
	Schedule *w = d->schedule;

	log_debug_errno(error, "%s: cannot ask: %m", TEXT_OF(&d->now.values, name));
	if (error == -ETIMEDOUT) {
		wedge(m, d, QUERY_ERROR_TIMEOUT, "the device does not answer");
	} else {
		fail_device(m, d, &query->ports, error, QUERY_ERROR_CANNOT_ASK, strerror(-error));
		retry_later(m, w);
	}
	publish_ports(m, d);
	schedule_end(w, monotonic_usec(m));
	manager_check_look(m);
}

void manager_ask(Manager *m, Device *d)
{
	Schedule *w = d->schedule;
	uint64_t now, when;
	Query query;
	int r;

	if (w->asked_id && schedule_is_dirty(w))
		manager_hurry_reading(m, d);
	if (w->asked_id || w->wedged)
		return;
	if (!schedule_is_dirty(w)) {
		/* an event may have nothing to be asked at once */
		await_settle(m, w);
		manager_ask_readings(m, d);
		return;
	}
	now = monotonic_usec(m);
	if (!schedule_may_ask(w, now, &when)) {
		manager_start_timer(m, &w->pace, when - now, on_pace, w, "pace");
		manager_ask_readings(m, d);
		return;
	}
	schedule_begin(w, manager_new_id(m, d), now, &query);
	r = manager_send(m, d, &query);
	if (r < 0)
		fail_ask(m, d, &query, r);
}

/* The device that was asked ID, NULL if that question is not open any more. */
static Device *asked_device(Manager *m, uint64_t id)
{
	Device *d = cache_device(&m->cache, (uint32_t)id);

	return d && d->schedule->asked_id == id ? d : NULL;
}

bool manager_on_asking(void *userdata, const Query *query)
{
	Manager *m = userdata;
	Device *d = cache_device(&m->cache, query->device);

	return d && schedule_adopt(d->schedule, monotonic_usec(m), query);
}

void manager_on_device(void *userdata, uint64_t id, DeviceSnapshot *snapshot)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	_cleanup_(device_change_done) DeviceChange change = {};
	int r;

	if (!d)
		return;
	/* Identity comes from the enumeration: an answer cannot move the device, resize it, or
	 * rename it, which its ports would not hear of. The name of the parent may be older than
	 * the one that the last enumeration has: no event of this device tells of the parent. */
	DEVICE_SUPPLY(snapshot, index, d->index);
	mask_set(&snapshot->supplied, DEVICE_ATTR_name, false);
	mask_set(&snapshot->supplied, DEVICE_ATTR_parent, false);
	mask_set(&snapshot->supplied, DEVICE_ATTR_port_count, false);
	r = cache_apply_device(&m->cache, snapshot, CHANGE_ANSWER, realtime_now_usec(), &change);
	if (r < 0) {
		log_warning_errno(r, "%s: cannot keep the answer, ignoring: %m",
				  TEXT_OF(&d->now.values, name));
		return;
	}
	d->schedule->asked.attributes = false;
	d->schedule->wedged = false;
	/* Events may have been lost before this was noticed. */
	if (mask_has(&change.changed, DEVICE_ATTR_events))
		schedule_doubt(d->schedule, EVENT_ALL_PORTS, READ_PKEYS);
	manager_hand_on_device(m, &change);
}

void manager_on_port(void *userdata, uint64_t id, uint32_t number, int error,
		     PortSnapshot *snapshot)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	Port *p = device_port(d, number);
	const char *text = error < 0 ? strerror(-error) : "";
	uint32_t reasons;
	Schedule *w;

	if (d && d->schedule->asked_kind != QUERY_ATTRIBUTES) {
		manager_on_reading(m, d, number, error, snapshot);
		if (p && d->schedule->asked_kind == QUERY_COUNTERS) {
			manager_signal_counters(m, p);
			manager_health_counters(m, p);
		}
		return;
	}
	if (!p || !schedule_is_asked(d->schedule, number))
		return;
	w = d->schedule;
	reasons = schedule_take_answer(w, number);
	if (error < 0)
		schedule_keep_reasons(w, number);
	else
		w->wedged = false;
	take_port(m, p, reasons, error, QUERY_ERROR_DEVICE, text, snapshot);
	bus_answer_queries(&w->asked.queries, number, p, error, text);
}

/* Whether all that is known of D is what it answered last, and nothing is missing. */
static bool is_healthy(const Device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (d->ports[i]->now.values.stale || d->ports[i]->now.failed)
			return false;
	return !d->now.values.stale;
}

/* The query of D has ended with ERROR, or 0: what that says of the device. */
static void judge_end(Manager *m, Device *d, int error, QueryErrorCode code, const char *text)
{
	Schedule *w = d->schedule;

	if (error == -ETIMEDOUT) {
		wedge(m, d, code, text);
	} else if (error < 0) {
		PortSet open = schedule_asked_ports(w);

		log_debug("%s: %s", TEXT_OF(&d->now.values, name), text);
		fail_device(m, d, &open, error, code, text);
		/* the device may be about to go */
		m->devices_due = true;
		manager_mark_flush(m);
	} else if (w->recovering) {
		w->recovering = false;
		log_info("%s: answers again", TEXT_OF(&d->now.values, name));
	}
	bus_answer_queries(&w->asked.queries, 0, NULL, -EIO, "the port was not read");
	if (!d->published)
		manager_announce_device(m, d, CACHE_ADDED);
	/* an answer about one port says nothing of another one that has failed before */
	if (is_healthy(d))
		schedule_stop_retry(w);
	else if (error != -ETIMEDOUT)
		retry_later(m, w);
}

/* Starts the timers after a query: for parts that were left for later, and for ports that are
 * settling.
 */
static void await_next(Manager *m, Schedule *w)
{
	if (schedule_has_left(w))
		later(m, w);
	await_settle(m, w);
}

void manager_on_end(void *userdata, uint64_t id, int error, QueryErrorCode code, const char *reason)
{
	Manager *m = userdata;
	Device *d = asked_device(m, id);
	char text[128];
	Schedule *w;

	if (!d)
		return;
	w = d->schedule;
	/* what hardware says may not be UTF-8, and D-Bus has no way to send that */
	text_copy_clean(text, sizeof(text), reason);
	if (w->asked_kind != QUERY_ATTRIBUTES) {
		manager_end_reading(d, error, text);
		if (error == 0) {
			/* says nothing of what else is to be asked, or when */
			w->asked_id = 0;
			manager_ask(m, d);
			return;
		}
	}
	if (error == 0 && (w->asked.n > 0 || w->asked.attributes)) {
		error = -EPROTO;
		code = QUERY_ERROR_INCOMPLETE;
		text_copy(text, sizeof(text), "the answer is incomplete");
	}
	judge_end(m, d, error, code, text);
	schedule_end(w, monotonic_usec(m));
	await_next(m, w);
	publish_ports(m, d);
	manager_publish_counts(m);
	manager_check_look(m);
	w->marked = false;
	manager_ask(m, d);
	manager_spare_flush(m);
}
