/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The seam between the core and what it watches: the kernel (source-kernel.c) or a scenario
 * (simulator.c). The program decides which; manager and bus do not know.
 *
 * A source reports events and answers queries. Both are asynchronous: it calls the handler from the
 * event loop, never from inside a call that the core makes. No call of a source blocks, and none of
 * them can reach firmware in the process of the core.
 */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "event.h"
#include "port-set.h"
#include "port.h"

/* One question to the hardware. */
typedef struct Query {
	uint64_t id;	 /* chosen by the core, not 0 */
	uint32_t device; /* kernel index */
	AttrText name;	 /* its name when asked */
	bool attributes; /* read the device's own attributes too */
	bool pkeys;	 /* read the P_Key tables: on IB each entry is a firmware command */
	bool counters;	 /* read the counters of the ports and nothing else */
	uint32_t links_generation; /* while this is the same, network interfaces need not be looked
				      for anew */
	PortSet ports;
} Query;

/* What org.rdma.Manager says of the source. */
typedef struct SourceStatus {
	bool simulated;
	bool monitor_mode; /* the kernel announces devices by NETLINK_RDMA */
} SourceStatus;

/* What a source calls. USERDATA is the one that came with the handler. */
typedef struct SourceHandler {
	/* Something may have changed. */
	void (*event)(void *userdata, const Event *event);
	/* The answer to a query, in this order: the device if its attributes were asked for, each
	 * port that was asked for (unless the query ends early), then exactly one end. The
	 * snapshots hold what the source supplied; the handler may take what they own by emptying
	 * them. A port whose own query failed has ERROR, a negative errno, and what other sources
	 * supplied. */
	void (*device)(void *userdata, uint64_t id, DeviceSnapshot *snapshot);
	void (*port)(void *userdata, uint64_t id, uint32_t port, int error, PortSnapshot *snapshot);
	/* ERROR is 0 or a negative errno; TEXT says in words what failed ("" for 0). -ETIMEDOUT:
	 * the device is wedged. It takes no query until the source reports an event with
	 * REASON_RECOVERED for it. -EPIPE: what asked the device crashed; try again later. */
	void (*end)(void *userdata, uint64_t id, int error, const char *text);
} SourceHandler;

typedef struct Source Source;

/* A source embeds this as its first member. */
struct Source {
	const struct SourceOps *ops;
};

typedef struct SourceOps {
	/* Begins to report events. Comes before the first enumerate(), so that nothing falls
	 * between. */
	int (*start)(Source *s);
	/* The devices that exist now: a new array of *RET_N snapshots with index, name, node type,
	 * GUIDs, firmware version, port count and protocol supplied. The caller frees it with
	 * device_array_free(). */
	int (*enumerate)(Source *s, DeviceSnapshot **ret, size_t *ret_n);
	/* Asks. At most one query for a device is under way at a time (-EBUSY). -ETIMEDOUT while
	 * the device is wedged. */
	int (*query)(Source *s, const Query *query);
	/* The device has gone: closes what is open of it at once and forgets its query (no end()
	 * follows). */
	void (*forget)(Source *s, uint32_t device);
	/* The rtnetlink side needs to know which interfaces matter: those of these ports changed.
	 * May be NULL. */
	void (*netdevs_changed)(Source *s, uint32_t device, uint32_t port, const Table *netdevs,
				const Table *gids);
	/* Some of what a source knows comes or goes over the bus: logind's word that the machine
	 * slept, the commands of the simulator. There is a new connection BUS, which has no name
	 * yet; or, if that is NULL, the connection is about to end. May be NULL. */
	int (*bus_changed)(Source *s, sd_bus *bus);
	void (*status)(const Source *s, SourceStatus *ret);
	void (*free)(Source *s);
} SourceOps;

/*
 * Makes the source that a program has: *RET reports to HANDLER, which outlives it, with
 * HANDLER_USERDATA. USERDATA is the program's own. Logs.
 */
typedef int (*SourceOpen)(void *userdata, const SourceHandler *handler, void *handler_userdata,
			  Source **ret);

static inline void source_free(Source *s)
{
	if (s)
		s->ops->free(s);
}
DEFINE_CLEANUP(Source, source_free);
