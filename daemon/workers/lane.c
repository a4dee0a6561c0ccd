/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lane.h"

#include "log.h"
#include "pool-events.h"
#include "pool-nursery.h"

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
	_cleanup_free_ Process *process = calloc(1, sizeof(*process));
	int r = process ? worker_new(p->event, p->argv, p->nursery.process.fd,
				     p->query_timeout_usec, &p->lane_handler->worker, p,
				     &process->worker)
			: -ENOMEM;

	if (r < 0)
		return r;
	l->worker = process->worker;
	process->next = p->processes;
	p->processes = steal_pointer(&process);
	p->n_processes++;
	if (worker_pid(l->worker) > 0)
		log_debug("Started worker %d", worker_pid(l->worker));
	else
		pool_nursery_await(p, l->worker);
	if (!l->owner)
		worker_set_patience(l->worker, pool_patience_usec(p));
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
}

/* Whether L may have a worker for R. A device that answered last time never has to wait because
 * others hang, as long as the places kept for such devices suffice. */
static bool has_place(const Lane *l, const Request *r)
{
	unsigned int n = l->pool->n_processes;

	if (l->worker && (l->owner || r->owner->proven))
		return true;
	return n < POOL_PROCESSES_MAX - (r->owner->proven ? 0 : POOL_PROCESSES_KEPT);
}

/* The next request that may have a worker, NULL if there is none. */
static Request *find_next(const Lane *l)
{
	Request *r = l->waiting.first;

	while (r && !has_place(l, r))
		r = r->next;
	return r;
}

/* For a request that waits because no worker may be started yet, or because there is no place. */
static void await_timer(Lane *l)
{
	const Request *r = l->waiting.first;

	if (!r)
		return;
	sd_event_source_set_time(l->timer, has_place(l, r)
						   ? l->start_usec
						   : r->queued_usec + l->pool->query_timeout_usec);
	sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

void lane_run(Lane *l)
{
	Request *request = find_next(l);

	if (!l->worker && request && pool_now_usec(l->pool) >= l->start_usec)
		start(l);
	while (l->worker && (request = find_next(l))) {
		PoolDevice *d = request->owner;

		request_remove(&l->waiting, request);
		if (d->asked != l->worker) {
			d->heard = false;
			d->leave_ports = 0;
		}
		d->asked = l->worker;
		worker_submit(l->worker, request);
	}
	await_timer(l);
}

void lane_submit(Lane *l, Request *r)
{
	r->queued_usec = pool_now_usec(l->pool);
	r->query.spares_library = r->queued_usec < r->owner->library_usec;
	request_append(&l->waiting, r);
	lane_run(l);
}

Worker *lane_detach(Lane *l, const PoolDevice *spoiler)
{
	Worker *w = steal_pointer(&l->worker);
	RequestQueue rest = worker_take_requests(w);

	l->taken = l->stuck = l->over = false;
	request_append_all(&l->waiting, &rest);
	pool_report_lost(l->pool, w, spoiler);
	return w;
}

/* The pause is over. If the first request has waited too long, because no worker can be started,
 * because none lives long enough to read it, or because there is no place for one, it expires: one
 * in each call. */
static int on_timer(sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Lane *l = userdata;
	Pool *p = l->pool;
	Request *request = l->waiting.first;
	uint64_t now = pool_now_usec(p);
	bool place = request && has_place(l, request);

	if (!request ||
	    now - request->queued_usec < (place ? p->timing.queue_usec : p->query_timeout_usec)) {
		lane_run(l);
		return 0;
	}
	request_pop(&l->waiting);
	sd_event_source_set_time(s, now);
	sd_event_source_set_enabled(s, l->waiting.first ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	p->lane_handler->expired(p, request, place ? -EPIPE : -ETIMEDOUT);
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
