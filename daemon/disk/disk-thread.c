/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "disk-thread.h"

#include <signal.h>
#include <time.h>

#include "clock.h"

void disk_thread_init(DiskThread *t)
{
	*t = (DiskThread){};
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
}

void disk_thread_done(DiskThread *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

static void *run_thread(void *userdata)
{
	DiskThread *t = userdata;
	bool abandoned;

	t->run(t->userdata);
	pthread_mutex_lock(&t->lock);
	t->finished = true;
	abandoned = t->abandoned;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (abandoned)
		t->destroy(t->userdata);
	return NULL;
}

int disk_thread_start(DiskThread *t, void (*run)(void *), void (*destroy)(void *), void *userdata)
{
	pthread_attr_t attributes;
	sigset_t all, were;
	pthread_t thread;
	int r = pthread_attr_init(&attributes);

	if (r != 0)
		return -r;
	t->run = run;
	t->destroy = destroy;
	t->userdata = userdata;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &were);
	r = pthread_create(&thread, &attributes, run_thread, t);
	pthread_sigmask(SIG_SETMASK, &were, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}

bool disk_thread_wait(DiskThread *t, uint64_t usec)
{
	struct timespec when = {.tv_sec = (time_t)(usec / USEC_PER_SEC),
				.tv_nsec = (long)(usec % USEC_PER_SEC * 1000)};

	if (usec == UINT64_MAX)
		return pthread_cond_wait(&t->changed, &t->lock) == 0;
	return pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &when) == 0;
}

bool disk_thread_end(DiskThread *t, uint64_t patience_usec)
{
	uint64_t until = monotonic_now_usec() + patience_usec;
	bool finished;

	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->changed);
	while (!t->finished && disk_thread_wait(t, until))
		;
	finished = t->finished;
	t->abandoned = !finished;
	pthread_mutex_unlock(&t->lock);
	if (finished)
		t->destroy(t->userdata);
	return finished;
}
