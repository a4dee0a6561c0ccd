/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The shared memory in which every program may read what is published of the ports: written here,
 * read by librdmad, laid out by lib/librdmad/memory-layout.h.
 *
 * A write takes well below a microsecond, and whatever a reader does cannot make it wait. When
 * there are more ports than records a memory twice as large takes the place of the old one, which
 * says so to its readers.
 */

#include <systemd/sd-event.h>

#include "cache.h"

typedef struct SharedMemory SharedMemory;

/* Room for CAPACITY ports at first, 0: the default. */
int shared_memory_new(sd_event *event, uint32_t capacity, SharedMemory **ret);
/* Tells the readers that this is the end. */
SharedMemory *shared_memory_free(SharedMemory *s);
DEFINE_CLEANUP(SharedMemory, shared_memory_free);

/* Writes what is known of P; its readers hear of it if it CHANGED. Logs. */
void shared_memory_put(SharedMemory *s, Port *p, bool changed);
/* P has gone. */
void shared_memory_remove(SharedMemory *s, Port *p);

/*
 * What one reader of user UID gets, to be closed by the caller: *RET_MEMORY, an open file of its
 * own, for reading only, and *RET_CHANGED, the read end of a pipe of its own. -EUSERS, -ENFILE:
 * that user, or all together, have too many.
 */
int shared_memory_open(SharedMemory *s, uid_t uid, int *ret_memory, int *ret_changed);
