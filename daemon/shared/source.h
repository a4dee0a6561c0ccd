/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The interface between the core and what it watches: the kernel (source-kernel.c) or a scenario
 * (simulator.c). The program decides which of them is used; manager and bus do not know it.
 *
 * A source reports events and answers queries. Both are asynchronous: it calls the handler from the
 * event loop, never from inside a call that the core makes. No function of a source blocks, and
 * none of them can reach firmware from the process of the core.
 */

#include <systemd/sd-bus.h>

#include "event.h"
#include "port-set.h"
#include "port.h"
#include "query-error.h"
#include "token-bucket.h"

/* The leave to ask a device without a query, because of an event that its source has read. A leave
 * comes with a query: it begins at the end of that query, and lasts until the end of the next query
 * of the device. */
typedef struct Leave {
	uint32_t ports;	    /* for the ports 1 to this; 0: there is no leave */
	TokenBucket tokens; /* each query takes one */
} Leave;

typedef enum QueryKind {
	QUERY_ATTRIBUTES, /* of ports, and perhaps of the device */
	QUERY_COUNTERS,	  /* the counters of ports and nothing else */
	QUERY_USERS,	  /* who has queue pairs on ports and nothing else */
	QUERY_FAR,	  /* the counters of the ports at the other ends: see has_far */
	_QUERY_KIND_MAX
} QueryKind;

/* One question to the hardware. */
typedef struct Query {
	QueryKind kind;
	uint64_t id;	     /* chosen by the core, not 0 */
	uint32_t device;     /* kernel index */
	AttrText name;	     /* the name that the device has when the query is made */
	uint64_t adapter;    /* the GUID that all devices of one adapter share; 0: not known */
	bool attributes;     /* read the device's own attributes too */
	bool health;	     /* of these, also the health of its function: that may wait for a lock
				which is held while the firmware is written */
	bool spares_library; /* the vendor's library, asked in a process of its own, has failed
				lately: it is not asked */
	uint32_t parts; /* of the ports, READ_*: those to read. The source may read others too */
	uint32_t links_generation; /* as long as this number does not change, the source may use
				      the network interfaces that it found before */
	PortSet ports; /* the ports to read, by their place on the device, from 1. That is their
			  number, but for the only port of a switch, whose number is 0 */
	Leave leave;   /* what the source may ask of DEVICE by itself from then on */

	/* Of a query that a source makes by itself: */
	bool has_answer;  /* the source has the answer already, and needs no leave */
	uint32_t reasons; /* then: why, a mask of REASON_BIT */
	bool is_open;	  /* then: an event has come since that says more of the state */
} Query;

/* The state of the hardware that a device is on, or was on. */
typedef enum ParentState {
	PARENT_UNKNOWN,
	PARENT_PRESENT,	       /* it has a driver */
	PARENT_WITHOUT_DRIVER, /* nothing drives it */
	PARENT_GONE,
	_PARENT_MAX
} ParentState;

/* The properties of org.rdma.Manager about the source. */
typedef struct SourceStatus {
	bool simulated;	   /* the devices come from a scenario */
	bool monitor_mode; /* the kernel announces devices by NETLINK_RDMA */
	/* what "rdma system" shows */
	bool privileged_qkey;	/* a process without CAP_NET_RAW may use controlled Q_Keys */
	const char *namespaces; /* "shared" or "exclusive"; NULL: not known */
} SourceStatus;

