/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad: serves the machine's own ports. */

#include "find-program.h"
#include "log.h"
#include "program.h"
#include "source-kernel.h"

static const char *arg_simulate;
static const char *arg_worker;

static const ProgramOption options[] = {
	{"simulate", &arg_simulate},
	{"worker", &arg_worker},
	{},
};

static const char help[] =
	"rdmad [OPTION...]\n"
	"\n"
	"Serves the attributes of the machine's RDMA ports on D-Bus.\n"
	"\n"
	"  --simulate=FILE     serve the devices of a scenario, not the machine's\n"
	"  --config=FILE       configuration (default: " RDMAD_SYSCONF_DIR "/rdmad.conf)\n"
	"  --bus=ADDRESS       bus to serve on: system (default), session or an address\n"
	"  --worker=PATH       program to run for what can block\n"
	"  --log-level=LEVEL   err, warning, notice, info (default) or debug\n"
	"  --help, --version\n"
	"\n"
	"See rdmad(8).";

static int open_kernel(sd_event *event, const Config *config, const SourceHandler *handler,
		       void *userdata, Source **ret)
{
	int r = source_kernel_new(event, config, arg_worker, handler, userdata, ret);

	return r < 0 ? log_error_errno(r, "Cannot set up what watches the kernel: %m") : 0;
}

static const Program program = {"rdmad", help, options, NULL, open_kernel};

/* Adds NAME=VALUE to the arguments at *N, if there is a value. */
static void add_argument(char *argv[], size_t *n, const char *name, const char *value)
{
	if (value && asprintf(&argv[*n], "%s=%s", name, value) > 0)
		(*n)++;
}

/* A scenario is another program's: this one then has nothing of it in it. */
static int execute_simulator(const ProgramArguments *a)
{
	char *argv[8] = {find_program("rdmad-simulate")};
	size_t n = 1;

	add_argument(argv, &n, "--config", a->config);
	add_argument(argv, &n, "--bus", a->bus);
	add_argument(argv, &n, "--log-level", a->log_level);
	argv[n++] = CONST_CAST(char *, "--");
	argv[n] = CONST_CAST(char *, arg_simulate);
	if (argv[0])
		execv(argv[0], argv);
	log_error_errno(argv[0] ? -errno : -ENOMEM, "Cannot execute %s: %m",
			argv[0] ? argv[0] : "rdmad-simulate");
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	ProgramArguments arguments;
	int r = program_parse(&program, argc, argv, &arguments);

	if (r <= 0)
		return r == 0 ? EXIT_SUCCESS : 2;
	return arg_simulate ? execute_simulator(&arguments) : program_run(&program, &arguments);
}
