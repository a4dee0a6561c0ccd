/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workers, and what the core sees of them and of the machine. */

#include "script-private.h"

/* The core hears of something from the event loop and from nowhere else: that is what a Source
 * promises. */
static void do_in_loop(Script *s, void (*run)(Script *s, Lots *lots))
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

static Asked *find_asked(Script *s, uint32_t index)
{
	for (size_t i = 0; i < SCRIPT_ASKED; i++)
		if (s->asked[i].used && s->asked[i].index == index)
			return &s->asked[i];
	return NULL;
}

static Asked *reserve_asked(Script *s, uint32_t index)
{
	Asked *a = find_asked(s, index);

	for (size_t i = 0; !a && i < SCRIPT_ASKED; i++)
		if (!s->asked[i].used)
			a = &s->asked[i];
	LAW(a, "the core has not forgotten %u devices that have gone", SCRIPT_ASKED);
	if (!a->used)
		*a = (Asked){.used = true, .index = index};
	return a;
}

/* One with a query, by lot; NULL: there is none */
static Asked *any_open(Script *s, Lots *lots)
{
	uint32_t from = lots_below(lots, SCRIPT_ASKED);

	for (uint32_t i = 0; i < SCRIPT_ASKED; i++) {
		Asked *a = &s->asked[(from + i) % SCRIPT_ASKED];

		if (a->used && a->open)
			return a;
	}
	return NULL;
}

/* Reading and answering */

static void begin(Asked *a, const Query *q)
{
	a->open = true;
	a->query = *q;
	a->asked_usec = virtual_now_usec();
	a->device_unread = q->kind == QUERY_ATTRIBUTES && q->attributes;
	a->unread = q->ports;
	a->hurried = false;
	a->n_answers = 0;
}

static void end(Script *s, Asked *a, int error, QueryErrorCode code, const char *text)
{
	uint64_t id = a->query.id;

	a->open = false;
	a->n_answers = 0;
	s->last_id = id;
	note("answer to %#jx: end %d", (uintmax_t)id, error);
	s->handler->end(s->userdata, id, error, code, text);
}

static uint32_t first_port(const PortSet *ports)
{
	uint32_t n = 1;

	while (!port_set_has(ports, n))
		n++;
	return n;
}

/* Reads the next thing that is asked for. Returns whether there was any. */
static bool read_next(Script *s, Asked *a)
{
	ScriptDevice *d = script_find(s, a->index);
	Answer *to = &a->answers[a->n_answers];

	if ((d && d->hangs) || (!a->device_unread && port_set_is_empty(&a->unread)))
		return false;
	*to = (Answer){};
	if (a->device_unread) {
		a->device_unread = false;
	} else {
		to->port = first_port(&a->unread);
		port_set_remove(&a->unread, to->port);
	}
	if (!d || to->port > d->n_ports) {
		to->error = -ENODEV;
	} else {
		to->device = *d;
		if (to->port > 0)
			to->facts = d->ports[to->port - 1];
		if (to->port > 0 && port_set_has(&d->failing, to->port))
			to->error = -EIO;
	}
	a->n_answers++;
	return true;
}

static void send_device(Script *s, const Asked *a, const Answer *answer)
{
	/* one that stays, and one that is another with the firmware */
	const HealthEntry reporters[] = {{.name = "fw"},
					 {.name = "fw_fatal", .errors = answer->device.firmware}};
	DeviceSnapshot d = {};
	char firmware[16];

	if (answer->error)
		return;
	script_firmware(&answer->device, firmware);
	DEVICE_SUPPLY_TEXT(&d, fw_ver, firmware);
	DEVICE_SUPPLY(&d, events, EVENTS_VERBS);
	d.tables[DEVICE_TABLE_HEALTH] = table_new(reporters, 2, sizeof(reporters[0]));
	mask_set(&d.supplied, DEVICE_ATTR_health_reporters, true);
	note("answer to %#jx: the device, %s", (uintmax_t)a->query.id, firmware);
	s->handler->device(s->userdata, a->query.id, &d);
	device_snapshot_done(&d);
}

