/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The simulator is a source that has a scenario, rdmad-scenario(5), in place of the kernel. It
 * keeps the time: it answers the queries of the core, and carries out the script. The devices are
 * those of a SimulatedMachine.
 */

#include "config.h"
#include "source.h"

/* Makes the source from the file at PATH; Source says what HANDLER is. If the file is wrong or
 * cannot be read, *RET_MESSAGE, for the caller to free, is "FILE:LINE: what is wrong, what was
 * expected". */
int simulator_new(sd_event *event, const Config *config, const char *path,
		  const SourceHandler *handler, void *userdata, Source **ret, char **ret_message);

/* Carries out one command on the machine of SOURCE, which simulator_new() made; see
 * simulated_commands_run(). It must not be called from the handler. */
int simulator_run(Source *source, const char *const *words, uint32_t *ret_index,
		  char **ret_message);
