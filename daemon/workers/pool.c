/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool between the messages of workers and the queries of the core. The handler of the core is
 * always called last: it may forget the device or ask again.
 */

#include "pool.h"

#include <inttypes.h>

#include "lane.h"
#include "log.h"
#include "pool-device.h"
#include "pool-events.h"
#include "pool-lanes.h"
#include "pool-nursery.h"
#include "worker-command.h"

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

static void on_failed(void *userdata, Worker *w, QueryErrorCode code, const char *why);

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
		on_failed(p, w, QUERY_ERROR_PROTOCOL, why);
	} else {
		p->handler->port(p->userdata, r->query.id, port, error, snapshot);
	}
}

/* D has answered R in L, whose worker is W. */
static void take_end(PoolDevice *d, Lane *l, Worker *w, const Request *r)
{
	Pool *p = d->pool;
	bool late = d->wedged, taken = l->taken;

	if (taken) {
		lane_detach(l, d);
		worker_retire(w, p->timing.exit_usec);
	} else if (l->stuck) {
		l->stuck = false;
		worker_set_timeout(w, p->query_timeout_usec);
	}
	if (!late)
		p->usual_usec = (7 * p->usual_usec + r->took_usec) / 8;
	pool_device_answer(d, r->took_usec <= p->query_timeout_usec / POOL_PATIENCE);
	if (late && l->over) {
		pool_release(d);
		return;
	}
	if (l->owner && !l->over)
		pool_device_retry_later(d);
	/* The device is to be asked again: the next worker then listens to its events. */
	if (taken && !l->over)
		pool_report(d, REASON_BIT(REASON_OVERRUN));
	pool_settle(l);
}

/* Notes what W may ask of D by itself now that it has answered R, which the core has asked. */
static void begin_leave(PoolDevice *d, const Worker *w, const Request *r)
{
	if (r->own || d->asked != w)
		return;
	d->leave_id = r->query.id;
	d->leave_ports = r->query.leave.ports;
}

static void on_end(void *userdata, Worker *w, Request *answered, int error, const char *text)
{
	_cleanup_free_ Request *r = answered;
	Pool *p = userdata;
	PoolDevice *d = r->owner;
	Lane *l = pool_find_lane(p, w);
	bool asked = is_asked_by_core(r);

	/* The core's query of D is behind this one, and its answer says more. */
	if (d && d->request && !asked)
		return;
	if (d && r->library_failed)
		d->library_usec = pool_now_usec(p) + POOL_LIBRARY_PAUSE_USEC;
	if (d)
		begin_leave(d, w, r);
	if (asked)
		d->request = NULL;
	if (d)
		take_end(d, l, w, r);
	else
		pool_settle(l);
	if (asked)
		p->handler->end(p->userdata, r->query.id, error, QUERY_ERROR_DEVICE, text);
}

/* The worker of L hangs in a device that has gone, or does not read its messages: nobody waits for
 * an answer. */
static void drop_worker(Lane *l)
{
	log_warning("Worker %d: hangs, killing", worker_pid(l->worker));
	worker_kill(lane_detach(l, NULL));
	pool_split(l);
	pool_settle(l);
}

static void on_slow(void *userdata, Worker *w)
{
	Pool *p = userdata;
	Lane *l = pool_find_lane(p, w);
	PoolDevice *d = worker_head(w)->owner;
	int r;

	/* The device has been set aside, so only its own query can wait behind a query that its
	 * worker makes by itself. */
	if (l->owner)
		return;
	/* The patience may have become longer. */
	worker_set_patience(w, pool_patience_usec(p));
	if (!worker_is_slow(w))
		return;
	if (!d) {
		drop_worker(l);
		return;
	}
	r = pool_set_aside(l, d);
	if (r < 0) {
		log_warning_errno(r, "%s: keeps others waiting: %m", d->name);
		return;
	}
	log_info("%s: is slow, the devices behind it get another worker", d->name);
	pool_split(l);
}

/* Logs that W is stuck, and says in TEXT what it has not answered. Returns that as a code. */
static QueryErrorCode describe_stuck(const Pool *p, const Worker *w, char *text, size_t size)
{
	unsigned int times = worker_never_ends(w) ? WORKER_QUERY_TIMEOUTS : 1;
	char what[96];

	worker_describe_head(w, what, sizeof(what));
	snprintf(text, size, "no %s %" PRIu64 " ms while reading %s",
		 times > 1 ? "end of the answer after" : "answer for",
		 times * p->query_timeout_usec / USEC_PER_MSEC, what);
	log_warning("Worker %d: %s, set aside", worker_pid(w), text);
	return times > 1 ? QUERY_ERROR_NO_END : QUERY_ERROR_TIMEOUT;
}

