/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the pool does about what workers say and what the core asks. The handler of the core is
 * always called last: it may forget the device or ask again.
 */

#include "pool.h"

#include <inttypes.h>

#include "lane.h"
#include "log.h"
#include "pool-device.h"
#include "pool-events.h"
#include "worker-command.h"

/* The device that W hangs in, NULL if it is none of those. */
static PoolDevice *find_stuck(const Pool *p, const Worker *w)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i]->stuck == w)
			return p->devices[i];
	return NULL;
}

/* The lane that W works in, NULL if it has been taken out of service. */
static Lane *find_lane(Pool *p, const Worker *w)
{
	if (p->shared.worker == w)
		return &p->shared;
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i]->own && p->devices[i]->own->worker == w)
			return p->devices[i]->own;
	return NULL;
}

/* Whether the core waits for the answer to R. If not, R is a probe, or its device was forgotten. */
static bool is_asked_by_core(const Request *r)
{
	return r->owner && r->owner->request == r;
}

static void on_device(void *userdata, _unused_ Worker *w, Request *r, DeviceSnapshot *snapshot)
{
	Pool *p = userdata;

	if (is_asked_by_core(r))
		p->handler->device(p->userdata, r->query.id, snapshot);
}

static void on_failed(void *userdata, Worker *w, const char *why);

static void on_port(void *userdata, Worker *w, Request *r, uint32_t port, int error,
		    PortSnapshot *snapshot)
{
	Pool *p = userdata;
	const char *rule;
	char why[128];

	if (!is_asked_by_core(r))
		return;
	rule = pool_device_count_tables(r->owner, port, snapshot);
	if (rule) {
		snprintf(why, sizeof(why), "worker broke the protocol: %s", rule);
		on_failed(p, w, why);
	} else {
		p->handler->port(p->userdata, r->query.id, port, error, snapshot);
	}
}

static void on_end(void *userdata, Worker *w, Request *answered, int error, const char *text)
{
	_cleanup_free_ Request *r = answered;
	Pool *p = userdata;
	PoolDevice *d = r->owner;

	if (!d)
		return;
	if (d->stuck == w) {
		log_notice("%s: answers again, after all", d->name);
		d->stuck = NULL;
		worker_retire(w, p->timing.exit_usec);
		pool_device_recover(d);
		return;
	}
	d->spoilt = 0;
	d->heard = true;
	if (d->own) {
		log_notice("%s: answers in time, ends its probation", d->name);
		/* The next worker that it spoils brings it back there. */
		d->spoilt = POOL_PROBATION_FROM - 1;
		pool_device_release(d);
		/* Its own worker held it open for events and ends now: it must be asked again,
		 * through the shared worker. */
		pool_device_recover(d);
	}
	if (is_asked_by_core(r)) {
		d->request = NULL;
		p->handler->end(p->userdata, r->query.id, error, text);
	}
}

static void on_stuck(void *userdata, Worker *w)
{
	Pool *p = userdata;
	Lane *l = find_lane(p, w);
	Request *head = worker_head(w);
	PoolDevice *d = head ? head->owner : NULL;
	unsigned int times;
	char text[160], what[96];
	bool asked;

	if (!l) {
		log_warning("Worker %d: no answer from %s after %" PRIu64 " s, killing",
			    worker_pid(w), d ? d->name : "a device that has gone",
			    p->timing.answer_usec / USEC_PER_SEC);
		worker_kill(w);
		return;
	}
	if (!d) {
		/* It hangs in a device that has gone, or does not read its messages: nobody waits
		 * for an answer. */
		log_warning("Worker %d: hangs, killing", worker_pid(w));
		worker_kill(lane_detach(l, NULL));
		lane_run(l);
		return;
	}
	worker_describe_head(w, what, sizeof(what));
	times = worker_never_ends(w) ? WORKER_QUERY_TIMEOUTS : 1;
	snprintf(text, sizeof(text), "no %s %" PRIu64 " ms while reading %s",
		 times > 1 ? "end of the answer after" : "answer for",
		 times * p->query_timeout_usec / USEC_PER_MSEC, what);
	log_warning("Worker %d: %s, set aside", worker_pid(w), text);

	asked = is_asked_by_core(head);
	pool_device_wedge(d, w, &head->query);
	lane_detach(l, d);
	worker_set_timeout(w, p->timing.answer_usec);
	pool_device_spoil(d);
	lane_run(l);
	if (asked)
		p->handler->end(p->userdata, d->probe.id, -ETIMEDOUT, text);
}

static void on_failed(void *userdata, Worker *w, const char *why)
{
	Pool *p = userdata;
	Lane *l = find_lane(p, w);
	Request *head = worker_head(w);
	PoolDevice *d = head ? head->owner : NULL;
	uint64_t id = head ? head->query.id : 0;
	bool asked = head && is_asked_by_core(head);

	log_warning("Worker %d%s%s: %s", worker_pid(w), d ? ", reading " : "", d ? d->name : "",
		    why);
	if (!l) {
		worker_kill(w);
		return;
	}
	worker_kill(lane_detach(l, d));
	lane_pause(l);
	lane_run(l);
	if (!d)
		return;
	if (asked)
		d->request = NULL;
	else
		pool_device_retry_later(d);
	pool_device_spoil(d);
	if (asked)
		p->handler->end(p->userdata, id, -EPIPE, why);
}

