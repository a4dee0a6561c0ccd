/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history.h"

#include "decode.h"
#include "port-name.h"

void history_done(History *h)
{
	free(h->entries);
	free(h->downs);
	past_findings_done(&h->findings);
	past_cables_done(&h->cables);
	*h = (History){};
}

const Transition *history_entry(const History *h, size_t i)
{
	return &h->entries[(h->first + i) % h->room];
}

/* Makes room for one more entry; the oldest is dropped from a full ring. A ring begins with one
 * entry, as most ports have one transition in all their life. False: no memory. */
static bool grow(History *h)
{
	uint8_t room = h->room ? (uint8_t)(2 * h->room) : 1;
	Transition *entries;

	if (h->n < h->room)
		return true;
	if (h->room == HISTORY_ENTRIES) {
		h->first = (h->first + 1U) % HISTORY_ENTRIES;
		h->n--;
		return true;
	}
	/* Until it has its full size the oldest entry is at 0: the larger ring is in order. */
	entries = reallocarray(h->entries, room, sizeof(*entries));
	if (!entries)
		return false;
	h->entries = entries;
	h->room = room;
	return true;
}

uint64_t history_link_down(const History *h, size_t i)
{
	return h->downs[(h->first_down + i) % h->room_downs];
}

size_t history_link_downs_since(const History *h, uint64_t usec)
{
	size_t i = 0;

	while (i < h->n_downs && history_link_down(h, i) < usec)
		i++;
	return i;
}

/* As grow(), for the times at which the link went down. */
static bool grow_downs(History *h)
{
	uint16_t room = h->room_downs ? (uint16_t)(2 * h->room_downs) : 4;
	uint64_t *downs;

	if (h->n_downs < h->room_downs)
		return true;
	if (h->room_downs == HISTORY_LINK_DOWNS) {
		h->first_down = (h->first_down + 1U) % HISTORY_LINK_DOWNS;
		h->n_downs--;
		return true;
	}
	downs = reallocarray(h->downs, room, sizeof(*downs));
	if (!downs)
		return false;
	h->downs = downs;
	h->room_downs = room;
	return true;
}

static void append_link_down(History *h, uint64_t realtime_usec)
{
	if (!grow_downs(h))
		return;
	h->downs[(h->first_down + h->n_downs) % h->room_downs] = realtime_usec;
	h->n_downs++;
}

static void append(History *h, const Transition *t)
{
	if (!grow(h))
		return;
	h->entries[(h->first + h->n) % h->room] = *t;
	h->n++;
}

static bool is_active(uint32_t state)
{
	return state == PORT_STATE_ACTIVE || state == PORT_STATE_ACTIVE_DEFER;
}

bool history_is_link_down(uint32_t from, uint32_t to)
{
	if (from == STATE_NOT_ACTIVE || to == STATE_NOT_ACTIVE)
		return is_active(from);
	return from < STATE_UNKNOWN && to >= PORT_STATE_DOWN && to < PORT_STATE_ACTIVE && to < from;
}

/* The latest, of which there must be one. */
static Transition *history_end(History *h)
{
	return &h->entries[(h->first + h->n - 1U) % h->room];
}

/* The latest, if it is of this boot: what was before the machine was booted says nothing of what a
 * port comes from now. */
static const Transition *last_of_boot(const History *h)
{
	const Transition *last = history_last(h);

	return last && last->monotonic_usec > 0 ? last : NULL;
}

bool history_note(History *h, uint32_t state, EventReason reason, uint64_t realtime_usec,
		  uint64_t monotonic_usec)
{
	const Transition *last = last_of_boot(h);
	Transition t = {.realtime_usec = realtime_usec,
			.monotonic_usec = monotonic_usec,
			.to = state > STATE_ABSENT ? STATE_UNKNOWN : (uint8_t)state,
			.reason = (uint8_t)reason};

	t.from = last ? last->to : reason == REASON_STARTUP ? STATE_UNKNOWN : STATE_ABSENT;
	if (t.from == STATE_NOT_ACTIVE && !is_active(t.to) && t.to < STATE_NOT_ACTIVE) {
		history_end(h)->to = t.to;
		return false;
	}
	if (t.from == t.to)
		return false;
	if (!h->since_usec)
		h->since_usec = realtime_usec;
	if (history_is_link_down(t.from, t.to)) {
		h->link_downs++;
		append_link_down(h, realtime_usec);
	}
	append(h, &t);
	return true;
}

bool history_restore(History *h, const Transition *t)
{
	for (size_t i = h->n; i > 0; i--) {
		Transition *known = &h->entries[(h->first + i - 1) % h->room];

		/* another one of that time would come from another state */
		if (known->from == t->from && known->realtime_usec == t->realtime_usec) {
			*known = *t;
			return false;
		}
	}
	append(h, t);
	return true;
}

void history_restore_link_down(History *h, uint64_t realtime_usec)
{
	append_link_down(h, realtime_usec);
}