/* Tables that could not be read now are missing. */
static void fail_tables(PortSnapshot *p)
{
	static const PortTable tables[] = {PORT_TABLE_GIDS, PORT_TABLE_PKEYS};

	p->failed = p->parts & (READ_GIDS | READ_PKEYS);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		p->tables[tables[i]] = table_free(p->tables[tables[i]]);
		mask_set(&p->supplied, port_table_attr(tables[i]), false);
	}
}

static void send_port(Script *s, const Asked *a, const Answer *answer)
{
	PortSnapshot p = {.parts = a->query.parts};

	if (a->query.kind == QUERY_COUNTERS && !answer->error)
		script_counters(&answer->facts, &p);
	else if (a->query.kind == QUERY_ATTRIBUTES && !answer->error)
		script_port(&answer->device, answer->port, &answer->facts, a->query.parts, &p);
	else if (a->query.kind == QUERY_USERS && !answer->error)
		script_users(&answer->facts, &p);
	if (a->query.kind == QUERY_ATTRIBUTES &&
	    port_set_has(&answer->device.partial, answer->port))
		fail_tables(&p);
	note("answer to %#jx: port %u, %d, parts %#x", (uintmax_t)a->query.id, answer->port,
	     answer->error, a->query.parts);
	s->handler->port(s->userdata, a->query.id, answer->port,
			 a->hurried && !answer->error ? -ETIME : answer->error, &p);
	port_snapshot_done(&p);
}

/* The oldest answer reaches the core; when all have, the end does. */
static void send_next(Script *s, Asked *a)
{
	const Answer answer = a->answers[0];
	bool device_went;

	if (a->n_answers == 0) {
		if (!a->device_unread && port_set_is_empty(&a->unread))
			end(s, a, 0, 0, "");
		return;
	}
	device_went = answer.port == 0 && answer.error == -ENODEV;
	memmove(a->answers, a->answers + 1, --a->n_answers * sizeof(a->answers[0]));
	if (device_went)
		end(s, a, -ENODEV, QUERY_ERROR_DEVICE, "the device has gone");
	else if (answer.port == 0)
		send_device(s, a, &answer);
	else
		send_port(s, a, &answer);
}

/* The worker asks by itself what EVENT has touched, if it has leave. */
static void ask_by_itself(Script *s, const Event *event)
{
	Asked *a = find_asked(s, event->device);
	Query q;

	if (!a || a->wedged || event->port == EVENT_ALL_PORTS ||
	    event->port > a->query.leave.ports ||
	    !token_bucket_take(&a->query.leave.tokens, virtual_now_usec()))
		return;
	q = (Query){.kind = QUERY_ATTRIBUTES,
		    .id = a->query.id,
		    .device = event->device,
		    .parts = event_parts_at_once(REASON_BIT(event->reason)),
		    .leave = a->query.leave};
	port_set_add(&q.ports, event->port);
	/* a query that the worker does not know yet */
	if (a->open || !s->handler->asking(s->userdata, &q))
		return;
	note("query %#jx of device %u by the worker: port %u, parts %#x", (uintmax_t)q.id, q.device,
	     event->port, q.parts);
	begin(a, &q);
}

static void tell_one(Script *s, Lots *lots)
{
	const Event event = s->events[0];

	memmove(s->events, s->events + 1, --s->n_events * sizeof(s->events[0]));
	note("told: %s of device %u port %u", event_reason_name(event.reason), event.device,
	     event.port);
	s->handler->event(s->userdata, &event);
	if (event.reason >= REASON_PORT_ACTIVE && event.reason < REASON_DEVICE_FATAL &&
	    lots_once_in(lots, 2))
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
		do_in_loop(s, tell);
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
	Asked *a = &s->asked[lots_below(lots, SCRIPT_ASKED)];

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
	end(s, a, -EPIPE, QUERY_ERROR_WORKER_LOST, "the worker crashed");
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
			read_next(s, a);
		else
			send_next(s, a);
}

void script_work(Script *s)
{
	do_in_loop(s, work);
}

/* What nobody asked for. It is never true. */
static void send_lie(Script *s, uint64_t id, uint32_t port, int error)
{
	static const ScriptDevice device;
	const Facts facts = {.of = {2, 999, 999, 3, 999, 999, 999, 999}};
	PortSnapshot p;

	script_port(&device, 1, &facts, READ_ALL, &p);
	note("a lie about %#jx: port %u, %d", (uintmax_t)id, port, error);
	s->handler->port(s->userdata, id, port, error, &p);
	port_snapshot_done(&p);
}

