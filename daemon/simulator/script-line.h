/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Parses one line of the script of a scenario: when it happens, and the words of its command. */

#include <stdint.h>

#define SCENARIO_WORDS_MAX 256U /* in a command */

/* One line of a script. */
typedef struct ScenarioStep {
	uint64_t at_usec;    /* when it happens first, from the start of the program */
	uint64_t every_usec; /* after how long it happens again; 0: it happens once */
	char **words;	     /* the command; NULL-terminated, for g_strfreev() */
	unsigned int line;   /* its number in the file */
} ScenarioStep;

/* Splits LINE into words at white space; white space between quotation marks does not split. The
 * caller frees *RET with g_strfreev(). -EINVAL with a message: a quotation mark is not closed, or
 * there are more than SCENARIO_WORDS_MAX words. */
int words_split(const char *line, char ***ret, char **ret_message);

/* Parses "at TIME: COMMAND", "every TIME: COMMAND" or "at TIME every TIME: COMMAND", and changes
 * TEXT. RET->line is 0. -EINVAL with a message. */
int script_line_parse(char *text, ScenarioStep *ret, char **ret_message);

/* Has STEP happen SPEED (at least 1) times quicker. -EINVAL with a message: it would happen again
 * too soon; STEP is not changed then. */
int script_line_hurry(ScenarioStep *step, uint32_t speed, char **ret_message);
