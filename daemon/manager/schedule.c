/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "schedule.h"

#include <assert.h>

#include "decode.h"

/* Reads that callers want keep this distance. manager-look.c has a longer one for Refresh(). */
#define CALLER_USEC (100 * USEC_PER_MSEC)

/* One in so many periodic looks is a long one: it reads the P_Keys of a device whose events are
 * heard, and what the PHY and the sensors say. On an adapter with many virtual functions a table
 * read is thousands of firmware commands, and a change that the kernel did not report is found
 * after five minutes at most (ReconcileIntervalSec=30). */
#define LONG_LOOKS 10U

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
	w->later.data = w;
	w->tokens.n = TOKENS_MAX;
	/* so devices do not all read their P_Keys in the same look */
	w->n_looks = d->index;
	d->schedule = w;
	return w;
}

void schedule_free(Schedule *w)
{
	if (!w)
		return;
	assert(!w->callers.queries.first && !w->asked.queries.first);
	sd_event_source_disable_unref(w->pace);
	sd_event_source_disable_unref(w->settle);
	sd_event_source_disable_unref(w->retry);
	w->device->schedule = NULL;
	free(w->next.ports);
	free(w);
}

/* Sets of ports */

static bool ask_has(const Schedule *w, const Ask *a, uint32_t port)
{
	return port < w->n_reasons && a->ports[port].is_in;
}

static void ask_set(Schedule *w, Ask *a, uint32_t port, bool is_in)
{
	if (ask_has(w, a, port) == is_in || port >= w->n_reasons)
		return;
	a->ports[port].is_in = is_in;
	a->n += is_in ? 1U : -1U;
}

static void ask_clear(Schedule *w, Ask *a)
{
	for (uint32_t n = 1; n < w->n_reasons && a->n > 0; n++)
		ask_set(w, a, n, false);
}

bool schedule_is_asked(const Schedule *w, uint32_t port)
{
	return ask_has(w, &w->asked, port);
}

PortSet schedule_asked_ports(const Schedule *w)
{
	PortSet s = {};

	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (w->asked.ports[n].is_in)
			port_set_add(&s, n);
	return s;
}

uint32_t schedule_take_answer(Schedule *w, uint32_t port)
{
	ask_set(w, &w->asked, port, false);
	return w->asked.ports[port].reasons;
}

static void set_settling(Schedule *w, uint32_t port, bool is_settling)
{
	if (port >= w->n_reasons || w->later_ports[port].is_settling == is_settling)
		return;
	w->later_ports[port].is_settling = is_settling;
	w->n_settling += is_settling ? 1U : -1U;
}

/* Marks */

/* Room for the reasons and parts of every port that the device has now. */
static int reserve_reasons(Schedule *w)
{
	uint32_t from = w->n_reasons, to = w->device->n_ports + 1;
	Ask *asks[] = {&w->next, &w->callers, &w->asked};
	PortLater *later;
	AskPort *ports;

	if (to <= from)
		return 0;
	/* all four arrays in one memory, which is that of the first */
	ports = calloc(to, ARRAY_SIZE(asks) * sizeof(AskPort) + sizeof(PortLater));
	if (!ports)
		return -ENOMEM;
	later = (PortLater *)(ports + ARRAY_SIZE(asks) * to);
	if (from > 0) {
		for (size_t i = 0; i < ARRAY_SIZE(asks); i++)
			memcpy(ports + i * to, asks[i]->ports, from * sizeof(AskPort));
		memcpy(later, w->later_ports, from * sizeof(PortLater));
	}
	free(w->next.ports);
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++)
		asks[i]->ports = ports + i * to;
	w->later_ports = later;
	w->n_reasons = to;
	return 0;
}

/* Whether the kernel says when the P_Keys of D change. */
static bool hears_changes(const Device *d)
{
	return mask_has(&d->now.supplied, DEVICE_ATTR_events) &&
	       d->now.values.events == EVENTS_VERBS;
}

/* The parts that are read at once for REASON. */
static unsigned int parts_at_once(Schedule *w, EventReason reason)
{
	unsigned int parts = event_parts_at_once(REASON_BIT(reason));

	if (!(REASON_BIT(reason) & event_reasons_meaning(MEANS_CHECK)))
		return parts;
	if (++w->n_looks % LONG_LOOKS == 0)
		return parts | READ_PKEYS | READ_SIGNAL;
	return hears_changes(w->device) ? parts : parts | READ_PKEYS;
}

