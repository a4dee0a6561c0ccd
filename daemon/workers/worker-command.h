/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The command line of a worker: where the program is, and what of the configuration it is told. */

#include "config.h"

/* WORKER_PATH NULL: rdmad-query beside the running executable (a build tree), or else where it is
 * installed. A new NULL-terminated array, for worker_command_free(). */
int worker_command_new(const Config *config, const char *worker_path, char ***ret);
char **worker_command_free(char **argv);
