/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "schedule.h"

#include <assert.h>

/* A burst of this many queries goes through at once, INIT to ARMED to ACTIVE among them; then ten a
 * second. So an interface of a port never has more than 20 signals of changed values a second. */
#define TOKENS_MAX 10U
#define TOKEN_USEC (100 * USEC_PER_MSEC)
/* Reads that only callers want keep this distance. */
#define CALLER_USEC (100 * USEC_PER_MSEC)

#define RETRY_FIRST_USEC (250 * USEC_PER_MSEC)
#define RETRY_LAST_USEC	 (30 * USEC_PER_SEC)

/* GID table and port state follow rtnetlink from a work queue: 0.5 to 10 ms later on a quiet
 * machine. */
static const uint64_t settle_usec[] = {8 * USEC_PER_MSEC, 40 * USEC_PER_MSEC, 200 * USEC_PER_MSEC,
				       USEC_PER_SEC};

Schedule *schedule_new(Device *d, struct Manager *m)
{
	Schedule *w = calloc(1, sizeof(Schedule));

	if (!w)
		return NULL;
	w->device = d;
	w->manager = m;
	w->tokens = TOKENS_MAX;
	d->schedule = w;
	return w;
}

Schedule *schedule_free(Schedule *w)
{
	if (!w)
		return NULL;
	assert(!w->next.queries.first && !w->asked.queries.first);
	sd_event_source_disable_unref(w->pace);
	sd_event_source_disable_unref(w->later);
	sd_event_source_disable_unref(w->settle);
	sd_event_source_disable_unref(w->retry);
	w->device->schedule = NULL;
	free(w->next.reasons);
	free(w->asked.reasons);
	free(w);
	return NULL;
}

static int grow_reasons(Ask *a, uint32_t from, uint32_t to)
{
	uint32_t *reasons = reallocarray(a->reasons, to, sizeof(uint32_t));

	if (!reasons)
		return -ENOMEM;
	memset(reasons + from, 0, (to - from) * sizeof(uint32_t));
	a->reasons = reasons;
	return 0;
}

/* Room for the reasons of every port that the device has now. */
static int reserve_reasons(Schedule *w)
{
	uint32_t n = w->device->n_ports + 1;

	if (n <= w->n_reasons)
		return 0;
	if (grow_reasons(&w->next, w->n_reasons, n) < 0 ||
	    grow_reasons(&w->asked, w->n_reasons, n) < 0)
		return -ENOMEM;
	w->n_reasons = n;
	return 0;
}

static void mark_port(Schedule *w, uint32_t port, EventReason reason)
{
	port_set_add(&w->next.ports, port);
	w->next.reasons[port] |= REASON_BIT(reason);
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_PKEYS))
		port_set_add(&w->pkeys_due, port);
	if (!(REASON_BIT(reason) & event_reasons_meaning(MEANS_SETTLING)))
		return;
	port_set_add(&w->settling, port);
	w->settle_reasons |= REASON_BIT(reason);
	w->settle_step = 0;
}

void schedule_begin_whole(Schedule *w)
{
	if (!w->wedged)
		w->next.whole = true;
}

int schedule_mark(Schedule *w, uint32_t port, EventReason reason)
{
	int r = reserve_reasons(w);

	if (r < 0)
		return r;
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_DEVICE))
		w->next.attributes = true;
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_WHOLE))
		schedule_begin_whole(w);
	if (port != EVENT_ALL_PORTS && port <= w->device->n_ports) {
		mark_port(w, port, reason);
		return 0;
	}
	for (uint32_t n = 1; n <= w->device->n_ports; n++)
		mark_port(w, n, reason);
	return 0;
}

bool schedule_is_dirty(const Schedule *w)
{
	return w->next.attributes || !port_set_is_empty(&w->next.ports);
}

bool schedule_is_whole(const Schedule *w)
{
	return w->next.whole || w->asked.whole;
}

void schedule_end_whole(Schedule *w)
{
	w->next.whole = w->asked.whole = false;
}

void schedule_drop_port(Schedule *w, uint32_t port)
{
	port_set_remove(&w->next.ports, port);
	port_set_remove(&w->asked.ports, port);
	port_set_remove(&w->settling, port);
	port_set_remove(&w->pkeys_later, port);
	port_set_remove(&w->pkeys_due, port);
	if (port < w->n_reasons)
		w->next.reasons[port] = 0;
}

/* The reasons of the ports that are dirty. Others may have some too: those for which they were
 * asked and have not answered. */
static uint32_t all_reasons(const Schedule *w)
{
	uint32_t reasons = 0;

	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->next.ports, n))
			reasons |= w->next.reasons[n];
	return reasons;
}

