/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "script-processes.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "nursery.h"
#include "wire.h"

/* More than a worker may send in a second */
#define FLOOD 300U
/* Bytes that the core has not read, with which a worker waits */
#define UNREAD_MAX (64 * 1024)

/* What they send */

/* R is what became of a packet that P has sent, or has put more into. */
static void check_sent(Process *p, int r)
{
	if (r == -EPIPE || r == -ECONNRESET)
		process_end(p);
	else
		LAW(r == 0, "process %d cannot send: %s", p->pid, strerror(-r));
}

static void send_packet(Process *p, WirePacket *packet)
{
	check_sent(p, p->ended ? 0 : wire_flush(p->peer, packet));
}

static void put(Process *p, WirePacket *packet, const WireMessage *m)
{
	check_sent(p, p->ended ? 0 : wire_put(p->peer, packet, m));
}

static void send_device(void *userdata, uint64_t id, DeviceSnapshot *s)
{
	Process *p = userdata;
	WirePacket packet;

	packet.size = 0;
	check_sent(p, wire_put_device(p->peer, &packet, id, (uint32_t)id, s));
	send_packet(p, &packet);
}

static void send_port(void *userdata, uint64_t id, uint32_t port, int error, PortSnapshot *s)
{
	Process *p = userdata;
	WirePacket packet;

	packet.size = 0;
	check_sent(p, wire_put_port(p->peer, &packet, id, (uint32_t)id, port, error, s));
	send_packet(p, &packet);
}

static void send_end(void *userdata, uint64_t id, int error, _unused_ QueryErrorCode code,
		     const char *text)
{
	WireMessage m = {
		.end = {.header = wire_header(WIRE_END, id, (uint32_t)id, 0), .error = error}};
	WirePacket packet;

	packet.size = 0;
	text_copy(m.end.text, sizeof(m.end.text), text);
	put(userdata, &packet, &m);
	send_packet(userdata, &packet);
}

/* How a worker sends an answer */
static const SourceHandler sender = {.device = send_device, .port = send_port, .end = send_end};

static void put_event(Process *p, WirePacket *packet, const Event *e)
{
	WireMessage m = {.event = {.header = wire_header(WIRE_EVENT, 0, e->device, e->port),
				   .reason = e->reason}};

	put(p, packet, &m);
}

static bool has_message(const Process *p)
{
	char byte;

	return recv(p->peer, &byte, 1, MSG_PEEK) >= 0;
}

/* P asks by itself what EVENT has touched, if it may. */
static void ask_by_itself(Process *p, WirePacket *packet, const Event *event)
{
	Asked *a = script_find_asked(workers->script, p, event->device);
	WireMessage m = {};
	Query q;

	if (!a || process_current(p) || has_message(p) || !script_take_leave(a, event, &q))
		return;
	m.asking = (WireAsking){.header = wire_header(WIRE_ASKING, q.id, q.device, 0),
				.parts = q.parts,
				.ports = q.ports};
	put(p, packet, &m);
	note("worker %d asks by itself: port %u of device %u", p->pid, event->port, q.device);
	script_begin(workers->script, &q, &sender, p);
}

/* P has read all its events. LOTS NULL: it does not ask by itself. */
static void send_events(Process *p, Lots *lots)
{
	WirePacket packet;

	packet.size = 0;
	for (size_t i = 0; i < p->n_events; i++)
		put_event(p, &packet, &p->events[i]);
	if (p->n_events == 1 && lots && lots_once_in(lots, 2))
		ask_by_itself(p, &packet, &p->events[0]);
	p->n_events = 0;
	send_packet(p, &packet);
}

/* What they do */

/* Whether a query for users is to give way. */
static void look_for_hurry(const Process *p, Asked *a)
{
	WireMessage m;
	ssize_t n = recv(p->peer, &m, sizeof(m), MSG_PEEK);

	if (a->query.kind != QUERY_USERS || n < (ssize_t)sizeof(m.header))
		return;
	a->hurried |= m.header.type != WIRE_QUERY || m.query.query.kind == QUERY_ATTRIBUTES;
	if (m.header.type == WIRE_HURRY)
		recv(p->peer, &m, sizeof(m), 0);
}

