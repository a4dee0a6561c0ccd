/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "change-writer.h"

#include "clock.h"
#include "disk-thread.h"
#include "log.h"
#include "segment-ring.h"

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

struct ChangeWriter {
	DiskThread thread;
	char *state_directory;
	uint64_t max_bytes;

	/* shared, under the lock of the thread */
	Text *waiting, **last; /* a list, and where it keeps its last one; &waiting if empty */
	size_t put_bytes, beginning_bytes; /* in it */
	SegmentReason wants;
	uint64_t segment_size, segment_max; /* with what waits */
	bool ended;			    /* nothing is written any more */
	bool dropped;			    /* text was dropped, and a message has said so */

	/* the thread's own */
	SegmentRing ring;
	Text *batch; /* what is being written */
	bool failed; /* it was not written, and a message has said so */
	bool unsynced;
	uint64_t sync_usec, retry_usec; /* CLOCK_MONOTONIC: not before that */
};

/* What waits. All under the lock */

static void append_text(ChangeWriter *w, Text *t)
{
	if (*w->last)
		w->last = &(*w->last)->next;
	*w->last = t;
	*(t->begins ? &w->beginning_bytes : &w->put_bytes) += t->size;
}

static Text *take_first(ChangeWriter *w)
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

/* Drops all that waits, but the last beginning if KEEP_BEGINNING. */
static void drop_waiting(ChangeWriter *w, bool keep_beginning)
{
	Text *kept = NULL, *t;

	while ((t = take_first(w))) {
		if (keep_beginning && t->begins) {
			free(kept);
			kept = t;
		} else {
			free(t);
		}
	}
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
static Text *text_with_room(ChangeWriter *w, size_t size)
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

static void add_to(ChangeWriter *w, Text *t, const char *text, size_t size)
{
	memcpy(t->data + t->size, text, size);
	t->size += size;
	*(t->begins ? &w->beginning_bytes : &w->put_bytes) += size;
}

static void destroy(void *userdata)
{
	ChangeWriter *w = userdata;

	drop_waiting(w, false);
	free(w->batch);
	disk_thread_done(&w->thread);
	free(w->state_directory);
	free(w);
}

/* The thread */

/* When there is something to do next, at NOW; 0 is at once. */
static uint64_t next_usec(const ChangeWriter *w, uint64_t now)
{
	uint64_t write = w->batch || w->waiting ? w->retry_usec : UINT64_MAX;
	uint64_t next = MIN(write, w->unsynced ? w->sync_usec : UINT64_MAX);

	return w->thread.stop || next <= now ? 0 : next;
}

static void write_batch(ChangeWriter *w, uint64_t now)
{
	Text *t = w->batch;
	int r = t->begins ? segment_ring_begin(&w->ring, t->realtime_usec, t->data, t->size)
			  : segment_ring_append(&w->ring, t->data, t->size);

	if (r < 0) {
		w->retry_usec = now + RETRY_USEC;
		if (!w->failed)
			log_warning_errno(r,
					  "Cannot write the record of changes to %s/record/%s, "
					  "trying again until that works: %m",
					  w->state_directory, w->ring.failed);
		w->failed = true;
		return;
	}
	/* a beginning is on the disk already */
	w->unsynced = !t->begins;
	free(t);
	w->batch = NULL;
	if (w->failed)
		log_info("Writing the record of changes to %s/record again", w->state_directory);
	w->failed = false;
}

static void sync_segment(ChangeWriter *w)
{
	int r = segment_ring_sync(&w->ring);

	w->unsynced = false;
	w->sync_usec = monotonic_now_usec() + SYNC_USEC;
	if (r < 0)
		log_warning_errno(r, "%s/record: the record of changes may not be on the disk: %m",
				  w->state_directory);
	if (!segment_ring_removed(&w->ring))
		return;
	pthread_mutex_lock(&w->thread.lock);
	/* if a beginning waits there is a file again soon */
	if (w->beginning_bytes == 0 && !(w->batch && w->batch->begins))
		w->wants = SEGMENT_LOST;
	pthread_mutex_unlock(&w->thread.lock);
}

/* Until it is to stop. A batch that could not be written stays, and waits for the next try. */
static void serve(ChangeWriter *w)
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
			sync_segment(w);
		/* all that waits, unless it fails; nothing is put any more */
		stop = stop && (w->batch || !w->waiting);
	}
	if (w->unsynced)
		sync_segment(w);
}

