/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the core sees of the machine and of those whom it asks. */

#include "script-workers.h"

/* The core hears of something from the event loop and from nowhere else: that is what a Source
 * promises. */
void script_do_in_loop(Script *s, void (*run)(Script *s, Lots *lots))
{
	if (s->n_acts == SCRIPT_ACTS)
		return;
	s->acts[s->n_acts++] = (Act){run, {lots_next(s->lots)}};
	LAW(sd_event_source_set_enabled(s->act, SD_EVENT_ONESHOT) >= 0, "no event loop");
}

static int on_act(_unused_ sd_event_source *source, void *userdata)
{
	Script *s = userdata;
	Act acts[SCRIPT_ACTS];
	size_t n = s->n_acts;

	memcpy(acts, s->acts, sizeof(acts));
	s->n_acts = 0;
	for (size_t i = 0; i < n; i++)
		acts[i].run(s, &acts[i].lots);
	return 0;
}

/* One with a query, by lot; NULL: there is none */
static Asked *any_open(Script *s, Lots *lots)
{
	uint32_t from = lots_below(lots, s->n_asked);

	for (uint32_t i = 0; i < s->n_asked; i++) {
		Asked *a = &s->asked[(from + i) % s->n_asked];

		if (a->used && a->open)
			return a;
	}
	return NULL;
}

/* The worker asks by itself what EVENT has touched, if it has leave. */
static void ask_by_itself(Script *s, const Event *event)
{
	Asked *a = script_find_asked(s, s->userdata, event->device);
	Query q;

	/* open: a query that the worker does not know yet */
	if (!a || a->wedged || !script_take_leave(a, event, &q) || a->open ||
	    !s->handler->asking(s->userdata, &q))
		return;
	note("query %#jx of device %u by the worker: port %u, parts %#x", (uintmax_t)q.id, q.device,
	     event->port, q.parts);
	script_begin(s, &q, s->handler, s->userdata);
}

static void tell_one(Script *s, Lots *lots)
{
	const Event event = s->events[0];

	memmove(s->events, s->events + 1, --s->n_events * sizeof(s->events[0]));
	note("told: %s of device %u port %u", event_reason_name(event.reason), event.device,
	     event.port);
	if (s->workers && (REASON_BIT(event.reason) & REASONS_OF_VERBS)) {
		workers_hear(s->workers, &event);
		return;
	}
	/* an event that udev and netlink tell earlier than others */
	if (s->workers && event.reason == REASON_DEVICE && !script_find(s, event.device) && lots &&
	    lots_once_in(lots, 2))
		workers_going(s->workers, event.device);
	s->handler->event(s->userdata, &event);
	if (!s->workers && event.reason >= REASON_PORT_ACTIVE &&
	    event.reason < REASON_DEVICE_FATAL && lots_once_in(lots, 2))
		ask_by_itself(s, &event);
}

static void tell(Script *s, Lots *lots)
{
	for (uint32_t n = 1 + lots_below(lots, 4); n > 0 && s->n_events > 0; n--)
		tell_one(s, lots);
}

void script_tell(Script *s)
{
	if (s->n_events > 0)
		script_do_in_loop(s, tell);
}

/* A device that did not answer in time answers now, if it can. */
static void recover(Script *s, Asked *a)
{
	const ScriptDevice *d = script_find(s, a->index);

	if (!a->wedged || (d && d->hangs))
		return;
	a->wedged = false;
	note("device %u answers again", a->index);
	s->handler->event(s->userdata, &(Event){a->index, EVENT_ALL_PORTS, REASON_RECOVERED});
}

static void recover_any(Script *s, Lots *lots)
{
	Asked *a = &s->asked[lots_below(lots, s->n_asked)];

	if (a->used)
		recover(s, a);
}

/* The next worker has not been asked yet. */
static void lose_leave(Asked *a)
{
	a->query.leave = (Leave){};
}

/* The process that asks ends: its events may have been lost with it. */
static void crash(Script *s, Asked *a)
{
	script_drop_events(s, a->index);
	script_report(s, a->index, EVENT_ALL_PORTS, REASON_OVERRUN);
	lose_leave(a);
	script_end(s, a, -EPIPE, QUERY_ERROR_WORKER_LOST, "the worker crashed");
}

static void work(Script *s, Lots *lots)
{
	Asked *a = any_open(s, lots);

	if (!a) {
		recover_any(s, lots);
		return;
	}
	if (lots_once_in(lots, 200)) {
		crash(s, a);
		return;
	}
	for (uint32_t n = 1 + lots_below(lots, 4); n > 0 && a->open; n--)
		if (lots_once_in(lots, 2))
			script_read_next(s, a);
		else
			script_send_next(s, a);
}

