/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is known of every device and port: the one authority that D-Bus reads.
 *
 * Answers go in by the cache_apply functions, which say what they changed; nothing else writes. The
 * rows with source CORE (trust, generations, identity) are kept here. No I/O, no clock: times come
 * in as arguments.
 */

#include "history.h"
#include "port.h"

typedef struct Device Device;

typedef struct Port {
	Device *device;
	uint32_t number;
	PortSnapshot now;
	bool published;	       /* there has been an answer, good or bad: the object is on the bus */
	uint64_t answered_usec; /* CLOCK_MONOTONIC of the last good answer, the manager's; 0: none */
	History history;       /* the manager's to add to */
	struct PortHeld *held; /* the bus's: signals that wait; not looked at here */
	uint32_t memory_slot;  /* plus 1, 0: none; the snapshot's, not looked at here */
	/* What the subnet manager last set, to notice a change across a time in which it was not
	 * valid. */
	struct {
		bool known;
		uint32_t lid, lmc, sm_lid, sm_sl, subnet_timeout;
		uint64_t subnet_prefix;
	} subnet;
} Port;

struct Device {
	struct Cache *cache;
	uint32_t index;
	DeviceSnapshot now;
	Port **ports; /* [n_ports], number minus 1 */
	uint32_t n_ports;
	bool published;
	uint32_t ports_said;	   /* how many of them the property Ports last had */
	struct Schedule *schedule; /* the manager's; not looked at here */
};

typedef struct Cache {
	Device **devices; /* by index, ascending */
	size_t n_devices;
	size_t n_ports;	   /* of all of them */
	uint32_t n_active; /* those of them whose state is ACTIVE */
} Cache;

typedef enum CacheOp {
	CACHE_UNCHANGED,
	CACHE_ADDED,
	CACHE_CHANGED,
	CACHE_REMOVED,
} CacheOp;

/* What an apply did to a port. */
typedef struct PortChange {
	CacheOp op;
	AttrMask changed;	      /* for CACHE_CHANGED: the rows published differently now */
	unsigned int interfaces_were; /* mask of 1 << AttrInterface before */
	bool state_changed;	      /* the logical state was known and is another now */
	uint32_t old_state;
	bool subnet_reconfigured;
} PortChange;

void cache_done(Cache *c);

Device *cache_device(const Cache *c, uint32_t index);
/* NULL if the number is out of range. */
Port *device_port(const Device *d, uint32_t number);
/* Object path of a port or device into RET, which has room for RDMAD_PATH_MAX bytes. Returns RET.
 */
const char *device_path(const Device *d, char *ret);
const char *port_path(const Port *p, char *ret);
/* "mlx5_0/1", as people and logs write it. RET has room for 80 bytes. */
const char *port_name(const Port *p, char *ret);

/*
 * Merges what S supplies into device S->values.index, which is created if it is new, together with
 * its ports; takes what S owns. NOW is CLOCK_REALTIME in us, or 0 if this is an enumeration, which
 * proves nothing about the rest. -ENOMEM, else a CacheOp (ADDED: not yet published) with the rows
 * that changed in *RET_CHANGED. Ports beyond a smaller port count stay until cache_trim_ports().
 */
int cache_apply_device(Cache *c, DeviceSnapshot *s, uint64_t now, Device **ret,
		       AttrMask *ret_changed);

/* The last port of D if it has more than its port count says, for the caller to withdraw and
 * cache_remove_port(); NULL. */
Port *cache_excess_port(Device *d);
void cache_remove_port(Port *p);

/*
 * Replaces what is known of P by S, an answer to a question asked for REASONS (mask of REASON_BIT);
 * takes what S owns. If the P_Key table was not asked for (KEEP_PKEYS), the old one stays. The port
 * is fresh afterwards.
 */
void cache_apply_port(Port *p, PortSnapshot *s, bool keep_pkeys, uint32_t reasons, uint64_t now,
		      PortChange *ret);

/* After a change of P's history: brings the rows that come from it up to date, and notes them in
 * *CHANGE. */
void cache_apply_port_history(Port *p, PortChange *change);

/* The last query for P failed: the values stay and are stale. TEXT says why. */
void cache_apply_port_error(Port *p, const char *text, PortChange *ret);
/* The same for D itself; TEXT "" ends it. Returns the rows that changed. */
AttrMask cache_apply_device_error(Device *d, const char *text);

/* Follows the device's name. Returns whether the port shows another one now. */
bool cache_apply_port_device_name(Port *p);

/* Takes D with its ports out of the cache and frees it. */
void cache_remove_device(Cache *c, Device *d);