static void mark_port(Schedule *w, Ask *a, uint32_t port, EventReason reason, unsigned int parts)
{
	if (parts) {
		ask_set(w, a, port, true);
		a->ports[port].reasons |= REASON_BIT(reason);
		a->ports[port].parts |= (uint8_t)parts;
	}
	if (!(REASON_BIT(reason) & event_reasons_meaning(MEANS_SETTLING)))
		return;
	set_settling(w, port, true);
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
	bool by_caller = REASON_BIT(reason) & event_reasons_meaning(MEANS_CALLER);
	Ask *a = by_caller ? &w->callers : &w->next;
	int r = reserve_reasons(w);
	unsigned int parts;

	if (r < 0)
		return r;
	w->marked = true;
	parts = parts_at_once(w, reason);
	if (!by_caller && parts)
		w->only_left = false;
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_DEVICE))
		a->attributes = true;
	/* Of a change of health there is always an event. */
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_DEVICE) &&
	    !(REASON_BIT(reason) & event_reasons_meaning(MEANS_NO_EVENT)))
		a->health = true;
	if (REASON_BIT(reason) & event_reasons_meaning(MEANS_WHOLE) && !w->wedged)
		a->whole = true;
	if (port != EVENT_ALL_PORTS && port <= w->device->n_ports) {
		mark_port(w, a, port, reason, parts);
		return 0;
	}
	for (uint32_t n = 1; n <= w->device->n_ports; n++)
		mark_port(w, a, n, reason, parts);
	return 0;
}

static bool wants_something(const Ask *a)
{
	return a->attributes || a->n > 0;
}

bool schedule_is_dirty(const Schedule *w)
{
	return wants_something(&w->next) || wants_something(&w->callers);
}

bool schedule_has_reason(const Schedule *w, uint32_t port, uint32_t reasons)
{
	return ask_has(w, &w->next, port) && w->next.ports[port].reasons & reasons;
}

bool schedule_is_whole(const Schedule *w)
{
	return w->next.whole || w->callers.whole || w->asked.whole;
}

void schedule_end_whole(Schedule *w)
{
	w->next.whole = w->callers.whole = w->asked.whole = false;
}

static void drop_port(Schedule *w, Ask *a, uint32_t port)
{
	ask_set(w, a, port, false);
	a->ports[port] = (AskPort){};
}

void schedule_drop_port(Schedule *w, uint32_t port)
{
	if (port >= w->n_reasons)
		return;
	drop_port(w, &w->next, port);
	drop_port(w, &w->callers, port);
	ask_set(w, &w->asked, port, false);
	set_settling(w, port, false);
	w->later_ports[port].left = 0;
}

/* Whether there may be a query now because of events, and because of callers. */
static bool may_ask_for_events(const Schedule *w)
{
	return wants_something(&w->next) && (w->tokens.n > 0 || w->only_left);
}

static bool may_ask_for_callers(const Schedule *w, uint64_t now_usec)
{
	return wants_something(&w->callers) && now_usec >= w->callers_usec;
}

bool schedule_may_ask(Schedule *w, uint64_t now_usec, uint64_t *ret_usec)
{
	uint64_t when = UINT64_MAX;

	token_bucket_fill(&w->tokens, now_usec);
	if (may_ask_for_events(w) || may_ask_for_callers(w, now_usec))
		return true;
	if (wants_something(&w->next))
		when = token_bucket_next_usec(&w->tokens);
	if (wants_something(&w->callers))
		when = MIN(when, w->callers_usec);
	*ret_usec = when;
	return false;
}

/* Adds what A wants to the query that begins; then A wants nothing. Its reasons and parts stay. */
static void take(Schedule *w, Ask *a)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (a->ports[n].is_in)
			ask_set(w, &w->asked, n, true);
	w->asked.attributes |= a->attributes;
	w->asked.health |= a->health;
	w->asked.whole |= a->whole;
	ask_clear(w, a);
	a->attributes = a->health = a->whole = false;
}

/* The query that begins answers the reasons of A to ask about PORT, and reads what they want. */
static void take_reasons(Schedule *w, Ask *a, uint32_t port)
{
	w->asked.ports[port].reasons |= a->ports[port].reasons;
	w->asked_parts |= a->ports[port].parts;
	a->ports[port].reasons = a->ports[port].parts = 0;
}

/* The parts of PORT that the next query reads for any reason: all parts if the last query failed,
 * and the parts that were never read. */
static unsigned int parts_due(const Schedule *w, uint32_t port)
{
	const PortSnapshot *now = &w->device->ports[port - 1]->now;

	return (now->values.stale ? READ_USUAL : 0U) | (READ_NEWS & ~now->parts);
}

