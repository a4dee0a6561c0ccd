/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "schedule.h"

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

#define CALLER_REASONS (REASON_BIT(REASON_QUERY) | REASON_BIT(REASON_REFRESH))

/* Reasons that say that nothing about P_Keys has changed: on InfiniBand each entry of the table is
 * a firmware command. */
#define NO_PKEY_REASONS                                                                            \
	(REASON_BIT(REASON_QUERY) | REASON_BIT(REASON_SETTLE) | REASON_BIT(REASON_LINK) |          \
	 REASON_BIT(REASON_ADDRESS) | REASON_BIT(REASON_NETDEV) | REASON_BIT(REASON_GID_CHANGE) |  \
	 REASON_BIT(REASON_SPEED_CHANGE) | REASON_BIT(REASON_PORT_ERROR) |                         \
	 REASON_BIT(REASON_LID_CHANGE) | REASON_BIT(REASON_SM_CHANGE))

/* Reasons with which the subnet manager may have changed the P_Keys too. They are news by
 * themselves, which does not wait until that table is read: it is asked for in a query of its own,
 * when the news has had time to reach its subscribers. */
#define LATER_PKEY_REASONS (REASON_BIT(REASON_PORT_ACTIVE) | REASON_BIT(REASON_CLIENT_REREGISTER))

/* Reasons that may have changed the device itself. */
#define DEVICE_REASONS                                                                             \
	(REASON_BIT(REASON_STARTUP) | REASON_BIT(REASON_DEVICE) | REASON_BIT(REASON_RECONCILE) |   \
	 REASON_BIT(REASON_REFRESH) | REASON_BIT(REASON_RESUME) | REASON_BIT(REASON_OVERRUN) |     \
	 REASON_BIT(REASON_RECOVERED) | REASON_BIT(REASON_CHARDEV) |                               \
	 REASON_BIT(REASON_DEVICE_FATAL))

/* Reasons after which the kernel is still at work. */
#define SETTLE_REASONS                                                                             \
	(REASON_BIT(REASON_DEVICE) | REASON_BIT(REASON_CHARDEV) | REASON_BIT(REASON_NETDEV) |      \
	 REASON_BIT(REASON_LINK) | REASON_BIT(REASON_ADDRESS))

Schedule *schedule_new(Device *d, void *userdata)
{
	Schedule *w = calloc(1, sizeof(Schedule));

	if (!w)
		return NULL;
	w->device = d;
	w->userdata = userdata;
	w->tokens = TOKENS_MAX;
	d->schedule = w;
	return w;
}

Schedule *schedule_free(Schedule *w)
{
	sd_event_source_disable_unref(w->pace);
	sd_event_source_disable_unref(w->later);
	sd_event_source_disable_unref(w->settle);
	sd_event_source_disable_unref(w->retry);
	w->device->schedule = NULL;
	free(w->reasons);
	free(w->asked_reasons);
	free(w);
	return NULL;
}

/* Room for the reasons of every port that the device has now. */
static int reserve_reasons(Schedule *w)
{
	uint32_t n = w->device->n_ports + 1;
	uint32_t *reasons, *asked;

	if (n <= w->n_reasons)
		return 0;
	reasons = realloc(w->reasons, n * sizeof(uint32_t));
	if (!reasons)
		return -ENOMEM;
	w->reasons = reasons;
	asked = realloc(w->asked_reasons, n * sizeof(uint32_t));
	if (!asked)
		return -ENOMEM;
	w->asked_reasons = asked;
	memset(reasons + w->n_reasons, 0, (n - w->n_reasons) * sizeof(uint32_t));
	memset(asked + w->n_reasons, 0, (n - w->n_reasons) * sizeof(uint32_t));
	w->n_reasons = n;
	return 0;
}

static void mark_port(Schedule *w, uint32_t port, EventReason reason)
{
	port_set_add(&w->dirty, port);
	w->reasons[port] |= REASON_BIT(reason);
	if (!((NO_PKEY_REASONS | LATER_PKEY_REASONS) & REASON_BIT(reason)))
		port_set_add(&w->pkeys_due, port);
	if (!(SETTLE_REASONS & REASON_BIT(reason)))
		return;
	port_set_add(&w->settling, port);
	w->settle_reasons |= REASON_BIT(reason);
	w->settle_step = 0;
}