static void read_message(Process *p)
{
	Script *s = workers->script;
	const char *why = "";
	WireMessage m;
	Asked *a;
	int r = wire_receive(p->peer, &m, &why);

	if (r == 0) {
		process_end(p);
		return;
	}
	LAW(r > 0, "the core sends to worker %d: %s, %s", p->pid, strerror(-r), why);
	if (m.header.type == WIRE_QUERY) {
		note("worker %d begins %#jx", p->pid, (uintmax_t)m.query.query.id);
		script_begin(s, &m.query.query, &sender, p);
	} else if (m.header.type == WIRE_FORGET) {
		a = script_find_asked(s, p, m.header.device);
		if (a)
			*a = (Asked){};
	} else {
		LAW(m.header.type == WIRE_HURRY, "the core sends type %u", m.header.type);
	}
}

/* P, a nursery, forks the worker that it is asked for. */
static void fork_worker(Process *p, Lots *lots)
{
	int fd = nursery_read_request(p->peer);
	Process *child;
	pid_t pid;

	if (fd <= 0) {
		process_end(p);
		return;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	child = process_new(workers, fd);
	LAW(child, "the core has %u processes", PROCESSES);
	note("nursery %d forks worker %d", p->pid, child->pid);
	pid = lots && lots_once_in(lots, 20) ? -EAGAIN : child->pid;
	if (pid < 0)
		process_end(child);
	if (lots && lots_once_in(lots, 20))
		process_end(p);
	else if (send(p->peer, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
		process_end(p);
}

/* Whether the core has read enough for another message. */
static bool has_room(const Process *p)
{
	int unread = 0;

	return ioctl(p->peer, TIOCOUTQ, &unread) == 0 && unread < UNREAD_MAX;
}

static bool is_busy(const Process *p)
{
	if (!p->used || p->ended || p->peer < 0)
		return p->used && !p->ended && p->killed && !process_hangs(p);
	if (process_hangs(p))
		return false;
	return p->killed ||
	       ((p->n_events > 0 || process_current(p) || has_message(p)) && has_room(p));
}

/* P, which is busy, goes on. */
static void go_on(Process *p, Lots *lots)
{
	Script *s = workers->script;
	Asked *a = process_current(p);

	if (p->killed)
		process_end(p);
	else if (p->is_nursery)
		fork_worker(p, lots);
	else if (p->n_events > 0 && !(lots && lots_once_in(lots, 4)))
		send_events(p, lots);
	else if (!a && has_message(p))
		read_message(p);
	for (uint32_t n = lots ? 1 + lots_below(lots, 4) : 4; a && n > 0 && a->open; n--) {
		look_for_hurry(p, a);
		if (lots && lots_once_in(lots, 2))
			script_read_next(s, a);
		else if (lots || !script_read_next(s, a))
			script_send_next(s, a);
	}
}

static Process *any_process(ScriptWorkers *w, Lots *lots)
{
	uint32_t from = lots_below(lots, PROCESSES);

	for (uint32_t i = 0; i < PROCESSES; i++) {
		Process *p = &w->processes[(from + i) % PROCESSES];

		if (is_busy(p))
			return p;
	}
	return NULL;
}

void workers_work(Script *s, Lots *lots)
{
	Process *p = any_process(s->workers, lots);

	if (!p)
		return;
	if (lots_once_in(lots, 200))
		process_end(p);
	else
		go_on(p, lots);
}

bool workers_are_busy(const ScriptWorkers *w)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (is_busy(&w->processes[i]))
			return true;
	return false;
}

void workers_do_all(Script *s, _unused_ Lots *lots)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (is_busy(&s->workers->processes[i]))
			go_on(&s->workers->processes[i], NULL);
}

void workers_hear(ScriptWorkers *w, const Event *event)
{
	for (size_t i = 0; i < PROCESSES; i++) {
		Process *p = &w->processes[i];

		if (!p->used || p->ended || !script_find_asked(w->script, p, event->device))
			continue;
		/* the kernel keeps any number */
		if (p->n_events == EVENTS)
			process_end(p);
		else
			p->events[p->n_events++] = *event;
	}
}

/* What is wrong */

static void send_garbage(const Process *p, Lots *lots)
{
	uint64_t bytes[32];

	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		bytes[i] = lots_next(lots);
	(void)!send(p->peer, bytes, lots_below(lots, sizeof(bytes)), MSG_NOSIGNAL);
}

static void send_flood(Process *p, uint32_t device)
{
	const Event e = {device, 1, REASON_GID_CHANGE};
	WirePacket packet;

	packet.size = 0;
	for (unsigned int i = 0; i < FLOOD; i++)
		put_event(p, &packet, &e);
	send_packet(p, &packet);
}

static void ask_without_leave(Process *p, uint32_t device, uint64_t id)
{
	WireMessage m = {.asking = {.header = wire_header(WIRE_ASKING, id, device, 0)}};
	WirePacket packet;

	packet.size = 0;
	port_set_add(&m.asking.ports, RDMA_PORT_MAX);
	put(p, &packet, &m);
	send_packet(p, &packet);
}

/* No answer is due with these values. */
static void send_other_port(Process *p, uint64_t id, uint32_t port)
{
	PortSnapshot snapshot;

	script_lie_of_port(&snapshot);
	send_port(p, id, port, 0, &snapshot);
	port_snapshot_done(&snapshot);
}

void workers_lie(Script *s, Lots *lots)
{
	Process *p = any_process(s->workers, lots);
	Asked *a = p ? process_current(p) : NULL;
	uint32_t kind = lots_below(lots, 7);

	if (!p || p->killed || p->peer < 0 || p->is_nursery || !has_room(p))
		return;
	note("worker %d does something wrong: %u", p->pid, kind);
	switch (kind) {
	case 0:
		send_garbage(p, lots);
		break;
	case 1:
		send_flood(p, a ? a->index : 0);
		break;
	case 2:
		ask_without_leave(p, a ? a->index : 0, a ? a->query.id : 0);
		break;
	case 3:
		send_other_port(p, a ? a->query.id + 1 : 0, 1);
		break;
	case 4:
		send_other_port(p, a ? a->query.id : 0, RDMA_PORT_MAX);
		break;
	case 5: /* the answer is not complete, or there was no question */
		send_end(p, a ? a->query.id : 0, lots_once_in(lots, 2) ? 0 : -EIO, 0, "");
		break;
	default:
		p->peer = close_fd(p->peer);
	}
}

/* The core */

int workers_query(ScriptWorkers *w, const Query *q)
{
	int r = pool_query(w->pool, q);

	LAW(r == 0 || r == -ETIMEDOUT, "device %u cannot be asked: %s", q->device, strerror(-r));
	return r;
}

void workers_hurry(ScriptWorkers *w, uint32_t device)
{
	pool_hurry(w->pool, device);
}

void workers_forget(ScriptWorkers *w, uint32_t device)
{
	uint64_t id;

	pool_forget(w->pool, device, &id);
}

void workers_going(ScriptWorkers *w, uint32_t device)
{
	const Script *s = w->script;
	uint64_t id;
	bool wedged = pool_forget(w->pool, device, &id);

	note("device %u is going", device);
	if (wedged)
		s->handler->event(s->userdata, &(Event){device, EVENT_ALL_PORTS, REASON_RECOVERED});
	if (id)
		s->handler->end(s->userdata, id, -ENODEV, QUERY_ERROR_DEVICE, "it is going");
}

void workers_fail_to_start(ScriptWorkers *w, unsigned int n)
{
	w->start_errors = n;
}

void workers_open(ScriptWorkers *w)
{
	const Script *s = w->script;

	LAW(pool_new(s->event, &w->config, "rdmad-query", s->handler, s->userdata, &w->pool) >= 0,
	    "no pool");
	pool_set_main(w->pool, 1);
}

void workers_close(ScriptWorkers *w)
{
	w->pool = pool_free(w->pool);
	for (size_t i = 0; i < PROCESSES; i++)
		close_fd(w->processes[i].used ? w->processes[i].peer : -EBADF);
	memset(w->processes, 0, sizeof(w->processes));
	w->start_errors = 0;
}

bool workers_can_be(void)
{
#if __has_include(<sys/pidfd.h>)
	return true;
#else
	return false;
#endif
}

ScriptWorkers *workers_new(Script *s)
{
	ScriptWorkers *w = calloc(1, sizeof(*w));

	LAW(w, "no memory");
	*w = (ScriptWorkers){.script = s, .config = CONFIG_DEFAULT};
	w->config.query_timeout_usec = s->timeout_usec;
	return workers = w;
}

ScriptWorkers *workers_free(ScriptWorkers *w)
{
	free(w);
	return workers = NULL;
}
