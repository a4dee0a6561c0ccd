/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counter.h"

const char *counter_group_name(CounterGroup group)
{
	static const char *const names[_COUNTER_GROUP_MAX] = {
		[COUNTER_GROUP_PORT] = "counters",
		[COUNTER_GROUP_HARDWARE] = "hw_counters",
		[COUNTER_GROUP_DEVICE] = "device",
		[COUNTER_GROUP_ETHTOOL] = "ethtool",
	};

	return names[group];
}

const char *counter_unit_name(CounterUnit unit)
{
	static const char *const names[_COUNTER_UNIT_MAX] = {
		[COUNTER_BYTES] = "bytes",     [COUNTER_PACKETS] = "packets",
		[COUNTER_EVENTS] = "events",   [COUNTER_TICKS] = "ticks",
		[COUNTER_UNKNOWN] = "unknown",
	};

	return names[unit];
}

const char *counter_condition_name(CounterCondition condition)
{
	static const char *const names[_COUNTER_CONDITION_MAX] = {
		[COUNTER_VALID] = "valid",
		[COUNTER_SATURATED] = "saturated",
		[COUNTER_MISSING] = "missing",
	};

	return names[condition];
}
