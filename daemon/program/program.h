/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The common part of rdmad and rdmad-simulate: arguments, configuration, event loop, exit status.
 * They differ in the source that the manager watches. */

#include "config.h"
#include "source.h"

/* An option of one program only, with an argument. */
typedef struct ProgramOption {
	const char *name;   /* without the dashes; NULL ends the list */
	const char **value; /* receives the argument, which lives as long as argv */
} ProgramOption;

typedef struct Program {
	const char *name;	      /* "rdmad" */
	const char *help;	      /* what --help prints */
	const ProgramOption *options; /* beside --config, --bus, --state and --log-level */
	const char **file;	      /* receives the one argument; NULL: it takes none */
	bool starts_workers;	      /* processes of the same user, which it does not trust */
	bool keeps_histories;	      /* in $STATE_DIRECTORY, if it is set */
	/* Makes what the manager watches. Logs. */
	int (*open_source)(sd_event *event, const Config *config, const SourceHandler *handler,
			   void *userdata, Source **ret);
} Program;

/* The options that both have, as they were given, or NULL. */
typedef struct ProgramArguments {
	const char *config, *bus, *state, *log_level;
} ProgramArguments;

/* 1: go on with *RET. 0: all is done (--help, --version). -EINVAL: wrong usage, which it prints. */
int program_parse(const Program *p, int argc, char *argv[], ProgramArguments *ret);
/* Serves until SIGTERM. Returns the exit status. */
int program_run(const Program *p, const ProgramArguments *a);
