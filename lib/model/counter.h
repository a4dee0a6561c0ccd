/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One counter as it is published, and the names of its enumerations. */

#include "table-columns.h"

typedef enum CounterGroup {
	COUNTER_GROUP_PORT,	/* counters/ in sysfs */
	COUNTER_GROUP_HARDWARE, /* hw_counters/ */
	COUNTER_GROUP_DEVICE,	/* hw_counters/ of the device: its first port has them */
	COUNTER_GROUP_ETHTOOL,	/* those of the network interface */
	_COUNTER_GROUP_MAX
} CounterGroup;

/* The unit of a counter. */
typedef enum CounterUnit {
	COUNTER_BYTES,
	COUNTER_PACKETS,
	COUNTER_EVENTS,
	COUNTER_TICKS,	 /* of a length that the device decides */
	COUNTER_UNKNOWN, /* the counter has no row in counters.def */
	_COUNTER_UNIT_MAX
} CounterUnit;

/* Whether the value says how often it has happened. */
typedef enum CounterCondition {
	COUNTER_VALID,
	COUNTER_SATURATED, /* it is the most that the counter can count: at least so often */
	COUNTER_MISSING,   /* there is no value */
	_COUNTER_CONDITION_MAX
} CounterCondition;

/* A counter to publish. Texts are static or in the table that it came from. */
typedef struct Counter {
	CounterGroup group;
	const char *name;
	uint64_t value; /* 0 if there is none */
	CounterUnit unit;
	CounterCondition condition;
	const char *reason; /* why there is no value: a code, as in Unavailable; "" if there is */
} Counter;

/* "counters", "hw_counters": the directory in sysfs; "device", "ethtool" */
const char *counter_group_name(CounterGroup group);
/* "bytes", "packets", "events", "ticks", "unknown" */
const char *counter_unit_name(CounterUnit unit);
/* "valid", "saturated", "missing" */
const char *counter_condition_name(CounterCondition condition);
