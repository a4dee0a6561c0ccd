/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Carries out commands on the simulated machine. The commands of a script and those of
 * org.rdma.Simulator are the same: rdmad-scenario(5) describes them.
 */

#include "simulated-machine.h"

/*
 * Carries out one command, given as its words (NULL-terminated). A command takes effect as a whole
 * or not at all: -EINVAL, -ENOENT (no such device or port), -EEXIST (the name is taken), -ENOSPC
 * (too many devices or ports), each with a message. "add" leaves the kernel index of the new device
 * in the machine.
 */
int simulated_commands_run(SimulatedMachine *machine, const char *const *words, char **ret_message);

/*
 * Carries out each step of the script once, in order of time, so that a step that cannot work is an
 * error of the file at the start and not a warning some hours later. On an error *RET_LINE is the
 * line of the step. 1: the step in *RET_LINE and those behind it were not tried, because that would
 * take too long.
 */
int simulated_commands_rehearse(SimulatedMachine *machine, unsigned int *ret_line,
				char **ret_message);
