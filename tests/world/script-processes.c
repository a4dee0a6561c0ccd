/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes as the pool sees them: the functions that it has in the place of the kernel's. */

#include "script-processes.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "compat.h"

#define FIRST_PID 100

ScriptWorkers *workers;

int __wrap_child_start(const char *program, char *const argv[], Child *ret);
int __wrap_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_pidfd_send_signal(int pidfd, int number, siginfo_t *info, unsigned int flags);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *status, int options);

Process *process_new(ScriptWorkers *w, int peer)
{
	Process *p = w->processes;

	while (p < w->processes + PROCESSES && p->used)
		p++;
	if (p == w->processes + PROCESSES)
		return NULL;
	*p = (Process){.used = true, .pid = FIRST_PID + w->n_pids++, .pidfd = -EBADF, .peer = peer};
	return p;
}

static int make_pidfd(const Process *p)
{
	int fd = eventfd(p->ended, EFD_CLOEXEC | EFD_NONBLOCK);

	LAW(fd >= 0, "no descriptor");
	return fd;
}

int __wrap_child_start(_unused_ const char *program, char *const argv[], Child *ret)
{
	int fds[2];
	Process *p;

	if (workers->start_errors > 0) {
		workers->start_errors--;
		return -EAGAIN;
	}
	LAW(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0,
	    "no descriptor");
	p = process_new(workers, fds[1]);
	LAW(p, "the core has %u processes", PROCESSES);
	while (*++argv)
		p->is_nursery |= streq(*argv, "--nursery");
	p->pidfd = make_pidfd(p);
	note("%s %d starts", p->is_nursery ? "nursery" : "worker", p->pid);
	*ret = (Child){.pid = p->pid, .pidfd = p->pidfd, .fd = fds[0]};
	return 0;
}

int __wrap_pidfd_open(pid_t pid, _unused_ unsigned int flags)
{
	for (size_t i = 0; i < PROCESSES; i++) {
		Process *p = &workers->processes[i];

		if (!p->used || p->pid != pid)
			continue;
		LAW(p->pidfd < 0, "process %d is opened twice", pid);
		return p->pidfd = make_pidfd(p);
	}
	errno = ESRCH;
	return -1;
}

static Process *find_process(int pidfd)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (workers->processes[i].used && workers->processes[i].pidfd == pidfd)
			return &workers->processes[i];
	law_broken("descriptor %d is that of no process", pidfd);
}

Asked *process_current(const Process *p)
{
	Script *s = workers->script;

	for (size_t i = 0; i < s->n_asked; i++)
		if (s->asked[i].used && s->asked[i].userdata == p && s->asked[i].open)
			return &s->asked[i];
	return NULL;
}

void process_end(Process *p)
{
	Script *s = workers->script;

	note("process %d ends", p->pid);
	p->ended = true;
	p->peer = close_fd(p->peer);
	for (size_t i = 0; i < s->n_asked; i++)
		if (s->asked[i].userdata == p)
			s->asked[i] = (Asked){};
	if (p->pidfd >= 0)
		eventfd_write(p->pidfd, 1);
}

bool process_hangs(const Process *p)
{
	const Asked *a = process_current(p);
	const ScriptDevice *d = a ? script_find(workers->script, a->index) : NULL;

	return d && d->hangs;
}

int __wrap_pidfd_send_signal(int pidfd, int number, _unused_ siginfo_t *info,
			     _unused_ unsigned int flags)
{
	Process *p = find_process(pidfd);

	LAW(number == SIGKILL, "a process gets signal %d", number);
	p->killed = true;
	if (!p->ended && !process_hangs(p))
		process_end(p);
	return 0;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *status, int options)
{
	Process *p = find_process((int)id);

	LAW(type == P_PIDFD, "somebody waits for what is no process");
	*status = (siginfo_t){};
	if (!p->ended) {
		LAW(options & (WNOHANG | WNOWAIT), "the core waits for process %d", p->pid);
		return 0;
	}
	status->si_pid = p->pid;
	status->si_code = p->killed ? CLD_KILLED : CLD_EXITED;
	status->si_status = p->killed ? SIGKILL : 1;
	if (!(options & WNOWAIT))
		p->used = false;
	return 0;
}
