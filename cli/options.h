/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The options of rdmactl: one row each in options.c. */

#include "rdmactl.h"

/* Takes the options out of ARGV into C and moves what is left to its end; *RET_FIRST is where that
 * begins. Says which option is wrong, and what was expected. */
ExitStatus options_parse(Context *c, int argc, char **argv, int *ret_first);
/* Refuses the options that were given and do not go with COMMAND. */
ExitStatus options_check(const Context *c, const char *command);
/* Prints the options that go with every command (COMMAND NULL), or those of COMMAND alone; returns
 * how many. */
unsigned int options_print(const char *command);
/* Frees what the options have allocated. */
void options_done(Context *c);
