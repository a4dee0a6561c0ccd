/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The values of every device and port: the one authority that D-Bus reads.
 *
 * Answers go in by the cache_apply functions, which say what they changed; nothing else writes the
 * values. The rows with source CORE (trust, generations, identity) are kept here. No I/O, no clock:
 * times come in as arguments.
 *
 * The fields under "Of others" are kept here because they live as long as the port or device. They
 * belong to those who are named there, and no cache_ function looks at them.
 */

#include "change.h"
#include "evidence.h"
#include "history.h"
#include "port.h"
#include "query-error.h"

/* How many rows of a port the subnet manager sets. */
#define SUBNET_ROWS 6

/* The last values of a port from the subnet manager. They outlive a time in which the port is not
 * configured, so that a change during this time is noticed afterwards. */
typedef struct SubnetValues {
	unsigned int known; /* those of VALUES that an answer has had while the port was configured:
			       a mask of 1 << index */
	uint64_t values[SUBNET_ROWS]; /* raw, of the rows in subnet_rows[] in cache.c */
} SubnetValues;

/* A pointer to a port that becomes NULL when the port goes. The port knows all of them: so it also
 * says who is to be told when the port changes. Zeroed, it points to no port. */
typedef struct PortRef {
	struct Port *port;
	struct PortRef *next, **at; /* in Port.refs; what points to this one */
} PortRef;

/* When the module in the cage of a port is read: times of CLOCK_MONOTONIC. */
typedef struct PortCable {
	uint64_t due_usec, spared_usec; /* next, and not before */
	unsigned int failures;		/* how often it could not be read since it could */
} PortCable;

typedef struct Port {
	Device *device;
	uint32_t number;     /* from 1 */
	PortSnapshot now;    /* what is known of it */
	bool answered;	     /* a query has ended for it, well or badly */
	SubnetValues subnet; /* what the subnet manager last set */
	History history;     /* its last transitions; the manager notes them */
	PortRef *refs;	     /* those that point to it, in no order */
	/* Of others */
	bool published; /* the manager's: the object is on the bus. lookup_path() reads it */
	uint64_t answered_usec; /* the manager's: CLOCK_MONOTONIC of the last good answer that had
				   READ_USUAL, 0: none */
	PortCable cable;	/* the manager's: when the module in the cage is read */
	uint8_t heard; /* the manager's: a bit for each NeighborSource whose answer, which is
			  being read, has its other end */
	struct PortHeld *held;	  /* the bus's: signals that wait until the bus takes more */
	struct Reading *readings; /* the manager's: what was read on demand, one of each kind */
	struct ErrorMeter
		*errors; /* the manager's: of the bits of the link; NULL: none is measured */
	struct PortHealth *health; /* of daemon/health: what is judged of it, NULL: nothing yet */
	uint64_t fit_downs;	  /* how often its link had gone down when FitSince was found out */
	uint16_t rest_generation; /* the shared memory's: counts the changes of rows that are in no
				     field of the record */
	uint32_t memory_slot;	  /* the shared memory's: number of its slot plus 1, 0: none */
} Port;

struct Device {
	struct Cache *cache; /* that it is in */
	uint32_t index;	     /* the kernel's; a rename leaves it */
	DeviceSnapshot now;  /* what is known of it */
	Port **ports;	     /* [n_ports]: port N is at N - 1 */
	uint32_t n_ports;    /* RDMA_PORT_MAX at most */
	/* Of others */
	bool published;	     /* the manager's: the object is on the bus. lookup_path() reads it */
	uint32_t ports_said; /* the bus's: how many ports it last said that there are */
	struct Schedule *schedule;   /* the manager's: what is to be asked of it, and when */
	struct DeviceHealth *health; /* of daemon/health: the same */
	EvidenceLog *evidence;	     /* the manager's: what it has shown, NULL: nothing yet */
};

typedef struct Cache {
	Device **devices; /* [n_devices], by ascending index */
	size_t n_devices;
	size_t n_ports;		 /* of all devices */
	uint32_t n_active;	 /* ports that are active or active-defer */
	struct NameIndex *names; /* NULL: there are none; lookup.h reads it */
	/* Another number when something by which lookup_find() finds a port has come or gone. While
	 * it is the same, each of these names finds the same ports. */
	uint64_t names_generation;
	/* Of others */
	HistoryList histories; /* the manager's: of the ports that have gone */
	EvidenceList evidence; /* the manager's: of the devices that have gone */
} Cache;

/* Frees all devices and ports; the cache is empty afterwards. */
void cache_done(Cache *c);

