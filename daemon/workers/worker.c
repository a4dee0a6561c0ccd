/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker-private.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "compat.h"
#include "nursery.h"
#include "wire.h"

/* The messages that a process has still sent are read before its end is reported, and both come
 * before the timer may conclude that it sends nothing. */
#define PRIORITY_MESSAGE SD_EVENT_PRIORITY_NORMAL
#define PRIORITY_EXIT	 (SD_EVENT_PRIORITY_NORMAL + 5)
#define PRIORITY_TIMER	 (SD_EVENT_PRIORITY_NORMAL + 10)

/* Most timers are stopped or renewed before they fire, so they need not be exact. */
#define TIMER_ACCURACY_USEC (5 * USEC_PER_MSEC)

/* If a process has not read its first request after this time, the cause is not a slow start. */
#define START_USEC (30 * USEC_PER_SEC)

pid_t worker_pid(const Worker *w)
{
	return w->process.pid;
}

bool worker_never_ends(const Worker *w)
{
	return w->deadline_usec >= w->end_usec;
}

void worker_describe_head(const Worker *w, char *buffer, size_t size)
{
	answer_describe_next(&w->answer, &w->queue.first->query, buffer, size);
}

/* A request waits behind the head, or patience has changed. */
static void renew_patience(Worker *w)
{
	if (w->state == WORKER_RUNNING && w->n_sent > 0)
		worker_await_timer(
			w, w->started ? MAX(worker_now_usec(w), w->head_usec + w->patience_usec)
				      : worker_next_look_usec(w));
}

void worker_set_timeout(Worker *w, uint64_t timeout_usec)
{
	w->timeout_usec = timeout_usec;
	w->deadline_usec = worker_now_usec(w) + timeout_usec;
	w->end_usec = worker_now_usec(w) + WORKER_QUERY_TIMEOUTS * timeout_usec;
	worker_set_timer(w, w->deadline_usec);
}

void worker_set_patience(Worker *w, uint64_t patience_usec)
{
	w->patience_usec = patience_usec;
	renew_patience(w);
}

static void end(Worker *w)
{
	worker_disconnect(w);
	request_free_all(&w->queue);
	w->n_sent = 0;
	answer_reset(&w->answer);
	w->state = WORKER_ENDING;
}

void worker_retire(Worker *w, uint64_t grace_usec)
{
	end(w);
	worker_set_timer(w, worker_now_usec(w) + grace_usec);
}

void worker_kill(Worker *w)
{
	end(w);
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	worker_send_signal(w, SIGKILL);
}

void worker_submit(Worker *w, Request *r)
{
	bool first = !w->queue.first;

	request_append(&w->queue, r);
	if (first && w->state == WORKER_RUNNING) {
		worker_begin_head(w);
		worker_renew_deadline(w);
	}
	worker_flush(w);
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
	return w->started && worker_now_usec(w) >= w->head_usec + w->patience_usec;
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

static int on_io(_unused_ sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	Worker *w = userdata;

	if (revents & EPOLLOUT)
		worker_flush(w);
	/* On one CPU the process has often answered before this one runs. */
	if (worker_take_packet(w, fd))
		worker_take_packet(w, fd);
	return 0;
}

static void look_at_head(Worker *w)
{
	uint64_t now = worker_now_usec(w);

	if (!w->queue.first)
		return;
	worker_look_for_start(w);
	if (now >= w->deadline_usec) {
		w->handler->stuck(w->userdata, w);
		return;
	}
	worker_set_timer(w, worker_next_look_usec(w));
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
		worker_fail(w, QUERY_ERROR_WORKER_LOST, "worker closed its connection");
		break;
	case WORKER_FAILED:
		break;
	case WORKER_ENDING:
		worker_send_signal(w, SIGKILL);
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
			worker_fail(w, QUERY_ERROR_WORKER_LOST, "worker died");
		else if (status.si_code == CLD_EXITED)
			worker_fail(w, QUERY_ERROR_WORKER_LOST, "worker died: exit status %d",
				    status.si_status);
		else
			worker_fail(w, QUERY_ERROR_WORKER_LOST, "worker died: signal %d",
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
		worker_fail(w, QUERY_ERROR_WORKER_LOST, "worker could not be forked");
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
		worker_send_signal(w, SIGKILL);
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
	w->start_usec = worker_now_usec(w) + START_USEC;
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

		worker_send_signal(w, SIGKILL);
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
