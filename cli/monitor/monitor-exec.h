/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The command that rdmactl monitor runs for each event. One runs at a time, in the order of the
 * events. Up to EXEC_QUEUE_MAX events wait; those that come while so many wait are dropped, and it
 * is said how many.
 *
 * What has happened is only in variables of the command's environment. Nothing of it becomes a part
 * of the command or of its arguments, and no shell reads the command: the name of a device, which
 * may be any text, is never read as a command. The texts have no control characters.
 */

#include <systemd/sd-event.h>

#include "monitor-print.h"

#define EXEC_QUEUE_MAX 256U

typedef struct Exec Exec;

/* Splits COMMAND at blanks into the program and its arguments; what is in '' or "" stays together.
 * *RET is NULL-terminated; the caller frees it with exec_words_free(). -EINVAL: there is no word,
 * or a quotation mark is open; -ENOMEM. */
int exec_split(const char *command, char ***ret);
void exec_words_free(char **words);

/* WORDS is kept; signal SIGCHLD must be blocked. NULL without memory. */
Exec *exec_new(sd_event *event, char **words);
/* Does not wait for the command that runs. Says how many events are left that it was not run for.
 * Takes NULL too; returns NULL. */
Exec *exec_free(Exec *e);
/* Runs the command for NEWS, now or when those before have ended. */
void exec_run(Exec *e, const News *news);
