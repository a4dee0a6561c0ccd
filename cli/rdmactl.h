/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the commands of rdmactl share: the command line as parsed, where output goes, and the exit
 * status. */

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

/* The options of wait; what is not given is zero. */
typedef struct WaitOptions {
	const char *state, *gid;
	bool lid, any, quiet, configured, escaped;
	uint32_t mtu;  /* bytes */
	uint64_t rate; /* bit/s */
	bool timed;    /* there is a time-out */
	uint64_t timeout_usec;
} WaitOptions;

/* A column of list: a property of the port or its device, or the port's name if ROW is NULL. */
typedef struct ListColumn {
	const struct Attribute *row;
	bool of_device;
} ListColumn;

typedef struct Columns {
	ListColumn *items;
	size_t n;
	bool alone; /* without the usual ones before them */
} Columns;

typedef struct ListSort {
	ListColumn column;
	bool given, descending;
} ListSort;

typedef struct Context {
	sd_bus *bus;
	FILE *out;	    /* standard output, or what collects it for the pager */
	bool colors;	    /* standard output is a terminal that wants them */
	unsigned int width; /* columns to fill at most where text can be wrapped */
	char **arguments;   /* what follows the command's name */
	unsigned int n_arguments;

	/* the options */
	uint64_t given; /* by row of the table of options */
	bool help, version, json, no_pager;
	const char *host, *machine;
	uint64_t max_age_usec; /* 0: ask the hardware */
	uint64_t watch_usec;   /* 0: once */
	Columns columns;
	ListSort sort;
	WaitOptions wait;
	struct Expectations *expect; /* NULL: none */
	bool list;
} Context;

ExitStatus list_command(Context *c);
ExitStatus show_command(Context *c);
ExitStatus monitor_command(Context *c);
ExitStatus query_command(Context *c);
ExitStatus devices_command(Context *c);
ExitStatus check_command(Context *c);
ExitStatus counters_command(Context *c);
ExitStatus describe_command(Context *c);
ExitStatus wait_command(Context *c);
ExitStatus history_command(Context *c);

/* "rdmactl: ..." on standard error, control characters replaced. */
void complain(const char *format, ...) _printf_(1, 2);
ExitStatus out_of_memory(void);

DEFINE_CLEANUP(sd_bus, sd_bus_flush_close_unref);
DEFINE_CLEANUP(sd_bus_message, sd_bus_message_unref);
