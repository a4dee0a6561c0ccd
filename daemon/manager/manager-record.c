/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of what is published: each change as a line of text, and all that there is where a
 * segment of the record begins. */

#include <glib.h>

#include "change-text.h"
#include "history-file.h"
#include "manager-private.h"
#include "segment-ring.h"

/* Text that waits goes to the writer when there is this much of it. */
#define TEXT_LONG (64U << 10)
/* After so long a segment ends, however few changes it has: to play what is at the end of it, one
 * has to wait for all of it. */
#define SEGMENT_USEC (24 * 3600 * USEC_PER_SEC)
/* So many changes at most are kept as they are before they become text. */
#define CHANGES_MAX 64U

/* A device of which the record has the beginning. */
typedef struct RecordedDevice {
	AttrText name; /* that it has in the record */
	uint32_t n_ports;
	AttrMask supplied; /* the rows that the record has of it */
	bool is_asked;	   /* the first question to it has ended */
	bool is_back;	   /* a device of this name has gone before in the record */
} RecordedDevice;

/* A change that is not text yet: what is published comes first, and the text a little later, but
 * before the port has changed twice. */
typedef struct Pending {
	ChangeTime time;
	Device *device;
	bool is_event;
	PortChange
		change; /* of an event: its port (NULL: an event of the device), and the reason */
} Pending;

struct Recorder {
	Manager *manager;
	LineWriter *writer;
	char boot[BOOT_ID_SIZE];
	GArray *pending;	/* of Pending, in order */
	GString *text;		/* what the writer has not got yet */
	GHashTable *devices;	/* index -> RecordedDevice, which it owns */
	GHashTable *gone;	/* the names of those that have gone since the segment began */
	uint64_t begin_usec;	/* CLOCK_MONOTONIC: the steps count from there */
	const char *begin_anew; /* why the next segment is to begin now, NULL: it is not */
	sd_event_source *flush;
};

static void keep_device(Recorder *r, const Device *d, bool is_asked)
{
	RecordedDevice *kept = g_new0(RecordedDevice, 1);

	text_copy(kept->name, sizeof(kept->name), TEXT_OF(&d->now.values, name));
	kept->n_ports = d->n_ports;
	kept->supplied = d->now.supplied;
	kept->is_asked = is_asked;
	kept->is_back = g_hash_table_contains(r->gone, TEXT_OF(&d->now.values, name));
	g_hash_table_replace(r->devices, GUINT_TO_POINTER(d->index), kept);
}

static RecordedDevice *find_device(const Recorder *r, const Device *d)
{
	return g_hash_table_lookup(r->devices, GUINT_TO_POINTER(d->index));
}

static void pending_done(void *p)
{
	port_change_done(&((Pending *)p)->change);
}

/* P becomes text. NEXT is the change that has followed it, NULL: none has. */
static void put_pending(Recorder *r, const Pending *p, const PortChange *next)
{
	const RecordedDevice *kept = find_device(r, p->device);
	const PortChange *c = &p->change;
	const Port *port = c->port;
	const PortSnapshot *is;

	if (p->is_event) {
		change_put_noted(r->text, &p->time, kept->name, port ? port->number : 0,
				 (EventReason)__builtin_ctz(c->reasons));
		return;
	}
	is = next && next->port == port ? &next->was : &port->now;
	if (c->op == CACHE_ADDED)
		change_put_first(r->text, &p->time, kept->name, port->number, is, kept->is_back,
				 c->reasons, c->is_open);
	else
		change_put_port(r->text, &p->time, kept->name, c, is);
}

/* All that is pending becomes text. NEXT as for put_pending(). */
static void settle_before(Recorder *r, const PortChange *next)
{
	for (guint i = 0; i < r->pending->len; i++)
		put_pending(r, &g_array_index(r->pending, Pending, i), next);
	g_array_set_size(r->pending, 0);
}

static void settle(Recorder *r)
{
	settle_before(r, NULL);
}

