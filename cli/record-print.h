/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What "rdmactl record" prints of a record: a table of its segments, and its changes. */

#include "record-change.h"
#include "terminal.h"

/* What a segment has. */
typedef struct RecordSegment {
	uint64_t first_usec, last_usec; /* CLOCK_REALTIME: its beginning and its last change */
	uint64_t n_changes, n_bytes;
} RecordSegment;

typedef struct RecordList {
	Context *context;
	struct libscols_table *table; /* NULL: JSON */
	size_t n;
} RecordList;

ExitStatus record_list_begin(RecordList *list);
ExitStatus record_list_add(RecordList *list, const RecordFile *f, const RecordSegment *s);
/* Prints what is left. Returns STATUS, or what else went wrong. */
ExitStatus record_list_end(RecordList *list, ExitStatus status);

/* What is before all changes. */
void record_print_begin(Context *c);
/* Prints CHANGE of the segment F; I is how many were printed before. */
void record_print_change(Context *c, const RecordFile *f, const RecordChange *change, uint64_t i);
/* What is after N of them; IS_COMPLETE: nothing went wrong. */
void record_print_end(Context *c, uint64_t n, bool is_complete);
