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
	const char *argument;	  /* its name in the help; NULL: the command takes none. Of two
				     words the first is one argument that must be there */
	unsigned int least, most; /* the number of arguments */
	unsigned int flags;	  /* RunFlags */
	const Option *options;	  /* its own; NULL: none */
	ExitStatus (*run)(Context *c);
	const char *help;
	const char *examples;
} Command;

/* clang-format off */
static const Command commands[] = {
	{"list",     "PORT",      0, UINT_MAX,        0,           list_options,     list_command,
	 "Print one line for each port (the default)",
	 "  rdmactl                           the ports\n"
	 "  rdmactl list -o Port,State,FirmwareVersion --sort=-Rate\n"
	 "  rdmactl list -o +NetdevMtu\n"
	 "  rdmactl list -o help              the columns that there are\n"
	 "  for port in $(rdmactl list -q); do ...\n"
	 "  rdmactl --json | jq .Ports[].Rate      their rates, for a script\n"},
	{"show",     "PORT",      0, UINT_MAX, 0,           show_options,     show_command,
	 "Print all attributes of ports",
	 "  rdmactl show eth2                 the port behind a network interface\n"
	 "  rdmactl show --history=32 mlx5_0/1\n"},
	{"map",      "PORT",      0, UINT_MAX, 0,           map_options,      map_command,
	 "Print interface, PCI address and NUMA node of ports",
	 "  rdmactl map                       which network interface is on which port?\n"
	 "  rdmactl map --gpu                 which port is near to which GPU?\n"},
	{"neighbors", "PORT",     0, UINT_MAX, 0,           NULL,             neighbors_command,
	 "Print what is at the other ends of links",
	 "  rdmactl neighbors                 which port of which switch?\n"
	 "  rdmactl neighbors --json | jq .Ports[].Neighbor\n"},
	{"cable",    "PORT",         0, UINT_MAX, 0,           NULL,             cable_command,
	 "Print which cables and transceivers are in the cages",
	 "  rdmactl cable                     which cable is where, with how much light?\n"
	 "  rdmactl cable --json | jq .Ports[].CableSerialNumber\n"},
	{"gid",      "PORT|ADDRESS", 0, UINT_MAX, 0,           NULL,             gid_command,
	 "Print the GIDs of ports, or that of an address",
	 "  rdmactl gid                       the GID tables of all ports\n"
	 "  rdmactl gid 192.0.2.7             the port and the index to use for an address\n"},
	{"env",      library_arguments + 1, 1, UINT_MAX, 0, env_options, env_command,
	 "Print what to set for a library",
	 "  eval \"$(rdmactl env nccl)\"        NCCL_IB_HCA and NCCL_IB_GID_INDEX\n"
	 "  rdmactl env ucx mlx5_0 mlx5_1     for these ports only\n"
	 "  rdmactl env nccl --rate=400G      for ports with this rate\n"
	 "  rdmactl env nccl --gpu=0          for those that are nearest to this GPU\n"},
	{"monitor",  "PORT",      0, UINT_MAX, RUN_ENDLESS, monitor_options,  monitor_command,
	 "Print changes as they happen",
	 "  rdmactl monitor mlx5_0/1          until it is interrupted\n"
	 "  rdmactl monitor --property=State --exec='logger -t rdma link'\n"},
	{"query",    "PORT",      0, UINT_MAX,        0,           query_options,    query_command,
	 "Read the raw C fields from the hardware now",
	 "  rdmactl query mlx5_0/1            what ibv_query_port() returns\n"
	 "  rdmactl query --max-age=10 mlx5_0/1\n"},
	{"devices",  "DEVICE",    0, UINT_MAX,        0,           devices_options,  devices_command,
	 "Print all attributes of devices",
	 "  rdmactl devices --limits mlx5_0   what ibv_query_device_ex() returns\n"
	 "  rdmactl devices --json | jq -r .Devices[].FirmwareVersion\n"},
	{"check",    "PORT",      0, UINT_MAX, 0,           check_options,    check_command,
	 "Print what is wrong with the ports",
	 "  rdmactl check                     exit status 1 if something is wrong\n"
	 "  rdmactl check mlx5_0 --expect Rate=400G --expect State=active\n"
	 "  rdmactl check --expect /etc/rdmad/expect.conf --json\n"},
	{"acknowledge", "CHECK PORT", 2, UINT_MAX, 0,       acknowledge_options, acknowledge_command,
	 "Say that what is wrong with ports is known",
	 "  rdmactl acknowledge flap mlx5_0/1 --text='cable exchanged'\n"
	 "  rdmactl acknowledge not-active 'mlx5_*'\n"},
	{"compare",  "HOST",      0, UINT_MAX, RUN_OFFLINE, compare_options,  compare_command,
	 "Print how machines differ from others of their kind",
	 "  rdmactl compare --hosts=FILE      a machine on each line of FILE\n"
	 "  rdmactl compare node1 node2 node3\n"
	 "  rdmactl compare --hosts=FILE --write-expect=/etc/rdmad/expect.conf\n"},
	{"topology", NULL,        0, 0,        RUN_OFFLINE, topology_options, topology_command,
	 "Print at which switches machines are",
	 "  rdmactl topology --slurm --hosts=FILE >topology.conf\n"
	 "  rdmactl topology --dot --hosts=FILE | dot -Tsvg >fabric.svg\n"},
	{"counters", "PORT",      0, UINT_MAX,        0,           counters_options, counters_command,
	 "Print the counters of ports, with their units",
	 "  rdmactl counters mlx5_0/1\n"
	 "  rdmactl counters --watch=1 mlx5_0/1   how fast they change\n"
	 "  rdmactl counters --save=/run/job.counters          before a job\n"
	 "  rdmactl counters --since=/run/job.counters --total  after it\n"},
	{"top",      "PORT",      0, UINT_MAX, RUN_ENDLESS, top_options,      top_command,
	 "Show ports and their rates as they change",
	 "  rdmactl top                       q ends it, ? shows the keys\n"
	 "  rdmactl top --interval=1 'mlx5_*'\n"
	 "  rdmactl top --batch -n 3 >FILE\n"},
	{"users",    "PORT",      0, UINT_MAX,        0,           NULL,             users_command,
	 "Print who has queue pairs on ports",
	 "  rdmactl users mlx5_0/1            which jobs does this cable hit?\n"
	 "  rdmactl users --json | jq -r '.Ports[].Users[].Job'\n"},
	{"history",  "PORT",      0, UINT_MAX,        0,           history_options,  history_command,
	 "Print the last changes of the state of ports",
	 "  rdmactl history mlx5_0/1          does the link flap, and since when?\n"
	 "  rdmactl history --cable MT2451VS01234   wherever this cable was\n"
	 "  rdmactl history --json ib0 | jq -r .Ports[].Transitions[].To\n"},
	{"explain",  "PORT",      0, UINT_MAX,        0,           explain_options,  explain_command,
	 "Print the cause of the last trouble of ports",
	 "  rdmactl explain mlx5_0/1          why is it down, and what was seen of that?\n"
	 "  rdmactl explain --since=10min\n"
	 "  rdmactl explain --list            the causes that are known\n"},
	{"record",   "list|show|export|verify DEVICE|PORT", 1, UINT_MAX, RUN_OFFLINE, record_options, record_command,
	 "Print the changes that rdmad recorded",
	 "  rdmactl record list               from when to when, in how many segments\n"
	 "  rdmactl record show --since=2h mlx5_0/1\n"
	 "  rdmactl record export --at=2h >incident.conf   the segment of two hours ago\n"
	 "  rdmad --simulate=incident.conf    plays it\n"
	 "  rdmactl record verify FILE        can it have been so?\n"},
	{"metrics",  "PORT",      0, UINT_MAX, RUN_OFFLINE, metrics_options,  metrics_command,
	 "Print metrics for Prometheus",
	 "  rdmactl metrics --format=openmetrics\n"
	 "  rdmactl metrics -o /var/lib/prometheus/node-exporter/rdma.prom\n"
	 "  rdmactl metrics --names=node_exporter --no-counters mlx5_0\n"},
	{"describe", "ATTRIBUTE", 0, 1,        RUN_OFFLINE, NULL,             describe_command,
	 "Explain an attribute or a counter, or list all",
	 "  rdmactl describe LinkSpeed\n"
	 "  rdmactl describe speed            the attributes with this in their names\n"
	 "  rdmactl describe symbol_error\n"
	 "  rdmactl describe --json | jq -r '.Attributes[].Name'\n"},
	{"wait",     "PORT",      0, UINT_MAX, RUN_ENDLESS, wait_options,     wait_command,
	 "Wait until ports are active",
	 "  rdmactl wait mlx5_0/1 mlx5_1/1    until both are active\n"
	 "  rdmactl wait 'mlx5_*'             all that match now\n"
	 "  rdmactl wait --timeout=60 --gid=192.0.2.7 eth2\n"
	 "  rdmactl wait --any --rate=200G ib0 ib1\n"},
	{"ping",     "PEER",      1, UINT_MAX, RUN_ENDLESS, ping_options,     ping_command,
	 "Try whether the RDMA stacks of peers answer",
	 "  rdmactl ping node17               nothing has to run there\n"
	 "  rdmactl ping --from=mlx5_3 --count=1 192.0.2.17 192.0.2.18\n"
	 "  rdmactl ping --json node17 | jq -r '.Peers[].Tries[].Broken'\n"},
	{"doctor",   NULL,        0, 0,        RUN_OFFLINE, doctor_options,   doctor_command,
	 "Print what is missing on this machine, if anything",
	 "  rdmactl doctor                    also what a report of a bug begins with\n"
	 "  rdmactl doctor --list             what rdmad asks of a kernel\n"
	 "  rdmactl doctor --json | jq -r .Advice[]\n"},
};
/* clang-format on */

