/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A segment that begins later: the changes of its script before some time are in its sections, as
 * if rdmad had begun the segment then. Counts and times are as old as the segment was.
 *
 * A device whose first question had not ended stays in the script, at the time 0.
 */

#include "record-change.h"

typedef struct FoldedObject FoldedObject;

typedef struct RecordFold {
	uint64_t since_usec;   /* CLOCK_REALTIME: when it begins now */
	uint64_t begin_usec;   /* the same in the times of the script; 0: nothing was folded */
	FoldedObject *objects; /* devices and ports, in the order in which they came */
	size_t n;
	char **held; /* the last lines of the script, of which the command is still to come */
	size_t n_held;
	char *speed;   /* the line of the script; NULL: it has none */
	char **others; /* commands that are not known here, and stay */
	size_t n_others;
} RecordFold;

/* Reads lines of F, at whose first line it is, until the script is at FOLD->since_usec. *RET is the
 * first line behind that, and NULL at the end. Says what is wrong with a line. */
ExitStatus record_fold_read(RecordFold *fold, RecordFile *f, RecordReader *r, char **ret);
/* Prints the segment as far as R has read it. SPEED is that of the script; 0: as it was. */
void record_fold_print(const RecordFold *fold, const RecordReader *r, uint64_t speed, FILE *out);
void record_fold_done(RecordFold *fold);
/* Prints LINE, a step of the script, with its time from FOLD->begin_usec on. */
void record_fold_print_step(const RecordFold *fold, uint64_t at_usec, const char *line, FILE *out);
