/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The files (segments) of the record of changes, in the directory "record" of the state directory.
 * The name of a segment is 16 digits and ".conf"; the greatest is the newest. When all together
 * become too large, the oldest go. No other file is ever touched, but for "begin.new", in which a
 * segment is begun: it gets its name when its beginning is on the disk, so that each segment has a
 * whole beginning.
 */

#include "line-writer.h"

#define SEGMENTS_MAX	  400U /* one begins each day: more than a year */
#define SEGMENT_NAME_SIZE 32

/* Writes the record of changes into segments, at most MAX_BYTES in all. The state directory is to
 * be locked already (history-file.h). NULL: no memory, which has been logged, or MAX_BYTES is 0. */
LineWriter *segment_writer_new(const char *state_directory, uint64_t max_bytes);

/* The work of the writer's thread. Every function but the first may block for as long as the
 * disk does. None logs. */

typedef struct SegmentRing {
	LineFile file; /* the current segment */
	uint64_t max_bytes;
	uint64_t current; /* its number */
	uint64_t others;  /* bytes of the other segments, or more */
} SegmentRing;

/* STATE_DIRECTORY is to live as long as RET. */
void segment_ring_init(SegmentRing *ret, char *state_directory, uint64_t max_bytes);
void segment_ring_done(SegmentRing *s);

/* Opens the directory, or makes it. -ENOTDIR: it is a symbolic link, or a file. */
int segment_ring_open(SegmentRing *s);

/*
 * Begins a segment with the SIZE bytes at TEXT. Its number is REALTIME_USEC, but greater than those
 * of all others: after the clock was set back the names still say what is older. A clock beyond
 * 2255 counts for nothing, and a segment with such a number gets a smaller one. When it returns
 * the segment before and this beginning are on the disk. After a failure the segment before is
 * still the current one.
 */
int segment_ring_begin(SegmentRing *s, uint64_t realtime_usec, const char *text, size_t size);
/* Adds text to the current segment. After a failure nothing of it is there. */
int segment_ring_append(SegmentRing *s, const char *text, size_t size);
