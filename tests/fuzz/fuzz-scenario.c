/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scenario files: the input is the file. A file without errors makes its devices, and then every
 * step of its script is carried out once. */

#include "input.h"
#include "scenario.h"
#include "simulated-commands.h"

/* What is larger takes long and shows nothing new. */
#define FILE_SIZE_MAX 20000U
#define PORTS_MAX     600U

static void run(Scenario *scenario)
{
	_cleanup_free_ char *message = NULL;
	SimulatedMachine machine = {};
	unsigned int line = 0;
	int r;

	simulated_machine_init(&machine, scenario);
	r = simulated_machine_populate(&machine, &line, &message);
	if (r >= 0)
		r = simulated_commands_rehearse(&machine, &line, &message);
	FUZZ_CHECK(r == 0 || (r < 0 && message));
	FUZZ_CHECK(machine.n_ports <= SCENARIO_PORTS_MAX);
	simulated_machine_done(&machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *message = NULL;
	char path[INPUT_PATH_MAX];
	Scenario *scenario = NULL;
	int r;

	if (size > FILE_SIZE_MAX)
		return 0;
	input_file(&(FuzzInput){data, size}, path);
	r = scenario_load(path, &scenario, &message);
	FUZZ_CHECK(r == 0 || (r < 0 && message));
	if (r < 0)
		return 0;
	if (scenario_port_count(scenario) > PORTS_MAX)
		scenario_free(scenario);
	else
		run(scenario);
	return 0;
}
