/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The manager's side of the bus: readings of the hardware for callers, and the values of
 * org.rdma.Manager. */

#include "manager-private.h"

static void clean_counters(Table *t)
{
	TABLE_FOREACH(CounterEntry, e, t)
		text_sanitize(CONST_CAST(char *, e->file), sizeof(e->file));
}

const ReadingRow manager_reading_rows[_QUERY_KIND_MAX] = {
	[QUERY_COUNTERS] = {.name = "counters",
			    .size = sizeof(Reading),
			    .table = PORT_TABLE_COUNTERS,
			    .clean = clean_counters},
	[QUERY_USERS] = {.name = "users",
			 .size = sizeof(UsersReading),
			 .table = PORT_TABLE_USERS,
			 .gives_way = true,
			 .clean = manager_clean_users,
			 .complete = manager_describe_users,
			 .finished = manager_finished_users,
			 .failed = manager_failed_users},
	[QUERY_FAR] = {.name = "counters of the other end",
		       .size = sizeof(Reading),
		       .table = PORT_TABLE_COUNTERS,
		       .begin = manager_begin_far,
		       .clean = clean_counters,
		       .finished = manager_finished_far},
};

int manager_query(void *userdata, Port *p, uint64_t max_age_usec, PendingList **ret_list)
{
	Manager *m = userdata;
	Schedule *w = p->device->schedule;
	int r;

	/* CLOCK_MONOTONIC: an administrator may set the other clock back. */
	if (!p->now.values.stale && p->answered_usec &&
	    monotonic_usec(m) - p->answered_usec <= max_age_usec)
		return 0;
	if (w->wedged)
		return -ETIMEDOUT;
	r = schedule_mark(w, p->number, REASON_QUERY);
	if (r < 0)
		return r;
	manager_mark_flush(m);
	*ret_list = &w->callers.queries;
	return 1;
}

PendingList *manager_refresh(void *userdata)
{
	Manager *m = userdata;

	manager_mark_flush(m);
	return &m->refresh_next;
}

void manager_status(void *userdata, BusStatus *ret)
{
	const Manager *m = userdata;

	*ret = (BusStatus){.last_sync_usec = m->last_sync_usec,
			   .lost_events = m->lost_events,
			   .health = m->machine_health,
			   .findings = m->machine_findings};
	m->source->ops->status(m->source, &ret->source);
}

void manager_refuse_calls(Device *d, uint32_t port, int error, const char *text)
{
	bus_answer_queries(&d->schedule->asked.queries, port, NULL, error, text);
	bus_answer_queries(&d->schedule->callers.queries, port, NULL, error, text);
	manager_refuse_readings(d, port, error, text);
}
