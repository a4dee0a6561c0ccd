/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The file "history" of a directory: it is read once, records are added, and when it is full it is
 * written again with what the histories are then. Every function may block for as long as the disk
 * does; the thread of history-writer.c calls them. They log what is wrong with the file.
 *
 * The directory is locked: two processes do not share a file.
 */

#include "disk-file.h"
#include "history-record.h"

/* The file does not become larger than this; written again it has at most half of it. */
#define RECORD_FILE_MAX (UINT64_C(8) << 20)

typedef struct RecordFile {
	const char *directory;
	BootId boot;
	uint64_t max; /* RECORD_FILE_MAX, or less in a test */
	DiskFile disk;
} RecordFile;

/* The boot of this machine. If it cannot be found out, a number that nobody knows: that of another
 * boot. */
BootId record_boot_id(void);

/*
 * Opens the file, or makes it, and reads it into L, which must be empty. What is behind damage is
 * cut off. A file of a later version, or none of this form, is renamed, and a new one is made. Up
 * to nine files of later versions are kept; of damaged ones the last. A negative errno: no history
 * can be kept there, which has been logged.
 */
int record_file_open(const char *directory, RecordFile *ret, HistoryList *l);
void record_file_close(RecordFile *f);

/* Adds the SIZE bytes at DATA, whole records. After a failure nothing of them is in the file. Does
 * not log. */
int record_file_append(RecordFile *f, const uint8_t *data, size_t size);
/* Waits until what was added is on the disk. Does not log. */
int record_file_sync(const RecordFile *f);
