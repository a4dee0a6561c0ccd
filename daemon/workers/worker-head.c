/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The requests that a process works on: when they are sent, and how long the first one may take. */

#include "worker-private.h"

#include <linux/sockios.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "compat.h"
#include "wire.h"

Request *worker_head(const Worker *w)
{
	return w->n_sent > 0 ? w->queue.first : NULL;
}

void worker_set_timer(Worker *w, uint64_t usec)
{
	sd_event_source_set_time(w->timer, usec);
	sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

uint64_t worker_now_usec(Worker *w)
{
	uint64_t now = 0;

	sd_event_now(w->event, CLOCK_MONOTONIC, &now);
	return now;
}

void worker_begin_head(Worker *w)
{
	w->head_usec = worker_now_usec(w);
	w->end_usec = w->head_usec + WORKER_QUERY_TIMEOUTS * w->timeout_usec;
}

void worker_look_for_start(Worker *w)
{
	int unread = 0;

	if (w->started)
		return;
	w->started = worker_now_usec(w) >= w->start_usec ||
		     ioctl(w->process.fd, SIOCOUTQ, &unread) < 0 || unread == 0;
	if (!w->started) {
		w->deadline_usec = worker_now_usec(w) + w->timeout_usec;
		worker_begin_head(w);
	}
}

uint64_t worker_next_look_usec(Worker *w)
{
	uint64_t now = worker_now_usec(w), slow = w->head_usec + w->patience_usec;

	if (!w->started)
		return now + MIN(w->timeout_usec / 8, w->patience_usec / 4);
	return slow > now ? MIN(slow, w->deadline_usec) : w->deadline_usec;
}

void worker_await_timer(Worker *w, uint64_t usec)
{
	int enabled = SD_EVENT_OFF;
	uint64_t set = 0;

	sd_event_source_get_enabled(w->timer, &enabled);
	sd_event_source_get_time(w->timer, &set);
	if (enabled == SD_EVENT_OFF || set > usec)
		worker_set_timer(w, usec);
}

void worker_renew_deadline(Worker *w)
{
	w->deadline_usec = MIN(worker_now_usec(w) + w->timeout_usec, w->end_usec);
	worker_await_timer(w, worker_next_look_usec(w));
}

void worker_send_signal(Worker *w, int signal)
{
	if (w->process.pidfd >= 0)
		pidfd_send_signal(w->process.pidfd, signal, NULL, 0);
}

void worker_disconnect(Worker *w)
{
	w->io = sd_event_source_disable_unref(w->io);
	w->process.fd = close_fd(w->process.fd);
}

void worker_fail(Worker *w, QueryErrorCode code, const char *format, ...)
{
	char why[128];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	worker_disconnect(w);
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	w->state = WORKER_FAILED;
	w->handler->failed(w->userdata, w, code, why);
}

void worker_flush(Worker *w)
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
			worker_send_signal(w, SIGKILL); /* on_exit_ready() reports it */
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