/* The worker W has spoilt the query of D for which the core waits: that which it works on, or one
 * behind a query of its own. The core is to be told that it has ended. Returns its id, 0 if there
 * is none. */
static uint64_t end_request(PoolDevice *d, Worker *w)
{
	Request *r = d->request;
	uint64_t id = r ? r->query.id : 0;

	d->request = NULL;
	if (r && r != worker_head(w) &&
	    (request_remove(&d->lane->waiting, r) || worker_withdraw(w, r)))
		free(r);
	return id;
}

/* D hangs, and the core is told so. W stays with it for a while: it may answer after all. */
static void wedge(PoolDevice *d, Lane *l, Worker *w)
{
	Pool *p = d->pool;

	pool_device_wedge(d, &worker_head(w)->query);
	d->proven = false;
	if (l->owner || pool_set_aside(l, d) >= 0) {
		d->asked = NULL;
		d->lane->stuck = true;
		worker_set_timeout(w, p->timing.answer_usec);
	} else {
		worker_kill(lane_detach(l, d));
		pool_device_retry_later(d);
	}
	pool_device_spoil(d);
	if (!l->owner)
		pool_split(l);
}

static void on_stuck(void *userdata, Worker *w)
{
	Pool *p = userdata;
	Lane *l = pool_find_lane(p, w);
	Request *head = worker_head(w);
	PoolDevice *d = head ? head->owner : NULL;
	QueryErrorCode code;
	char text[160];
	uint64_t id;

	if (!d) {
		drop_worker(l);
	} else if (l->stuck) {
		log_warning("Worker %d: no answer from %s after %" PRIu64 " s, killing",
			    worker_pid(w), d->name, p->timing.answer_usec / USEC_PER_SEC);
		worker_kill(w); /* on_exited() has the device tried again */
	} else {
		id = end_request(d, w);
		code = describe_stuck(p, w, text, sizeof(text));
		wedge(d, l, w);
		if (id)
			p->handler->end(p->userdata, id, -ETIMEDOUT, code, text);
	}
}

static void on_failed(void *userdata, Worker *w, QueryErrorCode code, const char *why)
{
	Pool *p = userdata;
	Lane *l = pool_find_lane(p, w);
	Request *head = worker_head(w);
	PoolDevice *d = head ? head->owner : NULL;
	uint64_t id = 0;

	log_warning("Worker %d%s%s: %s", worker_pid(w), d ? ", reading " : "", d ? d->name : "",
		    why);
	if (d && d->wedged) {
		worker_kill(w); /* on_exited() has the device tried again */
		pool_device_spoil(d);
		return;
	}
	if (d)
		id = end_request(d, w);
	/* D is asked again only for what it was asked. */
	worker_kill(lane_detach(l, NULL));
	lane_pause(l);
	lane_run(l);
	if (d)
		pool_device_spoil(d);
	pool_settle(l);
	if (id)
		p->handler->end(p->userdata, id, -EPIPE, code, why);
}

