/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What has changed: the cache gives it out, and those who follow the cache take it. It has what was
 * known before, so that nobody has to look before the cache does.
 */

#include "event.h"
#include "port.h"

typedef struct Device Device;
typedef struct Port Port;

/* What an apply did. */
typedef enum CacheOp {
	CACHE_UNCHANGED,
	CACHE_ADDED, /* the device is new; the port has its first answer */
	CACHE_CHANGED,
	CACHE_REMOVED, /* never by an apply: for those who hand on what happened */
} CacheOp;

/* What has changed a port or device. */
typedef enum ChangeCause {
	CHANGE_ANSWER, /* it was read */
	CHANGE_ERROR,  /* it could not be read */
	CHANGE_LIST, /* the list of devices says so; to a port, that its device has another name */
} ChangeCause;

/* What an apply did to a port: those who follow the cache get it, and look at nothing before. */
typedef struct PortChange {
	Port *port; /* PORT->now is what is known now */
	ChangeCause cause;
	CacheOp op;
	AttrMask changed; /* for CACHE_CHANGED: the rows published differently now */
	/* What was known before. A table that is the same now is that of the port; the others
	 * belong to the change: TABLES, a mask of 1 << PortTable. */
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

/* Free the tables that the change owns. */
void port_change_done(PortChange *c);
void device_change_done(DeviceChange *c);
/* Whether the logical state was known and is another now. */
bool port_change_is_of_state(const PortChange *c);
/* The reason to publish. */
EventReason port_change_reason(const PortChange *c);
