/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One line of the script of a scenario: when it happens, and the words of its command. */

#include "word.h"

/* A step is at most ten years after the beginning. */
#define SCENARIO_TIME_MAX_SEC UINT64_C(315360000)
/* The shortest interval at which a step happens again: it may change each of 65536 ports. */
#define SCENARIO_EVERY_MIN_USEC USEC_PER_MSEC
/* No time in microseconds of a record is later than this, in the year 5138: sums do not wrap. */
#define RECORD_USEC_MAX (UINT64_C(100000000000) * USEC_PER_SEC)
/* The format of records, in their first line. */
#define RECORD_FORMAT	   1U
#define SCENARIO_SPEED_MAX 1000U /* how many times quicker a script may be played */

/* One line of a script. */
typedef struct ScriptLine {
	uint64_t at_usec;    /* when it happens first, from the beginning */
	uint64_t every_usec; /* after how long it happens again; 0: it happens once */
	Words command;
} ScriptLine;

/* Parses "at TIME: COMMAND", "every TIME: COMMAND" or "at TIME every TIME: COMMAND"; TEXT is
 * changed, and RET points into it. -EINVAL with a message. */
int script_line_parse(char *text, ScriptLine *ret, char **ret_message);
/* The value of LINE, "speed = VALUE": how many times quicker the steps of the script happen. NULL:
 * it is another line. */
const char *script_speed(const char *line);

/* Room for what script_time_write() writes. */
#define SCRIPT_TIME_SIZE 40
/* Writes how a line begins whose step happens once, after USEC: "at 1.234567s: ". Returns where the
 * 0 is that ends it. */
char *script_time_write(char to[SCRIPT_TIME_SIZE], uint64_t usec);
