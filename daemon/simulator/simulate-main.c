/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad-simulate: serves the devices of a scenario. "rdmad --simulate=FILE" executes it. */

#include "log.h"
#include "program.h"
#include "simulator.h"

static const char *arg_scenario;

static const char help[] =
	"rdmad-simulate [OPTION...] FILE\n"
	"\n"
	"Serve the devices of a scenario on D-Bus, as rdmad serves those of the machine.\n"
	"\n"
	"  --config=FILE       Read this configuration (default: " RDMAD_SYSCONF_DIR
	"/rdmad.conf)\n"
	"  --bus=ADDRESS       Serve on this bus: system (default), session or an address\n"
	"  --state=DIRECTORY   Keep the histories of ports there (default: nowhere)\n"
	"  --log-level=LEVEL   Log up to err, warning, notice, info (default) or debug\n"
	"  --help, --version\n"
	"\n"
	"See rdmad-scenario(5).";

static int open_scenario(sd_event *event, const Config *config, const SourceHandler *handler,
			 void *userdata, Source **ret)
{
	_cleanup_free_ char *message = NULL;
	int r = simulator_new(event, config, arg_scenario, handler, userdata, ret, &message);

	if (r < 0 && message)
		return log_error_errno(r, "%s", message);
	return r < 0 ? log_error_errno(r, "%s: %m", arg_scenario) : 0;
}

int main(int argc, char *argv[])
{
	static const Program program = {"rdmad-simulate", help, NULL, &arg_scenario, false, false,
					open_scenario};
	ProgramArguments arguments;
	int r = program_parse(&program, argc, argv, &arguments);

	if (r <= 0)
		return r == 0 ? EXIT_SUCCESS : 2;
	return program_run(&program, &arguments);
}
