/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The options of rdmactl. Each option is one row, in the file of the command that it belongs to;
 * the options of every command are in main.c. The command line is parsed with the rows of its
 * command and of every command joined into one table. The table of the rows of all commands says
 * which command has an option; the help is printed from it, and the completion of the shells reads
 * the help.
 */

#include "rdmactl.h"

/* How a command is run. The row of a command has these, and an option that is given adds its own.
 */
typedef enum RunFlags {
	RUN_OFFLINE = 1 << 0, /* it needs no rdmad, or connects by itself */
	RUN_ENDLESS = 1 << 1, /* it writes while things happen: no pager */
} RunFlags;

typedef struct Option Option;
struct Option {
	const char *name;     /* without "--"; NULL ends the rows of a command */
	char letter;	      /* 0: none */
	const char *argument; /* its name in the help; NULL: the option takes none */
	const char *help;     /* one line of at most 50 characters */
	/* Reads ARGUMENT (NULL if the option takes none) into VALUE; says what is wrong with it. */
	ExitStatus (*parse)(const Option *o, const char *argument);
	void *value;	      /* the variable that the option sets */
	const char *expected; /* for option_refuse(); NULL if PARSE has its own messages */
	unsigned int flags;   /* RunFlags */
};

/* PARSE of a row whose value is a bool: sets it. */
ExitStatus option_set(const Option *o, const char *argument);
/* PARSE of a row whose value is a const char *: any text. */
ExitStatus option_text(const Option *o, const char *argument);
/* PARSE of a row whose value is an uint64_t, in microseconds: seconds, with a fraction. */
ExitStatus option_seconds(const Option *o, const char *argument);
/* The same from LEAST_USEC to an hour: for a PARSE of a command's own. */
ExitStatus option_interval(const Option *o, const char *argument, uint64_t least_usec);
/* PARSE of a row whose value is an uint64_t: a number from 1 to UINT32_MAX. */
ExitStatus option_count(const Option *o, const char *argument);
/* Says "--NAME=ARGUMENT: expected EXPECTED". Returns STATUS_USAGE. */
ExitStatus option_refuse(const Option *o, const char *argument);

/* The most rows of all commands together. */
#define OPTIONS_MAX 96

typedef struct OptionTable {
	struct {
		const Option *option;
		const char *command; /* NULL: of every command */
		bool given;	     /* on the command line */
	} rows[OPTIONS_MAX];
	size_t n;
} OptionTable;

/* Adds the rows of COMMAND, or of every command (COMMAND NULL). OPTIONS may be NULL: none. Two
 * commands may have options with the same name; no command has one of those of every command. */
void options_join(OptionTable *t, const char *command, const Option *options);
/* The first word of ARGV that is no option and no argument of one, with the options of ALL
 * commands: the command; NULL if there is none. The call comes before options_parse(), because the
 * same name can be an option of more than one command. */
const char *options_find_command(const OptionTable *all, int argc, char **argv);
/* Takes the options of T, those that COMMAND has, out of ARGV, sets their variables, and moves what
 * is left to the end of ARGV; *RET_FIRST is where that begins. Says which option is wrong, and what
 * was expected; ALL() has the options of all commands for that. */
ExitStatus options_parse(OptionTable *t, const char *command, const OptionTable *all(void),
			 int argc, char **argv, int *ret_first);
/* Adds RunFlags that the argument of an option asks for. */
void options_request(unsigned int flags);
/* The RunFlags of all options that were given, and those that were requested. */
unsigned int options_flags(const OptionTable *t);
/* Prints the options of every command (COMMAND NULL), or only those of COMMAND. */
void options_print(const OptionTable *t, const char *command);
