/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The file "history" of the state directory, in the lines of history-text.h. The file is read once,
 * and then begins anew with the histories that were read. Later lines are added, until it is full
 * and begins anew: the new file, "history.new", takes the place of the old one in one step.
 *
 * The directory is locked: two processes do not share a file.
 */

#include "history.h"
#include "line-writer.h"

/* A file that is larger than this is not read. */
#define HISTORY_FILE_MAX (UINT64_C(160) << 20)

/* The boot of this machine, 32 hexadecimal digits. If it cannot be found out, a number that nobody
 * knows: that of another boot. */
#define BOOT_ID_SIZE 33
void boot_id_text(char ret[BOOT_ID_SIZE]);

/*
 * Reads what DIRECTORY has into LIST, which must be empty; waits for that no longer than
 * PATIENCE_USEC. The writer wants a beginning. Errors in the file are logged: a bad line is left
 * out. A file of a later version, or none of this form, is renamed. Up to nine files of later
 * versions are kept; of damaged ones the last. NULL: no histories are kept there, which has been
 * logged, and LIST is empty.
 */
LineWriter *history_writer_new(const char *directory, uint64_t patience_usec, HistoryList *list);

/* The file of that writer. KIND->open() reads it into the list, which is the caller's after that.
 * NULL: no memory. */
LineFile *history_file_new(const char *directory);
HistoryList *history_file_list(LineFile *f);
