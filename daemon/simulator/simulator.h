/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A source that takes a scenario, rdmad-scenario(5), in place of the kernel: its devices, its
 * queries and its events are those of the file, of the script in it, and of commands that come by
 * D-Bus.
 */

#include "config.h"
#include "source.h"

/* On a bad file *RET_MESSAGE, for the caller to free, is "FILE:LINE: what was wrong, what was
 * expected". */
int simulator_new(sd_event *event, const Config *config, const char *path,
		  const SourceHandler *handler, void *userdata, Source **ret, char **ret_message);

/*
 * Carries out one command of the script, given as its words (NULL-terminated). It takes effect as a
 * whole or not at all: -EINVAL, -ENOENT (no such device or port), -EEXIST (the name is taken),
 * -ENOSPC (too many) with a message. *RET_INDEX, which may be NULL, is set by "add". Not to be
 * called from the handler.
 */
int simulator_run(Source *source, char *const *words, uint32_t *ret_index, char **ret_message);
