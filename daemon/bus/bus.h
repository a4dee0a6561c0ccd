/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The D-Bus side: objects, properties, methods and signals under /org/rdma. Properties are read
 * from the cache and from nowhere else; their vtables are made from the attribute tables.
 *
 * The bus knows no manager: what it cannot answer from the cache it asks its handler.
 *
 * Before bus_acquire_name() and while the bus is away nothing is signalled. When the bus comes
 * back, the objects are simply there again.
 */

#include "cache.h"
#include "config.h"
#include "event.h"
#include "pending-call.h"
#include "reading.h"
#include "shared-memory.h"
#include "source.h"

typedef struct Bus Bus;

/* The values of org.rdma.Manager that come neither from the cache nor from the configuration. */
typedef struct BusStatus {
	SourceStatus source;
	uint64_t last_sync_usec; /* CLOCK_REALTIME of the last complete look at everything, 0: none
				    yet */
	uint64_t lost_events;	 /* how often a source said that it lost some */
	AttrVerdict health;	 /* the worst of all */
	const Table *findings;	 /* what is wrong with the machine, and not with one device */
} BusStatus;

/* The functions of the manager for calls that the bus cannot answer by itself. */
typedef struct BusHandler {
	/*
	 * Port.Query(): 0 if the cache is no older than MAX_AGE_USEC. 1: P is being read afresh,
	 * and the call is to wait in *RET_LIST for bus_answer_queries(). Reads that callers want
	 * are coalesced and spaced, so nobody can load the firmware this way. -ETIMEDOUT: the
	 * device does not answer.
	 */
	int (*query)(void *userdata, Port *p, uint64_t max_age_usec, PendingList **ret_list);
	/* A caller wants the reading of KIND of P. 0: the reading is at most READING_FRESH_USEC
	 * old, or the device does not answer. 1: the reading goes on, once for all callers, and
	 * bus_resume_calls() follows. -ENOMEM. */
	int (*read)(void *userdata, Port *p, QueryKind kind);
	/* Manager.Refresh(): everything is being read afresh, at the earliest a second after the
	 * last time. The list in which the call is to wait for bus_answer_refresh(). */
	PendingList *(*refresh)(void *userdata);
	/* Port.Acknowledge(): CHECK and TEXT are as for health_acknowledge(). -ENOENT: the check
	 * has found nothing. */
	int (*acknowledge)(void *userdata, Port *p, const char *check, const char *text);
	void (*status)(void *userdata, BusStatus *ret);
	/* The bus gave us the name, or why not (negative errno, logged); -ECONNRESET if it has not
	 * answered at all. */
	void (*name)(void *userdata, int error);
	/* The connection has ended. Called inside of it: bus_free() has to wait until later. */
	void (*disconnected)(void *userdata);
} BusHandler;

/* The parts that a bus is made with. All of them outlive the bus. */
typedef struct BusSetup {
	sd_event *event;
	const char *address; /* NULL: the system bus */
	const Cache *cache;
	const Config *config;
	SharedMemory *memory; /* for OpenSnapshot() */
	const BusHandler *handler;
	void *userdata; /* the handler's */
} BusSetup;

/* Connects and exports the objects. Logs. */
int bus_new(const BusSetup *setup, Bus **ret);
/* The calls that wait are not answered any more, and are gone from their lists. */
Bus *bus_free(Bus *b);
DEFINE_CLEANUP(Bus, bus_free);

/* Asks for the well-known name: from now on there are signals. BusHandler.name() hears of it. */
int bus_acquire_name(Bus *b);

sd_bus *bus_connection(const Bus *b);
/* Begins to read ANSWER, an array of ENTRY. 0, or a negative errno: it is no such answer. */
int bus_enter_answer(sd_bus_message *answer, const char *entry);

/* The objects exist in the cache when they are added and changed, and still exist when they are
 * removed. */
void bus_publish_device(Bus *b, const DeviceChange *change);
void bus_publish_port(Bus *b, const PortChange *change);
void bus_publish_port_removed(Bus *b, const Port *p);
/* Says which ports a device has, if their number is another than when that was last said. */
void bus_publish_device_ports(Bus *b, Device *d);
/* Counts on the Manager object have changed, or its lists Devices and Ports. */
void bus_publish_counts(Bus *b);
/* Health or Findings of the Manager object have changed. */
void bus_publish_health(Bus *b);
/* Whether an object came or went since that was last said. */
bool bus_lists_changed(const Bus *b);

/* Answers the calls in LIST that are about PORT (0: all) and frees them: with what there is of P,
 * or, if ERROR is negative, with that and TEXT. Logs. */
void bus_answer_queries(PendingList *list, uint32_t port, const Port *p, int error,
			const char *text);
/* The calls in LIST, which is Reading.calls, wait no longer: that reading has ended. */
void bus_resume_calls(PendingList *list);
/* ERROR: the devices cannot be enumerated. */
void bus_answer_refresh(PendingList *list, int error);