/* The functions that a source calls. USERDATA is what was given to it with the handler. */
typedef struct SourceHandler {
	/* Something may have changed. */
	void (*event)(void *userdata, const Event *event);
	/* The same of an event about one device, to which the source has the answer already:
	 * nothing is to be asked because of it. */
	void (*noted)(void *userdata, const Event *event);
	/* The source asks by itself what an event has touched, for which it had leave; the event
	 * came first. QUERY has the id of the query with that leave. Returns whether the core takes
	 * this for a query of its own, under way from now on: then the answer follows. If not, it
	 * does not. A source that has the answer already may use the id of a query under way: that
	 * asks this from then on, and what it asked before is asked later. */
	bool (*asking)(void *userdata, const Query *query);
	/* The answer to a query comes in this order: the device if its attributes were asked for,
	 * each port that was asked for (unless the query ends early), then exactly one end. The
	 * snapshots hold what the source supplied. The handler may take over the memory that a
	 * snapshot owns; then it leaves the snapshot empty. If the query of one port failed, ERROR
	 * is a negative errno, and the snapshot holds what could be read without that query. */
	void (*device)(void *userdata, uint64_t id, DeviceSnapshot *snapshot);
	void (*port)(void *userdata, uint64_t id, uint32_t port, int error, PortSnapshot *snapshot);
	/* ERROR is 0 or a negative errno; CODE says for programs what failed, TEXT in words ("" if
	 * ERROR is 0).
	 * -ETIMEDOUT: the device hangs. It takes no query until the source reports an event with
	 * REASON_RECOVERED for it. -EPIPE: the process that asked the device crashed; try again
	 * later. */
	void (*end)(void *userdata, uint64_t id, int error, QueryErrorCode code, const char *text);
} SourceHandler;

typedef struct Source Source;

/* A source embeds this as its first member. */
struct Source {
	const struct SourceOps *ops;
};

typedef struct SourceOps {
	/* It answers QUERY_FAR, and nobody else is to be asked. */
	bool has_far;
	/* Begins to report events. The core calls it before the first enumerate(), so that no
	 * change between the two is missed. */
	int (*start)(Source *s);
	/* The devices that exist now: a new array of *RET_N snapshots with index, name, node type,
	 * GUIDs, firmware version, port count, protocol and flags supplied. The caller frees it
	 * with device_array_free(). */
	int (*enumerate)(Source *s, DeviceSnapshot **ret, size_t *ret_n);
	/* Starts a query. -EBUSY: another query of this device has not ended yet. -ETIMEDOUT: the
	 * device hangs. */
	int (*query)(Source *s, const Query *query);
	/* Something else of the device is to be asked: the query for users that is under way may
	 * end before it is complete. May be NULL. */
	void (*hurry)(Source *s, uint32_t device);
	/* The device has gone: the source closes everything that it has open of it at once, and
	 * forgets its query. No end() follows. */
	void (*forget)(Source *s, uint32_t device);
	/* Tells the source that the port is NOW, so that it can report changes of the network
	 * interfaces that NOW names; NULL: the port names none any more. May be NULL. */
	void (*netdevs_changed)(Source *s, uint32_t device, uint32_t port, const PortSnapshot *now);
	/* Some sources use the bus: logind sends a signal when the machine is awake again, and the
	 * simulator receives commands. BUS is a new connection, which does not have its name yet;
	 * if BUS is NULL, the connection is about to end. May be NULL. */
	int (*bus_changed)(Source *s, sd_bus *bus);
	/* The core has its name on the bus for the first time: who waits for it has all signals
	 * from now on. May be NULL. */
	int (*served)(Source *s);
	/* The state of the hardware whose directory in sysfs is PATH. Other hardware at the same
	 * place has another *RET_IDENTITY, which is not 0. May be NULL. */
	ParentState (*parent)(const Source *s, const char *path, uint64_t *ret_identity);
	void (*status)(const Source *s, SourceStatus *ret);
	void (*free)(Source *s);
} SourceOps;

/*
 * Makes the source of a program. *RET calls HANDLER with HANDLER_USERDATA; HANDLER must outlive it.
 * USERDATA belongs to the program. The function logs its errors.
 */
typedef int (*SourceOpen)(void *userdata, const SourceHandler *handler, void *handler_userdata,
			  Source **ret);

static inline void source_free(Source *s)
{
	if (s)
		s->ops->free(s);
}
DEFINE_CLEANUP(Source, source_free);
