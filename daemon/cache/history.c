/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history.h"

#include "decode.h"
#include "port-name.h"

void history_done(History *h)
{
	free(h->entries);
	free(h->downs);
	*h = (History){};
}

const Transition *history_entry(const History *h, size_t i)
{
	return &h->entries[(h->first + i) % h->room];
}

/* Makes room for one more entry; the oldest is dropped from a full ring. It begins with one entry,
 * as most ports have one transition in all their life. False: no memory. */
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

bool history_note(History *h, uint32_t state, EventReason reason, uint64_t realtime_usec,
		  uint64_t monotonic_usec)
{
	const Transition *last = history_last(h);
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

bool history_note_event(History *h, EventReason reason, uint64_t realtime_usec,
			uint64_t monotonic_usec)
{
	const Transition *last = history_last(h);

	if (!last || (reason != REASON_PORT_ACTIVE && reason != REASON_PORT_ERROR) ||
	    is_active(last->to) == (reason == REASON_PORT_ACTIVE))
		return false;
	return history_note(h, reason == REASON_PORT_ACTIVE ? PORT_STATE_ACTIVE : STATE_NOT_ACTIVE,
			    reason, realtime_usec, monotonic_usec);
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

	if (i == 0 || decode_state_meets(history_last(h)->to, state))
		return false;
	while (i > 0 && !decode_state_meets(history_entry(h, i - 1)->to, state))
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

/* Takes the history at *AT out of the list and frees it. */
static void drop(HistoryList *l, KeptHistory **at)
{
	KeptHistory *k = *at;

	*at = k->next;
	l->n--;
	history_done(&k->history);
	free(k);
}

void history_list_done(HistoryList *l)
{
	while (l->first)
		drop(l, &l->first);
}

void history_keep(HistoryList *l, const char *device, uint32_t port, History *h)
{
	KeptHistory *k = h->n ? calloc(1, sizeof(*k)) : NULL, **at = &l->first;

	if (!k) {
		history_done(h);
		return;
	}
	text_copy(k->device, sizeof(k->device), device);
	k->port = port;
	k->history = *h;
	*h = (History){};
	while (*at)
		at = &(*at)->next;
	*at = k;
	if (++l->n > HISTORY_KEPT)
		drop(l, &l->first);
}

/* What was kept of port PORT of DEVICE, or if PORT is PORT_NUMBER_NONE, of the only one of DEVICE.
 */
static int find(const HistoryList *l, const char *device, uint32_t port, const KeptHistory **ret)
{
	const KeptHistory *found = NULL;

	for (const KeptHistory *k = l->first; k; k = k->next) {
		if (!streq(k->device, device) || (port != PORT_NUMBER_NONE && k->port != port))
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
	return find(l, port == PORT_NUMBER_NONE ? name : device, port, ret);
}

void history_recall(HistoryList *l, const char *device, uint32_t port, History *h)
{
	for (KeptHistory **at = &l->first; *at; at = &(*at)->next) {
		KeptHistory *k = *at;
		History *joined = &k->history, later = *h;

		if (k->port != port || !streq(k->device, device))
			continue;
		for (size_t i = 0; i < later.n; i++) {
			Transition t = *history_entry(&later, i);

			/* H began as if the port were new: it comes from the last known state */
			if (i == 0)
				t.from = history_last(joined)->to;
			if (t.from != t.to)
				append(joined, &t);
		}
		for (size_t i = 0; i < later.n_downs; i++)
			append_link_down(joined, history_link_down(&later, i));
		joined->link_downs += later.link_downs;
		*h = *joined;
		*joined = later;
		drop(l, at);
		return;
	}
}
