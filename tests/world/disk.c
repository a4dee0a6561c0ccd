/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "disk.h"

#include <dirent.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "disk-double.h"
#include "disk-thread.h"
#include "laws.h"

#define WORKERS_MAX 8U
/* The core has these: for the histories, and for the record. */
#define THREADS 2U
/* So many calls to the disk at most until a thread waits for something else */
#define CALLS_MAX 10000U

typedef enum DiskState {
	DISK_WORKS,
	DISK_SLOW, /* a call takes a step, and time does not help */
	DISK_HANGS,
	DISK_FULL,
	DISK_BROKEN, /* one of three calls fails */
	_DISK_STATE_MAX
} DiskState;

/* A thread of the core's */
typedef struct Worker {
	DiskThread *shared; /* NULL: there is none */
	pthread_t thread;
	sem_t go;     /* it may run */
	bool waits;   /* for something else than the disk */
	bool is_dead; /* the process was killed: nothing that it does has an effect */
	bool ended;   /* it does not run any more */
} Worker;

static Worker workers[WORKERS_MAX];
static sem_t back; /* the core may run again */
static _Thread_local Worker *self;
static DiskState state;
static Lots lots;
static char directory[32];
static char before_gap[64]; /* the newest segment when one could not be removed; "": all could */

/* Threads */

/* In a thread: the core runs, until it says that this thread does. */
static void stop_here(bool waits)
{
	self->waits = waits;
	sem_post(&back);
	sem_wait(&self->go);
	self->waits = false;
}

/* W runs until its next call to the disk, or until it waits. */
static void run_once(Worker *w)
{
	sem_post(&w->go);
	sem_wait(&back);
	if (!w->ended)
		return;
	pthread_join(w->thread, NULL);
	sem_destroy(&w->go);
	*w = (Worker){};
}

/* W runs until it has nothing to do. */
static void run_all(Worker *w)
{
	unsigned int n = 0;

	do {
		run_once(w);
		LAW(n++ < CALLS_MAX, "a thread calls the disk again and again");
	} while (w->shared && !w->waits);
}

/* NULL: it has ended. */
static Worker *find_worker(const DiskThread *t)
{
	for (Worker *w = workers; w < workers + WORKERS_MAX; w++)
		if (w->shared == t)
			return w;
	return NULL;
}

static void *run_thread(void *userdata)
{
	DiskThread *t;
	bool abandoned;

	self = userdata;
	t = self->shared;
	sem_wait(&self->go);
	t->run(t->userdata);
	pthread_mutex_lock(&t->lock);
	t->finished = true;
	abandoned = t->abandoned;
	pthread_mutex_unlock(&t->lock);
	if (abandoned)
		t->destroy(t->userdata);
	self->ended = true;
	sem_post(&back);
	return NULL;
}

/* In the place of the functions of disk-thread.c */
int __wrap_disk_thread_start(DiskThread *t, void (*run)(void *), void (*destroy)(void *),
			     void *userdata);
bool __wrap_disk_thread_wait(DiskThread *t, uint64_t usec);
bool __wrap_disk_thread_end(DiskThread *t, uint64_t patience_usec);

int __wrap_disk_thread_start(DiskThread *t, void (*run)(void *), void (*destroy)(void *),
			     void *userdata)
{
	Worker *w = find_worker(NULL);

	LAW(w, "there are too many threads");
	t->run = run;
	t->destroy = destroy;
	t->userdata = userdata;
	*w = (Worker){.shared = t};
	LAW(sem_init(&w->go, 0, 0) == 0 && pthread_create(&w->thread, NULL, run_thread, w) == 0,
	    "no thread");
	return 0;
}

bool __wrap_disk_thread_wait(DiskThread *t, uint64_t usec)
{
	bool works = state != DISK_HANGS;

	pthread_mutex_unlock(&t->lock);
	if (self)
		stop_here(true);
	else if (works)
		run_once(find_worker(t));
	else
		virtual_time_set(usec);
	pthread_mutex_lock(&t->lock);
	return self || works;
}

