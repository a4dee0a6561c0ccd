/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl: the table of commands, the options of every command, and main(), which reads the command
 * line and runs one command. */

#include <langinfo.h>
#include <limits.h>
#include <locale.h>

#include "bus.h"
#include "commands.h"
#include "env-library.h"
#include "suggestion.h"
#include "terminal.h"

typedef struct Command {
	const char *name;
	const char *argument;
	unsigned int least, most; /* the number of arguments */
	unsigned int flags;	  /* RunFlags */
	const Option *options;	  /* its own; NULL: none */
	ExitStatus (*run)(Context *c);
	const char *help;
	const char *examples;
} Command;

static const Command commands[] = {
#define COMMAND(name, argument, least, most, flags, options, help, examples)                       \
	{#name, argument, least, most, flags, options, name##_command, help, examples},
#include "commands.def"
};

static Context context = {.address = "system"};
static bool arg_help, arg_version, arg_no_pager;
static OptionTable options; /* of the command, and of every command */

/* Refuses an argument that begins with '-', because ssh would take it as an option. */
static ExitStatus parse_destination(const Option *o, const char *argument)
{
	if (argument[0] == '\0' || argument[0] == '-')
		return option_refuse(o, argument);
	return option_text(o, argument);
}

/* An address of D-Bus begins with its transport: "unix:path=/run/bus". */
static ExitStatus parse_bus(const Option *o, const char *argument)
{
	if (!streq(argument, "system") && !streq(argument, "session") && !strchr(argument, ':'))
		return option_refuse(o, argument);
	return option_text(o, argument);
}

static ExitStatus option_user(const Option *o, _unused_ const char *argument)
{
	return option_text(o, "session");
}

/* The options of every command. */
/* clang-format off */
static const Option common_options[] = {
	{"help",     'h', NULL,          "Print this text; after a command, its help",      option_set,        &arg_help,        NULL,                            0},
	{"version",  0,   NULL,          "Print the version",                               option_set,        &arg_version,     NULL,                            0},
	{"json",     0,   NULL,          "Print JSON; monitor prints one object on a line", option_set,        &context.json,    NULL,                            0},
	{"no-legend", 0,   NULL,          "Print tables without headings",                   option_set,        &context.no_legend, NULL,                          0},
	{"no-pager", 0,   NULL,          "Do not run a pager for long output",              option_set,        &arg_no_pager,    NULL,                            0},
	{"host",     'H', "[USER@]HOST", "Ask rdmad on another machine, over SSH",          parse_destination, &context.host,    "a host, such as root@node17",   0},
	{"machine",  'M', "CONTAINER",   "Ask rdmad in a local container",                  parse_destination, &context.machine, "the name of a local container", 0},
	{"bus",      0,   "BUS",         "Ask on this bus: system, session, or an address", parse_bus,         &context.address, "system, session, or an address such as unix:path=/run/bus", 0},
	{"user",     0,   NULL,          "The same as --bus=session",                       option_user,       &context.address, NULL,                            0},
	{},
};
/* clang-format on */

/* The options of all commands. Most command lines do not need them. */
static const OptionTable *all_options(void)
{
	static OptionTable all;

	if (all.n > 0)
		return &all;
	options_join(&all, NULL, common_options);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		options_join(&all, commands[i].name, commands[i].options);
	return &all;
}

/* Splits "nccl|ucx|ofi PORT". *RET_FIRST is how long the first word is with its blank, or 0 if
 * there is one word. Returns the last word. */
static const char *last_argument(const Command *command, int *ret_first)
{
	const char *blank = command->argument ? strchr(command->argument, ' ') : NULL;

	*ret_first = blank ? (int)(blank + 1 - command->argument) : 0;
	return blank ? blank + 1 : command->argument;
}

/* The arguments as the help shows them: "[PORT...]". */
#define ARGUMENTS_SIZE 80
#define LONG_ARGUMENTS 48U
static const char *arguments_of(const Command *command, char buffer[ARGUMENTS_SIZE])
{
	int n;
	const char *last = last_argument(command, &n);
	bool optional = command->least < (n > 0 ? 2U : 1U);

	buffer[0] = '\0';
	if (last)
		snprintf(buffer, ARGUMENTS_SIZE, "%.*s%s%s%s%s", n, command->argument,
			 optional ? "[" : "", last, command->most > 1 ? "..." : "",
			 optional ? "]" : "");
	return buffer;
}

static void print_port_names(void)
{
	puts("\nPORT is mlx5_0/1 or mlx5_0:1, mlx5_0 for all ports of this device, a network\n"
	     "interface, an IP address, a GID, a GUID such as 0002:c903:00ab:cdef, or a PCI\n"
	     "address. A pattern such as 'mlx5_*' means all ports that match. Without PORT,\n"
	     "all ports are meant.");
}

static ExitStatus help(void)
{
	char arguments[ARGUMENTS_SIZE];

	puts("Usage: rdmactl [OPTION...] [COMMAND] [ARGUMENT...]\n\n"
	     "Shows the RDMA ports of this machine as rdmad knows them.\n\nCommands:");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char synopsis[2 * ARGUMENTS_SIZE];

		snprintf(synopsis, sizeof(synopsis), "%s %s", commands[i].name,
			 arguments_of(&commands[i], arguments));
		printf("  %-26s  %s\n", synopsis, commands[i].help);
	}
	printf("  %-26s  %s\n", "help [COMMAND]", "Print this text, or the help of a command");
	options_print(all_options(), NULL);
	print_port_names();
	puts("\nExit status: 0 done, 1 failed, 2 wrong usage, 3 no such port, 4 no rdmad, 5 cannot "
	     "ask.\n\n"
	     "Manual: rdmactl(1), and a page for each command such as rdmactl-list(1).");
	return STATUS_OK;
}

