/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "line-writer.h"

#include "clock.h"
#include "disk-thread.h"
#include "log.h"

/* Bytes that wait to be written, but for beginnings: more than 4096 ports need that all change at
 * once. */
#define WAITING_MAX (UINT64_C(1) << 20)
/* Of beginnings */
#define BEGINNINGS_MAX (UINT64_C(64) << 20)
/* Between two times that the disk is asked to have everything. */
#define SYNC_USEC (1 * USEC_PER_SEC)
/* Before what has failed is tried again. */
#define RETRY_USEC (5 * USEC_PER_SEC)

/* Complete lines */
typedef struct Text {
	struct Text *next;
	bool begins; /* it is all of a beginning */
	uint64_t realtime_usec;
	size_t size, room;
	char data[];
} Text;

struct LineWriter {
	DiskThread thread;
	uint64_t max_bytes;

	/* shared, under the lock of the thread */
	Text *waiting, **last; /* a list, and where it keeps its last one; &waiting if empty */
	size_t put_bytes, beginning_bytes; /* in it */
	LinesWanted wants;
	uint64_t file_size, file_max; /* with what waits */
	bool opened;		      /* the thread has opened the file, or could not */
	bool ended;		      /* nothing is written any more */
	bool dropped;		      /* text was dropped, and a message has said so */

	/* the thread's own */
	LineFile *file;
	Text *batch; /* what is being written */
	bool failed; /* it was not written, and a message has said so */
	bool unsynced;
	uint64_t sync_usec, retry_usec; /* CLOCK_MONOTONIC: not before that */
};

/* The texts that wait. All under the lock */

static void append_text(LineWriter *w, Text *t)
{
	if (*w->last)
		w->last = &(*w->last)->next;
	*w->last = t;
	*(t->begins ? &w->beginning_bytes : &w->put_bytes) += t->size;
}

static Text *take_first(LineWriter *w)
{
	Text *t = w->waiting;

	if (!t)
		return NULL;
	w->waiting = t->next;
	if (w->last == &t->next)
		w->last = &w->waiting;
	t->next = NULL;
	*(t->begins ? &w->beginning_bytes : &w->put_bytes) -= t->size;
	return t;
}

/* Drops all that waits; if KEEP_BEGINNING, but for a beginning in front. One behind something that
 * is dropped would say that nothing is missing before it. */
static void drop_waiting(LineWriter *w, bool keep_beginning)
{
	bool is_kept = keep_beginning && w->waiting && w->waiting->begins;
	Text *kept = is_kept ? take_first(w) : NULL, *t;

	while ((t = take_first(w)))
		free(t);
	if (kept)
		append_text(w, kept);
}

static Text *new_text(size_t room)
{
	Text *t = malloc(sizeof(*t) + room);

	if (t)
		*t = (Text){.room = room};
	return t;
}

/* The last text that waits, with room for SIZE more bytes; a new one if there is none to which they
 * can be added. NULL without memory. */
static Text *text_with_room(LineWriter *w, size_t size)
{
	Text *t = *w->last;

	if (!t || t->begins) {
		t = new_text(MAX(size, (size_t)4096));
		if (t)
			append_text(w, t);
		return t;
	}
	if (t->room - t->size < size) {
		size_t room = MAX(2 * t->room, t->size + size);

		t = realloc(t, sizeof(*t) + room);
		if (!t)
			return NULL;
		t->room = room;
		*w->last = t;
	}
	return t;
}

static void add_to(LineWriter *w, Text *t, const char *text, size_t size)
{
	memcpy(t->data + t->size, text, size);
	t->size += size;
	*(t->begins ? &w->beginning_bytes : &w->put_bytes) += size;
}

static void destroy(void *userdata)
{
	LineWriter *w = userdata;

	drop_waiting(w, false);
	free(w->batch);
	disk_thread_done(&w->thread);
	w->file->kind->free(w->file);
	free(w);
}

/* The thread */

