/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The kernel as a source: the watchers (watch-*.h) hear what happens, and the workers (pool.h)
 * answer the queries.
 */

#include "config.h"
#include "source.h"

/* WORKER_PATH is the one that pool_new() takes. HANDLER must outlive the source. The caller frees
 * *RET with source_free(). A negative errno if one of its parts cannot be made. */
int source_kernel_new(sd_event *event, const Config *config, const char *worker_path,
		      const SourceHandler *handler, void *userdata, Source **ret);