static void take_port_reasons(Schedule *w, uint32_t port)
{
	w->asked.ports[port].reasons = 0;
	if (w->asked_callers)
		take_reasons(w, &w->callers, port);
	/* an event that still waits for its own query keeps its reasons for that */
	if (!ask_has(w, &w->next, port))
		take_reasons(w, &w->next, port);
	if (port <= w->device->n_ports)
		w->asked_parts |= parts_due(w, port);
}

/* Notes what the query that begins leaves for later. */
static void note_left(Schedule *w)
{
	for (uint32_t n = 1; n < w->n_reasons; n++) {
		const AskPort *asked = &w->asked.ports[n];
		uint8_t *left = &w->later_ports[n].left;

		if (asked->is_in)
			*left = (uint8_t)((*left & ~w->asked_parts) |
					  event_parts_later(asked->reasons, w->asked_parts));
	}
}

static bool is_health_known(const Schedule *w)
{
	return mask_has(&w->device->now.supplied, DEVICE_ATTR_health_reporters);
}

void schedule_begin(Schedule *w, uint64_t id, uint64_t now_usec, Query *ret)
{
	bool for_events = may_ask_for_events(w);

	w->asked_callers = may_ask_for_callers(w, now_usec);
	assert(for_events || w->asked_callers);
	ask_clear(w, &w->asked);
	w->asked.attributes = w->asked.health = w->asked.whole = false;
	if (for_events) {
		/* what an event's query has left takes none */
		if (!w->only_left)
			token_bucket_take(&w->tokens, now_usec);
		w->only_left = false;
		take(w, &w->next);
	}
	if (w->asked_callers) {
		take(w, &w->callers);
		pending_list_move(&w->asked.queries, &w->callers.queries);
	}
	w->asked_id = id;
	w->asked_parts = 0;
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (w->asked.ports[n].is_in)
			take_port_reasons(w, n);
	note_left(w);

	*ret = (Query){.id = id,
		       .device = w->device->index,
		       .adapter = w->device->now.values.sys_image_guid,
		       .attributes = w->asked.attributes,
		       .health = w->asked.attributes && (w->asked.health || !is_health_known(w)),
		       .parts = w->asked_parts,
		       .ports = schedule_asked_ports(w)};
	text_copy(ret->name, sizeof(ret->name), TEXT_OF(&w->device->now.values, name));
}

/* The query of the source that begins answers the events of verbs for which it reads enough of
 * PORT. What another source has told stays, because the query may have read before that change.
 * What it does not read because it does not know that it is due stays too. */
static void adopt_port(Schedule *w, uint32_t port)
{
	AskPort *next = &w->next.ports[port];
	uint32_t stay = next->reasons & ~REASONS_OF_VERBS;
	unsigned int due = event_parts_at_once(stay);

	for (EventReason r = 0; r < _REASON_MAX; r++)
		if (event_parts_at_once(next->reasons & REASON_BIT(r)) & ~w->asked_parts)
			stay |= REASON_BIT(r);
	w->asked.ports[port].reasons = next->reasons & ~stay;
	next->reasons &= stay;
	if (!stay)
		ask_set(w, &w->next, port, false);
	next->parts &= (uint8_t)(due | ~w->asked_parts);
	w->later_ports[port].left |= (uint8_t)parts_due(w, port);
}

/* The source has the answer of Q. The query under way, if it has the id of Q, asks that and nothing
 * else. */
static bool take_query(Schedule *w, const Query *q)
{
	const PortSet before = schedule_asked_ports(w);

	if (w->asked_id && w->asked_id != q->id)
		return false;
	if (!w->asked_id)
		w->asked.attributes = w->asked.whole = w->asked_callers = false;
	ask_clear(w, &w->asked);
	for (uint32_t n = 1; n <= w->device->n_ports && n < w->n_reasons; n++) {
		if (port_set_has(&q->ports, n)) {
			ask_set(w, &w->asked, n, true);
			w->asked.ports[n].reasons = q->reasons;
		} else if (port_set_has(&before, n)) {
			schedule_keep_reasons(w, n);
			ask_set(w, &w->next, n, true);
		}
	}
	w->asked_id = q->id;
	w->asked_parts = q->parts;
	w->asked_open = q->is_open;
	return true;
}