/* When there is something to do next, at NOW; 0 is at once. */
static uint64_t next_usec(const LineWriter *w, uint64_t now)
{
	uint64_t write = w->batch || w->waiting ? w->retry_usec : UINT64_MAX;
	uint64_t next = MIN(write, w->unsynced ? w->sync_usec : UINT64_MAX);

	return w->thread.stop || next <= now ? 0 : next;
}

static void write_batch(LineWriter *w, uint64_t now)
{
	LineFile *f = w->file;
	Text *t = w->batch;
	int r = t->begins ? f->kind->begin(f, t->realtime_usec, t->data, t->size)
			  : f->kind->append(f, t->data, t->size);

	if (r < 0) {
		w->retry_usec = now + RETRY_USEC;
		if (!w->failed)
			log_warning_errno(r,
					  "Cannot write the %s to %s/%s%s%s, trying again until "
					  "that works: %m",
					  f->kind->what, f->directory, f->kind->name,
					  *f->failed ? "/" : "", f->failed);
		w->failed = true;
		return;
	}
	/* a beginning is on the disk already */
	w->unsynced = !t->begins;
	free(t);
	w->batch = NULL;
	if (w->failed)
		log_info("Writing the %s to %s/%s again", f->kind->what, f->directory,
			 f->kind->name);
	w->failed = false;
}

static void sync_file(LineWriter *w)
{
	int r = disk_file_sync(&w->file->disk);

	w->unsynced = false;
	w->sync_usec = monotonic_now_usec() + SYNC_USEC;
	if (r < 0)
		log_warning_errno(r, "%s/%s: the %s may not be on the disk: %m", w->file->directory,
				  w->file->kind->name, w->file->kind->what);
	if (!disk_file_is_removed(&w->file->disk))
		return;
	pthread_mutex_lock(&w->thread.lock);
	/* if a beginning waits there is a file again soon */
	if (w->beginning_bytes == 0 && !(w->batch && w->batch->begins))
		w->wants = LINES_LOST;
	pthread_mutex_unlock(&w->thread.lock);
}

/* Until it is to stop. A batch that could not be written stays, and waits for the next try. */
static void serve(LineWriter *w)
{
	bool stop = false;

	while (!stop) {
		uint64_t now, next;

		pthread_mutex_lock(&w->thread.lock);
		while ((next = next_usec(w, now = monotonic_now_usec())) > 0)
			(void)disk_thread_wait(&w->thread, next);
		if (!w->batch)
			w->batch = take_first(w);
		stop = w->thread.stop;
		pthread_mutex_unlock(&w->thread.lock);
		if (w->batch && (now >= w->retry_usec || stop))
			write_batch(w, now);
		if (w->unsynced && now >= w->sync_usec)
			sync_file(w);
		/* all that waits, unless it fails; nothing is put any more */
		stop = stop && (w->batch || !w->waiting);
	}
	if (w->unsynced)
		sync_file(w);
}

static void run(void *userdata)
{
	LineWriter *w = userdata;
	LineFile *f = w->file;
	int r = f->kind->open(f);

	if (r < 0)
		log_warning_errno(r, "Cannot keep the %s in %s/%s: %m", f->kind->what, f->directory,
				  f->kind->name);
	pthread_mutex_lock(&w->thread.lock);
	w->opened = true;
	if (r < 0) {
		w->ended = true;
		drop_waiting(w, false);
	}
	pthread_cond_broadcast(&w->thread.changed);
	pthread_mutex_unlock(&w->thread.lock);
	if (r >= 0)
		serve(w);
}

/* The rest */

LineWriter *line_writer_new(LineFile *file, uint64_t max_bytes)
{
	LineWriter *w = calloc(1, sizeof(*w));

	if (w) {
		disk_thread_init(&w->thread);
		w->file = file;
		w->max_bytes = max_bytes;
		w->last = &w->waiting;
		w->wants = LINES_START;
		if (disk_thread_start(&w->thread, run, destroy, w) == 0)
			return w;
	}
	log_warning("No memory to keep the %s in %s/%s", file->kind->what, file->directory,
		    file->kind->name);
	if (w)
		destroy(w);
	else
		file->kind->free(file);
	return NULL;
}

