/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One file, although long: lanes, devices and what workers report decide together what happens
 * next, and the cases are easier to check against each other in one place.
 */

#include "pool.h"

#include <inttypes.h>

#include "log.h"
#include "worker-command.h"
#include "worker.h"

typedef struct PoolDevice PoolDevice;

/* A place for a worker, with what waits while there is none. */
typedef struct Lane {
	Pool *pool;
	Worker *worker;
	RequestQueue waiting;
	sd_event_source *timer; /* runs while the start of a worker has to wait */
	uint64_t pause_usec;	/* before the next restart */
	uint64_t failed_usec;	/* when a worker was lost or could not be started; 0: never */
	uint64_t start_usec;	/* not before this */
	bool failing;		/* starting one failed, and was logged */
} Lane;

/* A device from its first query to pool_forget(). */
struct PoolDevice {
	Pool *pool;
	uint32_t index;
	AttrText name;
	Request *request;    /* the core's query that is under way */
	Worker *asked;	     /* whose events count: the last worker asked, NULL if that is lost */
	bool heard;	     /* it has answered: with it, events would be lost */
	unsigned int spoilt; /* workers in a row */
	Lane *own;	     /* not NULL: on probation */
	bool wedged;
	Worker *stuck; /* wedged: the worker that hangs in it, as long as that exists */
	Query probe;   /* what it was asked when it hung */
	sd_event_source *retry;
	uint64_t retry_usec;
	uint32_t dropped; /* reasons of the events of this second that were one too many */
	uint32_t pending; /* reasons to be reported */
};

/* Every process, whatever its state: from its start until it is reaped. */
typedef struct Process {
	Worker *worker;
	uint64_t second_usec; /* when the second began in which N_EVENTS came */
	unsigned int n_events;
	unsigned int n_floods; /* seconds in a row that had too many */
} Process;

struct Pool {
	sd_event *event;
	const SourceHandler *handler;
	void *userdata;
	char **argv;
	uint64_t query_timeout_usec;
	PoolTiming timing;
	Lane shared;
	PoolDevice **devices; /* sorted by index */
	size_t n_devices, allocated;
	Process processes[POOL_PROCESSES_MAX];
	sd_event_source *report; /* enabled while a device has something pending */
	sd_event_source *flood;
};

static uint64_t now_usec(Pool *p)
{
	uint64_t now = 0;

	sd_event_now(p->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* Where the device with INDEX is, or belongs. */
static size_t device_position(const Pool *p, uint32_t index)
{
	size_t low = 0, high = p->n_devices;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->devices[middle]->index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static PoolDevice *find_device(const Pool *p, uint32_t index)
{
	size_t i = device_position(p, index);

	return i < p->n_devices && p->devices[i]->index == index ? p->devices[i] : NULL;
}

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

static Process *find_process(Pool *p, const Worker *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->processes); i++)
		if (p->processes[i].worker == w)
			return &p->processes[i];
	return NULL;
}

static bool is_asked_by_core(const Request *r)
{
	const PoolDevice *d = r->owner;

	return d && d->request == r;
}

/* Events of the pool's own wait for their turn here, so that the handler may do what it likes to
 * the devices. */
static void report(PoolDevice *d, uint32_t reasons)
{
	/* Then everything is looked at. */
	if (!(d->pending & REASON_BIT(REASON_RECOVERED)))
		d->pending =
			reasons & REASON_BIT(REASON_RECOVERED) ? reasons : d->pending | reasons;
	sd_event_source_set_enabled(d->pool->report, SD_EVENT_ON);
}

static int on_report(sd_event_source *s, void *userdata)
{
	Pool *p = userdata;
	PoolDevice *d;
	size_t i = 0;
	Event e = {};

	while (i < p->n_devices && !p->devices[i]->pending)
		i++;
	if (i == p->n_devices) {
		sd_event_source_set_enabled(s, SD_EVENT_OFF);
		return 0;
	}
	d = p->devices[i];
	e = (Event){.device = d->index,
		    .port = EVENT_ALL_PORTS,
		    .reason = (EventReason)__builtin_ctz(d->pending)};
	d->pending &= d->pending - 1;
	p->handler->event(p->userdata, &e);
	return 0;
}

/* W is out of service: what it held open for its devices is closed or no longer heard. SPOILER is
 * asked again anyway. */
static void report_lost(Pool *p, const Worker *w, const PoolDevice *spoiler)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (d->asked != w)
			continue;
		d->asked = NULL;
		if (d != spoiler && d->heard)
			report(d, REASON_BIT(REASON_OVERRUN));
	}
}