static Context context = {.address = "system"};
static bool arg_help, arg_version, arg_no_pager;
static OptionTable options; /* of all commands */

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

static void join_options(void)
{
	options_join(&options, NULL, common_options);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		options_join(&options, commands[i].name, commands[i].options);
	options_prefer(&options, NULL);
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
	options_print(&options, NULL);
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
	options_print(&options, command->name);
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

static ExitStatus run(Context *c, int argc, char **argv)
{
	const Command *command = &commands[0];
	const char *name;
	ExitStatus status;
	int first;

	join_options();
	name = options_find_command(&options, argc, argv);
	options_prefer(&options, name ? name : command->name);
	status = options_parse(&options, argc, argv, &first);
	if (status != STATUS_OK)
		return status;
	if (!!c->host + !!c->machine + !streq(c->address, "system") > 1)
		return usage_error("of --host, --machine and --bus only one can be given");
	c->arguments = argv + first;
	c->n_arguments = (unsigned int)(argc - first);
	if (arg_version) {
		puts("rdmactl " RDMAD_VERSION);
		return STATUS_OK;
	}
	if (c->n_arguments == 0 && arg_help)
		return help();
	if (c->n_arguments > 0) {
		name = *c->arguments++;
		c->n_arguments--;
		if (streq(name, "help"))
			return run_help(c->arguments, c->n_arguments);
		status = find_command(name, &command);
	}
	if (status == STATUS_OK && arg_help)
		return help_command(command);
	if (status == STATUS_OK)
		status = options_check(&options, command->name);
	if (status == STATUS_OK)
		status = check_arguments(c, command);
	return status == STATUS_OK ? run_command(c, command) : status;
}

static void set_language(void)
{
	setlocale(LC_ALL, "");
	/* scripts read the numbers too: with a point in every language */
	setlocale(LC_NUMERIC, "C");
	/* names have letters of ASCII, and "I" is no capital "i" in Turkish: only the character set
	 * is that of the user */
	setlocale(LC_CTYPE, streq(nl_langinfo(CODESET), "UTF-8") ? "C.UTF-8" : "C");
}

int main(int argc, char **argv)
{
	set_language();
	return reported_status(terminal_flush(run(&context, argc, argv)));
}
