/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a Bus stands on: a cache with three ports, a shared memory, and a handler in the place of
 * the manager, which answers when the harness says so. */

#include "bus.h"
#include "fuzz.h"

#define WORLD_PORTS 3U

/* What the handler does with a call. */
typedef enum WorldAnswer {
	WORLD_AT_ONCE,
	WORLD_LATER, /* world_answer() */
	WORLD_NEVER, /* the device hangs */
	_WORLD_ANSWER_MAX
} WorldAnswer;

typedef struct World {
	sd_event *event;
	Cache cache;
	Config config;
	SharedMemory *memory;
	Bus *bus;
	WorldAnswer answer;
	/* calls that wait for the harness */
	PendingList queries, refreshes;
	Reading readings[WORLD_PORTS][_QUERY_KIND_MAX]; /* of each port */
	bool disconnected;
} World;

/* LARGE: a reply with all objects is longer than LONG_REPLY_SIZE. The Bus is connecting. */
void world_init(World *w, const char *address, bool large, uint64_t long_reply_rate);
void world_done(World *w);

/* Port I, counted from 0 to WORLD_PORTS - 1; NULL: it has gone. */
Port *world_port(World *w, unsigned int i);
/* The port has another state, and is told to have. */
void world_change(World *w, Port *p, uint32_t state);
/* The last device goes, with its port; or, when it is not there, it comes. */
void world_toggle_device(World *w);
/* Answers all calls that wait for the handler, with ERROR or well (0). */
void world_answer(World *w, int error);