bool history_note_event(History *h, EventReason reason, uint64_t realtime_usec,
			uint64_t monotonic_usec)
{
	const Transition *last = last_of_boot(h);

	if (!last || (reason != REASON_PORT_ACTIVE && reason != REASON_PORT_ERROR) ||
	    is_active(last->to) == (reason == REASON_PORT_ACTIVE))
		return false;
	return history_note(h, reason == REASON_PORT_ACTIVE ? PORT_STATE_ACTIVE : STATE_NOT_ACTIVE,
			    reason, realtime_usec, monotonic_usec);
}

bool history_note_rate(History *h, uint64_t rate)
{
	const Transition *last = last_of_boot(h);
	uint32_t mbit = (uint32_t)MIN(rate / 1000000, (uint64_t)UINT32_MAX);

	if (!last || !is_active(last->to) || mbit <= last->rate_mbit)
		return false;
	history_end(h)->rate_mbit = mbit;
	return true;
}

bool history_note_cable(History *h, const char *serial, const char *part, uint64_t now)
{
	const Transition *last = last_of_boot(h);
	bool is_up = last && is_active(last->to);

	return past_cables_note(&h->cables, serial, part, is_up ? last->realtime_usec : 0, now);
}

const Transition *history_note_users(History *h, uint32_t qps, uint32_t processes)
{
	for (size_t i = h->n; i > 0; i--) {
		Transition *t = &h->entries[(h->first + i - 1) % h->room];

		if (!history_is_link_down(t->from, t->to))
			continue;
		t->qps = qps;
		t->processes = processes;
		return t;
	}
	return NULL;
}

const Transition *history_take(History *h)
{
	Transition *t;
	size_t i = h->n;

	while (i > 0 && !history_entry(h, i - 1)->taken)
		i--;
	if (i == h->n)
		return NULL;
	t = &h->entries[(h->first + i) % h->room];
	t->taken = true;
	return t;
}

bool history_since_not(const History *h, uint32_t state, uint64_t *ret_usec, bool *ret_exact)
{
	size_t i = h->n;

	if (!last_of_boot(h) || decode_state_meets(history_last(h)->to, state))
		return false;
	while (i > 0 && history_entry(h, i - 1)->monotonic_usec > 0 &&
	       !decode_state_meets(history_entry(h, i - 1)->to, state))
		i--;
	*ret_exact = decode_state_meets(history_entry(h, i)->from, state);
	*ret_usec = history_entry(h, i)->monotonic_usec;
	return true;
}

const char *history_state_name(uint32_t state, AttrText ret)
{
	if (state == STATE_NOT_ACTIVE)
		return "not-active";
	if (state == STATE_UNKNOWN)
		return "unknown";
	if (state == STATE_ABSENT)
		return "absent";
	return attr_enumeration_text(ATTR_PORT_STATE, state, ret);
}

PublishedTransition history_published(const Transition *t, AttrText from, AttrText to)
{
	return (PublishedTransition){
		.timestamp = t->realtime_usec,
		.monotonic = t->monotonic_usec,
		.from = history_state_name(t->from, from),
		.to = history_state_name(t->to, to),
		.reason = event_reason_name(t->reason),
		.rate = UINT64_C(1000000) * t->rate_mbit,
		.qps = t->qps,
		.processes = t->processes,
	};
}

#define HISTORY_BUCKETS 16U /* at first */

/* L has buckets. */
static KeptHistory **bucket(const HistoryList *l, const char *device, uint32_t port)
{
	uint32_t hash = port;

	while (*device)
		hash = 31 * hash + (uint8_t)*device++;
	return &l->buckets[hash & (l->n_buckets - 1)];
}

/* Puts K, which is in the list, into its bucket. */
static void put_into_bucket(HistoryList *l, KeptHistory *k)
{
	KeptHistory **at = bucket(l, k->device, k->port);

	k->next_same = *at;
	*at = k;
}

/* As many buckets as histories at least, if there is memory for more. Returns whether there are
 * any. */
static bool reserve_buckets(HistoryList *l)
{
	uint32_t n = l->n_buckets ? 2 * l->n_buckets : HISTORY_BUCKETS;
	KeptHistory **buckets = l->n < l->n_buckets ? NULL : calloc(n, sizeof(*buckets));

	if (!buckets)
		return l->buckets;
	free(l->buckets);
	l->buckets = buckets;
	l->n_buckets = n;
	for (KeptHistory *k = l->first; k; k = k->next)
		put_into_bucket(l, k);
	return true;
}

KeptHistory *history_list_find(const HistoryList *l, const char *device, uint32_t port)
{
	KeptHistory *k = l->buckets ? *bucket(l, device, port) : NULL;

	while (k && (k->port != port || !streq(k->device, device)))
		k = k->next_same;
	return k;
}

static void unlink_entry(HistoryList *l, KeptHistory *k)
{
	*(k->previous ? &k->previous->next : &l->first) = k->next;
	*(k->next ? &k->next->previous : &l->last) = k->previous;
}