static bool is_open(const Script *s, uint64_t id)
{
	for (size_t i = 0; i < SCRIPT_ASKED; i++)
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
			end(s, a, 0, 0, ""); /* perhaps too early */
	}
}

void script_lie(Script *s)
{
	do_in_loop(s, lie);
}

static void end_overdue(Script *s, _unused_ Lots *lots)
{
	for (size_t i = 0; i < SCRIPT_ASKED; i++) {
		Asked *a = &s->asked[i];

		if (!a->used || !a->open || a->asked_usec + s->timeout_usec > virtual_now_usec())
			continue;
		/* the worker is killed, and with it go the events that it has */
		a->wedged = true;
		lose_leave(a);
		script_drop_events(s, a->index);
		end(s, a, -ETIMEDOUT, QUERY_ERROR_TIMEOUT, "no answer in time");
	}
}

uint64_t script_next_overdue_usec(const Script *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < SCRIPT_ASKED; i++)
		if (s->asked[i].used && s->asked[i].open)
			next = MIN(next, s->asked[i].asked_usec + s->timeout_usec);
	return next;
}

void script_end_overdue(Script *s)
{
	if (script_next_overdue_usec(s) <= virtual_now_usec())
		do_in_loop(s, end_overdue);
}

/* All that is asked by the query of A, and its end */
static void answer(Script *s, Asked *a)
{
	const uint64_t id = a->query.id;

	while (read_next(s, a))
		;
	/* the core may ask again at once */
	while (a->used && a->open && a->query.id == id)
		send_next(s, a);
}

static void answer_all(Script *s, Lots *lots)
{
	while (s->n_events > 0)
		tell_one(s, lots);
	for (size_t i = 0; i < SCRIPT_ASKED; i++) {
		Asked *a = &s->asked[i];

		if (a->used)
			recover(s, a);
		if (a->used && a->open)
			answer(s, a);
	}
}

bool script_answer_all(Script *s)
{
	bool any = s->n_events > 0 || s->n_acts > 0;

	for (size_t i = 0; i < SCRIPT_ASKED; i++)
		any |= s->asked[i].used && (s->asked[i].open || s->asked[i].wedged);
	if (any)
		do_in_loop(s, answer_all);
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
	Asked *a = reserve_asked(s, q->device);
	int error = s->query_error;

	LAW(q->id && (uint32_t)q->id == q->device, "device %u is asked as %#jx", q->device,
	    (uintmax_t)q->id);
	LAW(!a->open, "device %u is asked while it is asked", q->device);
	if (a->wedged)
		return -ETIMEDOUT;
	s->query_error = 0;
	note("query %#jx of device %u: kind %u, device %d, ports %#jx, parts %#x: %d",
	     (uintmax_t)q->id, q->device, q->kind, q->attributes, (uintmax_t)q->ports.bits[0],
	     q->parts, error);
	if (error == 0)
		begin(a, q);
	return error;
}

static void hurry(Source *source, uint32_t device)
{
	Asked *a = find_asked(script_of(source), device);

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
	Asked *a = find_asked(script_of(source), device);

	note("device %u is forgotten", device);
	if (a)
		a->used = false;
}

static void status(_unused_ const Source *s, SourceStatus *ret)
{
	*ret = (SourceStatus){.simulated = true};
}

static void free_source(_unused_ Source *s)
{
}

int script_open(void *userdata, const SourceHandler *handler, void *handler_userdata, Source **ret)
{
	Script *s = userdata;

	s->handler = handler;
	s->userdata = handler_userdata;
	*ret = &s->source;
	return 0;
}

Script *script_new(sd_event *event, Lots *lots, uint64_t timeout_usec)
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
	s->lots = lots;
	s->timeout_usec = timeout_usec;
	s->next_index = 1;
	LAW(sd_event_add_defer(event, &s->act, on_act, s) >= 0, "no event loop");
	sd_event_source_set_enabled(s->act, SD_EVENT_OFF);
	return s;
}

void script_free(Script *s)
{
	sd_event_source_disable_unref(s->act);
	free(s);
}
