/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded: of the calls that make a descriptor, or of those that need space in a file
 * system, the one with the number FAIL_AT (from 1; 0: none) and the FAIL_MORE (0) after it fail.
 *
 * FAIL_KIND=descriptors: open(), socket(), pipe2() and their kin fail with EMFILE, or with
 * FAIL_ERRNO. FAIL_KIND=space: ftruncate(), write(), sends to the journal and their kin fail with
 * ENOSPC.
 *
 * FAIL_COUNT is a file that gets the number of these calls when the process ends. Not counted are
 * calls that the C library makes by itself.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef enum Kind { DESCRIPTORS, SPACE } Kind;

static Kind kind;
static int error;
static unsigned long fail_at, fail_more;
static atomic_ulong n_calls;

static unsigned long number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAIL_KIND");

	kind = text && strcmp(text, "space") == 0 ? SPACE : DESCRIPTORS;
	error = number("FAIL_ERRNO") ? (int)number("FAIL_ERRNO") : kind == SPACE ? ENOSPC : EMFILE;
	fail_at = number("FAIL_AT");
	fail_more = number("FAIL_MORE");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *f = path ? fopen(path, "we") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", atomic_load(&n_calls));
	fclose(f);
}

static bool fails(Kind k)
{
	unsigned long n;

	if (k != kind)
		return false;
	n = atomic_fetch_add(&n_calls, 1) + 1;
	if (fail_at == 0 || n < fail_at || n > fail_at + fail_more)
		return false;
	errno = error;
	return true;
}

/* Declares REAL, the function NAME of the C library. */
#define FIND(name)                                                                                 \
	static __typeof__(&(name)) real;                                                           \
	if (!real)                                                                                 \
	real = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)

/* A function that fails with -1. */
#define WRAP(kind, result, name, parameters, arguments)                                            \
	EXPORTED result name parameters                                                            \
	{                                                                                          \
		FIND(name);                                                                        \
		return fails(kind) ? -1 : real arguments;                                          \
	}

/* A function that takes a mode if it creates a file. */
#define WRAP_OPEN(name, parameters, arguments)                                                     \
	EXPORTED int name parameters                                                               \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
		FIND(name);                                                                        \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (flags & (O_CREAT | O_TMPFILE))                                                 \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		return fails(DESCRIPTORS) ? -1 : real arguments;                                   \
	}

/* the checked versions, which are in no header */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);

/* clang-format off */
WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int directory, const char *path, int flags, ...), (directory, path, flags, mode))
WRAP_OPEN(openat64, (int directory, const char *path, int flags, ...), (directory, path, flags, mode))
WRAP(DESCRIPTORS, int, __open_2, (const char *path, int flags), (path, flags))
WRAP(DESCRIPTORS, int, __open64_2, (const char *path, int flags), (path, flags))
WRAP(DESCRIPTORS, int, __openat_2, (int directory, const char *path, int flags), (directory, path, flags))
WRAP(DESCRIPTORS, int, __openat64_2, (int directory, const char *path, int flags), (directory, path, flags))
WRAP(DESCRIPTORS, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(DESCRIPTORS, int, socketpair, (int domain, int type, int protocol, int pair[2]), (domain, type, protocol, pair))
WRAP(DESCRIPTORS, int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))
WRAP(DESCRIPTORS, int, epoll_create1, (int flags), (flags))
WRAP(DESCRIPTORS, int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
WRAP(DESCRIPTORS, int, timerfd_create, (clockid_t clock, int flags), (clock, flags))
WRAP(DESCRIPTORS, int, inotify_init1, (int flags), (flags))
WRAP(DESCRIPTORS, int, memfd_create, (const char *name, unsigned int flags), (name, flags))
WRAP(DESCRIPTORS, int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(DESCRIPTORS, int, dup, (int fd), (fd))
WRAP(DESCRIPTORS, int, dup2, (int fd, int other), (fd, other))
WRAP(DESCRIPTORS, int, pidfd_open, (pid_t pid, unsigned int flags), (pid, flags))
WRAP(SPACE, int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(SPACE, int, ftruncate64, (int fd, off64_t size), (fd, size))
WRAP(SPACE, int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
WRAP(SPACE, ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
WRAP(SPACE, ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(SPACE, ssize_t, writev, (int fd, const struct iovec *iov, int n), (fd, iov, n))
/* clang-format on */

/* This one returns the error. */
EXPORTED int posix_fallocate64(int fd, off64_t at, off64_t size)
{
	FIND(posix_fallocate64);
	return fails(SPACE) ? error : real(fd, at, size);
}

/* fcntl() makes a descriptor when it duplicates one. */
static bool duplicates(int command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

#define WRAP_FCNTL(name)                                                                           \
	EXPORTED int name(int fd, int command, ...)                                                \
	{                                                                                          \
		void *argument;                                                                    \
		va_list args;                                                                      \
		FIND(name);                                                                        \
                                                                                                   \
		va_start(args, command);                                                           \
		argument = va_arg(args, void *);                                                   \
		va_end(args);                                                                      \
		return duplicates(command) && fails(DESCRIPTORS) ? -1                              \
								 : real(fd, command, argument);    \
	}

WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)
