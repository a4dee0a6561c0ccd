/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The daemon's side of a shared memory, and readers of it, in one process. */

#include "cache.h"
#include "rdmad.h"
#include "shared-memory.h"

/* The ports that the memory has room for before it grows. */
#define FIXTURE_CAPACITY 2U

typedef struct Fixture {
	sd_event *event;
	Cache cache;
	SharedMemory *memory;
} Fixture;

/* Setup and teardown as cmocka wants them: *STATE is the fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A device in the cache with its ports, about which nothing else is known. PROTOCOL is "ib", "roce"
 * or "opa", as the kernel says it. */
Device *fixture_add_device(Fixture *f, uint32_t index, const char *name, uint32_t ports,
			   AttrProtocol protocol);

/* The answer to a query: of an active InfiniBand port with every field that it can have, each with
 * another value; of a RoCE port that is down, with NETDEV. */
PortSnapshot fixture_all_fields(void);
PortSnapshot fixture_roce_port(const char *netdev);

/* A query of P was answered by S, which is taken: applies it to the cache and writes the record. */
void fixture_put(Fixture *f, Port *p, PortSnapshot s);

/* A new reader on behalf of user UID. */
struct rdmad *fixture_open(Fixture *f, uid_t uid);

/* The handle of the port NAME, which is there. */
struct rdmad_handle fixture_find(const struct rdmad *r, const char *name);

/* Lets the daemon's event loop do what it has to do. */
void fixture_run(Fixture *f);
