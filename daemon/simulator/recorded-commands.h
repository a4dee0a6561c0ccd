/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The commands of a record: what was answered, and which events were noted. Their arguments are
 * those of record-keys.def, and KEY=VALUE: what has changed, as recorded-values.h has it.
 */

#include "command-arguments.h"

/* Command.run of "answer PORT|DEVICE ARGUMENT...", of "noted PORT|DEVICE ARGUMENT...", and of
 * "asked NAME": all of a new device has been said. ARGS has the N words behind the verb. As
 * simulated_commands_run(). */
int recorded_run_answer(SimulatedMachine *sim, const char *const *args, size_t n,
			char **ret_message);
int recorded_run_noted(SimulatedMachine *sim, const char *const *args, size_t n,
		       char **ret_message);
int recorded_run_asked(SimulatedMachine *sim, const char *const *args, size_t n,
		       char **ret_message);
