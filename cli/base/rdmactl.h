/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The common part of all commands of rdmactl: the connection, the output, the options of every
 * command, and the exit status. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <systemd/sd-bus.h>

#include "util.h"

/* The exit status of rdmactl. A function that returns one has already printed what went wrong, in
 * one line on standard error. */
typedef enum ExitStatus {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NO_PORT = 3,
	STATUS_NO_DAEMON = 4,
	STATUS_CANNOT_ASK = 5, /* peers, from this machine */
} ExitStatus;

typedef struct Context {
	sd_bus *bus;	    /* to rdmad; NULL for a command that needs none */
	FILE *out;	    /* standard output, or memory that is written to the pager at the end */
	bool is_terminal;   /* standard output is a terminal */
	bool colors;	    /* standard output is a terminal that shows colours */
	unsigned int width; /* in columns: text that can be wrapped has no longer line */
	char **arguments;   /* what follows the command's name */
	unsigned int n_arguments;

	/* the options of every command */
	bool json, no_legend;
	/* where rdmad is asked: on HOST, in container MACHINE, or, if both are NULL, on this
	 * machine on the bus ADDRESS, or "system", or "session" */
	const char *host, *machine, *address;
} Context;

/* Prints "rdmactl: " and the message on standard error, without control characters. */
void complain(const char *format, ...) _printf_(1, 2);
/* The same, and the status that a command ends with. */
#define complain_as(status, ...) (complain(__VA_ARGS__), (status))
#define failure(...)		 complain_as(STATUS_FAILED, __VA_ARGS__)
#define usage_error(...)	 complain_as(STATUS_USAGE, __VA_ARGS__)
/* How a command for another program says what went wrong and how it ended. */
typedef struct Reporter {
	void (*complain)(const char *text); /* instead of a line on standard error */
	int (*status)(ExitStatus status);   /* the exit status of the program */
} Reporter;
/* From now on REPORTER is used, and kept; NULL: as usual. */
void report_through(const Reporter *reporter);
/* The exit status of the program. */
int reported_status(ExitStatus status);
/* Says so. Returns STATUS_FAILED. */
ExitStatus out_of_memory(void);

DEFINE_CLEANUP(sd_bus, sd_bus_flush_close_unref);
DEFINE_CLEANUP(sd_bus_message, sd_bus_message_unref);