/* The device with kernel index INDEX, NULL if there is none. */
Device *cache_device(const Cache *c, uint32_t index);
/* The port of D, which may be NULL, at place NUMBER, from 1; NULL if D has no such port. But on a
 * switch that is the number of the port too. */
Port *device_port(const Device *d, uint32_t number);
/* The same, that has NUMBER for everybody outside: on a switch 0, NULL if there is none. */
Port *device_port_called(const Device *d, uint32_t number);
/* Has R point to P, or with NULL to no port, whatever it pointed to before. R must point to no port
 * when its memory is freed or moved. */
void port_ref_set(PortRef *r, Port *p);
/* Writes the object path of a device or port to RET, which has room for RDMAD_PATH_MAX bytes.
 * Returns RET. */
const char *device_path(const Device *d, char *ret);
const char *port_path(const Port *p, char *ret);
/* Writes "mlx5_0/1", as people and logs write it, to RET, which has room for 80 bytes. Returns RET.
 */
const char *port_name(const Port *p, char *ret);

/*
 * Merges what S supplies into device S->values.index, which is created with its ports if it is new;
 * takes what S owns. CAUSE is CHANGE_ANSWER, which makes the device fresh, or CHANGE_LIST, which
 * proves nothing about the rest; NOW is CLOCK_REALTIME in us. *RET says what has changed;
 * device_change_done(). If an answer has the character devices, rows of sysfs that it does not have
 * lose their values; other rows stay. The device has an object for each port that its port count
 * says, as far as RDMA_PORT_MAX and RDMA_PORTS_MAX allow; the row omitted_ports counts the others.
 * A CacheOp, or -ENOMEM. If there are fewer ports now, those too many stay until the caller has
 * removed them: see cache_excess_port().
 */
int cache_apply_device(Cache *c, DeviceSnapshot *s, ChangeCause cause, uint64_t now,
		       DeviceChange *ret);

/* The last port of D if D has more ports than it should, else NULL. The caller withdraws
 * it and then calls cache_remove_port(), until there is none. */
Port *cache_excess_port(Device *d);
/* Takes P, the last port of its device, out of the cache and frees it. */
void cache_remove_port(Port *p);

/*
 * Each of the next three says in *RET what it has changed, for REASONS (a mask of REASON_BIT) at
 * NOW (CLOCK_REALTIME in us); port_change_done(). *RET holds until the port changes again.
 */

/*
 * Replaces the values of P by S, an answer to a query for REASONS; takes what S owns. Rows of parts
 * that S has not read stay as they are, with the reason why a row has no value. The port is fresh
 * afterwards.
 */
void cache_apply_port(Port *p, PortSnapshot *s, uint32_t reasons, uint64_t now, PortChange *ret);

/* The last query for P failed with the negative errno ERROR: the values stay and are stale. TEXT
 * says why. */
void cache_apply_port_error(Port *p, int error, QueryErrorCode code, const char *text,
			    uint32_t reasons, uint64_t now, PortChange *ret);
/* Gives P the name that its device has now. */
void cache_apply_port_name(Port *p, uint64_t now, PortChange *ret);

/* The history of the port has changed because of *CHANGE: brings the rows that come from it up to
 * date, and adds them to *CHANGE. */
void cache_apply_port_history(PortChange *change);

/* The last query for D failed, or, with 0 and "", it no longer does. */
void cache_apply_device_error(Device *d, int error, QueryErrorCode code, const char *text,
			      uint64_t now, DeviceChange *ret);

/* P, or D, was judged: it is HEALTH, and fit to be used since FIT_SINCE, for FINDINGS, which the
 * cache takes. Without DETAILS the same findings in other words, and another time of a port that
 * stays fit, are no change. *RET says what changes at NOW (CLOCK_REALTIME in us);
 * port_change_done(), device_change_done(). */
void cache_apply_port_health(Port *p, AttrVerdict health, uint64_t fit_since, Table *findings,
			     bool details, uint64_t now, PortChange *ret);
void cache_apply_device_health(Device *d, AttrVerdict health, Table *findings, bool details,
			       uint64_t now, DeviceChange *ret);

/* The rail of P is RAIL now, which is another one than before. *RET says what changes at NOW. */
void cache_apply_port_rail(Port *p, const PortRail *rail, uint64_t now, PortChange *ret);

/* From now on the rows of P that rdmad measures are those of MEASURED that it supplies, or are
 * missing because the counter is full, as MEASURED says. *RET says what changes at NOW. */
void cache_apply_port_measured(Port *p, const PortSnapshot *measured, uint64_t now,
			       PortChange *ret);

/* Takes D with its ports out of the cache and frees it. */
void cache_remove_device(Cache *c, Device *d);
