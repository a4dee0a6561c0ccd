/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The lines that libraries write to standard error. libibverbs and its drivers warn of the same
 * thing each time that they list devices, or open one; the log has each line once.
 */

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdio.h>

/* At most so many lines are said by one process. */
#define SAID_MAX 64U

typedef struct Said {
	FILE *before, *stream;
	char *text;
	size_t size;
} Said;

/* From here to said_end(), what this process writes to stderr is kept. */
void said_begin(Said *s);
/* Logs the lines that were not logged before. errno stays. */
void said_end(Said *s);

/* ibv_get_device_list() and ibv_open_device(), between these two. */
struct ibv_device **said_list_devices(void);
struct ibv_context *said_open_device(struct ibv_device *d);
