/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lane.h"

#include "log.h"
#include "pool-events.h"

void lane_pause(Lane *l)
{
	const PoolTiming *t = &l->pool->timing;
	uint64_t now = pool_now_usec(l->pool);

	if (l->failed_usec == 0 || now - l->failed_usec > t->calm_usec)
		l->pause_usec = 0;
	l->failed_usec = now;
	l->start_usec = now + l->pause_usec;
	l->pause_usec =
		l->pause_usec == 0 ? t->restart_usec : MIN(2 * l->pause_usec, t->restart_max_usec);
}

static int spawn(Lane *l)
{
	Pool *p = l->pool;
	Process *process = pool_find_process(p, NULL);
	int r;

	if (!process)
		return -EAGAIN;
	r = worker_new(p->event, p->argv, p->query_timeout_usec, &p->lane_handler->worker, p,
		       &process->worker);
	if (r < 0)
		return r;
	l->worker = process->worker;
	return 0;
}

/* Logs a failure once, and that it is over. */
static void start(Lane *l)
{
	int r = spawn(l);

	if (r < 0) {
		if (!l->failing)
			log_warning_errno(r, "Cannot start worker %s, will try again: %m",
					  l->pool->argv[0]);
		l->failing = true;
		lane_pause(l);
		return;
	}
	if (l->failing)
		log_notice("Worker %s could be started again", l->pool->argv[0]);
	l->failing = false;
	log_debug("Started worker %d", worker_pid(l->worker));
}

void lane_run(Lane *l)
{
	Request *request;

	if (!l->worker && l->waiting.first && pool_now_usec(l->pool) >= l->start_usec)
		start(l);
	if (!l->worker && l->waiting.first) {
		sd_event_source_set_time(l->timer, l->start_usec);
		sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
	}
	while (l->worker && (request = request_pop(&l->waiting))) {
		PoolDevice *d = request->owner;

		if (d->asked != l->worker)
			d->heard = false;
		d->asked = l->worker;
		worker_submit(l->worker, request);
	}
}

void lane_submit(Lane *l, Request *r)
{
	r->queued_usec = pool_now_usec(l->pool);
	request_append(&l->waiting, r);
	lane_run(l);
}

Worker *lane_detach(Lane *l, const PoolDevice *spoiler)
{
	Worker *w = steal_pointer(&l->worker);
	RequestQueue rest = worker_take_requests(w);

	request_append_all(&l->waiting, &rest);
	pool_report_lost(l->pool, w, spoiler);
	return w;
}

/* The pause is over. If the first request has waited too long, because no worker can be started or
 * because none lives long enough to read it, it expires: one in each call. */
static int on_timer(sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Lane *l = userdata;
	Pool *p = l->pool;
	Request *request = l->waiting.first;
	uint64_t now = pool_now_usec(p);

	if (!request || now - request->queued_usec < p->timing.queue_usec) {
		lane_run(l);
		return 0;
	}
	request_pop(&l->waiting);
	sd_event_source_set_time(s, now);
	sd_event_source_set_enabled(s, l->waiting.first ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	p->lane_handler->expired(p, request);
	return 0;
}

int lane_init(Lane *l, Pool *p)
{
	int r;

	*l = (Lane){.pool = p};
	r = sd_event_add_time(p->event, &l->timer, CLOCK_MONOTONIC, 0, 5 * USEC_PER_MSEC, on_timer,
			      l);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
}

void lane_done(Lane *l)
{
	l->timer = sd_event_source_disable_unref(l->timer);
	request_free_all(&l->waiting);
}
