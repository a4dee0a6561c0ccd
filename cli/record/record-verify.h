/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether a record is a behaviour of rdmad: each step of it may follow the steps before. The rules
 * are that part of the model of the look, tests/model/look.pml, which a record shows. No record has
 * a question that was not answered, nor a value that has changed and changed back.
 */

#include "record-fold.h"

/* All zero but for CONTEXT: nothing has been read. */
typedef struct RecordVerifier {
	const Context *context;
	RecordFile *file; /* the segment that is read, */
	RecordFold fold,
		before;	   /* what its lines so far say, and what those of the one before do */
	char boot[33];	   /* of the segment before; "": there is none, or it could not be read */
	bool goes_on;	   /* the sections of the segment have to be as BEFORE is */
	uint64_t now_usec; /* CLOCK_MONOTONIC of the last step */
	char *setting;	   /* the next step answers what was set of it; NULL: nothing was */
	uint64_t n_steps, n_broken;
} RecordVerifier;

/* Reads F, the next segment; the oldest is the first. Prints what breaks a rule, and says what is
 * wrong with a line that makes no sense. */
ExitStatus record_verify_segment(RecordFile *f, void *verifier);
/* Prints what was found. Returns STATUS, or STATUS_FAILED if a step breaks a rule. */
ExitStatus record_verify_end(RecordVerifier *v, ExitStatus status);
