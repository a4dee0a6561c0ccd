/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl: the options and the table of commands. */

#include "rdmactl.h"

#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>

#include "bus.h"
#include "terminal.h"

typedef struct Command {
	const char *name;
	const char *arguments; /* as in the help */
	unsigned int least, most;
	bool endless; /* writes as things happen: no pager */
	ExitStatus (*run)(Context *c);
	const char *help;
} Command;

/* clang-format off */
static const Command commands[] = {
	{"list",    "",          0, 0,        false, list_command,    "One line for each port (the default)"},
	{"show",    "PORT",      1, 1,        false, show_command,    "All attributes of a port"},
	{"monitor", "[PORT...]", 0, UINT_MAX, true,  monitor_command, "Changes as they happen"},
	{"query",   "PORT",      1, 1,        false, query_command,   "The raw C fields, read from the hardware now"},
	{"devices", "",          0, 0,        false, devices_command, "All attributes of all devices"},
};
/* clang-format on */

static const char *arg_host, *arg_machine;
static bool arg_json, arg_no_pager, arg_max_age_set;
static uint64_t arg_max_age_usec;

void complain(const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text_sanitize(text, sizeof(text));
	fprintf(stderr, "rdmactl: %s\n", text);
}

ExitStatus out_of_memory(void)
{
	complain("out of memory");
	return STATUS_FAILED;
}

static ExitStatus help(void)
{
	puts("Usage: rdmactl [OPTION...] [COMMAND] [PORT]\n\n"
	     "Shows the RDMA ports of this machine as rdmad knows them.\n\nCommands:");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char synopsis[32];

		snprintf(synopsis, sizeof(synopsis), "%s %s", commands[i].name,
			 commands[i].arguments);
		printf("  %-20s %s\n", synopsis, commands[i].help);
	}
	puts("  help                 This text\n\n"
	     "PORT is mlx5_0/1, mlx5_0 if that has one port, a network interface, or a port\n"
	     "GUID such as 0002:c903:00ab:cdef.\n\n"
	     "Options:\n"
	     "  -h, --help           This text\n"
	     "      --version        The version\n"
	     "      --json           JSON; monitor writes one object a line\n"
	     "      --no-pager       No pager for long output\n"
	     "      --max-age=SEC    query: values that old will do\n"
	     "  -H, --host=[USER@]HOST  Ask rdmad of another machine, over SSH\n"
	     "  -M, --machine=CONTAINER  Ask rdmad of a local container\n\n"
	     "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no such port, 4 no rdmad.");
	return STATUS_OK;
}

/* SECONDS with a fraction; false if it is none, or too large for microseconds in 64 bits. */
static bool parse_seconds(const char *text, uint64_t *ret_usec)
{
	char *end;
	double seconds;

	if (!strchr("0123456789.", text[0]) || !text[0])
		return false;
	seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e12)
		return false;
	*ret_usec = (uint64_t)(seconds * (double)USEC_PER_SEC);
	return true;
}

enum {
	OPTION_VERSION = 256,
	OPTION_JSON,
	OPTION_NO_PAGER,
	OPTION_MAX_AGE,
};

/* Says which option getopt_long() has just refused, by what it left: RESULT is ':' or '?'. */
static void complain_option(char **argv, int result)
{
	const char *word = argv[optind - 1];
	const char letter[] = {'-', (char)optopt, '\0'};

	if (result == ':')
		complain("option %s needs an argument; see rdmactl --help",
			 startswith(word, "--") ? word : letter);
	else if (optopt == 0) /* a long option that is none */
		complain("unknown option %s; see rdmactl --help", word);
	else if (optopt >= OPTION_VERSION || optopt == 'h') /* one that is */
		complain("option %s: unexpected argument; see rdmactl --help", word);
	else
		complain("unknown option %s; see rdmactl --help", letter);
}

static ExitStatus parse_options(int argc, char **argv, bool *ret_done)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPTION_VERSION},
		{"json", no_argument, NULL, OPTION_JSON},
		{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
		{"max-age", required_argument, NULL, OPTION_MAX_AGE},
		{"host", required_argument, NULL, 'H'},
		{"machine", required_argument, NULL, 'M'},
		{},
	};
	int option;

	*ret_done = false;
	while ((option = getopt_long(argc, argv, ":hH:M:", options, NULL)) >= 0)
		switch (option) {
		case 'h':
			*ret_done = true;
			return help();
		case OPTION_VERSION:
			*ret_done = true;
			puts("rdmactl " RDMAD_VERSION);
			return STATUS_OK;
		case OPTION_JSON:
			arg_json = true;
			break;
		case OPTION_NO_PAGER:
			arg_no_pager = true;
			break;
		case OPTION_MAX_AGE:
			arg_max_age_set = true;
			if (!parse_seconds(optarg, &arg_max_age_usec)) {
				complain("--max-age=%s: expected seconds, such as 0.5", optarg);
				return STATUS_USAGE;
			}
			break;
		case 'H':
			arg_host = optarg;
			break;
		case 'M':
			arg_machine = optarg;
			break;
		default:
			complain_option(argv, option);
			return STATUS_USAGE;
		}
	if (arg_host && arg_machine) {
		complain("--host and --machine exclude each other");
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static ExitStatus check_arguments(const Command *command, char **arguments, unsigned int n)
{
	if (n < command->least) {
		complain("%s: expected %s", command->name, command->arguments);
		return STATUS_USAGE;
	}
	if (n > command->most) {
		complain("%s: unexpected argument \"%s\"; expected %s", command->name,
			 arguments[command->most], command->most == 0 ? "none" : "one port");
		return STATUS_USAGE;
	}
	for (unsigned int i = 0; i < n; i++)
		if (!*arguments[i]) {
			complain("%s: PORT is empty", command->name);
			return STATUS_USAGE;
		}
	if (arg_max_age_set && command->run != query_command) {
		complain("--max-age goes with query, not with %s", command->name);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static const Command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (streq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static ExitStatus run_command(const Command *command, char **arguments, unsigned int n_arguments)
{
	_cleanup_(sd_bus_flush_close_unref_pointer) sd_bus *bus = NULL;
	Context c = {
		.json = arg_json,
		.max_age_usec = arg_max_age_usec,
		.arguments = arguments,
		.n_arguments = n_arguments,
	};
	ExitStatus status;

	status = bus_connect(arg_host, arg_machine, &bus);
	if (status != STATUS_OK)
		return status;
	c.bus = bus;
	status = terminal_start(&c, !arg_no_pager && !command->endless);
	if (status != STATUS_OK)
		return status;
	status = command->run(&c);
	return terminal_finish(&c, status);
}

int main(int argc, char **argv)
{
	const Command *command = &commands[0];
	unsigned int n;
	ExitStatus status;
	bool done;

	setlocale(LC_ALL, "");
	/* numbers are for scripts as well */
	setlocale(LC_NUMERIC, "C");
	opterr = 0;
	status = parse_options(argc, argv, &done);
	if (status != STATUS_OK || done)
		return status;

	n = (unsigned int)(argc - optind);
	argv += optind;
	if (n > 0) {
		if (streq(argv[0], "help")) {
			if (n == 1)
				return help();
			complain("help: unexpected argument \"%s\"; expected none", argv[1]);
			return STATUS_USAGE;
		}
		command = find_command(argv[0]);
		if (!command) {
			complain("unknown command \"%s\"; expected list, show, monitor, query, "
				 "devices or help",
				 argv[0]);
			return STATUS_USAGE;
		}
		argv++;
		n--;
	}
	status = check_arguments(command, argv, n);
	return status == STATUS_OK ? run_command(command, argv, n) : status;
}