/* Lanes */

static const WorkerHandler worker_handler;

static void lane_pause(Lane *l)
{
	const PoolTiming *t = &l->pool->timing;
	uint64_t now = now_usec(l->pool);

	if (l->failed_usec == 0 || now - l->failed_usec > t->calm_usec)
		l->pause_usec = 0;
	l->failed_usec = now;
	l->start_usec = now + l->pause_usec;
	l->pause_usec =
		l->pause_usec == 0 ? t->restart_usec : MIN(2 * l->pause_usec, t->restart_max_usec);
}

static int lane_spawn(Lane *l)
{
	Pool *p = l->pool;
	Process *process = find_process(p, NULL);
	int r;

	if (!process)
		return -EAGAIN;
	r = worker_new(p->event, p->argv, p->query_timeout_usec, &worker_handler, p,
		       &process->worker);
	if (r < 0)
		return r;
	l->worker = process->worker;
	return 0;
}

/* Gives what waits to a worker: a new one if there is none, now or when the pause is over. Does not
 * call the handler. */
static void lane_run(Lane *l)
{
	Request *request;
	int r;

	if (!l->worker && l->waiting.first && now_usec(l->pool) >= l->start_usec) {
		r = lane_spawn(l);
		if (r < 0) {
			if (!l->failing)
				log_warning_errno(r, "Cannot start worker %s, will try again: %m",
						  l->pool->argv[0]);
			l->failing = true;
			lane_pause(l);
		} else {
			if (l->failing)
				log_notice("Worker %s could be started again", l->pool->argv[0]);
			l->failing = false;
			log_debug("Started worker %d", worker_pid(l->worker));
		}
	}
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

static void lane_submit(Lane *l, Request *r)
{
	r->queued_usec = now_usec(l->pool);
	request_append(&l->waiting, r);
	lane_run(l);
}

/* Takes the worker out of service, which stays alive with the request that it works on. Returns it.
 */
static Worker *lane_detach(Lane *l, const PoolDevice *spoiler)
{
	Worker *w = steal_pointer(&l->worker);
	RequestQueue rest = worker_take_requests(w);

	request_append_all(&l->waiting, &rest);
	report_lost(l->pool, w, spoiler);
	return w;
}

static void lane_done(Lane *l)
{
	l->timer = sd_event_source_disable_unref(l->timer);
	request_free_all(&l->waiting);
}

static void device_retry_later(PoolDevice *d);

static int on_lane_timer(sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Lane *l = userdata;
	Pool *p = l->pool;
	Request *request = l->waiting.first;
	uint64_t now = now_usec(p), id;
	PoolDevice *d;

	if (!request || now - request->queued_usec < p->timing.queue_usec) {
		lane_run(l);
		return 0;
	}
	/* It waits too long, be it that no worker can be started or that none lives to read it. One
	 * each time. */
	request_pop(&l->waiting);
	sd_event_source_set_time(s, now);
	sd_event_source_set_enabled(s, l->waiting.first ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	d = request->owner;
	id = request->query.id;
	if (is_asked_by_core(request)) {
		d->request = NULL;
		free(request);
		p->handler->end(p->userdata, id, -EPIPE, "no worker could be kept running");
	} else {
		free(request);
		device_retry_later(d);
	}
	return 0;
}

static int lane_init(Lane *l, Pool *p)
{
	int r;

	*l = (Lane){.pool = p};
	r = sd_event_add_time(p->event, &l->timer, CLOCK_MONOTONIC, 0, 5 * USEC_PER_MSEC,
			      on_lane_timer, l);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
}

/* Devices */

/* Puts D on probation. 0 if it is now or was already. */
static int device_isolate(PoolDevice *d)
{
	_cleanup_free_ Lane *l = NULL;
	int r;

	if (d->own)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	r = lane_init(l, d->pool);
	if (r < 0)
		return r;
	d->own = steal_pointer(&l);
	return 0;
}

/* Ends probation, and with it the worker. */
static void device_release(PoolDevice *d)
{
	Lane *l = steal_pointer(&d->own);

	if (!l)
		return;
	if (l->worker)
		worker_retire(l->worker, d->pool->timing.exit_usec);
	d->asked = NULL;
	lane_done(l);
	free(l);
}

/* D has spoilt a worker. */
static void device_spoil(PoolDevice *d)
{
	int r;

	if (++d->spoilt < POOL_PROBATION_FROM || d->own)
		return;
	r = device_isolate(d);
	if (r < 0)
		log_warning_errno(r, "%s: no worker of its own, others may suffer: %m", d->name);
	else
		log_notice("%s: spoilt %u workers in a row, gets its own", d->name, d->spoilt);
}

static void device_answers(PoolDevice *d)
{
	d->wedged = false;
	d->retry_usec = d->pool->timing.retry_usec;
	report(d, REASON_BIT(REASON_RECOVERED));
}

static void device_retry_later(PoolDevice *d)
{
	sd_event_source_set_time(d->retry, now_usec(d->pool) + d->retry_usec);
	sd_event_source_set_enabled(d->retry, SD_EVENT_ONESHOT);
	log_debug("%s: next try in %" PRIu64 " ms", d->name, d->retry_usec / USEC_PER_MSEC);
	d->retry_usec = MIN(2 * d->retry_usec, d->pool->timing.retry_max_usec);
}

/* Asks a wedged device what it hung on. The answer is for the pool alone. */
static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	PoolDevice *d = userdata;
	_cleanup_free_ Request *request = calloc(1, sizeof(*request));

	if (!request || device_isolate(d) < 0) {
		device_retry_later(d);
		return 0;
	}
	request->owner = d;
	request->query = d->probe;
	lane_submit(d->own, steal_pointer(&request));
	return 0;
}

static void device_free(PoolDevice *d)
{
	d->retry = sd_event_source_disable_unref(d->retry);
	free(d);
}

static int device_new(Pool *p, const Query *q, PoolDevice **ret)
{
	size_t i = device_position(p, q->device);
	PoolDevice *d;
	int r;

	if (p->n_devices == p->allocated) {
		size_t allocated = MAX(2 * p->allocated, (size_t)16);
		PoolDevice **devices = reallocarray(p->devices, allocated, sizeof(PoolDevice *));

		if (!devices)
			return -ENOMEM;
		p->devices = devices;
		p->allocated = allocated;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->pool = p;
	d->index = q->device;
	d->retry_usec = p->timing.retry_usec;
	r = sd_event_add_time(p->event, &d->retry, CLOCK_MONOTONIC, 0, 5 * USEC_PER_MSEC, on_retry,
			      d);
	if (r < 0) {
		device_free(d);
		return r;
	}
	sd_event_source_set_enabled(d->retry, SD_EVENT_OFF);
	memmove(&p->devices[i + 1], &p->devices[i], (p->n_devices - i) * sizeof(d));
	p->devices[i] = d;
	p->n_devices++;
	*ret = d;
	return 0;
}

/* What workers say. The handler of the pool is always called last: it may forget the device or ask
 * again. */

static void on_device(void *userdata, _unused_ Worker *w, Request *r, DeviceSnapshot *snapshot)
{
	Pool *p = userdata;

	if (is_asked_by_core(r))
		p->handler->device(p->userdata, r->query.id, snapshot);
}

static void on_port(void *userdata, _unused_ Worker *w, Request *r, uint32_t port, int error,
		    PortSnapshot *snapshot)
{
	Pool *p = userdata;

	if (is_asked_by_core(r))
		p->handler->port(p->userdata, r->query.id, port, error, snapshot);
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
		device_answers(d);
		return;
	}
	d->spoilt = 0;
	d->heard = true;
	if (d->own) {
		log_notice("%s: answers in time, ends its probation", d->name);
		/* Once more, and it is back there. */
		d->spoilt = POOL_PROBATION_FROM - 1;
		device_release(d);
		/* Nobody holds it open now: it has to be asked again, through the shared worker. */
		device_answers(d);
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
		/* It hangs in a device that has gone, or does not read: there is no answer to wait
		 * for. */
		log_warning("Worker %d: hangs, killing", worker_pid(w));
		worker_kill(lane_detach(l, NULL));
		lane_run(l);
		return;
	}
	worker_describe_head(w, what, sizeof(what));
	snprintf(text, sizeof(text), "no answer for %" PRIu64 " ms while reading %s",
		 p->query_timeout_usec / USEC_PER_MSEC, what);
	log_warning("Worker %d: %s, set aside", worker_pid(w), text);

	asked = is_asked_by_core(head);
	d->request = NULL;
	d->stuck = w;
	d->wedged = true;
	d->pending = 0;
	d->probe = head->query;
	lane_detach(l, d);
	worker_set_timeout(w, p->timing.answer_usec);
	device_spoil(d);
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
		device_retry_later(d);
	device_spoil(d);
	if (asked)
		p->handler->end(p->userdata, id, -EPIPE, why);
}

static void on_event(void *userdata, Worker *w, const Event *event)
{
	Pool *p = userdata;
	Process *process = find_process(p, w);
	PoolDevice *d = find_device(p, event->device);
	uint64_t now = now_usec(p);
	Event e = *event;

	if (now - process->second_usec >= USEC_PER_SEC) {
		bool flood = process->n_events > POOL_EVENTS_MAX &&
			     now - process->second_usec < 2 * USEC_PER_SEC;

		process->n_floods = flood ? process->n_floods + 1 : 0;
		process->n_events = 0;
		process->second_usec = now;
	}
	if (process->n_floods >= POOL_FLOOD_SECONDS) {
		on_failed(p, w, "worker broke the protocol: a flood of events");
		return;
	}
	process->n_events++;
	if (!d || d->asked != w) {
		log_debug("Worker %d: event of device %" PRIu32 ", which it was not asked about",
			  worker_pid(w), event->device);
		return;
	}
	if (process->n_events > POOL_EVENTS_MAX) {
		int enabled = SD_EVENT_OFF;

		d->dropped |= REASON_BIT(e.reason);
		sd_event_source_get_enabled(p->flood, &enabled);
		if (enabled == SD_EVENT_OFF) {
			sd_event_source_set_time(p->flood, process->second_usec + USEC_PER_SEC);
			sd_event_source_set_enabled(p->flood, SD_EVENT_ONESHOT);
		}
		return;
	}
	if (e.port > RDMA_PORT_MAX)
		e.port = EVENT_ALL_PORTS;
	p->handler->event(p->userdata, &e);
}

static int on_flood(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Pool *p = userdata;

	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (d->dropped)
			report(d, d->dropped | REASON_BIT(REASON_OVERRUN));
		d->dropped = 0;
	}
	return 0;
}

