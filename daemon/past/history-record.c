/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-record.h"

#include "port.h"

/* The numbers are in files: they do not change. */
enum { RECORD_BOOT = 1, RECORD_TRANSITION = 2, RECORD_HISTORY = 3 };

/* Writing */

void history_record_boot(RecordBuffer *b, const BootId *boot, uint64_t realtime_usec)
{
	record_begin(b, RECORD_BOOT);
	record_put_bytes(b, boot->bytes, sizeof(boot->bytes));
	record_put_u64(b, realtime_usec);
	record_end(b);
}

static void put_port(RecordBuffer *b, const char *device, uint32_t port)
{
	record_put_text(b, device);
	record_put_u32(b, port);
}

/* The reason by its name: the numbers of reasons change from version to version. */
static void put_transition(RecordBuffer *b, const Transition *t)
{
	record_put_u64(b, t->realtime_usec);
	record_put_u64(b, t->monotonic_usec);
	record_put_u8(b, t->from);
	record_put_u8(b, t->to);
	record_put_text(b, event_reason_name(t->reason));
}

static void put_users(RecordBuffer *b, const Transition *t)
{
	record_put_u32(b, t->qps);
	record_put_u32(b, t->processes);
}

static void put_counts(RecordBuffer *b, const History *h)
{
	record_put_u64(b, h->since_usec);
	record_put_u64(b, h->link_downs);
}

void history_record_transition(RecordBuffer *b, const char *device, uint32_t port, const History *h,
			       const Transition *t)
{
	record_begin(b, RECORD_TRANSITION);
	put_port(b, device, port);
	put_counts(b, h);
	put_transition(b, t);
	record_put_u32(b, t->rate_mbit);
	put_users(b, t);
	record_end(b);
}

/* How many bytes a transition takes, and the rest of a record of one history with the longest name.
 */
#define TRANSITION_BYTES (2 * 8 + 2 + 1 + 20 + 4 + 2 * 4)
#define HISTORY_BYTES	 (RECORD_FRAME_SIZE + 64 + 4 + 2 * 8 + 1 + 2)

void history_record_all(RecordBuffer *b, const char *device, uint32_t port, const History *h,
			size_t bytes)
{
	size_t left = bytes - MIN(bytes, HISTORY_BYTES);
	/* half is for the transitions; what they do not need is for the other times */
	size_t n = MIN((size_t)h->n, MAX(left / 2 / TRANSITION_BYTES, 1U));
	size_t n_downs = MIN((size_t)h->n_downs, (left - MIN(left, n * TRANSITION_BYTES)) / 8);

	record_begin(b, RECORD_HISTORY);
	put_port(b, device, port);
	put_counts(b, h);
	record_put_u8(b, (uint8_t)n);
	for (size_t i = h->n - n; i < h->n; i++)
		put_transition(b, history_entry(h, i));
	record_put_u16(b, (uint16_t)n_downs);
	for (size_t i = h->n_downs - n_downs; i < h->n_downs; i++)
		record_put_u64(b, history_link_down(h, i));
	for (size_t i = h->n - n; i < h->n; i++)
		record_put_u32(b, history_entry(h, i)->rate_mbit);
	for (size_t i = h->n - n; i < h->n; i++)
		put_users(b, history_entry(h, i));
	record_end(b);
}

void history_record_forgotten(RecordBuffer *b, const char *device, uint32_t port)
{
	static const History none = {};

	history_record_all(b, device, port, &none, HISTORY_RECORD_LEAST);
}

void history_record_list(RecordBuffer *b, const HistoryList *l, size_t bytes)
{
	for (const KeptHistory *k = l->first; k; k = k->next)
		history_record_all(b, k->device, k->port, &k->history, bytes / l->n);
}

/* Reading */

/* What is read is of the boot that is running. */
static bool read_boot(RecordReader *r, const BootId *boot)
{
	BootId was;

	record_read_bytes(r, was.bytes, sizeof(was.bytes));
	return !r->bad && memcmp(&was, boot, sizeof(was)) == 0;
}

