/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all commands of rdmactl share: the connection, where output goes, the options of every
 * command, and the exit status. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <systemd/sd-bus.h>

#include "util.h"

/* What main() returns. A function with this type has already said what went wrong, in one line on
 * standard error. */
typedef enum ExitStatus {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NO_PORT = 3,
	STATUS_NO_DAEMON = 4,
} ExitStatus;

typedef struct Context {
	sd_bus *bus;	    /* to rdmad; NULL for a command that needs none */
	FILE *out;	    /* standard output, or what collects it for the pager */
	bool colors;	    /* standard output is a terminal that shows colours */
	unsigned int width; /* columns; where text can be wrapped, no line is longer */
	char **arguments;   /* what follows the command's name */
	unsigned int n_arguments;

	/* the options of every command */
	bool json;
	const char *host, *machine; /* where the rdmad is that is asked; NULL: here */
} Context;

/* "rdmactl: ..." on standard error, control characters replaced. */
void complain(const char *format, ...) _printf_(1, 2);
ExitStatus out_of_memory(void);

DEFINE_CLEANUP(sd_bus, sd_bus_flush_close_unref);
DEFINE_CLEANUP(sd_bus_message, sd_bus_message_unref);
