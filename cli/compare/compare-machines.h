/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The machines that rdmactl compare asks.
 *
 * They come from a file with one machine on a line: a destination of ssh(1), such as node17,
 * root@node17 or ssh://node17:2222, or the address of a bus on this machine, unix:path=PATH. A '#'
 * at the beginning of a line or behind a blank begins a comment. Below a line [LABEL] the machines
 * of a group follow, whose devices are to be alike.
 */

#include "object.h"
#include "rdmactl.h"

typedef struct Machine {
	char *name;  /* as it was written */
	char *label; /* of the group that it is in; NULL: its devices decide */
	char *place; /* "FILE:LINE", or "the command line" */

	/* after machines_ask() */
	char *reason; /* why there is no answer; NULL: there is one */
	ObjectList objects;
} Machine;

typedef struct Machines {
	Machine *items;
	size_t n;
} Machines;

/* Adds the machines of the file PATH, "-" for standard input. Says what is wrong with it, with the
 * number of the line and its text. */
ExitStatus machines_read(Machines *m, const char *path);
/* Adds one machine that the command line names. */
ExitStatus machines_add_argument(Machines *m, const char *name);
void machines_done(Machines *m);
#define _cleanup_machines_ _cleanup_(machines_done)

/* Whether NAME is the address of a bus, and not a destination of ssh. */
bool machine_is_bus(const char *name);
