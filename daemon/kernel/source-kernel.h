/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The source that is the kernel: what happens is heard by the watchers (watch-*.h), what is asked
 * goes to the workers (pool.h).
 */

#include "config.h"
#include "source.h"

/* WORKER_PATH as for pool_new(). HANDLER must outlive the source. Free with source_free(). */
int source_kernel_new(sd_event *event, const Config *config, const char *worker_path,
		      const SourceHandler *handler, void *userdata, Source **ret);