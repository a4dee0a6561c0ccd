/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-lanes.h"

#include <sched.h>

#include "lane.h"
#include "log.h"
#include "pool-events.h"
#include "pool-nursery.h"

/* The devices that wait are sorted: those of adapters on which none hangs, then the suspects; of
 * both, those that answered last time come first. */
#define TURNS	 4U
#define SUSPECTS 2U /* the first turn of the suspects */

static int new_lane(Pool *p, PoolDevice *owner, Lane **ret)
{
	_cleanup_free_ Lane *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	r = lane_init(l, p);
	if (r < 0)
		return r;
	l->owner = owner;
	l->next = p->lanes;
	p->lanes = l;
	*ret = steal_pointer(&l);
	return 0;
}

/* No device may be in it. */
static void free_lane(Lane *l)
{
	Lane **at = &l->pool->lanes;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	lane_done(l);
	free(l);
}

Lane *pool_find_lane(Pool *p, const Worker *w)
{
	Lane *l = p->lanes;

	for (unsigned int i = 0; i < p->n_main; i++)
		if (p->main[i].worker == w)
			return &p->main[i];
	while (l && l->worker != w)
		l = l->next;
	return l;
}

void pool_run_lanes(Pool *p)
{
	for (unsigned int i = 0; i < p->n_main; i++)
		lane_run(&p->main[i]);
	for (Lane *l = p->lanes; l; l = l->next)
		lane_run(l);
}

int pool_isolate(PoolDevice *d)
{
	return d->lane->owner ? 0 : new_lane(d->pool, d, &d->lane);
}

void pool_release(PoolDevice *d)
{
	Lane *l = d->lane;

	d->lane = d->home;
	if (!l->owner)
		return;
	d->asked = NULL;
	if (l->worker && d->wedged)
		worker_kill(l->worker);
	else if (l->worker)
		worker_retire(l->worker, d->pool->timing.exit_usec);
	free_lane(l);
}

static void set_patience(Lane *l)
{
	if (l->worker && !l->owner)
		worker_set_patience(l->worker, pool_patience_usec(l->pool));
}

static void set_patience_of_all(Pool *p)
{
	for (unsigned int i = 0; i < p->n_main; i++)
		set_patience(&p->main[i]);
	for (Lane *l = p->lanes; l; l = l->next)
		set_patience(l);
}

/* Begins a crisis, or has the one that goes on last longer. A crisis has an end: a device that was
 * set aside stays in its lane until then. */
static void extend_crisis(Pool *p)
{
	bool new = !pool_in_crisis(p);

	p->crisis_usec = pool_now_usec(p) + p->query_timeout_usec;
	sd_event_source_set_time(p->crisis, p->crisis_usec);
	sd_event_source_set_enabled(p->crisis, SD_EVENT_ONESHOT);
	if (new) {
		set_patience_of_all(p);
		pool_nursery_begin(p);
	}
}

static int on_crisis_over(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Pool *p = userdata;
	Lane *next;

	pool_nursery_end(p);
	set_patience_of_all(p);
	for (Lane *l = p->lanes; l; l = next) {
		next = l->next;
		pool_settle(l);
	}
	return 0;
}

int pool_set_aside(Lane *l, PoolDevice *d)
{
	bool heard = d->heard;
	Request *r = d->request;
	Lane *own;
	int error = new_lane(l->pool, d, &own);

	if (error < 0)
		return error;
	extend_crisis(l->pool);
	own->worker = lane_detach(l, d);
	own->taken = true;
	d->lane = own;
	d->asked = own->worker;
	d->heard = heard;
	/* The worker asks D by itself, and the core's query has not been given to it yet. */
	if (r && request_remove(&l->waiting, r)) {
		request_append(&own->waiting, r);
		lane_run(own);
	}
	return 0;
}

static void give(Lane *l, Request *r)
{
	r->owner->lane = l;
	request_append(&l->waiting, r);
}

/* Whether another device of the same adapter hangs, or is slow: it has the same firmware. */
static bool is_suspect(const PoolDevice *d)
{
	const Pool *p = d->pool;

	for (size_t i = 0; d->adapter && i < p->n_devices; i++) {
		const PoolDevice *other = p->devices[i];

		if (other != d && other->adapter == d->adapter && other->lane->owner)
			return true;
	}
	return false;
}

static unsigned int turn_of(const PoolDevice *d)
{
	return (is_suspect(d) ? SUSPECTS : 0) + !d->proven;
}

static bool has_any(const RequestQueue turns[SUSPECTS])
{
	return turns[0].first || turns[1].first;
}

void pool_split(Lane *l)
{
	RequestQueue all = {}, turns[TURNS] = {};
	Lane *lanes[2] = {l, l};
	unsigned int n = 0;
	Request *r;
	bool apart;
	int error = 0;

	request_append_all(&all, &l->waiting);
	if (all.first != all.last)
		error = new_lane(l->pool, NULL, &lanes[1]);
	if (error < 0)
		log_warning_errno(error, "No second worker for those that wait: %m");
	while ((r = request_pop(&all)))
		request_append(&turns[turn_of(r->owner)], r);
	/* If there are suspects and others, they part. */
	apart = has_any(turns) && has_any(turns + SUSPECTS);
	for (unsigned int i = 0; i < TURNS; i++)
		while ((r = request_pop(&turns[i])))
			give(lanes[apart ? i >= SUSPECTS : n++ % 2], r);
	lane_run(lanes[0]);
	lane_run(lanes[1]);
}

/* All devices of L, which is shared, go back to their homes. */
static void end_shared(Lane *l)
{
	Pool *p = l->pool;

	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i]->lane == l)
			p->devices[i]->lane = p->devices[i]->home;
	if (l->worker)
		worker_retire(lane_detach(l, NULL), p->timing.exit_usec);
	free_lane(l);
}

static bool is_main(const Lane *l)
{
	return l >= l->pool->main && l < l->pool->main + POOL_MAIN_MAX;
}

void pool_settle(Lane *l)
{
	PoolDevice *d = l->owner;

	if (is_main(l) || pool_in_crisis(l->pool) || l->waiting.first ||
	    (l->worker && !worker_is_idle(l->worker)))
		return;
	if (!d) {
		end_shared(l);
	} else if (l->over) {
		pool_release(d);
		/* The device must be asked again through its main lane, whose worker then listens
		 * to its events. */
		pool_report(d, REASON_BIT(REASON_RECOVERED));
	}
}

/* The CPUs that this process may use, 1 if that is not known. */
static unsigned int count_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned int)CPU_COUNT(&set);
}

int pool_lanes_init(Pool *p)
{
	int r = 0;

	p->n_main = MIN(MAX(count_cpus(), 1U), POOL_MAIN_MAX);
	for (unsigned int i = 0; r >= 0 && i < POOL_MAIN_MAX; i++)
		r = lane_init(&p->main[i], p);
	if (r < 0)
		return r;
	r = sd_event_add_time(p->event, &p->crisis, CLOCK_MONOTONIC, 0, 0, on_crisis_over, p);
	return r < 0 ? r : sd_event_source_set_enabled(p->crisis, SD_EVENT_OFF);
}

void pool_lanes_done(Pool *p)
{
	while (p->lanes)
		free_lane(p->lanes);
	for (unsigned int i = 0; i < POOL_MAIN_MAX; i++)
		lane_done(&p->main[i]);
	p->crisis = sd_event_source_disable_unref(p->crisis);
}
