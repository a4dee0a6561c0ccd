/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How rdmactl check says what it has found. */

#include "check-finding.h"
#include "rdmactl.h"

typedef enum CheckFormat {
	FORMAT_TEXT, /* a line for each finding, one for all ports that have the same one, or JSON;
			exit status 1 if there is one */
	FORMAT_NAGIOS, /* one line with performance data; exit status 0, 1, 2, 3 */
	FORMAT_NPD,    /* one short line for node-problem-detector; exit status 0, 1, 2 */
	_FORMAT_MAX
} CheckFormat;

/* Prints those findings that stand for themselves and are as severe as LEAST or worse. Returns the
 * worst severity of these. */
Severity findings_print(const Context *c, const CheckRun *r, CheckFormat format, Severity least);

/* The exit status for WORST; UNKNOWN: it could not be checked, and the message was printed. */
int format_exit_status(CheckFormat format, Severity worst, bool unknown);
/* Prints why it could not be checked, in a format that is for another program. */
void format_print_unknown(CheckFormat format, const char *message);

/* FORMAT_MAX if there is no such format. */
CheckFormat format_find(const char *name);