static void read_port(RecordReader *r, AttrText device, uint32_t *port)
{
	record_read_text(r, device);
	*port = record_read_u32(r);
	if (!*device || *port > RDMA_PORT_MAX)
		r->bad = true;
}

static void read_transition(RecordReader *r, bool this_boot, Transition *ret)
{
	AttrText reason;

	*ret = (Transition){.realtime_usec = record_read_u64(r),
			    .monotonic_usec = record_read_u64(r),
			    .taken = true};
	ret->from = record_read_u8(r);
	ret->to = record_read_u8(r);
	record_read_text(r, reason);
	/* of a later version: its name is "unknown" */
	ret->reason = (uint8_t)event_reason_from_name(reason);
	if (!this_boot)
		ret->monotonic_usec = 0;
}

/* A number that records did not have at first: a rate, or a count of users. */
static uint32_t read_later(RecordReader *r)
{
	return r->at < r->end ? record_read_u32(r) : 0;
}

static void read_users(RecordReader *r, Transition *t)
{
	t->qps = read_later(r);
	t->processes = read_later(r);
}

static void replay_transition(RecordReader *r, bool this_boot, HistoryList *l)
{
	uint64_t since, link_downs;
	KeptHistory *k;
	AttrText device;
	uint32_t port;
	Transition t;

	read_port(r, device, &port);
	since = record_read_u64(r);
	link_downs = record_read_u64(r);
	read_transition(r, this_boot, &t);
	t.rate_mbit = read_later(r);
	read_users(r, &t);
	if (r->bad)
		return;
	k = history_list_put(l, device, port);
	if (!k)
		return;
	history_restore(&k->history, &t);
	k->history.since_usec = since;
	k->history.link_downs = link_downs;
}

/* What history_record_all() has written after the counts; H has the transitions as far as there
 * is nothing bad. */
static void read_history(RecordReader *r, bool this_boot, History *h)
{
	Transition transitions[UINT8_MAX];
	size_t n = record_read_u8(r), n_downs;
	RecordReader downs;

	for (size_t i = 0; i < n; i++)
		read_transition(r, this_boot, &transitions[i]);
	n_downs = record_read_u16(r);
	downs = *r;
	for (size_t i = 0; i < n_downs; i++)
		(void)record_read_u64(r);
	for (size_t i = 0; i < n; i++)
		transitions[i].rate_mbit = read_later(r);
	for (size_t i = 0; i < n && !r->bad; i++) {
		read_users(r, &transitions[i]);
		history_restore(h, &transitions[i]);
	}
	h->n_downs = 0; /* the transitions have some of these times, and here are all */
	h->first_down = 0;
	for (size_t i = 0; i < n_downs && !r->bad; i++)
		history_restore_link_down(h, record_read_u64(&downs));
}

static void replay_history(RecordReader *r, bool this_boot, HistoryList *l)
{
	History h = {};
	KeptHistory *k;
	AttrText device;
	uint32_t port;

	read_port(r, device, &port);
	h.since_usec = record_read_u64(r);
	h.link_downs = record_read_u64(r);
	read_history(r, this_boot, &h);
	if (!r->bad) {
		k = history_list_put(l, device, port);
		if (k) {
			history_done(&k->history);
			k->history = h;
			h = (History){};
		}
	}
	history_done(&h);
}

size_t history_replay(const uint8_t *data, size_t size, const BootId *boot, HistoryList *l)
{
	bool this_boot = false;
	size_t offset = 0;
	Record record;

	while (record_next(data, size, &offset, &record) > 0) {
		if (record.version != 1)
			continue;
		switch (record.type) {
		case RECORD_BOOT:
			this_boot = read_boot(&record.contents, boot);
			break;
		case RECORD_TRANSITION:
			replay_transition(&record.contents, this_boot, l);
			break;
		case RECORD_HISTORY:
			replay_history(&record.contents, this_boot, l);
			break;
		default:
			break;
		}
	}
	history_list_trim(l);
	return offset;
}
