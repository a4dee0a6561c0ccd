/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The shared memory: the daemon writes here what it publishes of each port, and every program may
 * read it with librdmad. lib/librdmad/memory-layout.h says what is where, and
 * lib/librdmad/memory-fields.def has a row for each field.
 *
 * A write takes well below a microsecond, and no reader can make it wait. If there are more ports
 * than records, a memory of twice the size replaces the old one, and the old one tells its readers.
 */

#include <systemd/sd-event.h>

#include "cache.h"

typedef struct SharedMemory SharedMemory;

/* At first there is room for CAPACITY ports; 0 stands for the default. */
int shared_memory_new(sd_event *event, uint32_t capacity, SharedMemory **ret);
/* Tells the readers that the daemon ends. S may be NULL. Returns NULL. */
SharedMemory *shared_memory_free(SharedMemory *s);
DEFINE_CLEANUP(SharedMemory, shared_memory_free);

/* What is published of a port has changed as C says. To be called before shared_memory_put(): the
 * record counts the changes of rows that it has no field for. */
void shared_memory_count(const PortChange *c);
/* Writes what is known of P, which gets a record if it has none. CHANGED: the readers are told.
 * They are also told when P is new or has another name. Logs it if there is no room. */
void shared_memory_put(SharedMemory *s, Port *p, bool changed);
/* P has gone: takes its record away, if it has one, and tells the readers. */
void shared_memory_remove(SharedMemory *s, Port *p);

/*
 * Makes what one reader of user UID gets: *RET_MEMORY, an open file of its own, for reading only,
 * and *RET_CHANGED, the read end of a pipe of its own (see memory-listeners.h). The caller closes
 * both. -EUSERS: that user has too many; -ENFILE: all users together have. -EMFILE and others: what
 * opening failed with.
 */
int shared_memory_open(SharedMemory *s, uid_t uid, int *ret_memory, int *ret_changed);
