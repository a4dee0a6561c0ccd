/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The output of "rdmactl record": a table of the segments, and the changes. */

#include "record-change.h"
#include "text-table.h"

/* A segment in the table. */
typedef struct RecordSegment {
	uint64_t first_usec, last_usec; /* CLOCK_REALTIME: its beginning and its last change */
	uint64_t n_changes, n_bytes;
} RecordSegment;

typedef struct RecordList {
	Context *context;
	TextTable table;
} RecordList;

void record_list_begin(RecordList *list);
void record_list_add(RecordList *list, const RecordFile *f, const RecordSegment *s);
/* Prints what is left. Returns STATUS, or what else went wrong. */
ExitStatus record_list_end(RecordList *list, ExitStatus status);

/* Where changes are printed. */
typedef struct RecordPrinter {
	Context *context;
	uint64_t n;  /* changes that were printed */
	bool headed; /* the heading was */
} RecordPrinter;

/* Prints the lines before all changes. */
void record_print_begin(const RecordPrinter *p);
/* Says, to people, that F begins because rdmad has not seen what was before, if that is so. */
void record_print_gap(RecordPrinter *p, const RecordFile *f);
/* Prints CHANGE of the segment F. */
void record_print_change(RecordPrinter *p, const RecordFile *f, const RecordChange *change);
/* Prints the lines after all changes; IS_COMPLETE: nothing went wrong. */
void record_print_end(const RecordPrinter *p, bool is_complete);