bool schedule_adopt(Schedule *w, uint64_t now_usec, const Query *q)
{
	if (q->has_answer)
		return take_query(w, q);
	if (!token_bucket_take(&w->tokens, now_usec) || w->asked_id || w->wedged)
		return false;
	ask_clear(w, &w->asked);
	w->asked.attributes = w->asked.health = w->asked.whole = w->asked_callers = false;
	w->asked_parts = q->parts;
	for (uint32_t n = 1; n <= w->device->n_ports && n < w->n_reasons; n++) {
		if (!port_set_has(&q->ports, n))
			continue;
		ask_set(w, &w->asked, n, true);
		adopt_port(w, n);
	}
	note_left(w);
	/* it is no part of a look at everything if the rest of that is still to be asked */
	if (!wants_something(&w->next)) {
		w->asked.whole = w->next.whole;
		w->next.whole = false;
	}
	w->asked_id = q->id;
	return true;
}

Leave schedule_leave(const Schedule *w)
{
	return (Leave){.ports = w->device->n_ports, .tokens = w->tokens};
}

void schedule_keep_reasons(Schedule *w, uint32_t port)
{
	uint32_t reasons;
	unsigned int left;

	if (port >= w->n_reasons)
		return;
	/* an earlier answer has left it for later; what these reasons leave they leave again */
	reasons = w->asked.ports[port].reasons;
	left = w->later_ports[port].left & ~event_parts_later(reasons, 0);
	w->next.ports[port].reasons |= reasons;
	w->next.ports[port].parts |= (uint8_t)(w->asked_parts | left);
	w->later_ports[port].left = 0;
}

void schedule_end(Schedule *w, uint64_t now_usec)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (w->asked.ports[n].is_in)
			schedule_keep_reasons(w, n);
	w->asked_id = 0;
	w->asked_parts = 0;
	w->asked_open = false;
	ask_clear(w, &w->asked);
	w->asked.whole = false;
	if (w->asked_callers)
		w->callers_usec = now_usec + CALLER_USEC;
	w->asked_callers = false;
}

void schedule_doubt(Schedule *w, uint32_t port, unsigned int parts)
{
	for (uint32_t n = 1; n < w->n_reasons && n <= w->device->n_ports; n++)
		if (port == EVENT_ALL_PORTS || port == n) {
			uint8_t *left = &w->later_ports[n].left;
			unsigned int unread = parts & ~w->asked_parts & ~*left;

			w->next.ports[n].parts |= (uint8_t)unread;
			*left |= (uint8_t)unread;
		}
}

void schedule_doubt_device(Schedule *w)
{
	/* not if they come with this query: a device is read before its ports, so that is too early
	 */
	w->device_left = true;
}

void schedule_set_read(Schedule *w, uint32_t port, unsigned int parts)
{
	if (port < w->n_reasons)
		w->later_ports[port].left &= (uint8_t)~parts;
}

bool schedule_has_left(const Schedule *w)
{
	if (w->device_left)
		return true;
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (w->later_ports[n].left)
			return true;
	return false;
}

void schedule_later(Schedule *w)
{
	w->only_left |= !wants_something(&w->next);
	w->next.attributes |= w->device_left;
	w->device_left = false;
	for (uint32_t n = 1; n < w->n_reasons; n++) {
		uint8_t *left = &w->later_ports[n].left;

		if (*left && n <= w->device->n_ports) {
			ask_set(w, &w->next, n, true);
			w->next.ports[n].parts |= *left;
			w->next.ports[n].reasons |= REASON_BIT(REASON_SETTLE);
		}
		*left = 0;
	}
}

uint64_t schedule_next_settle(Schedule *w)
{
	if (w->settle_step < ARRAY_SIZE(settle_usec))
		return settle_usec[w->settle_step++];
	for (uint32_t n = 1; n < w->n_reasons; n++)
		set_settling(w, n, false);
	w->settle_reasons = 0;
	return 0;
}

void schedule_settle(Schedule *w)
{
	w->only_left = false;
	if (w->settle_reasons & event_reasons_meaning(MEANS_HEALTH))
		w->next.attributes = w->next.health = true;
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (w->later_ports[n].is_settling && n <= w->device->n_ports) {
			AskPort *next = &w->next.ports[n];

			ask_set(w, &w->next, n, true);
			next->parts |= (uint8_t)event_parts_at_once(REASON_BIT(REASON_SETTLE));
			/* a PHY may know only a little later why the link is down */
			if (w->device->ports[n - 1]->now.values.state != PORT_STATE_ACTIVE)
				next->parts |= READ_SIGNAL;
			next->reasons |= w->settle_reasons | REASON_BIT(REASON_SETTLE);
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
