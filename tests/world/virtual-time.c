/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "virtual-time.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

#define BEGIN_USEC    (1000 * USEC_PER_SEC)
#define REALTIME_USEC (UINT64_C(1700000000) * USEC_PER_SEC)
/* What each look at the time of the processor takes */
#define PROCESSOR_NSEC 20000U
#define TIMERS_MAX     16U

/* A timerfd, which is an eventfd here */
typedef struct Timer {
	int fd;
	uint64_t when_usec; /* UINT64_MAX: it does not run */
} Timer;

static uint64_t now_usec = BEGIN_USEC, processor_nsec, realtime_usec = REALTIME_USEC;
static Timer timers[TIMERS_MAX];
static size_t n_timers;
/* What the core draws, and what libsystemd does, which draws more in one version than in another */
static Lots lots, lots_of_libraries;

/* What the linker puts in the place of functions of libsystemd */
int __wrap_sd_event_add_time(sd_event *e, sd_event_source **s, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __real_sd_event_add_time(sd_event *e, sd_event_source **s, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
/* The same of our own functions */
uint64_t __wrap_random_u64(void);

/* splitmix64 */
uint64_t lots_next(Lots *l)
{
	uint64_t z = l->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t lots_below(Lots *l, uint32_t n)
{
	return (uint32_t)((lots_next(l) >> 32) * n >> 32);
}

void virtual_time_init(uint64_t seed)
{
	now_usec = BEGIN_USEC;
	processor_nsec = 0;
	realtime_usec = REALTIME_USEC;
	lots.state = seed;
	lots_of_libraries.state = ~seed;
}

uint64_t virtual_now_usec(void)
{
	return now_usec;
}

void virtual_realtime_set(int64_t offset_usec)
{
	realtime_usec = REALTIME_USEC + (uint64_t)offset_usec;
}

uint64_t virtual_next_usec(void)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < n_timers; i++)
		next = MIN(next, timers[i].when_usec);
	return next;
}

static void run_out(Timer *t)
{
	if (t->when_usec > now_usec)
		return;
	t->when_usec = UINT64_MAX;
	eventfd_write(t->fd, 1);
}

void virtual_time_set(uint64_t when_usec)
{
	now_usec = MAX(now_usec, when_usec);
	for (size_t i = 0; i < n_timers; i++)
		run_out(&timers[i]);
}

uint64_t machine_now_usec(void)
{
	struct timespec t = {};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

/* The C library */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t usec = now_usec + (clock == CLOCK_REALTIME ? realtime_usec : 0);

	*t = (struct timespec){(time_t)(usec / USEC_PER_SEC), (long)(usec % USEC_PER_SEC * 1000)};
	if (clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID) {
		processor_nsec += PROCESSOR_NSEC;
		*t = (struct timespec){(time_t)(processor_nsec / 1000000000),
				       (long)(processor_nsec % 1000000000)};
	}
	return 0;
}

int timerfd_create(_unused_ clockid_t clock, _unused_ int flags)
{
	Timer *t = timers;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	/* a descriptor that was closed comes again */
	while (t < timers + n_timers && t->fd != fd)
		t++;
	if (fd < 0 || t == timers + TIMERS_MAX)
		return -1;
	n_timers = MAX(n_timers, (size_t)(t - timers) + 1);
	*t = (Timer){fd, UINT64_MAX};
	return fd;
}

int timerfd_settime(int fd, _unused_ int flags, const struct itimerspec *to, struct itimerspec *was)
{
	uint64_t usec = (uint64_t)to->it_value.tv_sec * USEC_PER_SEC +
			((uint64_t)to->it_value.tv_nsec + 999) / 1000;
	eventfd_t before;

	if (was)
		memset(was, 0, sizeof(*was));
	for (size_t i = 0; i < n_timers; i++)
		if (timers[i].fd == fd) {
			(void)eventfd_read(fd, &before);
			timers[i].when_usec = usec ? usec : UINT64_MAX;
			run_out(&timers[i]);
			return 0;
		}
	errno = EBADF;
	return -1;
}

/* A wait for the other end of a connection: that is in this process, and does nothing meanwhile. */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  _unused_ const sigset_t *set)
{
	int r = poll(fds, n, 0);

	if (r == 0 && timeout)
		now_usec += (uint64_t)timeout->tv_sec * USEC_PER_SEC +
			    (uint64_t)timeout->tv_nsec / 1000;
	return r;
}

/* The same as a library calls it that was compiled with _FORTIFY_SOURCE */
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
		size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
		_unused_ size_t size)
{
	return ppoll(fds, n, timeout, set);
}

ssize_t getrandom(void *buffer, size_t n, _unused_ unsigned int flags)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)buffer)[i] = (uint8_t)lots_next(&lots_of_libraries);
	return (ssize_t)n;
}

uint64_t __wrap_random_u64(void)
{
	return lots_next(&lots);
}

/* libsystemd runs timers together as their accuracy allows, at times that depend on the number of
 * this boot: here each runs at its own time. */
int __wrap_sd_event_add_time(sd_event *e, sd_event_source **s, clockid_t clock, uint64_t usec,
			     _unused_ uint64_t accuracy, sd_event_time_handler_t callback,
			     void *userdata)
{
	return __real_sd_event_add_time(e, s, clock, usec, 1, callback, userdata);
}

int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, _unused_ uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	uint64_t now = now_usec;

	sd_event_now(e, clock, &now);
	return __real_sd_event_add_time(e, s, clock, now + usec, 1, callback, userdata);
}
