/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The functions and options of the commands, each in the file that has its name. */

#include "options.h"

#define COMMAND(name, ...)                                                                         \
	ExitStatus name##_command(Context *c);                                                     \
	extern const Option name##_options[];
#include "commands.def"

/* Prints the columns of "list", a line each, without rdmad. */
ExitStatus describe_columns(Context *c);