static ExitStatus help_command(const Command *command)
{
	char arguments[ARGUMENTS_SIZE];
	int n;

	(void)arguments_of(command, arguments);
	/* the libraries of env leave no room on their line */
	printf("Usage: rdmactl %s%s%s%s\n\n%s.\n",
	       strlen(arguments) > LONG_ARGUMENTS ? "" : "[OPTION...] ", command->name,
	       command->argument ? " " : "", arguments, command->help);
	options_print(all_options(), command->name);
	if (command->argument && startswith(last_argument(command, &n), "PORT"))
		print_port_names();
	printf("\nExamples:\n%s\nManual: rdmactl-%s(1); rdmactl(1) has the options of every "
	       "command.\n",
	       command->examples, command->name);
	return STATUS_OK;
}

static ExitStatus check_arguments(const Context *c, const Command *command)
{
	char **arguments = c->arguments;
	unsigned int n = c->n_arguments;
	int first;

	if (n < command->least) {
		(void)last_argument(command, &first);
		return usage_error("%s: expected %.*s", command->name,
				   first > 0 ? first - 1 : INT_MAX, command->argument);
	}
	if (n > command->most)
		return usage_error("%s: unexpected argument \"%s\"; expected %s%s", command->name,
				   arguments[command->most], command->most == 0 ? "none" : "one ",
				   command->most == 0 ? "" : command->argument);
	for (unsigned int i = 0; i < n; i++)
		if (!*arguments[i])
			return usage_error("%s: %s is empty", command->name, command->argument);
	return STATUS_OK;
}

static ExitStatus find_command(const char *name, const Command **ret)
{
	Suggestion suggestion = suggestion_for(name);
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (streq(commands[i].name, name)) {
			*ret = &commands[i];
			return STATUS_OK;
		}
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s, ", commands[i].name);
		suggestion_offer(&suggestion, commands[i].name);
	}
	/* the name of a port, at the place of the command */
	if (strchr(name, '/'))
		return usage_error("unknown command \"%s\"; did you mean rdmactl show %s?", name,
				   name);
	return usage_error("unknown command \"%s\"; expected %sor help%s", name, names,
			   suggestion_text(&suggestion));
}

static ExitStatus run_command(Context *c, const Command *command)
{
	_cleanup_(sd_bus_flush_close_unref_pointer) sd_bus *bus = NULL;
	unsigned int flags = command->flags | options_flags(&options);
	ExitStatus status = STATUS_OK;

	if (!(flags & RUN_OFFLINE))
		status = bus_connect(c, &bus);
	if (status != STATUS_OK)
		return status;
	c->bus = bus;
	status = terminal_start(c, !arg_no_pager && !(flags & RUN_ENDLESS));
	if (status != STATUS_OK)
		return status;
	status = command->run(c);
	terminal_finish(c);
	return status;
}

/* Runs "help" or "help COMMAND"; N is the number of arguments after "help". */
static ExitStatus run_help(char **arguments, unsigned int n)
{
	const Command *command;
	ExitStatus status;

	if (n == 0)
		return help();
	if (n > 1)
		return usage_error("help: unexpected argument \"%s\"; expected one COMMAND",
				   arguments[1]);
	status = find_command(arguments[0], &command);
	return status == STATUS_OK ? help_command(command) : status;
}

/* Reads the command line. *RET_COMMAND is the command, NULL if help is asked for; C has its
 * arguments. */
static ExitStatus parse(Context *c, int argc, char **argv, const Command **ret_command)
{
	/* as most people write it, the command is first */
	const char *name = argc > 1 && argv[1][0] != '-'
				   ? argv[1]
				   : options_find_command(all_options(), argc, argv);
	const Command *command = &commands[0];
	bool is_help = name && streq(name, "help");
	ExitStatus status = name && !is_help ? find_command(name, &command) : STATUS_OK;
	int first;

	if (status != STATUS_OK)
		return status;
	options_join(&options, NULL, common_options);
	if (!is_help)
		options_join(&options, command->name, command->options);
	status = options_parse(&options, name ?: command->name, all_options, argc, argv, &first);
	if (status != STATUS_OK)
		return status;
	if (!!c->host + !!c->machine + !streq(c->address, "system") > 1)
		return usage_error("of --host, --machine and --bus only one can be given");
	first += name != NULL;
	c->arguments = argv + first;
	c->n_arguments = (unsigned int)(argc - first);
	*ret_command = is_help || (!name && arg_help) ? NULL : command;
	return STATUS_OK;
}

static ExitStatus run(Context *c, int argc, char **argv)
{
	const Command *command;
	ExitStatus status = parse(c, argc, argv, &command);

	if (status != STATUS_OK)
		return status;
	if (arg_version) {
		puts("rdmactl " RDMAD_VERSION);
		return STATUS_OK;
	}
	if (!command)
		return run_help(c->arguments, c->n_arguments);
	if (arg_help)
		return help_command(command);
	status = check_arguments(c, command);
	return status == STATUS_OK ? run_command(c, command) : status;
}

static void set_language(void)
{
	/* no other category: scripts read the numbers too, with a point in every language, and
	 * each is a file to open */
	setlocale(LC_MESSAGES, "");
	setlocale(LC_CTYPE, "");
	/* names have letters of ASCII, and "I" is no capital "i" in Turkish: only the character set
	 * is that of the user */
	setlocale(LC_CTYPE, streq(nl_langinfo(CODESET), "UTF-8") ? "C.UTF-8" : "C");
}

int main(int argc, char **argv)
{
	set_language();
	return reported_status(terminal_flush(run(&context, argc, argv)));
}