static bool all_ports_published(const Device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (!d->ports[i]->published)
			return false;
	return true;
}

/* Writes the values of D into the script if the first query of D has not ended: the sections at the
 * beginning of the segment have only devices whose first query has ended. */
static void put_unasked(Recorder *r, const ChangeTime *t, const Device *d)
{
	const char *name = TEXT_OF(&d->now.values, name);

	change_put_added(r->text, t, d);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const Port *p = d->ports[i];

		if (p->published && p->now.values.last_query)
			change_put_first(r->text, t, name, p->number, &p->now, false,
					 REASON_BIT(REASON_DEVICE), false);
		if (p->published && p->now.values.stale)
			change_put_port_error(r->text, t, name, p);
	}
}

static void begin_script(Recorder *r, uint64_t realtime_usec)
{
	const Manager *m = r->manager;
	const ChangeTime t = {0, realtime_usec};

	change_put_script(r->text);
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Device *d = m->cache.devices[i];

		if (d->published && find_device(r, d)->is_asked)
			change_put_errors(r->text, &t, d);
		else if (d->published)
			put_unasked(r, &t, d);
	}
}

static int on_day(sd_event_source *s, uint64_t usec, void *userdata);

/* A segment stands for itself: it begins with all that there is. */
static void begin_segment(Recorder *r, const char *why)
{
	Manager *m = r->manager;
	ChangeHead head = {realtime_now_usec(), monotonic_usec(m), r->boot, why};

	g_string_truncate(r->text, 0);
	g_array_set_size(r->pending, 0);
	g_hash_table_remove_all(r->devices);
	g_hash_table_remove_all(r->gone);
	r->begin_usec = head.monotonic_usec;
	r->begin_anew = NULL;
	change_put_head(r->text, &head);
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Device *d = m->cache.devices[i];

		if (!d->published)
			continue;
		keep_device(r, d, all_ports_published(d));
		if (find_device(r, d)->is_asked)
			change_put_sections(r->text, d);
	}
	begin_script(r, head.realtime_usec);
	line_writer_begin(r->writer, head.realtime_usec, r->text->str, r->text->len);
	g_string_truncate(r->text, 0);
	manager_start_timer(m, &m->record_day, SEGMENT_USEC, on_day, r, "record-day");
}

static const char *segment_reason(LinesWanted reason)
{
	switch (reason) {
	case LINES_START:
		return "start";
	case LINES_FULL:
		return "full";
	case LINES_LOST:
		return "lost";
	case LINES_GO_ON:
		break;
	}
	return NULL;
}

static void flush(Recorder *r)
{
	LinesWanted wanted;
	const char *why;

	settle(r);
	if (r->text->len > 0)
		line_writer_put(r->writer, r->text->str, r->text->len);
	g_string_truncate(r->text, 0);
	wanted = line_writer_wants(r->writer);
	why = segment_reason(wanted);
	/* A full segment lacks the changes since then, too. */
	if (r->begin_anew && (wanted == LINES_GO_ON || wanted == LINES_FULL))
		why = r->begin_anew;
	if (why && r->manager->ready)
		begin_segment(r, why);
}

static int on_day(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Recorder *r = userdata;

	if (!r->begin_anew)
		r->begin_anew = "day";
	flush(r);
	return 0;
}

static int on_flush(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	flush(userdata);
	return 0;
}

/* The text that was added is written a little later: what is published comes first. */
static void await_flush(Recorder *r)
{
	if (r->text->len > TEXT_LONG)
		flush(r);
	else
		manager_await_timer(r->manager, &r->flush, SCHEDULE_LATER_USEC, on_flush, r,
				    "record");
}

/* Life */

