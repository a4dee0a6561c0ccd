/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "compat.h"
#include "util.h"

static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setflags(attributes,
					     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return r;
}

/* Where FD is CHILD_FD already, adddup2 clears its close-on-exec flag: that is what is needed. */
static int set_actions(posix_spawn_file_actions_t *actions, int fd)
{
	int r = posix_spawn_file_actions_adddup2(actions, fd, CHILD_FD);

	return r == 0 ? posix_spawn_file_actions_addclosefrom_np(actions, CHILD_FD + 1) : r;
}

static int spawn(const char *program, char *const argv[], int fd, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r == 0) {
		r = set_attributes(&attributes);
		if (r == 0)
			r = set_actions(&actions, fd);
		if (r == 0)
			r = posix_spawn(ret, program, &actions, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Ends a process that nobody can watch. The wait is short: the program has only just begun and was
 * asked nothing yet, so it is not inside a driver. */
static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int child_connect(int *ret_own, int *ret_theirs)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0) {
		int r = -errno;

		close(fds[0]);
		close(fds[1]);
		return r;
	}
	*ret_own = fds[0];
	*ret_theirs = fds[1];
	return 0;
}

int child_start(const char *program, char *const argv[], Child *ret)
{
	_cleanup_close_ int own = -EBADF, theirs = -EBADF;
	Child child;
	int r = child_connect(&own, &theirs);

	if (r < 0)
		return r;
	r = spawn(program, argv, theirs, &child.pid);
	if (r < 0)
		return r;
	/* Closed first: where descriptors are scarce, that makes room for the pidfd. */
	theirs = close_fd(theirs);
	child.pidfd = pidfd_open(child.pid, 0);
	if (child.pidfd < 0) {
		r = -errno;
		end(child.pid);
		return r;
	}
	child.fd = steal_fd(&own);
	*ret = child;
	return 0;
}
