/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes the record of changes into its segments (segment-ring.h) without ever waiting for the
 * disk: a thread of its own does that. What is to be written is copied into memory of bounded size.
 * If the disk is so slow, or so full, that there is no more room, what waits is dropped, and a
 * message says so once; then the record goes on with a new segment, which has the whole state at
 * its beginning.
 *
 * What was put is in the file some microseconds later, so that it survives the process; at the
 * latest a second later it is on the disk, so that it survives the machine. If the disk is full, it
 * is tried again every few seconds. A file has complete lines only, but for the last one of a
 * process that was killed.
 *
 * All functions are for one thread, and log. A writer that is NULL, or that cannot use its
 * directory, writes nothing and wants nothing.
 */

#include "util.h"

typedef struct ChangeWriter ChangeWriter;

/* Writes into the directory "record" of STATE_DIRECTORY, at most MAX_BYTES in all. The state
 * directory is to be locked already (history-file.h). NULL: no memory, which has been logged, or
 * MAX_BYTES is 0. */
ChangeWriter *change_writer_new(const char *state_directory, uint64_t max_bytes);
/* Waits until all is on the disk, at most PATIENCE_USEC. What could not be written is tried once
 * more. NULL is allowed; returns NULL. */
ChangeWriter *change_writer_free(ChangeWriter *w, uint64_t patience_usec);

typedef enum SegmentReason {
	SEGMENT_GOES_ON, /* there need not be a new segment */
	SEGMENT_START,	 /* there is none yet */
	SEGMENT_FULL,	 /* this one has a quarter of MAX_BYTES, and twice its beginning */
	SEGMENT_LOST,	 /* text was dropped, or somebody has removed the file */
} SegmentReason;

/* Why the next text must be the beginning of a segment. */
SegmentReason change_writer_wants(ChangeWriter *w);
/* Begins a segment with the SIZE bytes at TEXT, which are complete lines. REALTIME_USEC, or the
 * next number that is greater than those of the other segments, is its name. It is allowed at any
 * time. A beginning of more than 64 MiB is the end of the record. */
void change_writer_begin(ChangeWriter *w, uint64_t realtime_usec, const char *text, size_t size);
/* Adds text, complete lines, to the segment. While change_writer_wants() a new one, it is left out.
 */
void change_writer_put(ChangeWriter *w, const char *text, size_t size);