Recorder *recorder_new(Manager *m, const char *state_directory)
{
	Recorder *r;

	if (!state_directory || m->config.record_max == 0)
		return NULL;
	r = g_new0(Recorder, 1);
	r->manager = m;
	r->text = g_string_new(NULL);
	r->pending = g_array_new(false, false, sizeof(Pending));
	g_array_set_clear_func(r->pending, pending_done);
	r->devices = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	r->gone = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	boot_id_text(r->boot);
	r->writer = segment_writer_new(state_directory, m->config.record_max);
	return r->writer ? r : recorder_free(r);
}

Recorder *recorder_free(Recorder *r)
{
	if (!r)
		return NULL;
	if (r->writer) {
		flush(r);
		line_writer_free(r->writer, LINES_PATIENCE_USEC);
	}
	sd_event_source_disable_unref(r->flush);
	g_hash_table_unref(r->devices);
	g_hash_table_unref(r->gone);
	g_array_unref(r->pending);
	g_string_free(r->text, true);
	g_free(r);
	return NULL;
}

/* The changes that are recorded */

/* The beginning of the first segment has the devices and ports of the moment when rdmad is ready.
 */
void manager_record_start(Manager *m)
{
	if (m->recorder)
		flush(m->recorder);
}

static ChangeTime now(const Recorder *r)
{
	return (ChangeTime){monotonic_usec(r->manager) - r->begin_usec, realtime_now_usec()};
}

/* The recorder, if the record has D, NULL: has begun, and goes on. */
static Recorder *recorder_of(const Manager *m, const Device *d)
{
	Recorder *r = m->recorder;

	return r && !r->begin_anew && (d ? find_device(r, d) != NULL : r->begin_usec > 0) ? r
											  : NULL;
}

/* What a script cannot say is in the beginning of a new segment. */
static void begin_anew(Recorder *r, const char *why)
{
	r->begin_anew = why;
	await_flush(r);
}

/* Whether D has as many ports as in the record. A script cannot say that it has more or fewer. */
static bool has_same_ports(Recorder *r, const Device *d)
{
	if (find_device(r, d)->n_ports == d->n_ports)
		return true;
	begin_anew(r, "ports");
	return false;
}

/* Whether no other device has the name of D in the record: a list may say first that one has it,
 * and then that another has not. A script cannot say that two have the same. */
static bool has_own_name(Recorder *r, const Device *d)
{
	const RecordedDevice *kept = find_device(r, d);
	GHashTableIter i;
	gpointer index;

	if (kept && streq(kept->name, TEXT_OF(&d->now.values, name)))
		return true;
	g_hash_table_iter_init(&i, r->devices);
	while (g_hash_table_iter_next(&i, &index, (gpointer *)&kept))
		if (GPOINTER_TO_UINT(index) != d->index &&
		    streq(kept->name, TEXT_OF(&d->now.values, name))) {
			begin_anew(r, "names");
			return false;
		}
	return true;
}

static void record_removal(Recorder *r, const Device *d)
{
	ChangeTime t = now(r);

	settle(r);
	change_put_removed(r->text, &t, find_device(r, d)->name);
	g_hash_table_add(r->gone, g_strdup(find_device(r, d)->name));
	g_hash_table_remove(r->devices, GUINT_TO_POINTER(d->index));
	await_flush(r);
}

static void record_device(Recorder *r, const DeviceChange *c)
{
	const Device *d = c->device;
	RecordedDevice *kept = find_device(r, d);
	const char *name = TEXT_OF(&d->now.values, name);
	/* A constant row is signalled with its interface only, but the source may supply it later
	 * than the rest. */
	AttrMask rows = mask_or(c->changed, mask_xor(kept->supplied, d->now.supplied));
	ChangeTime t = now(r);

	if (mask_is_empty(&rows))
		return;
	settle(r);
	kept->supplied = d->now.supplied;
	if (!streq(kept->name, name)) {
		change_put_renamed(r->text, &t, kept->name, c, &rows);
		text_copy(kept->name, sizeof(kept->name), name);
	} else {
		change_put_device(r->text, &t, c, &rows);
	}
	await_flush(r);
}

