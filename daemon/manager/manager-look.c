/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at everything: at the start, from time to time, when events were lost, and when somebody
 * calls Refresh(). Such a look is over when the devices have been enumerated and each has had its
 * part in it.
 */

#include "log.h"
#include "manager-private.h"

/* Between the beginnings of two looks for Refresh() are at least so many microseconds: such a look
 * reads all P_Keys, and on InfiniBand each entry of a P_Key table is a firmware command. */
#define REFRESH_USEC USEC_PER_SEC

/*
 * How long the start waits for devices that do not answer: for so many steps, each a quarter of the
 * time-out, and then as long as devices answer in each step. By then the source has had answers of
 * all devices that do not hang, even if many others do (pool.h); with 1024 devices it may take
 * longer to ask them all. The bounds of a step: a short time-out is no reason to start without
 * devices that a busy machine has not asked yet, and systemd by default ends a service that has not
 * started after 90 s.
 */
#define START_STEPS    5U
#define START_STEP_MIN (500 * USEC_PER_MSEC)
#define START_STEP_MAX (12 * USEC_PER_SEC)
#define START_MAX_USEC (60 * USEC_PER_SEC)

/* Up to a tenth earlier or later, so that a cluster's machines do not all ask at once. */
static uint64_t reconcile_delay(const Manager *m)
{
	uint64_t spread = m->config.reconcile_usec / 5;

	return m->config.reconcile_usec - spread / 2 + (spread ? random_u64() % spread : 0);
}

static int on_reconcile(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	manager_mark_everything(m, REASON_RECONCILE);
	manager_start_reconcile(m);
	return 0;
}

void manager_start_reconcile(Manager *m)
{
	if (m->config.reconcile_usec)
		manager_start_timer(m, &m->reconcile, reconcile_delay(m), on_reconcile, m,
				    "reconcile");
}

static int on_refresh_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	manager_mark_flush(userdata);
	return 0;
}

void manager_begin_refresh(Manager *m)
{
	uint64_t now = monotonic_usec(m);

	if (!m->refresh_next.first || m->refresh_asked.first)
		return;
	if (now < m->refresh_usec) {
		manager_start_timer(m, &m->refresh_pace, m->refresh_usec - now, on_refresh_pace, m,
				    "refresh");
		return;
	}
	m->refresh_usec = now + REFRESH_USEC;
	pending_list_move(&m->refresh_asked, &m->refresh_next);
	manager_mark_everything(m, REASON_REFRESH);
}

/* Calls that came while this look went on share the next one. So a program that calls all the time
 * does not keep the others waiting. */
void manager_answer_refresh(Manager *m, int error)
{
	bus_answer_refresh(&m->refresh_asked, error);
	if (m->refresh_next.first)
		manager_mark_flush(m);
}

/* Whether there has been an answer of D, good or bad, or there will be none. */
static bool was_asked(const Device *d)
{
	const Schedule *w = d->schedule;

	return d->published || w->wedged || !(w->asked_id || schedule_is_dirty(w));
}

static uint64_t start_step(const Manager *m)
{
	return MIN(MAX(m->config.query_timeout_usec / 4, START_STEP_MIN), START_STEP_MAX);
}

/* Whether the start has waited long enough. */
static bool is_overdue(const Manager *m)
{
	return m->start && !timer_runs(m->start);
}

static void check_ready(Manager *m)
{
	size_t silent = 0;
	int r;

	if (m->ready)
		return;
	/* from the end, because the last device is asked last: this runs after each answer */
	for (size_t i = m->cache.n_devices; i-- > 0;) {
		if (was_asked(m->cache.devices[i]))
			continue;
		if (!is_overdue(m))
			return;
		silent++;
	}
	if (silent > 0)
		log_notice("%zu of %zu devices have not answered yet, starting without them",
			   silent, m->cache.n_devices);
	manager_publish_counts(m); /* nobody has been told of them yet */
	m->ready = true;
	manager_health_judge_all(m);
	/* A program that finds the name on the bus finds all objects there. READY=1 follows when
	 * the bus has given us the name. */
	r = m->bus ? bus_acquire_name(m->bus) : 0;
	/* if the bus has gone since the start, the name comes with the next connection */
	if (r < 0 && r != -ENOTCONN && r != -ECONNRESET)
		sd_event_exit(m->event, EXIT_FAILURE);
	manager_record_start(m);
}

static void check_end(Manager *m)
{
	if (!m->looking)
		return;
	for (size_t i = m->cache.n_devices; i-- > 0;) /* as in check_ready() */
		if (schedule_is_whole(m->cache.devices[i]->schedule))
			return;
	m->looking = false;
	if (!m->enumerate_failed)
		m->last_sync_usec = realtime_now_usec();
	manager_answer_refresh(m, 0);
}

static int on_start_step(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	uint32_t n = 0;
	bool more;

	if (m->ready)
		return 0;
	for (size_t i = 0; i < m->cache.n_devices; i++)
		n += m->cache.devices[i]->published && !m->cache.devices[i]->schedule->wedged;
	more = n > m->n_answered;
	m->n_answered = n;
	m->start_steps++;
	if (m->start_steps < START_STEPS ||
	    (more && m->start_steps * start_step(m) < START_MAX_USEC))
		manager_limit_start(m);
	else
		manager_check_look(m);
	return 0;
}

void manager_limit_start(Manager *m)
{
	manager_start_timer(m, &m->start, start_step(m), on_start_step, m, "start");
}

void manager_check_look(Manager *m)
{
	/* the enumeration that is due may find more devices */
	if (m->devices_due)
		return;
	check_ready(m);
	check_end(m);
}
