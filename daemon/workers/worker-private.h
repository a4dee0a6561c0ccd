/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state of a worker. Only worker.c, worker-head.c and worker-take.c include this. */

#include "child.h"
#include "worker-answer.h"
#include "worker.h"

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

/* worker-head.c */

uint64_t worker_now_usec(Worker *w);
void worker_set_timer(Worker *w, uint64_t usec);
/* Has the timer fire at USEC at the latest. One that fires earlier is left as it is: it looks at
 * the times when it fires. This saves a system call for each message. */
void worker_await_timer(Worker *w, uint64_t usec);
/* Another request is the head, or the time for it begins again. */
void worker_begin_head(Worker *w);
/*
 * Looks whether the process has read its first request. The time that a process takes to start does
 * not count: it is not the fault of the device that it is to be asked about. If it counted, then on
 * a busy machine each new worker would be taken for stuck in the first device that it was asked
 * about, and one healthy device after the other would be wedged.
 */
void worker_look_for_start(Worker *w);
/* When to look at the head next: when patience ends, or else at the deadline. A process that starts
 * is looked at often, because patience begins when it has started. */
uint64_t worker_next_look_usec(Worker *w);
/* A message has come, or another request is the first one now. */
void worker_renew_deadline(Worker *w);
void worker_send_signal(Worker *w, int signal);
void worker_disconnect(Worker *w);
/* The worker is of no use any more. Calls the handler. */
void worker_fail(Worker *w, QueryErrorCode code, const char *format, ...) _printf_(3, 4);
/* Sends requests until WORKER_WINDOW are under way or the socket is full. Does not call the
 * handler. */
void worker_flush(Worker *w);

/* worker-take.c */

/* Reads one packet. The rest of it is dropped when the handler ends the worker. Returns whether the
 * next packet may be there already: the answer to a query of the process's own. */
bool worker_take_packet(Worker *w, int fd);
