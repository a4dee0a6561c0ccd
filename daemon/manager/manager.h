/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns everything and moves the data one way: event, dirty, flush, query, cache, bus.
 *
 * Whatever may have changed is marked dirty; when all waiting events have been taken in, one flush
 * asks the source about what is dirty, one query a device at a time; the answers go into the cache;
 * what they change goes to the bus.
 */

#include <systemd/sd-bus.h>

#include "bus.h"
#include "cache.h"
#include "config.h"
#include "shared-memory.h"
#include "source.h"

typedef struct Manager Manager;

/* BUS_ADDRESS NULL: the system bus. SCENARIO NULL: the kernel. WORKER NULL: the default. Logs. */
int manager_new(sd_event *event, const Config *config, const char *bus_address,
		const char *scenario, const char *worker, Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager, manager_free);

/* Starts to listen and to enumerate; the rest happens in the event loop, READY=1 included. */
int manager_start(Manager *m);

/* For the bus. */
const Cache *manager_cache(const Manager *m);
const Config *manager_config(const Manager *m);
Bus *manager_bus(const Manager *m);
/* The bus gave us the name, or why not (negative errno, logged); -ECONNRESET if it has not answered
 * at all. */
void manager_on_name(Manager *m, int error);
SharedMemory *manager_memory(const Manager *m);
sd_event *manager_event_loop(const Manager *m);

/* What org.rdma.Manager shows beside the cache. */
typedef struct ManagerStatus {
	bool simulated;
	bool monitor_mode; /* the kernel announces devices by NETLINK_RDMA */
	uint64_t reconcile_usec;
	uint64_t last_sync_usec; /* CLOCK_REALTIME of the last complete look at everything, 0: none
				    yet */
	uint64_t lost_events;	 /* how often a source said that it lost some */
} ManagerStatus;
void manager_status(const Manager *m, ManagerStatus *ret);

/* The source, for org.rdma.Simulator; NULL if it is the kernel. */
Source *manager_simulator(const Manager *m);

/*
 * Answers CALL, a Port.Query(), when P has been read afresh, at once if the cache is no older than
 * MAX_AGE_USEC. Called with the port that the call names. Callers' reads are coalesced and spaced,
 * so nobody can load the firmware this way. -ENOBUFS: too many are waiting.
 */
int manager_query(Manager *m, Port *p, uint64_t max_age_usec, sd_bus_message *call);
/*
 * Answers CALL, a Port.GetCounters(), with counters that are at most a second old, read afresh if
 * they would be older: however many ask, the port is read once a second. -ENOBUFS: too many are
 * waiting.
 */
int manager_counters(Manager *m, Port *p, sd_bus_message *call);
/* Answers CALL, a Manager.Refresh(), when everything has been read afresh. */
int manager_refresh(Manager *m, sd_bus_message *call);