bool schedule_may_ask(Schedule *w, uint64_t now_usec, uint64_t *ret_usec)
{
	uint64_t earned = (now_usec - w->tokens_usec) / TOKEN_USEC;
	uint32_t reasons = all_reasons(w);

	if (earned > 0) {
		w->tokens = (unsigned int)MIN(w->tokens + earned, (uint64_t)TOKENS_MAX);
		w->tokens_usec += earned * TOKEN_USEC;
	}
	if (reasons && !(reasons & ~event_reasons_meaning(MEANS_CALLER)) &&
	    now_usec < w->ended_usec + CALLER_USEC) {
		*ret_usec = w->ended_usec + CALLER_USEC;
		return false;
	}
	if (w->tokens == 0) {
		*ret_usec = w->tokens_usec + TOKEN_USEC;
		return false;
	}
	return true;
}

/* Whether the query that begins is to read P_Keys; if not, notes for which ports later. */
static bool begin_pkeys(Schedule *w)
{
	bool now = false;

	for (uint32_t n = 1; n < w->n_reasons; n++)
		now |= port_set_has(&w->next.ports, n) && port_set_has(&w->pkeys_due, n);
	for (uint32_t n = 1; n < w->n_reasons; n++) {
		if (!port_set_has(&w->next.ports, n))
			continue;
		port_set_remove(&w->pkeys_due, n);
		if (now)
			port_set_remove(&w->pkeys_later, n);
		else if (w->next.reasons[n] & event_reasons_meaning(MEANS_PKEYS_LATER))
			port_set_add(&w->pkeys_later, n);
	}
	return now;
}

void schedule_begin(Schedule *w, uint64_t id, uint64_t now_usec, Query *ret)
{
	if (w->tokens == TOKENS_MAX)
		w->tokens_usec = now_usec;
	w->tokens--;

	*ret = (Query){.id = id,
		       .device = w->device->index,
		       .attributes = w->next.attributes,
		       .pkeys = begin_pkeys(w),
		       .ports = w->next.ports};
	memcpy(ret->name, w->device->now.values.name, sizeof(ret->name));

	w->asked_id = id;
	w->asked_pkeys = ret->pkeys;
	w->asked.ports = w->next.ports;
	w->asked.attributes = w->next.attributes;
	w->asked.whole = w->next.whole;
	pending_list_move(&w->asked.queries, &w->next.queries);
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->next.ports, n)) {
			w->asked.reasons[n] = w->next.reasons[n];
			w->next.reasons[n] = 0;
		}
	w->next.ports = (PortSet){};
	w->next.attributes = false;
	w->next.whole = false;
}

void schedule_keep_reasons(Schedule *w, uint32_t port)
{
	if (port < w->n_reasons)
		w->next.reasons[port] |= w->asked.reasons[port];
	port_set_remove(&w->pkeys_later, port);
	if (w->asked_pkeys)
		port_set_add(&w->pkeys_due, port);
}

void schedule_end(Schedule *w, uint64_t now_usec)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->asked.ports, n))
			schedule_keep_reasons(w, n);
	w->asked_id = 0;
	w->asked.ports = (PortSet){};
	w->asked.whole = false;
	w->ended_usec = now_usec;
}

void schedule_pkeys(Schedule *w)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->pkeys_later, n) && n <= w->device->n_ports) {
			port_set_add(&w->next.ports, n);
			port_set_add(&w->pkeys_due, n);
			w->next.reasons[n] |= REASON_BIT(REASON_SETTLE);
		}
	w->pkeys_later = (PortSet){};
}

uint64_t schedule_next_settle(Schedule *w)
{
	if (w->settle_step < ARRAY_SIZE(settle_usec))
		return settle_usec[w->settle_step++];
	w->settling = (PortSet){};
	w->settle_reasons = 0;
	return 0;
}

void schedule_settle(Schedule *w)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->settling, n) && n <= w->device->n_ports) {
			port_set_add(&w->next.ports, n);
			w->next.reasons[n] |= w->settle_reasons | REASON_BIT(REASON_SETTLE);
		}
}

uint64_t schedule_next_retry(Schedule *w)
{
	uint64_t delay = w->retry_usec ? w->retry_usec : RETRY_FIRST_USEC;

	w->retry_usec = MIN(delay * 2, RETRY_LAST_USEC);
	return delay;
}

void schedule_stop_retry(Schedule *w)
{
	w->retry_usec = 0;
	if (w->retry)
		sd_event_source_set_enabled(w->retry, SD_EVENT_OFF);
}
