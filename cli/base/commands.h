/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The commands of rdmactl, each in the file that has its name. A command has a function that runs
 * it and returns the exit status, and, if it has options of its own, the rows of these. Its name,
 * arguments and help are a row of the table in main.c.
 */

#include "options.h"

ExitStatus list_command(Context *c);
extern const Option list_options[];

ExitStatus map_command(Context *c);
ExitStatus neighbors_command(Context *c);
ExitStatus cable_command(Context *c);
extern const Option map_options[];

ExitStatus gid_command(Context *c);

/* STATUS_FAILED if there is no port, or a variable has no value that is right for all ports. */
ExitStatus env_command(Context *c);
extern const Option env_options[];

ExitStatus show_command(Context *c);
extern const Option show_options[];

ExitStatus monitor_command(Context *c);
extern const Option monitor_options[];

ExitStatus query_command(Context *c);
extern const Option query_options[];
extern const Option devices_options[];

ExitStatus devices_command(Context *c);

/* STATUS_FAILED if something is wrong with a port. */
ExitStatus check_command(Context *c);
extern const Option check_options[];

/* Takes the name of a check, and then ports. */
ExitStatus acknowledge_command(Context *c);
extern const Option acknowledge_options[];

/* STATUS_FAILED if machines differ; otherwise STATUS_NO_DAEMON if one has not answered. */
ExitStatus compare_command(Context *c);
extern const Option compare_options[];

/* STATUS_FAILED if a machine has not answered, or is at no switch. */
ExitStatus topology_command(Context *c);
extern const Option topology_options[];

ExitStatus counters_command(Context *c);
extern const Option counters_options[];

/* The ports and their rates, again and again, until it is ended. */
ExitStatus top_command(Context *c);
extern const Option top_options[];

ExitStatus users_command(Context *c);

ExitStatus history_command(Context *c);
extern const Option history_options[];

/* STATUS_FAILED if a port has a trouble that goes on and its cause is unknown. */
ExitStatus explain_command(Context *c);
extern const Option explain_options[];

/* The command needs no rdmad. STATUS_FAILED if a file of the record, or a part of one, makes no
 * sense. */
ExitStatus record_command(Context *c);
extern const Option record_options[];

/* The command needs no rdmad. STATUS_FAILED if something is missing. */
ExitStatus doctor_command(Context *c);
extern const Option doctor_options[];

ExitStatus metrics_command(Context *c);
extern const Option metrics_options[];

ExitStatus describe_command(Context *c);
/* Prints the columns of "list", a line each, without rdmad. */
ExitStatus describe_columns(Context *c);

/* STATUS_FAILED if the ports did not come in time. */
ExitStatus wait_command(Context *c);
extern const Option wait_options[];

/* STATUS_FAILED if a peer has not answered. */
ExitStatus ping_command(Context *c);
extern const Option ping_options[];