static void record_added(Recorder *r, const Device *d)
{
	ChangeTime t = now(r);

	settle(r);
	change_put_added(r->text, &t, d);
	keep_device(r, d, false);
	await_flush(r);
}

void manager_record_device(Manager *m, DeviceChange *change)
{
	const Device *d = change->device;
	Recorder *r = recorder_of(m, d);

	if (!d->published)
		return;
	/* what there is before all devices have been asked is in the beginning */
	if (change->op == CACHE_ADDED && m->recorder && m->ready && !m->recorder->begin_anew &&
	    has_own_name(m->recorder, d))
		record_added(m->recorder, d);
	else if (r && change->op == CACHE_REMOVED)
		record_removal(r, d);
	else if (r && change->op == CACHE_CHANGED && has_same_ports(r, d) && has_own_name(r, d))
		record_device(r, change);
}

void manager_record_asked(Manager *m, const Device *d)
{
	Recorder *r = recorder_of(m, d);
	RecordedDevice *kept = r ? find_device(r, d) : NULL;
	ChangeTime t;

	if (!kept || kept->is_asked)
		return;
	t = now(r);
	settle(r);
	change_put_asked(r->text, &t, kept->name);
	kept->is_asked = true;
	await_flush(r);
}

void manager_record_settle(Manager *m)
{
	if (m->recorder)
		settle(m->recorder);
}

/* Whether an answer of P is not text yet. */
static bool is_pending(const Recorder *r, const Port *p)
{
	for (guint i = 0; i < r->pending->len; i++) {
		const Pending *c = &g_array_index(r->pending, Pending, i);

		if (c->change.port == p && !c->is_event)
			return true;
	}
	return false;
}

static bool is_news(const PortChange *change)
{
	return change->op == CACHE_CHANGED || change->op == CACHE_ADDED ||
	       change->subnet_reconfigured;
}

/* Whether an answer is recorded. One that follows an event about the state may have what the event
 * said published, or have shown that it was wrong. */
static bool is_recorded(const PortChange *change)
{
	return is_news(change) || change_is_silent(change) || change->reasons & REASONS_OF_STATE;
}

static void add_pending(Recorder *r, const Pending *c)
{
	g_array_append_vals(r->pending, c, 1);
	if (r->pending->len == CHANGES_MAX)
		settle(r);
	await_flush(r);
}

static void record_error(Recorder *r, const PortChange *change)
{
	const Port *p = change->port;
	ChangeTime t = now(r);

	settle(r);
	change_put_port_error(r->text, &t, find_device(r, p->device)->name, p);
	await_flush(r);
}

void manager_record_port(Manager *m, PortChange *change)
{
	Recorder *r;

	if (m->recorder && is_pending(m->recorder, change->port))
		settle_before(m->recorder, change);
	r = recorder_of(m, change->port->device);
	/* a name is of the device */
	if (!r || change->cause == CHANGE_LIST)
		return;
	if (change->cause == CHANGE_ERROR) {
		if (is_news(change))
			record_error(r, change);
	} else if (is_recorded(change)) {
		add_pending(r, &(Pending){.time = now(r),
					  .device = change->port->device,
					  .change = *change});
		/* the tables are the record's, and it holds the texts too */
		change->tables = 0;
		texts_hold(change->was.values.texts);
	}
}

void manager_record_finding(Manager *m, const Device *d, uint32_t number, const PastFinding *f)
{
	Recorder *r = recorder_of(m, d);
	ChangeTime t;

	if (!r)
		return;
	t = now(r);
	settle(r);
	change_put_finding(r->text, &t, d ? find_device(r, d)->name : HISTORY_MACHINE, number, f);
	await_flush(r);
}

void manager_record_event(Manager *m, Device *d, Port *p, EventReason reason)
{
	Recorder *r = recorder_of(m, d);

	if (r)
		add_pending(r, &(Pending){.time = now(r),
					  .device = d,
					  .is_event = true,
					  .change = {.port = p, .reasons = REASON_BIT(reason)}});
}