LineWriter *line_writer_await_open(LineWriter *w, uint64_t patience_usec)
{
	uint64_t until = monotonic_now_usec() + patience_usec;
	bool opened, ended;

	pthread_mutex_lock(&w->thread.lock);
	while (!w->opened && disk_thread_wait(&w->thread, until))
		;
	opened = w->opened;
	ended = w->ended;
	pthread_mutex_unlock(&w->thread.lock);
	if (opened && !ended)
		return w;
	if (!opened)
		log_warning("%s/%s: the disk does not answer; no %s are kept there",
			    w->file->directory, w->file->kind->name, w->file->kind->what);
	/* a disk that does not answer has been waited for long enough */
	(void)disk_thread_end(&w->thread, opened ? patience_usec : 0);
	return NULL;
}

LineWriter *line_writer_free(LineWriter *w, uint64_t patience_usec)
{
	const char *what = w ? w->file->kind->what : NULL;

	if (w && !disk_thread_end(&w->thread, patience_usec))
		log_warning("The disk does not answer: the last changes may be missing in the %s",
			    what);
	return NULL;
}

LinesWanted line_writer_wants(LineWriter *w)
{
	LinesWanted wants;

	if (!w)
		return LINES_GO_ON;
	pthread_mutex_lock(&w->thread.lock);
	wants = w->ended ? LINES_GO_ON : w->wants;
	pthread_mutex_unlock(&w->thread.lock);
	return wants;
}

/* The first text that is dropped is worth a message: returns whether this is it. */
static bool lose(LineWriter *w, bool keep_beginning)
{
	bool first = !w->dropped;

	drop_waiting(w, keep_beginning);
	w->wants = LINES_LOST;
	w->dropped = true;
	return first;
}

static void log_dropped(const LineWriter *w)
{
	log_warning("The disk is too slow for the %s, or there is no memory: changes that wait to "
		    "be written are left out",
		    w->file->kind->what);
}

/* Returns whether text was dropped for the first time. */
static bool begin(LineWriter *w, uint64_t realtime_usec, const char *text, size_t size)
{
	bool fits = w->beginning_bytes + size <= BEGINNINGS_MAX;
	Text *t = fits ? new_text(size) : NULL;

	/* the next one says that something is missing before it, and has room */
	if (!t)
		return lose(w, fits);
	t->begins = true;
	t->realtime_usec = realtime_usec;
	append_text(w, t);
	add_to(w, t, text, size);
	w->file_size = size;
	w->file_max = MAX(w->max_bytes / 4, 2 * (uint64_t)size);
	w->wants = w->file_size < w->file_max ? LINES_GO_ON : LINES_FULL;
	return false;
}

void line_writer_begin(LineWriter *w, uint64_t realtime_usec, const char *text, size_t size)
{
	bool drops = false, ends;

	if (!w)
		return;
	pthread_mutex_lock(&w->thread.lock);
	ends = !w->ended && size > BEGINNINGS_MAX;
	w->ended |= ends;
	if (!w->ended)
		drops = begin(w, realtime_usec, text, size);
	pthread_cond_broadcast(&w->thread.changed);
	pthread_mutex_unlock(&w->thread.lock);
	if (ends)
		log_warning("The state of all ports has %zu bytes, which is too much for the "
			    "beginning of the %s: it ends",
			    size, w->file->kind->what);
	if (drops)
		log_dropped(w);
}

void line_writer_put(LineWriter *w, const char *text, size_t size)
{
	bool drops = false;

	if (!w || size == 0)
		return;
	pthread_mutex_lock(&w->thread.lock);
	if (!w->ended && w->wants == LINES_GO_ON) {
		Text *t = w->put_bytes + size > WAITING_MAX ? NULL : text_with_room(w, size);

		if (t) {
			add_to(w, t, text, size);
			w->file_size += size;
			if (w->file_size >= w->file_max)
				w->wants = LINES_FULL;
		} else {
			drops = lose(w, true);
		}
		pthread_cond_broadcast(&w->thread.changed);
	}
	pthread_mutex_unlock(&w->thread.lock);
	if (drops)
		log_dropped(w);
}