void script_work(Script *s)
{
	script_do_in_loop(s, s->workers ? workers_work : work);
}

/* What nobody asked for. It is never true. */
static void send_lie(Script *s, uint64_t id, uint32_t port, int error)
{
	PortSnapshot p;

	script_lie_of_port(&p);
	note("a lie about %#jx: port %u, %d", (uintmax_t)id, port, error);
	s->handler->port(s->userdata, id, port, error, &p);
	port_snapshot_done(&p);
}

static bool is_open(const Script *s, uint64_t id)
{
	for (size_t i = 0; i < s->n_asked; i++)
		if (s->asked[i].used && s->asked[i].open && s->asked[i].query.id == id)
			return true;
	return false;
}

static void lie(Script *s, Lots *lots)
{
	Asked *a = any_open(s, lots);
	uint32_t port = lots_below(lots, 6);
	bool is_due = a && port_set_has(&a->unread, port);

	for (size_t i = 0; a && i < a->n_answers; i++)
		is_due |= a->answers[i].port == port;
	switch (lots_below(lots, 4)) {
	case 0:
		if (a && !is_due)
			send_lie(s, a->query.id, port, 0);
		return;
	case 1:
		/* late, and once more */
		if (!is_open(s, s->last_id) && lots_once_in(lots, 2))
			send_lie(s, s->last_id, port, 0);
		else if (!is_open(s, s->last_id))
			s->handler->end(s->userdata, s->last_id, 0, 0, "");
		return;
	case 2:
		send_lie(s, lots_next(lots), port, -EIO);
		return;
	default:
		if (a)
			script_end(s, a, 0, 0, ""); /* perhaps too early */
	}
}

void script_lie(Script *s)
{
	script_do_in_loop(s, s->workers ? workers_lie : lie);
}

static void end_overdue(Script *s, _unused_ Lots *lots)
{
	for (size_t i = 0; i < s->n_asked; i++) {
		Asked *a = &s->asked[i];

		if (!a->used || !a->open || a->asked_usec + s->timeout_usec > virtual_now_usec())
			continue;
		/* the worker is killed, and with it go the events that it has */
		a->wedged = true;
		lose_leave(a);
		script_drop_events(s, a->index);
		script_end(s, a, -ETIMEDOUT, QUERY_ERROR_TIMEOUT, "no answer in time");
	}
}

uint64_t script_next_overdue_usec(const Script *s)
{
	uint64_t next = UINT64_MAX;

	/* with workers the pool looks after that */
	for (size_t i = 0; !s->workers && i < s->n_asked; i++)
		if (s->asked[i].used && s->asked[i].open)
			next = MIN(next, s->asked[i].asked_usec + s->timeout_usec);
	return next;
}

void script_end_overdue(Script *s)
{
	if (script_next_overdue_usec(s) <= virtual_now_usec())
		script_do_in_loop(s, end_overdue);
}

/* All that is asked by the query of A, and its end */
static void answer(Script *s, Asked *a)
{
	const uint64_t id = a->query.id;

	while (script_read_next(s, a))
		;
	/* the core may ask again at once */
	while (a->used && a->open && a->query.id == id)
		script_send_next(s, a);
}

static void answer_all(Script *s, Lots *lots)
{
	while (s->n_events > 0)
		tell_one(s, lots);
	for (size_t i = 0; i < s->n_asked; i++) {
		Asked *a = &s->asked[i];

		if (a->used)
			recover(s, a);
		if (a->used && a->open)
			answer(s, a);
	}
}

static void do_all(Script *s, Lots *lots)
{
	while (s->n_events > 0)
		tell_one(s, lots);
	workers_do_all(s, lots);
}

bool script_answer_all(Script *s)
{
	bool any = s->n_events > 0 || s->n_acts > 0;

	if (s->workers) {
		any |= workers_are_busy(s->workers);
		if (any)
			script_do_in_loop(s, do_all);
		return any;
	}
	for (size_t i = 0; i < s->n_asked; i++)
		any |= s->asked[i].used && (s->asked[i].open || s->asked[i].wedged);
	if (any)
		script_do_in_loop(s, answer_all);
	return any;
}

void script_restart(Script *s)
{
	/* what is not carried out yet has no event that the next one hears of */
	script_settle(s);
	s->n_events = 0;
	s->n_acts = 0;
	s->last_id = 0;
	memset(s->asked, 0, sizeof(s->asked));
}

/* The Source */

