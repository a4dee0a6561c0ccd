/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of Port.Query() and Manager.Refresh() that wait for an answer of the hardware. */

#include "log.h"
#include "manager-private.h"
#include "names.h"

/* How many may wait: over all callers, and of one of them, so that it does not take the places of
 * the others */
#define WAITING_MAX	   1024U
#define WAITING_CALLER_MAX 256U

void manager_reply_error(sd_bus_message *call, int error, const char *text)
{
	int r = sd_bus_reply_method_errorf(call,
					   error == -ETIMEDOUT ? RDMAD_ERROR_TIMEOUT
					   : error == -ENODEV  ? RDMAD_ERROR_NOT_FOUND
							       : RDMAD_ERROR_QUERY_FAILED,
					   "%s", text);

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

static void waiter_answer(Manager *m, Waiter *w, const Port *p, int error, const char *text)
{
	int r = 0;

	if (error == 0)
		r = bus_reply_query(w->call, p);
	else
		manager_reply_error(w->call, error, text);
	if (r < 0)
		log_debug_errno(r, "Cannot answer a query, ignoring: %m");
	sd_bus_message_unref(w->call);
	free(w);
	m->n_waiting--;
}

/* Answers those in *LIST that wait for PORT (0: all). */
void manager_answer_queries(Manager *m, Waiter **list, uint32_t port, const Port *p, int error,
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
void manager_answer_refresh(Manager *m, int error)
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
		manager_mark_flush(m);
	}
}

void manager_sync_done(Manager *m)
{
	if (!m->enumerate_failed)
		m->last_sync_usec = realtime_usec();
	manager_answer_refresh(m, 0);
}

/* Keeps n_syncing while a work's flags change. */
void manager_set_sync(Manager *m, Schedule *w, bool dirty, bool asked)
{
	bool was = w->sync || w->asked_sync;

	w->sync = dirty;
	w->asked_sync = asked;
	/* Or else the enumeration that is due says so. */
	if (was && !dirty && !asked && --m->n_syncing == 0 && !m->enumerate)
		manager_sync_done(m);
	else if (!was && (dirty || asked))
		m->n_syncing++;
}

static size_t count_of_caller(const Waiter *list, const char *caller)
{
	size_t n = 0;

	for (; list; list = list->next)
		n += streq(sd_bus_message_get_sender(list->call), caller);
	return n;
}

bool manager_may_wait(const Manager *m, sd_bus_message *call)
{
	const char *caller = sd_bus_message_get_sender(call);
	size_t n = 0;

	if (m->n_waiting < WAITING_CALLER_MAX)
		return true;
	if (m->n_waiting >= WAITING_MAX)
		return false;
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Schedule *w = m->cache.devices[i]->schedule;

		n += count_of_caller(w->waiting, caller) +
		     count_of_caller(w->asked_waiting, caller) +
		     manager_count_counters(m->cache.devices[i], caller);
	}
	for (size_t i = 0; i < m->n_refreshing; i++)
		n += streq(sd_bus_message_get_sender(m->refreshing[i]), caller);
	return n < WAITING_CALLER_MAX;
}

int manager_query(Manager *m, Port *p, uint64_t max_age_usec, sd_bus_message *call)
{
	Schedule *w = p->device->schedule;
	const PortValues *v = &p->now.values;
	uint64_t now = realtime_usec();
	Waiter *waiter;
	int r;

	if (!v->stale && v->last_query && now >= v->last_query &&
	    now - v->last_query <= max_age_usec)
		return bus_reply_query(call, p);
	if (!manager_may_wait(m, call))
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
	r = schedule_mark(w, p->number, REASON_QUERY);
	if (r < 0) {
		waiter_answer(m, waiter, p, r, strerror(-r));
		return 0;
	}
	waiter->next = w->waiting;
	w->waiting = waiter;
	manager_mark_flush(m);
	return 0;
}

int manager_refresh(Manager *m, sd_bus_message *call)
{
	sd_bus_message **calls;

	if (!manager_may_wait(m, call))
		return -ENOBUFS;
	calls = reallocarray(m->refreshing, m->n_refreshing + 1, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	m->refreshing = calls;
	m->refreshing[m->n_refreshing++] = sd_bus_message_ref(call);
	m->n_waiting++;
	manager_mark_flush(m);
	return 0;
}
