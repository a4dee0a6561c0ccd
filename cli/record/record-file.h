/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The files in which rdmad records what it publishes: segments, each of which is a scenario,
 * rdmad-scenario(5), with a head of comments. docs/design/record.md has the form.
 *
 * A file may come from anywhere. The file is read in pieces; a line is bounded, and a line with
 * anything else than printable UTF-8 is refused, so that a line can be printed. Incomplete text is
 * left out: a last line without its end, and all behind a byte 0.
 */

#include "rdmactl.h"
#include "script-line.h"

#define RECORD_DIRECTORY "/var/lib/rdmad/record" /* of the service */
#define RECORD_NAME_SIZE 22U /* of a segment in its directory: 16 digits, ".conf" and the 0 */

/* The values of the head. */
typedef struct RecordHead {
	uint64_t realtime_usec;	 /* when the segment begins */
	uint64_t monotonic_usec; /* the same: the times of the script count from it */
	char boot[33];		 /* of the machine; "" if it is not said */
	char begins[17];	 /* why the segment began; "" if it is not said */
} RecordHead;

typedef enum RecordPart { PART_HEAD, PART_STATE, PART_SCRIPT } RecordPart;

typedef struct RecordFile {
	char *path; /* for messages */
	FILE *stream;
	RecordHead head;
	bool at_end;	    /* no more lines follow */
	uint64_t n_bytes;   /* of the lines that were returned */
	unsigned int line;  /* the number of the last of them */
	RecordPart part;    /* that it is in */
	bool is_behind_gap; /* the segment before it in its directory was not opened */
	char text[SCENARIO_LINE_MAX + 2]; /* the last line, with its end */
} RecordFile;

/* Opens the file PATH and reads its head. The next line is then the first one. Says what is wrong.
 */
ExitStatus record_file_open(const char *path, RecordFile **ret);
/* The same of the file NAME of a directory. *RET is NULL if rdmad has removed it meanwhile, or if
 * it has no line: a machine that lost its power may have such a file. */
ExitStatus record_file_open_in(int directory_fd, const char *directory, const char *name,
			       RecordFile **ret);
/* NULL is allowed. */
void record_file_free(RecordFile *f);
DEFINE_CLEANUP(RecordFile, record_file_free);

/* The next line, which is F's and may be changed until the next call; *RET is NULL at the end. Says
 * what is wrong with the line. */
ExitStatus record_file_next(RecordFile *f, char **ret);
/* Says "FILE:LINE: WHAT". Returns STATUS_FAILED. */
ExitStatus record_file_refuse(const RecordFile *f, const char *what);

/* The segments of a directory, by the time of their beginning. */
typedef struct RecordNames {
	char (*names)[RECORD_NAME_SIZE];
	size_t n;
	int fd; /* of the directory */
} RecordNames;

/* Lists DIRECTORY. Files with other names are passed over. Says what is wrong, also if there is no
 * segment. After an error RET is as it was. */
ExitStatus record_names_read(const char *directory, RecordNames *ret);
void record_names_done(RecordNames *names);