static Script *script_of(const Source *s)
{
	return (Script *)CONST_CAST(void *, s);
}

static int start_source(_unused_ Source *s)
{
	return 0;
}

static int enumerate(Source *source, DeviceSnapshot **ret, size_t *ret_n)
{
	DeviceSnapshot *devices = calloc(SCRIPT_DEVICES, sizeof(*devices));
	Script *s = script_of(source);
	bool leave_out = s->leave_out;
	size_t n = 0;

	LAW(devices, "no memory");
	if (s->enumerate_errors > 0) {
		s->enumerate_errors--;
		free(devices);
		return -EAGAIN;
	}
	s->leave_out = false;
	/* because another one went meanwhile */
	if (leave_out)
		script_report(s, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	for (size_t i = 0; i < SCRIPT_DEVICES; i++) {
		if (!s->devices[i].exists)
			continue;
		if (!leave_out)
			script_list_device(&s->devices[i], &devices[n++]);
		leave_out = false;
	}
	note("%zu devices are listed", n);
	*ret = devices;
	*ret_n = n;
	return 0;
}

static int query(Source *source, const Query *q)
{
	Script *s = script_of(source);
	int error = s->query_error;
	Asked *a;

	LAW(q->id && (uint32_t)q->id == q->device, "device %u is asked as %#jx", q->device,
	    (uintmax_t)q->id);
	if (s->workers) {
		error = workers_query(s->workers, q);
	} else {
		a = script_find_asked(s, s->userdata, q->device);
		LAW(!a || !a->open, "device %u is asked while it is asked", q->device);
		if (a && a->wedged)
			return -ETIMEDOUT;
		s->query_error = 0;
		if (error == 0)
			script_begin(s, q, s->handler, s->userdata);
	}
	note("query %#jx of device %u: kind %u, device %d, ports %#jx, parts %#x: %d",
	     (uintmax_t)q->id, q->device, q->kind, q->attributes, (uintmax_t)q->ports.bits[0],
	     q->parts, error);
	return error;
}

static void hurry(Source *source, uint32_t device)
{
	Script *s = script_of(source);
	Asked *a = script_find_asked(s, s->userdata, device);

	if (s->workers)
		workers_hurry(s->workers, device);
	if (a && a->open && a->query.kind == QUERY_USERS)
		a->hurried = true;
}

/* The core begins to look at an interface again when it hears of it first: an event may have come
 * before. */
static void netdevs_changed(_unused_ Source *s, uint32_t device, uint32_t port,
			    const PortSnapshot *now)
{
	note("device %u port %u has %s", device, port, now ? "these interfaces" : "gone");
}

static void forget(Source *source, uint32_t device)
{
	Script *s = script_of(source);
	Asked *a = script_find_asked(s, s->userdata, device);

	note("device %u is forgotten", device);
	if (s->workers)
		workers_forget(s->workers, device);
	if (a)
		a->used = false;
}

static void status(_unused_ const Source *s, SourceStatus *ret)
{
	*ret = (SourceStatus){.simulated = true};
}

static void free_source(Source *source)
{
	const Script *s = script_of(source);

	if (s->workers)
		workers_close(s->workers);
}

int script_open(void *userdata, const SourceHandler *handler, void *handler_userdata, Source **ret)
{
	Script *s = userdata;

	s->handler = handler;
	s->userdata = handler_userdata;
	*ret = &s->source;
	if (s->workers)
		workers_open(s->workers);
	return 0;
}

bool script_has_workers(const Script *s)
{
	return s->workers;
}

Script *script_new(sd_event *event, Lots *lots, uint64_t timeout_usec, bool has_workers)
{
	static const SourceOps ops = {.start = start_source,
				      .enumerate = enumerate,
				      .query = query,
				      .hurry = hurry,
				      .forget = forget,
				      .netdevs_changed = netdevs_changed,
				      .status = status,
				      .free = free_source};
	Script *s = calloc(1, sizeof(*s));

	LAW(s, "no memory");
	s->source.ops = &ops;
	s->event = event;
	s->lots = lots;
	s->timeout_usec = timeout_usec;
	s->next_index = 1;
	s->n_asked = has_workers ? SCRIPT_ASKED_MAX : SCRIPT_ASKED;
	if (has_workers && workers_can_be())
		s->workers = workers_new(s);
	LAW(sd_event_add_defer(event, &s->act, on_act, s) >= 0, "no event loop");
	sd_event_source_set_enabled(s->act, SD_EVENT_OFF);
	return s;
}

void script_free(Script *s)
{
	sd_event_source_disable_unref(s->act);
	workers_free(s->workers);
	free(s);
}