static void run(void *userdata)
{
	ChangeWriter *w = userdata;
	int r;

	segment_ring_init(&w->ring, w->state_directory, w->max_bytes);
	r = segment_ring_open(&w->ring);
	if (r >= 0) {
		serve(w);
	} else {
		log_warning_errno(r, "Cannot keep a record of changes in %s/record: %m",
				  w->state_directory);
		pthread_mutex_lock(&w->thread.lock);
		w->ended = true;
		drop_waiting(w, false);
		pthread_mutex_unlock(&w->thread.lock);
	}
	segment_ring_done(&w->ring);
}

/* The rest */

ChangeWriter *change_writer_new(const char *state_directory, uint64_t max_bytes)
{
	ChangeWriter *w = max_bytes > 0 ? calloc(1, sizeof(*w)) : NULL;

	if (w) {
		disk_thread_init(&w->thread);
		w->state_directory = strdup(state_directory);
		w->max_bytes = max_bytes;
		w->last = &w->waiting;
		w->wants = SEGMENT_START;
		if (w->state_directory && disk_thread_start(&w->thread, run, destroy, w) == 0)
			return w;
		destroy(w);
	}
	if (max_bytes > 0)
		log_warning("No memory to keep a record of changes in %s/record", state_directory);
	return NULL;
}

ChangeWriter *change_writer_free(ChangeWriter *w, uint64_t patience_usec)
{
	if (w && !disk_thread_end(&w->thread, patience_usec))
		log_warning("The disk does not answer: the last changes may be missing in the "
			    "record of changes");
	return NULL;
}

SegmentReason change_writer_wants(ChangeWriter *w)
{
	SegmentReason wants;

	if (!w)
		return SEGMENT_GOES_ON;
	pthread_mutex_lock(&w->thread.lock);
	wants = w->ended ? SEGMENT_GOES_ON : w->wants;
	pthread_mutex_unlock(&w->thread.lock);
	return wants;
}

/* The first text that is dropped is worth a message: returns whether this is it. */
static bool lose(ChangeWriter *w, bool keep_beginning)
{
	bool first = !w->dropped;

	drop_waiting(w, keep_beginning);
	w->wants = SEGMENT_LOST;
	w->dropped = true;
	return first;
}

static void log_dropped(void)
{
	log_warning(
		"The disk is too slow for the record of changes, or there is no memory: changes "
		"that wait to be written are left out");
}

/* Returns whether text was dropped for the first time. */
static bool begin(ChangeWriter *w, uint64_t realtime_usec, const char *text, size_t size)
{
	Text *t = new_text(size);
	bool drops = false;

	if (!t)
		return lose(w, true);
	if (w->beginning_bytes + size > BEGINNINGS_MAX)
		drops = lose(w, false);
	t->begins = true;
	t->realtime_usec = realtime_usec;
	append_text(w, t);
	add_to(w, t, text, size);
	w->segment_size = size;
	w->segment_max = MAX(w->max_bytes / 4, 2 * (uint64_t)size);
	w->wants = w->segment_size < w->segment_max ? SEGMENT_GOES_ON : SEGMENT_FULL;
	return drops;
}

void change_writer_begin(ChangeWriter *w, uint64_t realtime_usec, const char *text, size_t size)
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
		log_warning("The state of all ports has %zu bytes, more than a segment of the "
			    "record of changes can begin with: the record ends",
			    size);
	if (drops)
		log_dropped();
}

void change_writer_put(ChangeWriter *w, const char *text, size_t size)
{
	bool drops = false;

	if (!w || size == 0)
		return;
	pthread_mutex_lock(&w->thread.lock);
	if (!w->ended && w->wants == SEGMENT_GOES_ON) {
		Text *t = w->put_bytes + size > WAITING_MAX ? NULL : text_with_room(w, size);

		if (t) {
			add_to(w, t, text, size);
			w->segment_size += size;
			if (w->segment_size >= w->segment_max)
				w->wants = SEGMENT_FULL;
		} else {
			drops = lose(w, true);
		}
		pthread_cond_broadcast(&w->thread.changed);
	}
	pthread_mutex_unlock(&w->thread.lock);
	if (drops)
		log_dropped();
}