static void on_event(void *userdata, Worker *w, const Event *event)
{
	Pool *p = userdata;
	Process *process = pool_find_process(p, w);
	PoolDevice *d = pool_find_device(p, event->device);
	Event e = *event;

	if (!pool_count_event(p, process)) {
		on_failed(p, w, "worker broke the protocol: a flood of events");
		return;
	}
	if (!d || d->asked != w) {
		log_debug("Worker %d: event of device %" PRIu32 ", which it was not asked about",
			  worker_pid(w), event->device);
		return;
	}
	if (!pool_admit_event(d, process, e.reason))
		return;
	if (e.port > RDMA_PORT_MAX)
		e.port = EVENT_ALL_PORTS;
	p->handler->event(p->userdata, &e);
}

static void on_exited(void *userdata, Worker *w)
{
	Pool *p = userdata;
	PoolDevice *d = find_stuck(p, w);

	*pool_find_process(p, w) = (Process){};
	if (d) {
		d->stuck = NULL;
		pool_device_retry_later(d);
	}
	worker_free(w);
}

static void on_expired(Pool *p, Request *expired)
{
	_cleanup_free_ Request *r = expired;
	PoolDevice *d = r->owner;

	if (!is_asked_by_core(r)) {
		pool_device_retry_later(d);
		return;
	}
	d->request = NULL;
	p->handler->end(p->userdata, r->query.id, -EPIPE, "no worker could be kept running");
}

static const LaneHandler lane_handler = {
	.worker =
		{
			.device = on_device,
			.port = on_port,
			.end = on_end,
			.event = on_event,
			.stuck = on_stuck,
			.failed = on_failed,
			.exited = on_exited,
		},
	.expired = on_expired,
};

int pool_query(Pool *p, const Query *q)
{
	_cleanup_free_ Request *request = NULL;
	PoolDevice *d = pool_find_device(p, q->device);
	int r;

	if (d && d->wedged)
		return -ETIMEDOUT;
	if (d && d->request)
		return -EBUSY;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	if (!d) {
		r = pool_add_device(p, q->device, &d);
		if (r < 0)
			return r;
	}
	memcpy(d->name, q->name, sizeof(d->name));
	request->query = *q;
	request->owner = d;
	d->request = request;
	lane_submit(d->own ? d->own : &p->shared, steal_pointer(&request));
	return 0;
}

/* Takes back the query of D, which has the shared worker. If the worker has it already, nobody
 * waits for the answer. */
static void withdraw(PoolDevice *d)
{
	Lane *shared = &d->pool->shared;
	Request *r = d->request;

	if (!r)
		return;
	if (request_remove(&shared->waiting, r) ||
	    (shared->worker && worker_withdraw(shared->worker, r)))
		free(r);
	else
		r->owner = NULL;
}

/* Makes the worker that was asked about D last close what it has open of it. */
static void send_forget(PoolDevice *d)
{
	Request *r;

	if (!d->asked)
		return;
	r = calloc(1, sizeof(*r));
	if (!r) {
		log_warning("%s: no memory to close it", d->name);
		return;
	}
	r->forget = true;
	r->query.device = d->index;
	worker_submit(d->asked, r);
}

bool pool_forget(Pool *p, uint32_t device, uint64_t *ret_asked)
{
	PoolDevice *d = pool_find_device(p, device);
	bool wedged;

	*ret_asked = 0;
	if (!d)
		return false;
	wedged = d->wedged;
	if (d->request)
		*ret_asked = d->request->query.id;
	if (d->stuck)
		worker_kill(d->stuck);
	if (d->own) {
		pool_device_release(d);
	} else {
		withdraw(d);
		send_forget(d);
	}
	pool_remove_device(d);
	return wedged;
}

void pool_set_timing(Pool *p, const PoolTiming *timing)
{
	p->timing = *timing;
}

int pool_new(sd_event *event, const Config *config, const char *worker_path,
	     const SourceHandler *handler, void *userdata, Pool **ret)
{
	_cleanup_(pool_free_pointer) Pool *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->event = sd_event_ref(event);
	p->handler = handler;
	p->userdata = userdata;
	p->lane_handler = &lane_handler;
	p->query_timeout_usec = config->query_timeout_usec;
	p->timing = (PoolTiming)POOL_TIMING_DEFAULT;
	r = worker_command_new(config, worker_path, &p->argv);
	if (r < 0)
		return r;
	r = lane_init(&p->shared, p);
	if (r < 0)
		return r;
	r = pool_events_init(p);
	if (r < 0)
		return r;
	*ret = steal_pointer(&p);
	return 0;
}

Pool *pool_free(Pool *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(p->processes); i++)
		worker_free(p->processes[i].worker);
	lane_done(&p->shared);
	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (d->own) {
			d->own->worker = NULL;
			pool_device_release(d);
		}
		pool_device_free(d);
	}
	free(p->devices);
	pool_events_done(p);
	worker_command_free(p->argv);
	sd_event_unref(p->event);
	free(p);
	return NULL;
}