static void on_exited(void *userdata, Worker *w)
{
	Pool *p = userdata;
	PoolDevice *d = find_stuck(p, w);

	*find_process(p, w) = (Process){};
	if (d) {
		d->stuck = NULL;
		device_retry_later(d);
	}
	worker_free(w);
}

static const WorkerHandler worker_handler = {
	.device = on_device,
	.port = on_port,
	.end = on_end,
	.event = on_event,
	.stuck = on_stuck,
	.failed = on_failed,
	.exited = on_exited,
};

int pool_query(Pool *p, const Query *q)
{
	_cleanup_free_ Request *request = NULL;
	PoolDevice *d = find_device(p, q->device);
	int r;

	if (d && d->wedged)
		return -ETIMEDOUT;
	if (d && d->request)
		return -EBUSY;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	if (!d) {
		r = device_new(p, q, &d);
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

bool pool_forget(Pool *p, uint32_t device, uint64_t *ret_asked)
{
	size_t i = device_position(p, device);
	PoolDevice *d = find_device(p, device);
	Lane *shared = &p->shared;
	Request *request;
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
		device_release(d);
	} else {
		request = d->request;
		if (request && (request_remove(&shared->waiting, request) ||
				(shared->worker && worker_withdraw(shared->worker, request))))
			free(request);
		else if (request)
			request->owner = NULL;

		request = d->asked ? calloc(1, sizeof(*request)) : NULL;
		if (request) {
			request->forget = true;
			request->query.device = device;
			worker_submit(d->asked, request);
		} else if (d->asked) {
			log_warning("%s: no memory to close it", d->name);
		}
	}
	p->n_devices--;
	memmove(&p->devices[i], &p->devices[i + 1], (p->n_devices - i) * sizeof(d));
	device_free(d);
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
	p->query_timeout_usec = config->query_timeout_usec;
	p->timing = (PoolTiming)POOL_TIMING_DEFAULT;
	r = worker_command_new(config, worker_path, &p->argv);
	if (r < 0)
		return r;
	r = lane_init(&p->shared, p);
	if (r < 0)
		return r;
	r = sd_event_add_defer(event, &p->report, on_report, p);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(p->report, SD_EVENT_OFF);
	r = sd_event_add_time(event, &p->flood, CLOCK_MONOTONIC, 0, 0, on_flood, p);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(p->flood, SD_EVENT_OFF);
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
			device_release(d);
		}
		device_free(d);
	}
	free(p->devices);
	p->report = sd_event_source_disable_unref(p->report);
	p->flood = sd_event_source_disable_unref(p->flood);
	worker_command_free(p->argv);
	sd_event_unref(p->event);
	free(p);
	return NULL;
}
