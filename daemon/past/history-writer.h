/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Keeps records in the file of a directory without ever waiting for the disk: a thread of its own
 * reads and writes the file (history-file.h). What is to be written is copied into a buffer of
 * bounded size. If the disk is so slow, or so full, that the buffer becomes full, the oldest
 * records in it are dropped, and a message says so once.
 *
 * What was put is in the file some microseconds later, so that it survives the process; at the
 * latest a second later it is on the disk, so that it survives the machine. If the disk is full, it
 * is tried again every few seconds.
 */

#include "clock.h"
#include "history-format.h"
#include "history.h"

typedef struct RecordWriter RecordWriter;

/* How long rdmad waits for the disk when it starts, and again when it ends. */
#define RECORD_PATIENCE_USEC (3 * USEC_PER_SEC)

/* Reads what DIRECTORY has into LIST, which must be empty; waits for that no longer than
 * PATIENCE_USEC. NULL: no histories are kept there, which has been logged, and LIST is empty. */
RecordWriter *record_writer_new(const char *directory, uint64_t patience_usec, HistoryList *list);
/* Waits until all is on the disk, but no longer than the writer has patience. NULL is allowed;
 * returns NULL. */
RecordWriter *record_writer_free(RecordWriter *w);
DEFINE_CLEANUP(RecordWriter, record_writer_free);

/* Has the records in B written. If W is NULL or B has failed, they are not. Does not block. */
void record_writer_put(RecordWriter *w, const RecordBuffer *b);
