/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readings on demand: counters, here and at the other end, and the owners of queue pairs
 * (manager_reading_rows in manager-calls.c, a row for each kind). A reading is no attribute: no
 * signal tells of its changes, and rdmad reads it only when a program calls for it.
 *
 * The source is asked by a query of each kind, when nothing of the device is dirty; when the device
 * hangs, that query fails like any other. However many ask, a port is read once a second.
 */

#include "log.h"
#include "manager-private.h"

static const ReadingRow *row_of(const Device *d, QueryKind kind)
{
	return &d->schedule->manager->reading_rows[kind];
}

Reading *manager_reserve_reading(Port *p, QueryKind kind)
{
	Reading *r = reading_of(p, kind);

	if (r)
		return r;
	r = calloc(1, row_of(p->device, kind)->size);
	if (!r)
		return NULL;
	r->port = p;
	r->kind = kind;
	r->next = p->readings;
	p->readings = r;
	return r;
}

void manager_mark_readings(Manager *m, Device *d)
{
	d->schedule->marked = true;
	manager_mark_flush(m);
}

static void begin(Manager *m, Reading *r)
{
	const ReadingRow *row = row_of(r->port->device, r->kind);

	r->step = READING_WANTED;
	r->began_usec = monotonic_usec(m);
	r->error = 0;
	r->why = NULL;
	if (row->begin) {
		row->begin(m, r);
		return;
	}
	manager_mark_readings(m, r->port->device);
}

/* One that failed is no younger: the source is asked again. Who else is asked has time, too. */
static uint64_t last_usec(const Reading *r)
{
	return row_of(r->port->device, r->kind)->begin ? r->began_usec : r->monotonic_usec;
}

int manager_read(void *userdata, Port *p, QueryKind kind)
{
	Reading *r = manager_reserve_reading(p, kind);
	Manager *m = userdata;

	if (!r)
		return -ENOMEM;
	r->is_own = false;
	if (r->step != READING_IDLE)
		return 1;
	if (p->device->schedule->wedged) {
		manager_fail_reading(r, -ETIMEDOUT, TEXT_OF(&p->now.values, last_error));
		return 0;
	}
	if (last_usec(r) && monotonic_usec(m) - last_usec(r) < READING_FRESH_USEC)
		return 0;
	begin(m, r);
	return r->step != READING_IDLE;
}

void manager_finish_reading(Manager *m, Reading *r)
{
	const ReadingRow *row = row_of(r->port->device, r->kind);
	bool again;

	r->step = READING_IDLE;
	r->completing = sd_bus_slot_unref(r->completing);
	again = row->finished && row->finished(m, r);
	bus_resume_calls(&r->calls);
	if (again)
		begin(m, r);
}

void manager_fail_reading(Reading *r, int error, const char *text)
{
	const ReadingRow *row = row_of(r->port->device, r->kind);

	r->error = error;
	text_copy(r->error_text, sizeof(r->error_text), text);
	if (row->failed)
		row->failed(r);
	r->step = READING_IDLE;
	r->completing = sd_bus_slot_unref(r->completing);
	bus_resume_calls(&r->calls);
}

/* The reading of KIND of the next port of D that is at STEP. The search begins at *I, and moves it
 * on. NULL: there is none. */
static Reading *next_at(const Device *d, QueryKind kind, ReadingStep step, uint32_t *i)
{
	while (*i < d->n_ports) {
		Reading *r = reading_of(d->ports[(*i)++], kind);

		if (r && r->step == step)
			return r;
	}
	return NULL;
}

/* Fails all of KIND that are at STEP. */
static void fail_all(Device *d, QueryKind kind, ReadingStep step, int error, const char *text)
{
	Reading *r;

	for (uint32_t i = 0; (r = next_at(d, kind, step, &i));)
		manager_fail_reading(r, error, text);
}

/* Asks D for what is wanted of KIND. */
static void ask(Manager *m, Device *d, QueryKind kind)
{
	const ReadingRow *row = row_of(d, kind);
	Query query = {.kind = kind, .device = d->index, .adapter = d->now.values.sys_image_guid};
	Schedule *w = d->schedule;
	Reading *reading;
	int r;

	for (uint32_t i = 0; (reading = next_at(d, kind, READING_WANTED, &i));)
		port_set_add(&query.ports, reading->port->number);
	if (port_set_is_empty(&query.ports))
		return;
	text_copy(query.name, sizeof(query.name), TEXT_OF(&d->now.values, name));
	query.id = manager_new_id(m, d);
	r = manager_send(m, d, &query);
	if (r < 0) {
		log_debug_errno(r, "%s: cannot ask for %s: %m", TEXT_OF(&d->now.values, name),
				row->name);
		fail_all(d, kind, READING_WANTED, r,
			 r == -ETIMEDOUT ? "the device does not answer" : strerror(-r));
		return;
	}
	for (uint32_t i = 0; (reading = next_at(d, kind, READING_WANTED, &i));) {
		reading->step = READING_ASKED;
		reading->boottime_usec = boottime_now_usec();
	}
	w->asked_id = query.id;
	w->asked_kind = kind;
	w->is_hurried = false;
}

void manager_ask_readings(Manager *m, Device *d)
{
	for (QueryKind k = 0; k < _QUERY_KIND_MAX && !d->schedule->asked_id; k++)
		if (k != QUERY_ATTRIBUTES && (!row_of(d, k)->begin || m->source->ops->has_far))
			ask(m, d, k);
}

void manager_hurry_reading(Manager *m, const Device *d)
{
	Schedule *w = d->schedule;

	if (w->asked_kind == QUERY_ATTRIBUTES || !row_of(d, w->asked_kind)->gives_way ||
	    w->is_hurried || !m->source->ops->hurry)
		return;
	m->source->ops->hurry(m->source, d->index);
	w->is_hurried = true;
}

void manager_on_reading(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot)
{
	const ReadingRow *row = row_of(d, d->schedule->asked_kind);
	Port *p = device_port(d, number);
	Reading *r = reading_of(p, d->schedule->asked_kind);
	bool partial = error == -ETIME && row->gives_way;

	if (!r || r->step != READING_ASKED)
		return;
	if (error < 0 && !partial) {
		manager_fail_reading(r, error, strerror(-error));
		return;
	}
	table_free(r->table);
	r->table = steal_pointer(&snapshot->tables[row->table]);
	r->partial = partial;
	r->realtime_usec = realtime_now_usec();
	r->monotonic_usec = monotonic_usec(m);
	row->clean(r->table);
	r->step = READING_COMPLETING;
	if (!row->complete || !row->complete(m, r))
		manager_finish_reading(m, r);
}

void manager_end_reading(Device *d, int error, const char *text)
{
	QueryKind kind = d->schedule->asked_kind;

	d->schedule->asked_kind = QUERY_ATTRIBUTES;
	fail_all(d, kind, READING_ASKED, error < 0 ? error : -EIO,
		 error < 0 ? text : "the port was not read");
}

void manager_refuse_readings(Device *d, uint32_t port, int error, const char *text)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		for (Reading *r = d->ports[i]->readings; r; r = r->next)
			if (port == 0 || port == d->ports[i]->number)
				manager_fail_reading(r, error, text);
}

void manager_free_readings(Port *p)
{
	Reading *r;

	while ((r = p->readings)) {
		p->readings = r->next;
		sd_bus_slot_unref(r->completing);
		table_free(r->table);
		free(r);
	}
}