static void on_event(void *userdata, Worker *w, const Event *event)
{
	Pool *p = userdata;
	Process *process = pool_find_process(p, w);
	PoolDevice *d = pool_find_device(p, event->device);
	Event e = *event;

	if (!pool_count_event(p, process)) {
		on_failed(p, w, QUERY_ERROR_PROTOCOL,
			  "worker broke the protocol: a flood of events");
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

/* The rule that a query breaks that W asks D by itself; NULL if it breaks none. */
static const char *check_own(const PoolDevice *d, const Query *q)
{
	if (d->leave_ports == 0)
		return "a query of its own without leave";
	if (q->id != d->leave_id)
		return "a query of its own with another id than that of its leave";
	return port_set_last(&q->ports) > d->leave_ports
		       ? "a query of its own about a port for which it has no leave"
		       : NULL;
}

static const char *on_asking(void *userdata, Worker *w, Request *r)
{
	Pool *p = userdata;
	PoolDevice *d = pool_find_device(p, r->query.device);
	/* Without an answer of W it may be leave from before the device was forgotten. */
	bool served = d && d->asked == w && d->heard;
	const char *rule = served ? check_own(d, &r->query) : NULL;

	if (rule)
		return rule;
	if (served) {
		memcpy(r->query.name, d->name, sizeof(d->name));
		r->query.adapter = d->adapter;
		r->owner = d;
	}
	if (served && p->handler->asking(p->userdata, &r->query) && !d->request)
		d->request = r;
	/* The core limits those that it takes for its own. */
	else if (!pool_count_event(p, pool_find_process(p, w)))
		on_failed(p, w, QUERY_ERROR_PROTOCOL,
			  "worker broke the protocol: a flood of queries of its own");
	return NULL;
}

static void end_process(Pool *p, const Worker *w)
{
	Process **at = &p->processes, *process;

	while ((*at)->worker != w)
		at = &(*at)->next;
	process = *at;
	*at = process->next;
	p->n_processes--;
	worker_free(process->worker);
	free(process);
}

static void on_exited(void *userdata, Worker *w)
{
	Pool *p = userdata;
	Lane *l = pool_find_lane(p, w);

	end_process(p, w);
	if (l) {
		/* The worker hung, and was left in its lane until now. */
		l->worker = NULL;
		l->taken = l->stuck = false;
		pool_device_retry_later(l->owner);
	}
	pool_run_lanes(p);
}

static void on_expired(Pool *p, Request *expired, int error)
{
	_cleanup_free_ Request *r = expired;
	PoolDevice *d = r->owner;
	bool asked = is_asked_by_core(r), no_place = error == -ETIMEDOUT;

	d->request = NULL;
	if (no_place) {
		pool_device_wedge(d, &r->query);
		d->retry_usec = p->timing.retry_usec; /* it has done nothing wrong */
	}
	if (d->wedged)
		pool_device_retry_later(d);
	pool_settle(d->lane);
	if (asked)
		p->handler->end(p->userdata, r->query.id, error,
				no_place ? QUERY_ERROR_NOT_ASKED : QUERY_ERROR_NO_WORKER,
				no_place ? QUERY_ERROR_TEXT_NOT_ASKED
					 : "no worker could be kept running");
}

static const LaneHandler lane_handler = {
	.worker =
		{
			.device = on_device,
			.port = on_port,
			.end = on_end,
			.event = on_event,
			.asking = on_asking,
			.stuck = on_stuck,
			.slow = on_slow,
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
	r = pool_device_reserve(d, MAX(port_set_last(&q->ports), q->leave.ports));
	if (r < 0)
		return r;
	memcpy(d->name, q->name, sizeof(d->name));
	d->adapter = q->adapter;
	request->query = *q;
	request->owner = d;
	d->request = request;
	lane_submit(d->lane, steal_pointer(&request));
	return 0;
}

void pool_hurry(Pool *p, uint32_t device)
{
	PoolDevice *d = pool_find_device(p, device);

	/* one that no worker has yet is not told: its time is limited */
	if (d && d->request && d->request->query.kind == QUERY_USERS && d->request->sent &&
	    d->asked)
		worker_hurry(d->asked, device);
}

/* Takes back the query of D, which is in a shared lane. If the worker has it already, nobody waits
 * for the answer. */
static void withdraw(PoolDevice *d)
{
	Lane *l = d->lane;
	Request *r = d->request;

	if (!r)
		return;
	if (request_remove(&l->waiting, r) || (l->worker && worker_withdraw(l->worker, r)))
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
	Lane *shared;
	bool wedged;

	*ret_asked = 0;
	if (!d)
		return false;
	wedged = d->wedged;
	shared = d->lane->owner ? NULL : d->lane;
	if (d->request)
		*ret_asked = d->request->query.id;
	if (shared) {
		if (d->asked)
			worker_disown(d->asked, d);
		withdraw(d);
		send_forget(d);
	}
	pool_release(d);
	pool_remove_device(d);
	if (shared)
		pool_settle(shared);
	return wedged;
}

void pool_set_timing(Pool *p, const PoolTiming *timing)
{
	p->timing = *timing;
}

void pool_set_main(Pool *p, unsigned int n)
{
	p->n_main = n;
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
	r = pool_lanes_init(p);
	if (r < 0)
		return r;
	r = pool_nursery_init(p);
	if (r < 0)
		return r;
	r = pool_devices_init(p);
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
	while (p->processes)
		end_process(p, p->processes->worker);
	pool_nursery_done(p);
	pool_lanes_done(p);
	pool_devices_done(p);
	pool_events_done(p);
	worker_command_free(p->argv);
	sd_event_unref(p->event);
	free(p);
	return NULL;
}