bool __wrap_disk_thread_end(DiskThread *t, uint64_t patience_usec)
{
	uint64_t until = virtual_now_usec() + patience_usec;
	Worker *w = find_worker(t);
	bool finished;

	pthread_mutex_lock(&t->lock);
	t->stop = true;
	while (w && !t->finished && (w->is_dead || state != DISK_HANGS)) {
		pthread_mutex_unlock(&t->lock);
		run_once(w);
		pthread_mutex_lock(&t->lock);
	}
	finished = t->finished;
	t->abandoned = !finished;
	pthread_mutex_unlock(&t->lock);
	if (finished)
		t->destroy(t->userdata);
	else
		virtual_time_set(until);
	return finished;
}

/* Calls */

static int decide(DiskCall call)
{
	int error = 0;

	if (!self)
		return 0;
	stop_here(false);
	if (self->is_dead)
		return EIO;
	if (state == DISK_FULL && (call == DISK_WRITE || call == DISK_MKDIR))
		error = ENOSPC;
	if (state == DISK_BROKEN && lots_once_in(&lots, 3))
		error = EIO;
	if (error)
		note("call %u to the disk fails: %s", call, strerror(error));
	if (error && call == DISK_UNLINK)
		(void)disk_newest_segment(before_gap, sizeof(before_gap));
	return error;
}

/* Steps */

void disk_step(Lots *step)
{
	Worker *w = &workers[lots_below(step, THREADS)];
	uint32_t n = 1 + lots_below(step, 8);

	if (state == DISK_HANGS)
		return;
	while (w->shared && n-- > 0)
		run_once(w);
}

void disk_fault(Lots *step)
{
	static const char *const names[_DISK_STATE_MAX] = {"works", "is slow", "hangs", "is full",
							   "is broken"};

	state = lots_below(step, _DISK_STATE_MAX);
	note("the disk %s", names[state]);
}

void disk_heal(void)
{
	state = DISK_WORKS;
}

void disk_catch_up(void)
{
	if (state == DISK_SLOW || state == DISK_HANGS)
		return;
	for (Worker *w = workers; w < workers + WORKERS_MAX; w++)
		if (w->shared)
			run_all(w);
}

void disk_kill(void)
{
	for (Worker *w = workers; w < workers + WORKERS_MAX; w++)
		w->is_dead = true;
}

void disk_leave(void)
{
	memset(workers, 0, sizeof(workers));
}

void disk_bury(void)
{
	disk_kill();
	for (Worker *w = workers; w < workers + WORKERS_MAX; w++)
		for (unsigned int n = 0; w->shared; n++) {
			LAW(n < CALLS_MAX, "a thread does not end");
			run_once(w);
		}
	memset(workers, 0, sizeof(workers));
}

/* The directory */

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static int only_segments(const struct dirent *d)
{
	return d->d_name[0] >= '0' && d->d_name[0] <= '9';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The newest segment, or the oldest one */
static bool find_segment(bool is_newest, char *ret, size_t size)
{
	struct dirent **names = NULL;
	char path[64];
	int n;

	snprintf(path, sizeof(path), "%s/record", directory);
	n = scandir(path, &names, only_segments, by_name);
	if (n > 0)
		snprintf(ret, size, "%s/%s", path, names[is_newest ? n - 1 : 0]->d_name);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n > 0;
}

bool disk_newest_segment(char *ret, size_t size)
{
	return find_segment(true, ret, size);
}

bool disk_is_open(void)
{
	size_t n = 0;

	for (const Worker *w = workers; w < workers + WORKERS_MAX; w++)
		n += w->shared != NULL;
	return n == THREADS;
}

bool disk_has_gap(void)
{
	char oldest[64];

	/* a gap is behind one that could not be removed */
	if (*before_gap && find_segment(false, oldest, sizeof(oldest)) &&
	    strcmp(oldest, before_gap) > 0)
		before_gap[0] = '\0';
	return *before_gap;
}

const char *disk_directory(void)
{
	return directory;
}

void disk_begin(uint64_t seed)
{
	lots.state = ~seed;
	state = DISK_WORKS;
	before_gap[0] = '\0';
	disk.decide = decide;
	sem_init(&back, 0, 0);
	text_copy(directory, sizeof(directory), "/tmp/rdmad-world.XXXXXX");
	LAW(mkdtemp(directory), "no directory");
}

void disk_end(void)
{
	disk_bury();
	sem_destroy(&back);
	LAW(nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s stays", directory);
}
