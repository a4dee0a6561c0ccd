/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the process of a worker sends: answers, events, and that it asks by itself. */

#include "worker-private.h"

#include "wire.h"

static void deliver_device(Worker *w)
{
	DeviceSnapshot device = w->answer.device_snapshot;

	w->answer.device_snapshot = (DeviceSnapshot){};
	w->handler->device(w->userdata, w, worker_head(w), &device);
	device_snapshot_done(&device);
}

static void deliver_port(Worker *w)
{
	Answer *a = &w->answer;
	PortSnapshot port = a->port_snapshot;

	a->port_snapshot = (PortSnapshot){};
	w->handler->port(w->userdata, w, worker_head(w), a->port, a->port_error, &port);
	port_snapshot_done(&port);
}

/* Hands over the last object, which is complete now that another part follows it. Returns whether
 * to go on: the handler may have ended the worker. */
static bool deliver(Worker *w)
{
	switch (w->answer.object) {
	case OBJECT_NONE:
		break;
	case OBJECT_DEVICE:
		deliver_device(w);
		break;
	case OBJECT_PORT:
		deliver_port(w);
		break;
	}
	return w->state == WORKER_RUNNING;
}

static void take_answer(Worker *w, const WireMessage *m)
{
	Answer *a = &w->answer;
	Request *head;
	int r = 0;

	w->started = true;
	if (m->header.type == WIRE_END) {
		worker_head(w)->took_usec = worker_now_usec(w) - w->head_usec;
		worker_begin_head(w);
	}
	worker_renew_deadline(w);
	switch ((WireType)m->header.type) {
	case WIRE_DEVICE:
		r = answer_take_device(a, &m->device);
		break;
	case WIRE_PORT:
		if (!deliver(w))
			return;
		r = answer_take_port(a, &m->port);
		break;
	case WIRE_TABLE:
		r = answer_take_table(a, &m->table);
		break;
	case WIRE_END:
		if (!deliver(w))
			return;
		head = request_pop(&w->queue);
		w->n_sent--;
		head->library_failed = m->end.library_failed;
		answer_reset(a);
		worker_flush(w);
		w->handler->end(w->userdata, w, head, m->end.error, m->end.text);
		break;
	case WIRE_QUERY:
	case WIRE_FORGET:
	case WIRE_HURRY:
	case WIRE_EVENT:
	case WIRE_ASKING:
	case _WIRE_MAX:
		break;
	}
	if (r < 0)
		worker_fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s",
			    r == -EBADMSG ? "a page that does not continue its table"
					  : strerror(-r));
}

/* The rule that the process breaks when it asks by itself now; NULL if it breaks none. A request
 * that was sent may have crossed that on the way, and several like it. But the time in which that
 * can happen has an end: otherwise one query of its own after the other would keep a worker that
 * lies from answering. */
static const char *check_asking(Worker *w)
{
	const Request *head = worker_head(w);

	if (answer_has_begun(&w->answer))
		return "a query of its own within an answer";
	if (head && head->own)
		return "a query of its own within another";
	return head && head->overtaken_usec && worker_now_usec(w) >= head->overtaken_usec
		       ? "queries of its own in place of that of the core"
		       : NULL;
}

/* Puts R, which the process works on now, before the other requests. */
static void begin_own(Worker *w, Request *r)
{
	RequestQueue others = w->queue;
	Request *head = worker_head(w);

	w->queue = (RequestQueue){};
	request_append(&w->queue, r);
	request_append_all(&w->queue, &others);
	w->n_sent++;
	w->started = true;
	worker_begin_head(w);
	worker_renew_deadline(w);
	if (head && head->overtaken_usec == 0)
		head->overtaken_usec = w->end_usec;
}

static void take_asking(Worker *w, const WireAsking *m)
{
	_cleanup_free_ Request *r = calloc(1, sizeof(*r));
	const char *why = r ? check_asking(w) : "no memory for its query";

	if (!why) {
		r->query = (Query){.id = m->header.id,
				   .device = m->header.device,
				   .parts = m->parts,
				   .ports = m->ports};
		r->own = r->sent = true;
		why = w->handler->asking(w->userdata, w, r);
	}
	if (w->state != WORKER_RUNNING)
		return;
	if (why)
		worker_fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s", why);
	else
		begin_own(w, steal_pointer(&r));
}

static void take_message(Worker *w, const WireMessage *m)
{
	const Request *head = worker_head(w);
	const char *why;

	if (m->header.type == WIRE_EVENT) {
		w->handler->event(w->userdata, w,
				  &(Event){.device = m->header.device,
					   .port = m->header.port,
					   .reason = (EventReason)m->event.reason});
		return;
	}
	if (m->header.type == WIRE_ASKING) {
		take_asking(w, &m->asking);
		return;
	}
	why = answer_check(&w->answer, head ? &head->query : NULL, m);
	if (why)
		worker_fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s", why);
	else
		take_answer(w, m);
}

bool worker_take_packet(Worker *w, int fd)
{
	const char *why = NULL;
	bool asking = false;
	WirePacket packet;
	WireMessage m;
	int r = wire_receive_packet(fd, &packet, &why);

	if (r == -EAGAIN)
		return false;
	if (r == 0) {
		/* The process should be about to exit, and its exit status says more than this. But
		 * closing a verbs context may hang: wait only until the timer fires. */
		w->io = sd_event_source_disable_unref(w->io);
		w->state = WORKER_CLOSED;
		worker_set_timer(w, worker_now_usec(w) + w->timeout_usec);
		return false;
	}
	while (r > 0 && w->state == WORKER_RUNNING) {
		r = wire_next(&packet, &m, &why);
		if (r > 0) {
			take_message(w, &m);
			asking = m.header.type == WIRE_ASKING;
		}
	}
	if (r < 0)
		worker_fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s",
			    r == -EBADMSG ? why : strerror(-r));
	return asking && w->state == WORKER_RUNNING;
}
