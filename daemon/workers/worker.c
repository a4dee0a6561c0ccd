/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker.h"

#include <linux/sockios.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "child.h"
#include "compat.h"
#include "nursery.h"
#include "wire.h"
#include "worker-answer.h"

/* The messages that a process has still sent are read before its end is reported, and both come
 * before the timer may conclude that it sends nothing. */
#define PRIORITY_MESSAGE SD_EVENT_PRIORITY_NORMAL
#define PRIORITY_EXIT	 (SD_EVENT_PRIORITY_NORMAL + 5)
#define PRIORITY_TIMER	 (SD_EVENT_PRIORITY_NORMAL + 10)

/* Most timers are stopped or renewed before they fire, so they need not be exact. */
#define TIMER_ACCURACY_USEC (5 * USEC_PER_MSEC)

/* If a process has not read its first request after this time, the cause is not a slow start. */
#define START_USEC (30 * USEC_PER_SEC)

struct Worker {
	sd_event *event;
	const WorkerHandler *handler; /* called with USERDATA */
	void *userdata;
	/* FD is closed when the worker is of no use, PIDFD when it is reaped. PID is 0, and there
	 * is no PIDFD, before worker_born(). */
	Child process;
	sd_event_source *io;	/* messages from the process */
	sd_event_source *exit;	/* the end of the process */
	sd_event_source *timer; /* what it is for depends on STATE: on_timer() */
	enum {
		WORKER_RUNNING, /* takes requests and answers them */
		WORKER_CLOSED,	/* the process has closed the connection; its exit says why */
		WORKER_FAILED,	/* handler->failed() was called */
		WORKER_ENDING	/* the owner has retired or killed it */
	} state;
	bool started;		/* the process has read a request; until then it is sent only one */
	uint64_t start_usec;	/* from then on STARTED is true in any case */
	RequestQueue queue;	/* the requests that were sent, then those that were not */
	unsigned int n_sent;	/* how many were sent */
	Answer answer;		/* what has come in answer to the first of them, the head */
	uint64_t timeout_usec;	/* worker_set_timeout() */
	uint64_t patience_usec; /* worker_set_patience() */
	uint64_t head_usec;	/* since when the process works on the head */
	uint64_t deadline_usec; /* without a message until then the worker is stuck */
	uint64_t end_usec;	/* if the head is not answered until then, too */
};

pid_t worker_pid(const Worker *w)
{
	return w->process.pid;
}

Request *worker_head(const Worker *w)
{
	return w->n_sent > 0 ? w->queue.first : NULL;
}

bool worker_never_ends(const Worker *w)
{
	return w->deadline_usec >= w->end_usec;
}

void worker_describe_head(const Worker *w, char *buffer, size_t size)
{
	answer_describe_next(&w->answer, &w->queue.first->query, buffer, size);
}