static void link_last(HistoryList *l, KeptHistory *k)
{
	k->previous = l->last;
	k->next = NULL;
	*(l->last ? &l->last->next : &l->first) = k;
	l->last = k;
}

/* Takes K out of the list and frees it. */
static void drop(HistoryList *l, KeptHistory *k)
{
	KeptHistory **at = bucket(l, k->device, k->port);

	while (*at != k)
		at = &(*at)->next_same;
	*at = k->next_same;
	unlink_entry(l, k);
	l->n--;
	history_done(&k->history);
	free(k);
}

void history_list_done(HistoryList *l)
{
	while (l->first)
		drop(l, l->first);
	free(l->buckets);
	*l = (HistoryList){};
}

KeptHistory *history_list_put(HistoryList *l, const char *device, uint32_t port)
{
	KeptHistory *k = history_list_find(l, device, port);

	if (k) {
		unlink_entry(l, k);
		link_last(l, k);
		return k;
	}
	k = reserve_buckets(l) ? calloc(1, sizeof(*k)) : NULL;
	if (!k)
		return NULL;
	text_copy(k->device, sizeof(k->device), device);
	k->port = port;
	put_into_bucket(l, k);
	link_last(l, k);
	l->n++;
	/* who has written the file decides how many it has */
	if (l->n > 2 * HISTORY_LIST_MAX)
		drop(l, l->first);
	return k;
}

static bool is_empty(const KeptHistory *k)
{
	return k->port == PORT_NUMBER_NONE ? k->history.findings.n == 0 : k->history.n == 0;
}

/* The device of a history without a port has gone, or nothing is wrong with it. */
static bool has_gone(const KeptHistory *k)
{
	const Transition *last = history_last(&k->history);

	return last ? last->to == STATE_ABSENT : past_findings_have_ended(&k->history.findings);
}

void history_list_trim(HistoryList *l)
{
	size_t n_gone = 0;
	KeptHistory *next;

	for (KeptHistory *k = l->first; k; k = next) {
		next = k->next;
		if (is_empty(k))
			drop(l, k);
		else
			n_gone += has_gone(k);
	}
	for (KeptHistory *k = l->first; k && n_gone > HISTORY_KEPT; k = next) {
		next = k->next;
		if (!has_gone(k))
			continue;
		drop(l, k);
		n_gone--;
	}
	while (l->n > HISTORY_LIST_MAX)
		drop(l, l->first);
}

void history_keep(HistoryList *l, const char *device, uint32_t port, History *h)
{
	KeptHistory *k = h->n ? history_list_put(l, device, port) : NULL;

	if (!k) {
		history_done(h);
		return;
	}
	history_done(&k->history);
	k->history = *h;
	*h = (History){};
	history_list_trim(l);
}

/* Finds the history that was kept of the only port of DEVICE. */
static int find_only(const HistoryList *l, const char *device, const KeptHistory **ret)
{
	const KeptHistory *found = NULL;

	for (const KeptHistory *k = l->first; k; k = k->next) {
		if (k->port == PORT_NUMBER_NONE || !streq(k->device, device))
			continue;
		if (found)
			return -EEXIST;
		found = k;
	}
	if (!found)
		return -ENOENT;
	*ret = found;
	return 0;
}

int history_find(const HistoryList *l, const char *name, const KeptHistory **ret)
{
	AttrText device;
	uint32_t port;
	int r = port_name_split(name, device, &port);

	if (r < 0)
		return r;
	/* what is no name of this form may be one of another: a GUID */
	if (port == PORT_NUMBER_NONE && port_name_split_colon(name, device, &port) < 0)
		return -ENOENT;
	if (port == PORT_NUMBER_NONE)
		return find_only(l, name, ret);
	*ret = history_list_find(l, device, port);
	return *ret ? 0 : -ENOENT;
}

void history_recall(HistoryList *l, const char *device, uint32_t port, History *h)
{
	KeptHistory *k = history_list_find(l, device, port);
	History *joined, later = *h;

	if (!k)
		return;
	joined = &k->history;
	for (size_t i = 0; i < later.n; i++) {
		Transition t = *history_entry(&later, i);

		/* H began as if the port were new: it comes from the last known state */
		if (i == 0 && last_of_boot(joined))
			t.from = history_last(joined)->to;
		if (t.from != t.to)
			append(joined, &t);
	}
	for (size_t i = 0; i < later.n_downs; i++)
		append_link_down(joined, history_link_down(&later, i));
	for (size_t i = 0; i < later.findings.n; i++)
		past_findings_restore(&joined->findings, &later.findings.items[i]);
	for (size_t i = 0; i < later.cables.n; i++)
		past_cables_restore(&joined->cables, &later.cables.items[i]);
	joined->link_downs += later.link_downs;
	*h = *joined;
	*joined = later;
	drop(l, k);
}
