/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded: of the system calls that read, write or wait, one in INTERRUPT_RATE (7) is
 * interrupted, or transfers fewer bytes than it was asked for. INTERRUPT_SEED chooses which.
 *
 * sendmsg() and recvmsg() are only cut short, and only on streams: the kernel does not interrupt
 * those that do not wait, as libsystemd's.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static uint64_t random_state = 88172645463325252U;
static unsigned long rate = 7;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("INTERRUPT_RATE"), *seed = getenv("INTERRUPT_SEED");

	if (text && strtoul(text, NULL, 10) > 0)
		rate = strtoul(text, NULL, 10);
	if (seed)
		random_state ^= strtoull(seed, NULL, 10) << 20;
}

static bool happens(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % rate == 0;
}

static bool interrupted(void)
{
	if (!happens())
		return false;
	errno = EINTR;
	return true;
}

/* The first part of what FD, if it is a stream, is to transfer, now and then. */
static bool cut(int fd, const struct msghdr *m, struct iovec *ret)
{
	socklen_t size = sizeof(int);
	int type = 0;

	if (m->msg_iovlen == 0 || m->msg_iov[0].iov_len < 2 || !happens())
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
		return false;
	*ret = m->msg_iov[0];
	ret->iov_len = 1 + random_state % (ret->iov_len - 1);
	return true;
}

/* Declares REAL, the function NAME of the C library. */
#define FIND(name)                                                                                 \
	static __typeof__(&(name)) real;                                                           \
	if (!real)                                                                                 \
	real = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)

EXPORTED ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct msghdr shorter = *m;
	struct iovec part;
	FIND(sendmsg);

	if (!cut(fd, m, &part))
		return real(fd, m, flags);
	shorter.msg_iov = &part;
	shorter.msg_iovlen = 1;
	return real(fd, &shorter, flags);
}

EXPORTED ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct iovec *all = m->msg_iov, part;
	size_t n = m->msg_iovlen;
	ssize_t r;
	FIND(recvmsg);

	if (!cut(fd, m, &part))
		return real(fd, m, flags);
	m->msg_iov = &part;
	m->msg_iovlen = 1;
	r = real(fd, m, flags);
	m->msg_iov = all;
	m->msg_iovlen = n;
	return r;
}

EXPORTED ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	FIND(recv);
	return interrupted() ? -1 : real(fd, buffer, size, flags);
}

EXPORTED ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
	FIND(send);
	return interrupted() ? -1 : real(fd, buffer, size, flags);
}

EXPORTED ssize_t read(int fd, void *buffer, size_t size)
{
	FIND(read);
	return interrupted() ? -1 : real(fd, buffer, size);
}

EXPORTED int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	FIND(epoll_wait);
	return interrupted() ? -1 : real(fd, events, n, timeout);
}

EXPORTED int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
			  const sigset_t *signals)
{
	FIND(epoll_pwait2);
	return interrupted() ? -1 : real(fd, events, n, timeout, signals);
}
