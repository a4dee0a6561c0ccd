/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Changes: the cache gives them out, and the rooms behind the cache take them. A change has the old
 * values, so that no room has to read them before the cache does.
 */

#include "event.h"
#include "port.h"

typedef struct Device Device;
typedef struct Port Port;

/* The effect of an apply. */
typedef enum CacheOp {
	CACHE_UNCHANGED,
	CACHE_ADDED, /* the device is new; the port has its first answer */
	CACHE_CHANGED,
	CACHE_REMOVED, /* never by an apply: for those who hand on what happened */
} CacheOp;

/* The cause of a change. */
typedef enum ChangeCause {
	CHANGE_ANSWER, /* it was read */
	CHANGE_ERROR,  /* it could not be read */
	CHANGE_JUDGED, /* it was judged: its health is another, what is wrong with it, or its rail
			*/
	CHANGE_LIST, /* the list of devices says so; to a port, that its device has another name */
} ChangeCause;

/* The effect of an apply on a port. */
typedef struct PortChange {
	Port *port; /* PORT->now is what is known now */
	ChangeCause cause;
	CacheOp op;
	AttrMask changed; /* for CACHE_CHANGED: the rows published differently now */
	/* The old values. A table that is the same now is that of the port; the others belong to
	 * the change: TABLES, a mask of 1 << PortTable. */
	PortSnapshot was;
	unsigned int tables;
	unsigned int parts;	  /* READ_*: what was read */
	uint32_t reasons;	  /* why: a mask of REASON_BIT */
	uint64_t when_usec;	  /* CLOCK_REALTIME */
	bool subnet_reconfigured; /* the subnet manager has set something, or said that it has */
	bool is_open; /* the manager's: an event has come since that says more of the state */
} PortChange;

/* The same of a device, whose tables are other ones when they were read again. Zeroed but for
 * DEVICE, OP and WHEN_USEC, it says that the device is new to those who follow the cache, or that
 * it goes. */
typedef struct DeviceChange {
	Device *device;
	ChangeCause cause;
	CacheOp op;
	AttrMask changed;
	DeviceSnapshot was;
	unsigned int tables; /* a mask of 1 << DeviceTable */
	uint64_t when_usec;
} DeviceChange;

/* Until now the port, or device, of the change was as it is: keeps that as its old values. */
void port_change_keep(PortChange *c);
void device_change_keep(DeviceChange *c);
/* Free the tables that the change owns, and release the texts that it holds. */
void port_change_done(PortChange *c);
void device_change_done(DeviceChange *c);
/* Whether the logical state was known and is another now. */
bool port_change_is_of_state(const PortChange *c);
/* The reason to publish. */
EventReason port_change_reason(const PortChange *c);
