/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-writer.h"

#include "clock.h"
#include "disk-thread.h"
#include "history-file.h"
#include "log.h"

/* Bytes that wait to be written: more than 4096 ports need that all change at once. */
#define WAITING_MAX (UINT64_C(1) << 20)
/* Between two times that the disk is asked to have everything. */
#define SYNC_USEC (1 * USEC_PER_SEC)
/* Before what has failed is tried again. */
#define RETRY_USEC (5 * USEC_PER_SEC)

typedef struct Bytes {
	uint8_t *data; /* [WAITING_MAX] */
	size_t size;
} Bytes;

struct RecordWriter {
	DiskThread thread;
	char *directory;
	uint64_t patience_usec;

	/* shared */
	Bytes waiting;
	bool opened;	  /* the thread has opened the file, or could not: */
	int error;	  /* then this is why */
	bool dropped;	  /* records were dropped, and a message has said so */
	HistoryList list; /* until OPENED */

	/* the thread's own */
	RecordFile file;
	Bytes batch; /* what is being written */
	bool failed; /* it was not written, and a message has said so */
	bool unsynced;
	uint64_t sync_usec, retry_usec; /* CLOCK_MONOTONIC: not before that */
};

static void destroy(void *userdata)
{
	RecordWriter *w = userdata;

	history_list_done(&w->list);
	disk_thread_done(&w->thread);
	free(w->waiting.data);
	free(w->batch.data);
	free(w->directory);
	free(w);
}

/* The thread */

/* When there is something to do next, at NOW; 0 is at once. */
static uint64_t next_usec(const RecordWriter *w, uint64_t now)
{
	uint64_t write = w->batch.size == 0 && w->waiting.size == 0 ? UINT64_MAX : w->retry_usec;
	uint64_t next = MIN(write, w->unsynced ? w->sync_usec : UINT64_MAX);

	return w->thread.stop || next <= now ? 0 : next;
}

static void write_batch(RecordWriter *w, uint64_t now)
{
	int r = w->batch.size > 0 ? record_file_append(&w->file, w->batch.data, w->batch.size) : 0;

	if (r < 0) {
		w->retry_usec = now + RETRY_USEC;
		if (!w->failed)
			log_warning_errno(r,
					  "Cannot write the histories of ports to %s, trying "
					  "again until that works: %m",
					  w->directory);
		w->failed = true;
		return;
	}
	w->unsynced |= w->batch.size > 0;
	w->batch.size = 0;
	if (w->failed)
		log_info("Writing the histories of ports to %s again", w->directory);
	w->failed = false;
}

static void sync_file(RecordWriter *w)
{
	int r = record_file_sync(&w->file);

	w->unsynced = false;
	w->sync_usec = monotonic_now_usec() + SYNC_USEC;
	if (r < 0)
		log_warning_errno(r, "%s: the histories of ports may not be on the disk: %m",
				  w->directory);
}

/* Until it is to stop. A batch that could not be written stays, and waits for the next try. */
static void serve(RecordWriter *w)
{
	bool stop = false;

	while (!stop) {
		uint64_t now, next;

		pthread_mutex_lock(&w->thread.lock);
		while ((next = next_usec(w, now = monotonic_now_usec())) > 0)
			(void)disk_thread_wait(&w->thread, next);
		if (w->batch.size == 0) {
			Bytes empty = w->batch;

			w->batch = w->waiting;
			w->waiting = empty;
		}
		stop = w->thread.stop;
		pthread_mutex_unlock(&w->thread.lock);
		if (w->batch.size > 0 && (now >= w->retry_usec || stop))
			write_batch(w, now);
		if (w->unsynced && (now >= w->sync_usec || stop))
			sync_file(w);
		/* all that waits, unless it fails; nothing is put any more */
		stop = stop && (w->batch.size > 0 || w->waiting.size == 0);
	}
}

static void run(void *userdata)
{
	RecordWriter *w = userdata;
	HistoryList list = {};
	int r = record_file_open(w->directory, &w->file, &list);
	bool abandoned;

	pthread_mutex_lock(&w->thread.lock);
	w->opened = true;
	w->error = r;
	if (r >= 0) {
		w->list = list;
		list = (HistoryList){};
	}
	pthread_cond_broadcast(&w->thread.changed);
	abandoned = w->thread.abandoned;
	pthread_mutex_unlock(&w->thread.lock);
	history_list_done(&list);
	if (r >= 0 && !abandoned)
		serve(w);
	if (r >= 0)
		record_file_close(&w->file);
}

/* The rest */

static RecordWriter *new_writer(const char *directory, uint64_t patience_usec)
{
	RecordWriter *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	disk_thread_init(&w->thread);
	w->directory = strdup(directory);
	w->patience_usec = patience_usec;
	/* memory that is never written to is not used */
	w->waiting.data = malloc(WAITING_MAX);
	w->batch.data = malloc(WAITING_MAX);
	if (w->directory && w->waiting.data && w->batch.data &&
	    disk_thread_start(&w->thread, run, destroy, w) == 0)
		return w;
	destroy(w);
	return NULL;
}

RecordWriter *record_writer_new(const char *directory, uint64_t patience_usec, HistoryList *list)
{
	RecordWriter *w = new_writer(directory, patience_usec);
	uint64_t until = monotonic_now_usec() + patience_usec;
	bool opened;
	int error;

	if (!w) {
		log_warning("No memory to keep the histories of ports in %s", directory);
		return NULL;
	}
	pthread_mutex_lock(&w->thread.lock);
	while (!w->opened && disk_thread_wait(&w->thread, until))
		;
	opened = w->opened;
	error = w->error;
	*list = w->list;
	w->list = (HistoryList){};
	pthread_mutex_unlock(&w->thread.lock);
	if (opened && error >= 0)
		return w;
	if (!opened) {
		log_warning("%s: the disk does not answer; no histories of ports are kept there",
			    directory);
		/* it has been waited for long enough */
		w->patience_usec = 0;
	}
	disk_thread_end(&w->thread, w->patience_usec);
	return NULL;
}

RecordWriter *record_writer_free(RecordWriter *w)
{
	if (w && !disk_thread_end(&w->thread, w->patience_usec))
		log_warning("The disk does not answer: the last changes of the histories of ports "
			    "may be lost");
	return NULL;
}

/* Makes room for SIZE bytes: the oldest records go, a quarter of the buffer at once. */
static void drop_oldest(Bytes *b, size_t size)
{
	size_t offset = 0;
	Record record;

	while ((b->size - offset + size > WAITING_MAX || offset < WAITING_MAX / 4) &&
	       record_next(b->data, b->size, &offset, &record) > 0)
		;
	b->size -= offset;
	memmove(b->data, b->data + offset, b->size);
}

void record_writer_put(RecordWriter *w, const RecordBuffer *b)
{
	bool drops;

	if (!w || b->failed || b->size > WAITING_MAX / 2)
		return;
	pthread_mutex_lock(&w->thread.lock);
	drops = w->waiting.size + b->size > WAITING_MAX;
	if (drops)
		drop_oldest(&w->waiting, b->size);
	memcpy(w->waiting.data + w->waiting.size, b->data, b->size);
	if (w->waiting.size == 0)
		pthread_cond_broadcast(&w->thread.changed);
	w->waiting.size += b->size;
	drops = drops && !w->dropped;
	w->dropped |= drops;
	pthread_mutex_unlock(&w->thread.lock);
	if (drops)
		log_warning("The disk is too slow for the histories of ports: the oldest changes "
			    "that wait to be written are left out");
}
