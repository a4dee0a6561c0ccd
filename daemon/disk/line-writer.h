/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes lines into a file without ever waiting for the disk: a thread of its own does that. The
 * lines are copied into memory of bounded size. The file begins with the whole state, and the lines
 * after that say what changes. When the file is full, it begins anew.
 *
 * If the disk is so slow, or so full, that there is no more room, the lines that wait are dropped,
 * and a message says so once; then the file begins anew, with the whole state.
 *
 * A line is in the file some microseconds later, so that it survives the process; at the latest a
 * second later it is on the disk, so that it survives the machine. If the disk is full, the writer
 * tries again every few seconds. A file has complete lines only, but for the last one of a process
 * that was killed.
 *
 * All functions are for one thread, and log. A writer that is NULL, or that cannot use its
 * directory, writes nothing and wants nothing.
 */

#include "disk-file.h"

typedef struct LineFile LineFile;

/* A kind of file. The functions may block for as long as the disk does, and the thread of
 * the writer calls them. After a failure of BEGIN the file before is still there, and after one of
 * APPEND nothing of the text. Only OPEN may log. */
typedef struct LineFileKind {
	const char *what; /* is kept there, "record of changes", for messages */
	const char *name; /* of the file, or of the folder of files, in the directory */
	int (*open)(LineFile *f);
	/* Begins a file with TEXT. When it returns, that is on the disk. */
	int (*begin)(LineFile *f, uint64_t realtime_usec, const char *text, size_t size);
	int (*append)(LineFile *f, const char *text, size_t size);
	void (*free)(LineFile *f);
} LineFileKind;

/* The beginning of each kind of file. */
struct LineFile {
	const LineFileKind *kind;
	char *directory;
	DiskFile disk;
	char failed[32]; /* after a failure: which file of a folder it is about; "": the folder */
};

typedef struct LineWriter LineWriter;

/* How long rdmad waits for the disk when it starts, and again when it ends. */
#define LINES_PATIENCE_USEC (3 * USEC_PER_SEC)

/* Opens FILE, which belongs to the writer from now on, also after a failure. NULL: no memory, which
 * has been logged. */
LineWriter *line_writer_new(LineFile *file, uint64_t max_bytes);
/* Waits until the file is open, at most PATIENCE_USEC. Returns W, or NULL: the disk does not
 * answer, or the file cannot be opened. The failure has been logged, and W is freed. */
LineWriter *line_writer_await_open(LineWriter *w, uint64_t patience_usec);
/* Waits until all is on the disk, at most PATIENCE_USEC. Lines that could not be written are tried
 * once more. NULL is allowed; returns NULL. */
LineWriter *line_writer_free(LineWriter *w, uint64_t patience_usec);

typedef enum LinesWanted {
	LINES_GO_ON, /* there need not be a beginning */
	LINES_START, /* there is none yet */
	LINES_FULL,  /* the file has a quarter of MAX_BYTES, and twice its beginning */
	LINES_LOST,  /* text was dropped, or somebody has removed the file */
} LinesWanted;

/* Why the next text must be a beginning. */
LinesWanted line_writer_wants(LineWriter *w);
/* Begins a file with the SIZE bytes at TEXT, which are complete lines, at REALTIME_USEC. A new
 * beginning is allowed at any time. If there is no room for it, it is dropped with all that waits.
 * A beginning of more than 64 MiB is the end: nothing is written any more. */
void line_writer_begin(LineWriter *w, uint64_t realtime_usec, const char *text, size_t size);
/* Adds text, complete lines. While line_writer_wants() a beginning, it is left out. */
void line_writer_put(LineWriter *w, const char *text, size_t size);
