/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A segment that begins later: the changes of its script before some time are in its sections, as
 * if rdmad had begun the segment then. Counts and times are as old as the segment was.
 *
 * A device whose first question had not ended, or had no answer of one of its ports, stays in the
 * script, at the time 0.
 */

#include "record-change.h"

#define RECORD_MACHINES 4

typedef struct FoldedValue {
	char *key, *value; /* as they are in the file */
} FoldedValue;

typedef struct FoldedObject {
	char *name; /* of the device, or of the port: with '/' and its number */
	bool is_port;
	FoldedValue *values;
	size_t n;
	char *error; /* the words of the answer that said so; NULL: it can be read */
	/* of a device: the commands since it was added; NULL: each of its ports has answered, or
	 * could not, and the first question has ended (IS_ASKED) */
	char **lines;
	size_t n_lines;
	bool is_asked;
	unsigned char states[RECORD_MACHINES]; /* of record-verify.c; 0: as at the beginning */
} FoldedObject;

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
/* The device or port NAME, and the device NAME or the one of which that is a port; valid until the
 * next step is taken. NULL: there is none. */
FoldedObject *record_fold_find(const RecordFold *fold, const char *name);
FoldedObject *record_fold_device(const RecordFold *fold, const char *name);
/* The value of KEY of O, as it is in the file; "" if it has none. */
const char *record_fold_value(const FoldedObject *o, const char *key);
/* Takes STEP, whose command with its words is TEXT. False without memory. */
bool record_fold_take(RecordFold *fold, const RecordStep *step, const char *text);
/* Takes LINE of F, "[port mlx5_0/1]" or "KEY = VALUE" behind it. */
ExitStatus record_fold_take_section(RecordFold *fold, const RecordFile *f, char *line);
/* Prints LINE, a step of the script, with its time from FOLD->begin_usec on. */
void record_fold_print_step(const RecordFold *fold, uint64_t at_usec, const char *line, FILE *out);
