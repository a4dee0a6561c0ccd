/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The changes in the script of a segment. A change is a line, with the lines "set" in front of it
 * that belong to it. A device that is added comes with lines "set" of all that it and its ports
 * have, at the same time: it and each of its ports is a change. A line at the time 0 is no change:
 * it is a part of the beginning of the segment. All texts are decoded and can be printed.
 */

#include "command.h"
#include "record-file.h"
#include "script-line.h"

/* One line of a script. The words point into the line; the names of ports and devices are decoded.
 */
typedef struct RecordStep {
	ScriptLine line;
	ScenarioVerb verb;	/* _VERB_MAX: the command of a later rdmad */
	uint64_t realtime_usec; /* what the clock of that machine said */
} RecordStep;

typedef enum RecordChangeKind {
	CHANGE_VALUES,	  /* it has other values */
	CHANGE_NO_ANSWER, /* it could not be read */
	CHANGE_EVENT,	  /* an event came, and the values are the same */
	CHANGE_ADDED,	  /* the device, and each port with it */
	CHANGE_REMOVED,
	CHANGE_RENAMED, /* to NEW_NAME */
	CHANGE_FINDING, /* a finding has begun or ended, as its values say */
	_CHANGE_MAX,
} RecordChangeKind;

typedef struct RecordValue {
	char *field; /* such as "state" or "gids.0" */
	char *value; /* NULL: it is not reported any more */
} RecordValue;

typedef struct RecordChange {
	RecordChangeKind kind;
	uint64_t realtime_usec, monotonic_usec;
	char *name;	/* of the port or device */
	char *new_name; /* NULL: it has none */
	char *error;	/* such as "EIO"; NULL: there was none */
	char *message;	/* the same for people, or NULL */
	char **reasons;
	size_t n_reasons;
	RecordValue *values;
	size_t n_values;
} RecordChange;

typedef struct RecordReader {
	RecordFile *file;
	uint64_t origin_usec; /* what the clock said at the beginning, as far as it was set since */
	RecordChange pending; /* of the lines so far that are not all of it */
	char *added;	      /* the device that is being added; NULL: none */
	uint64_t at_usec;     /* the time of these */
	RecordStep step;      /* that is not yet a part of a change */
	bool held;	      /* there is one */
	/* is told the name of each device and port that there is at the beginning; NULL: nothing is
	 */
	void (*heading)(void *userdata, const char *name);
	void *userdata;
} RecordReader;

/* Begins at the next line of FILE, which is the caller's. The other members are kept. */
void record_reader_begin(RecordReader *r, RecordFile *file);
void record_reader_done(RecordReader *r);
/* The next change, which the caller ends with record_change_done(); *RET_FOUND is false at the end.
 * Lines "set" without the line that they belong to are no change. Says what is wrong with a line.
 */
ExitStatus record_reader_next(RecordReader *r, RecordChange *ret, bool *ret_found);
void record_change_done(RecordChange *c);

/* Takes LINE, of the script, apart. *RET_IS_STEP is false if it is none, such as a comment. Says
 * what is wrong with it. */
ExitStatus record_step_read(RecordReader *r, char *line, RecordStep *ret, bool *ret_is_step);
/* Takes LINE, a heading of F that is not "[script]", apart: *RET_NAME is the name of the device or
 * port and is to be freed. Says what is wrong with it. */
ExitStatus record_heading_read(const RecordFile *f, char *line, char **ret_name, bool *ret_is_port);
/* Decodes WORD of a line of F in its place. Says what is wrong with it. */
ExitStatus record_word_read(const RecordFile *f, char *word);
