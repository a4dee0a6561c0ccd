/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad: serves the machine's own ports. */

#include "find-program.h"
#include "landlock.h"
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
	"Serve the attributes of the machine's RDMA ports on D-Bus.\n"
	"\n"
	"  --simulate=FILE     Serve the devices of a scenario, not the machine's\n"
	"  --config=FILE       Read this configuration (default: " RDMAD_SYSCONF_DIR
	"/rdmad.conf)\n"
	"  --bus=ADDRESS       Serve on this bus: system (default), session or an address\n"
	"  --state=DIRECTORY   Keep the histories of ports there (default: $STATE_DIRECTORY)\n"
	"  --worker=PATH       Run this program for what can block\n"
	"  --log-level=LEVEL   Log up to err, warning, notice, info (default) or debug\n"
	"  --help, --version\n"
	"\n"
	"See rdmad(8).";

static int open_kernel(sd_event *event, const Config *config, const SourceHandler *handler,
		       void *userdata, Source **ret)
{
	int r = source_kernel_new(event, config, arg_worker, handler, userdata, ret);

	/* For all workers, which find the same */
	if (landlock_abi() == 0)
		log_notice("This kernel has no Landlock: workers can read all that their user can");
	return r < 0 ? log_error_errno(r, "Cannot set up what watches the kernel: %m") : 0;
}

static const Program program = {"rdmad", help, options, NULL, true, true, open_kernel};

/* Replaces this program by rdmad-simulate, so that the service has no simulator in it. Returns only
 * when that fails. */
static int execute_simulator(const ProgramArguments *a)
{
	const struct {
		const char *name, *value;
	} given[] = {{"--config", a->config},
		     {"--bus", a->bus},
		     {"--state", a->state},
		     {"--log-level", a->log_level}};
	_cleanup_free_ char *path = find_program("rdmad-simulate");
	char *argv[2 * ARRAY_SIZE(given) + 4] = {path};
	size_t n = 1;

	if (!path) {
		log_error_errno(-ENOMEM, "No memory to start: %m");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		if (!given[i].value)
			continue;
		argv[n++] = CONST_CAST(char *, given[i].name);
		argv[n++] = CONST_CAST(char *, given[i].value);
	}
	argv[n++] = CONST_CAST(char *, "--");
	argv[n] = CONST_CAST(char *, arg_simulate);
	execv(path, argv);
	log_error_errno(-errno, "Cannot execute %s: %m", path);
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