static void set_timer(Worker *w, uint64_t usec)
{
	sd_event_source_set_time(w->timer, usec);
	sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

static uint64_t now_usec(Worker *w)
{
	uint64_t now = 0;

	sd_event_now(w->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* Another request is the head, or the time for it begins again. */
static void begin_head(Worker *w)
{
	w->head_usec = now_usec(w);
	w->end_usec = w->head_usec + WORKER_QUERY_TIMEOUTS * w->timeout_usec;
}

/*
 * Looks whether the process has read its first request. The time that a process takes to start does
 * not count: it is not the fault of the device that it is to be asked about. If it counted, then on
 * a busy machine each new worker would be taken for stuck in the first device that it was asked
 * about, and one healthy device after the other would be wedged.
 */
static void look_for_start(Worker *w)
{
	int unread = 0;

	if (w->started)
		return;
	w->started = now_usec(w) >= w->start_usec || ioctl(w->process.fd, SIOCOUTQ, &unread) < 0 ||
		     unread == 0;
	if (!w->started) {
		w->deadline_usec = now_usec(w) + w->timeout_usec;
		begin_head(w);
	}
}

/* When to look at the head next: when patience ends, or else at the deadline. A process that starts
 * is looked at often, because patience begins when it has started. */
static uint64_t next_look_usec(Worker *w)
{
	uint64_t now = now_usec(w), slow = w->head_usec + w->patience_usec;

	if (!w->started)
		return now + MIN(w->timeout_usec / 8, w->patience_usec / 4);
	return slow > now ? MIN(slow, w->deadline_usec) : w->deadline_usec;
}

/* Has the timer fire at USEC at the latest. One that fires earlier is left as it is: it looks at
 * the times when it fires. This saves a system call for each message. */
static void await_timer(Worker *w, uint64_t usec)
{
	int enabled = SD_EVENT_OFF;
	uint64_t set = 0;

	sd_event_source_get_enabled(w->timer, &enabled);
	sd_event_source_get_time(w->timer, &set);
	if (enabled == SD_EVENT_OFF || set > usec)
		set_timer(w, usec);
}

/* A message has come, or another request is the first one now. */
static void renew_deadline(Worker *w)
{
	w->deadline_usec = MIN(now_usec(w) + w->timeout_usec, w->end_usec);
	await_timer(w, next_look_usec(w));
}

/* A request waits behind the head, or patience has changed. */
static void renew_patience(Worker *w)
{
	if (w->state == WORKER_RUNNING && w->n_sent > 0)
		await_timer(w, w->started ? MAX(now_usec(w), w->head_usec + w->patience_usec)
					  : next_look_usec(w));
}

void worker_set_timeout(Worker *w, uint64_t timeout_usec)
{
	w->timeout_usec = timeout_usec;
	w->deadline_usec = now_usec(w) + timeout_usec;
	w->end_usec = now_usec(w) + WORKER_QUERY_TIMEOUTS * timeout_usec;
	set_timer(w, w->deadline_usec);
}

void worker_set_patience(Worker *w, uint64_t patience_usec)
{
	w->patience_usec = patience_usec;
	renew_patience(w);
}

static void send_signal(Worker *w, int signal)
{
	if (w->process.pidfd >= 0)
		pidfd_send_signal(w->process.pidfd, signal, NULL, 0);
}

static void disconnect(Worker *w)
{
	w->io = sd_event_source_disable_unref(w->io);
	w->process.fd = close_fd(w->process.fd);
}

static void end(Worker *w)
{
	disconnect(w);
	request_free_all(&w->queue);
	w->n_sent = 0;
	answer_reset(&w->answer);
	w->state = WORKER_ENDING;
}

void worker_retire(Worker *w, uint64_t grace_usec)
{
	end(w);
	set_timer(w, now_usec(w) + grace_usec);
}

void worker_kill(Worker *w)
{
	end(w);
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	send_signal(w, SIGKILL);
}

static void fail(Worker *w, QueryErrorCode code, const char *format, ...) _printf_(3, 4);

static void fail(Worker *w, QueryErrorCode code, const char *format, ...)
{
	char why[128];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	disconnect(w);
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	w->state = WORKER_FAILED;
	w->handler->failed(w->userdata, w, code, why);
}

/* Sends requests until WORKER_WINDOW are under way or the socket is full. Does not call the
 * handler.
 */
static void flush(Worker *w)
{
	Request *r = w->queue.first, *next;
	unsigned int window = w->started ? WORKER_WINDOW : 1;
	bool full = false;

	if (w->state != WORKER_RUNNING)
		return;
	for (; r && !full && w->n_sent < window; r = next) {
		WireMessage m;
		int k;

		next = r->next;
		if (r->sent)
			continue;
		if (r->forget)
			m.header = wire_header(WIRE_FORGET, 0, r->query.device, 0);
		else
			m.query = (WireQuery){
				wire_header(WIRE_QUERY, r->query.id, r->query.device, 0), r->query};
		k = wire_send(w->process.fd, &m);
		if (k == -EAGAIN) {
			full = true;
		} else if (k == -EPIPE || k == -ECONNRESET) {
			break; /* on_io() is about to read the end of the connection */
		} else if (k < 0) {
			send_signal(w, SIGKILL); /* on_exit_ready() reports it */
			break;
		} else if (r->forget) {
			request_remove(&w->queue, r);
			free(r);
		} else {
			r->sent = true;
			w->n_sent++;
		}
	}
	sd_event_source_set_io_events(w->io, full ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void worker_submit(Worker *w, Request *r)
{
	bool first = !w->queue.first;

	request_append(&w->queue, r);
	if (first && w->state == WORKER_RUNNING) {
		begin_head(w);
		renew_deadline(w);
	}
	flush(w);
	if (!first)
		renew_patience(w);
}

void worker_hurry(Worker *w, uint32_t device)
{
	WireMessage m = {.header = wire_header(WIRE_HURRY, 0, device, 0)};

	/* If the socket is full it is lost, and the query ends when its time is over. */
	if (w->state == WORKER_RUNNING)
		wire_send(w->process.fd, &m);
}

bool worker_is_slow(Worker *w)
{
	return w->started && now_usec(w) >= w->head_usec + w->patience_usec;
}

bool worker_is_idle(const Worker *w)
{
	return !w->queue.first;
}

/* Whether somebody waits for the answer to a request behind the head. */
static bool has_waiting(const Worker *w)
{
	for (const Request *r = w->n_sent > 0 ? w->queue.first->next : NULL; r; r = r->next)
		if (r->owner && !r->forget)
			return true;
	return false;
}

bool worker_withdraw(Worker *w, const Request *r)
{
	return !r->sent && request_remove(&w->queue, r);
}

RequestQueue worker_take_requests(Worker *w)
{
	Request *head = w->n_sent > 0 ? request_pop(&w->queue) : NULL, *r;
	RequestQueue taken = {}, kept = {};

	if (head)
		request_append(&kept, head);
	w->n_sent = head ? 1 : 0;
	while ((r = request_pop(&w->queue))) {
		if (r->forget || !r->owner) {
			free(r);
		} else if (head && r->owner == head->owner) {
			request_append(&kept, r);
			w->n_sent += r->sent;
		} else {
			r->sent = false;
			r->overtaken_usec = 0;
			request_append(&taken, r);
		}
	}
	w->queue = kept;
	return taken;
}

void worker_disown(Worker *w, const PoolDevice *d)
{
	for (Request *r = w->queue.first; r; r = r->next)
		if (r->owner == d)
			r->owner = NULL;
}

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
	int r;

	w->started = true;
	if (m->header.type == WIRE_END) {
		worker_head(w)->took_usec = now_usec(w) - w->head_usec;
		begin_head(w);
	}
	renew_deadline(w);
	switch ((WireType)m->header.type) {
	case WIRE_DEVICE:
		answer_take_device(a, &m->device);
		break;
	case WIRE_PORT:
		if (!deliver(w))
			return;
		answer_take_port(a, &m->port);
		break;
	case WIRE_TABLE:
		r = answer_take_table(a, &m->table);
		if (r < 0)
			fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s",
			     r == -EBADMSG ? "a page that does not continue its table"
					   : strerror(-r));
		break;
	case WIRE_END:
		if (!deliver(w))
			return;
		head = request_pop(&w->queue);
		w->n_sent--;
		head->library_failed = m->end.library_failed;
		answer_reset(a);
		flush(w);
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
	return head && head->overtaken_usec && now_usec(w) >= head->overtaken_usec
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
	begin_head(w);
	renew_deadline(w);
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
		fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s", why);
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
		fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s", why);
	else
		take_answer(w, m);
}

/* Reads one packet. The rest of it is dropped when the handler ends the worker. Returns whether the
 * next packet may be there already: the answer to a query of the process's own. */
static bool take_packet(Worker *w, int fd)
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
		set_timer(w, now_usec(w) + w->timeout_usec);
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
		fail(w, QUERY_ERROR_PROTOCOL, "worker broke the protocol: %s",
		     r == -EBADMSG ? why : strerror(-r));
	return asking && w->state == WORKER_RUNNING;
}

static int on_io(_unused_ sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	Worker *w = userdata;

	if (revents & EPOLLOUT)
		flush(w);
	/* On one CPU the process has often answered before this one runs. */
	if (take_packet(w, fd))
		take_packet(w, fd);
	return 0;
}

static void look_at_head(Worker *w)
{
	uint64_t now = now_usec(w);

	if (!w->queue.first)
		return;
	look_for_start(w);
	if (now >= w->deadline_usec) {
		w->handler->stuck(w->userdata, w);
		return;
	}
	set_timer(w, next_look_usec(w));
	if (worker_is_slow(w) && has_waiting(w))
		w->handler->slow(w->userdata, w);
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Worker *w = userdata;

	switch (w->state) {
	case WORKER_RUNNING:
		look_at_head(w);
		break;
	case WORKER_CLOSED:
		fail(w, QUERY_ERROR_WORKER_LOST, "worker closed its connection");
		break;
	case WORKER_FAILED:
		break;
	case WORKER_ENDING:
		send_signal(w, SIGKILL);
		break;
	}
	return 0;
}

/* A pidfd is readable once the process has ended. */
static int on_exit_ready(_unused_ sd_event_source *s, int fd, _unused_ uint32_t revents,
			 void *userdata)
{
	Worker *w = userdata;
	siginfo_t status = {};
	int r = waitid(P_PIDFD, (id_t)fd, &status, WEXITED | WNOHANG);

	if (r == 0 && status.si_pid == 0)
		return 0;
	w->exit = sd_event_source_disable_unref(w->exit);
	w->process.pidfd = close_fd(w->process.pidfd);
	if (w->state == WORKER_RUNNING || w->state == WORKER_CLOSED) {
		if (r < 0)
			fail(w, QUERY_ERROR_WORKER_LOST, "worker died");
		else if (status.si_code == CLD_EXITED)
			fail(w, QUERY_ERROR_WORKER_LOST, "worker died: exit status %d",
			     status.si_status);
		else
			fail(w, QUERY_ERROR_WORKER_LOST, "worker died: signal %d",
			     status.si_status);
	}
	w->handler->exited(w->userdata, w);
	return 0;
}

static int watch_exit(Worker *w)
{
	int r = sd_event_add_io(w->event, &w->exit, w->process.pidfd, EPOLLIN, on_exit_ready, w);

	return r < 0 ? r : sd_event_source_set_priority(w->exit, PRIORITY_EXIT);
}

/* There is no process: all requests are as if they had never been sent. */
static void fail_unborn(Worker *w)
{
	for (Request *r = w->queue.first; r; r = r->next)
		r->sent = false;
	w->n_sent = 0;
	if (w->state == WORKER_RUNNING || w->state == WORKER_CLOSED)
		fail(w, QUERY_ERROR_WORKER_LOST, "worker could not be forked");
	w->handler->exited(w->userdata, w);
}

void worker_born(Worker *w, pid_t pid, int pidfd)
{
	w->process.pidfd = pidfd;
	if (pidfd < 0 || watch_exit(w) < 0) {
		fail_unborn(w);
		return;
	}
	w->process.pid = pid;
	if (w->state == WORKER_FAILED || w->state == WORKER_ENDING)
		send_signal(w, SIGKILL);
}

DEFINE_CLEANUP(Worker, worker_free);

int worker_new(sd_event *event, char *const argv[], int nursery, uint64_t timeout_usec,
	       const WorkerHandler *handler, void *userdata, Worker **ret)
{
	_cleanup_(worker_free_pointer) Worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	*w = (Worker){.event = sd_event_ref(event),
		      .handler = handler,
		      .userdata = userdata,
		      .process = {.pidfd = -EBADF, .fd = -EBADF},
		      .timeout_usec = timeout_usec,
		      .patience_usec = timeout_usec};
	r = nursery_start(nursery, argv, &w->process);
	if (r < 0)
		return r;
	w->start_usec = now_usec(w) + START_USEC;
	r = sd_event_add_io(event, &w->io, w->process.fd, EPOLLIN, on_io, w);
	if (r < 0)
		return r;
	if (w->process.pidfd >= 0)
		r = watch_exit(w);
	if (r < 0)
		return r;
	r = sd_event_add_time(event, &w->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_USEC, on_timer,
			      w);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	sd_event_source_set_priority(w->io, PRIORITY_MESSAGE);
	sd_event_source_set_priority(w->timer, PRIORITY_TIMER);
	*ret = steal_pointer(&w);
	return 0;
}

void worker_free(Worker *w)
{
	if (!w)
		return;
	if (w->process.pidfd >= 0) {
		siginfo_t status;

		send_signal(w, SIGKILL);
		/* Without a timer the worker was never in use, and this is the only chance to reap
		 * it. The worker was asked nothing yet, so the wait is short. */
		waitid(P_PIDFD, (id_t)w->process.pidfd, &status,
		       WEXITED | (w->timer ? WNOHANG : 0));
	}
	end(w);
	w->exit = sd_event_source_disable_unref(w->exit);
	w->timer = sd_event_source_disable_unref(w->timer);
	w->process.pidfd = close_fd(w->process.pidfd);
	sd_event_unref(w->event);
	free(w);
}
