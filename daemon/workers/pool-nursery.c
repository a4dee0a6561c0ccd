/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-nursery.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "compat.h"
#include "log.h"
#include "nursery.h"

/* A nursery from which no answer comes for so long is given up. */
#define ANSWER_USEC (5 * USEC_PER_SEC)

/* The workers that wait for a process are lost, and their lanes start others. */
void pool_nursery_end(Pool *p)
{
	Nursery *n = &p->nursery;

	if (n->process.fd < 0)
		return;
	n->io = sd_event_source_disable_unref(n->io);
	sd_event_source_set_enabled(n->timer, SD_EVENT_OFF);
	n->process.fd = close_fd(n->process.fd);
	pidfd_send_signal(n->process.pidfd, SIGKILL, NULL, 0);
	for (; n->n > 0; n->n--)
		worker_born(n->waiting[n->first++ % POOL_PROCESSES_MAX], 0, -EBADF);
}

static void await_answer(Nursery *n)
{
	uint64_t now = 0;

	sd_event_now(sd_event_source_get_event(n->timer), CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(n->timer, now + ANSWER_USEC);
	sd_event_source_set_enabled(n->timer, n->n > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void pool_nursery_await(Pool *p, Worker *w)
{
	Nursery *n = &p->nursery;

	n->waiting[(n->first + n->n++) % POOL_PROCESSES_MAX] = w;
	if (n->n == 1)
		await_answer(n);
}

/* A descriptor of PID, which must be a child. */
static int open_child(pid_t pid)
{
	_cleanup_close_ int pidfd = pidfd_open(pid, 0);
	siginfo_t status;

	if (pidfd < 0 || waitid(P_PIDFD, (id_t)pidfd, &status, WEXITED | WNOHANG | WNOWAIT) < 0)
		return -errno;
	return steal_fd(&pidfd);
}

static int on_io(_unused_ sd_event_source *s, int fd, _unused_ uint32_t revents, void *userdata)
{
	Pool *p = userdata;
	Nursery *n = &p->nursery;
	pid_t pid = 0;
	int r = nursery_receive(fd, &pid), pidfd;

	if (r == -EAGAIN)
		return 0;
	pidfd = r > 0 && n->n > 0 ? open_child(pid) : -EBADF;
	if (pidfd < 0) {
		log_warning("The process that forks workers is of no use any more");
		pool_nursery_end(p);
		return 0;
	}
	n->n--;
	await_answer(n);
	log_debug("Started worker %d", pid);
	worker_born(n->waiting[n->first++ % POOL_PROCESSES_MAX], pid, pidfd);
	return 0;
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	log_warning("The process that forks workers hangs, killing");
	pool_nursery_end(userdata);
	return 0;
}

static void reap(Nursery *n)
{
	siginfo_t status;

	n->exit = sd_event_source_disable_unref(n->exit);
	waitid(P_PIDFD, (id_t)n->process.pidfd, &status, WEXITED | WNOHANG);
	n->process.pidfd = close_fd(n->process.pidfd);
}

/* What it has answered has been read. */
static int on_exit_ready(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t revents,
			 void *userdata)
{
	Pool *p = userdata;

	pool_nursery_end(p);
	reap(&p->nursery);
	return 0;
}

static int watch(Pool *p)
{
	Nursery *n = &p->nursery;
	int r = sd_event_add_io(p->event, &n->io, n->process.fd, EPOLLIN, on_io, p);

	if (r >= 0)
		r = sd_event_add_io(p->event, &n->exit, n->process.pidfd, EPOLLIN, on_exit_ready,
				    p);
	return r < 0 ? r : sd_event_source_set_priority(n->exit, SD_EVENT_PRIORITY_IDLE);
}

/* Executes the command line of a worker with one argument more. */
static int start(Pool *p)
{
	_cleanup_free_ char **argv = NULL;
	char option[] = "--nursery";
	size_t n = 0;

	while (p->argv[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, p->argv, n * sizeof(*argv));
	argv[n] = option;
	return child_start(argv[0], argv, &p->nursery.process);
}

void pool_nursery_begin(Pool *p)
{
	int r;

	/* The last one may not have ended yet. */
	if (p->nursery.process.pidfd >= 0)
		return;
	r = start(p);
	if (r < 0) {
		log_warning_errno(r, "Cannot start a process that forks workers: %m");
		return;
	}
	r = watch(p);
	if (r < 0)
		pool_nursery_end(p);
}

int pool_nursery_init(Pool *p)
{
	Nursery *n = &p->nursery;
	int r;

	n->process = (Child){.pidfd = -EBADF, .fd = -EBADF};
	r = sd_event_add_time(p->event, &n->timer, CLOCK_MONOTONIC, 0, 0, on_timer, p);
	return r < 0 ? r : sd_event_source_set_enabled(n->timer, SD_EVENT_OFF);
}

void pool_nursery_done(Pool *p)
{
	Nursery *n = &p->nursery;

	n->n = 0; /* they are freed already */
	pool_nursery_end(p);
	if (n->process.pidfd >= 0)
		reap(n);
	n->timer = sd_event_source_disable_unref(n->timer);
}