int schedule_mark(Schedule *w, uint32_t port, EventReason reason)
{
	int r = reserve_reasons(w);

	if (r < 0)
		return r;
	if (DEVICE_REASONS & REASON_BIT(reason))
		w->dirty_attributes = true;
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
	return w->dirty_attributes || !port_set_is_empty(&w->dirty);
}

void schedule_drop_port(Schedule *w, uint32_t port)
{
	port_set_remove(&w->dirty, port);
	port_set_remove(&w->asked, port);
	port_set_remove(&w->settling, port);
	port_set_remove(&w->pkeys_later, port);
	port_set_remove(&w->pkeys_due, port);
	if (port < w->n_reasons)
		w->reasons[port] = 0;
}

/* Of the ports that are dirty: others may have been asked about in vain. */
static uint32_t all_reasons(const Schedule *w)
{
	uint32_t reasons = 0;

	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->dirty, n))
			reasons |= w->reasons[n];
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
	if (reasons && !(reasons & ~CALLER_REASONS) && now_usec < w->ended_usec + CALLER_USEC) {
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
		now |= port_set_has(&w->dirty, n) && port_set_has(&w->pkeys_due, n);
	for (uint32_t n = 1; n < w->n_reasons; n++) {
		if (!port_set_has(&w->dirty, n))
			continue;
		port_set_remove(&w->pkeys_due, n);
		if (now)
			port_set_remove(&w->pkeys_later, n);
		else if (w->reasons[n] & LATER_PKEY_REASONS)
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
		       .attributes = w->dirty_attributes,
		       .pkeys = begin_pkeys(w),
		       .ports = w->dirty};
	memcpy(ret->name, w->device->now.values.name, sizeof(ret->name));

	w->asked_id = id;
	w->asked = w->dirty;
	w->asked_attributes = w->dirty_attributes;
	w->asked_pkeys = ret->pkeys;
	w->asked_sync = w->sync;
	w->asked_failed = false;
	w->asked_waiting = steal_pointer(&w->waiting);
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->dirty, n)) {
			w->asked_reasons[n] = w->reasons[n];
			w->reasons[n] = 0;
		}
	w->dirty = (PortSet){};
	w->dirty_attributes = false;
	w->sync = false;
}

void schedule_keep_reasons(Schedule *w, uint32_t port)
{
	if (port < w->n_reasons)
		w->reasons[port] |= w->asked_reasons[port];
	port_set_remove(&w->pkeys_later, port);
	if (w->asked_pkeys)
		port_set_add(&w->pkeys_due, port);
}

void schedule_end(Schedule *w, uint64_t now_usec)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->asked, n))
			schedule_keep_reasons(w, n);
	w->asked_id = 0;
	w->asked = (PortSet){};
	w->asked_sync = false;
	w->ended_usec = now_usec;
}

void schedule_pkeys(Schedule *w)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (port_set_has(&w->pkeys_later, n) && n <= w->device->n_ports) {
			port_set_add(&w->dirty, n);
			port_set_add(&w->pkeys_due, n);
			w->reasons[n] |= REASON_BIT(REASON_SETTLE);
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
			port_set_add(&w->dirty, n);
			w->reasons[n] |= w->settle_reasons | REASON_BIT(REASON_SETTLE);
		}
}

uint64_t schedule_next_retry(Schedule *w)
{
	uint64_t delay = w->retry_usec ? w->retry_usec : RETRY_FIRST_USEC;

	w->retry_usec = MIN(delay * 2, RETRY_LAST_USEC);
	return delay;
}

EventReason reason_to_publish(uint32_t reasons)
{
	/* they are declared from the most general to the most specific */
	return reasons ? (EventReason)(31 - __builtin_clz(reasons)) : REASON_RECONCILE;
}
