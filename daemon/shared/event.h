/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An event says that a device or port may have changed, and why. It carries no values: those come
 * from a query only.
 */

#include <stdint.h>

/* R(reason, name): the reasons for which something is read again. The names are on D-Bus
 * (StateChanged, SubnetReconfigured) and in the simulator's scenarios. */
/* clang-format off */
#define EVENT_REASONS(R)                                                                        \
	R(STARTUP,           "startup")           /* the first look */                          \
	R(DEVICE,            "device")            /* a device came, went, or changed its name */ \
	R(RECONCILE,         "reconcile")         /* the periodic look */                       \
	R(REFRESH,           "refresh")           /* Manager.Refresh() */                       \
	R(QUERY,             "query")             /* Port.Query() */                            \
	R(RESUME,            "resume")            /* the machine slept */                       \
	R(OVERRUN,           "overrun")           /* a source lost events */                    \
	R(SETTLE,            "settle")            /* again, a little after another event */     \
	R(RECOVERED,         "recovered")         /* a device answers again */                  \
	R(CHARDEV,           "chardev")           /* a character device came or went */         \
	R(NETDEV,            "netdev")            /* netdev attached, detached, renamed */      \
	R(LINK,              "link")              /* rtnetlink: MTU, carrier, MAC, master */    \
	R(ADDRESS,           "address")           /* rtnetlink: IP address */                   \
	R(PORT_ACTIVE,       "port-active")       /* verbs async events from here */            \
	R(PORT_ERROR,        "port-error")                                                      \
	R(LID_CHANGE,        "lid-change")                                                      \
	R(SM_CHANGE,         "sm-change")                                                       \
	R(CLIENT_REREGISTER, "client-reregister")                                               \
	R(PKEY_CHANGE,       "pkey-change")                                                     \
	R(GID_CHANGE,        "gid-change")                                                      \
	R(SPEED_CHANGE,      "speed-change")                                                    \
	R(DEVICE_FATAL,      "device-fatal")
/* clang-format on */

typedef enum EventReason {
#define R(reason, name) REASON_##reason,
	EVENT_REASONS(R)
#undef R
		_REASON_MAX,
	_REASON_INVALID = -1
} EventReason;

_Static_assert(_REASON_MAX <= 32, "a set of reasons is a uint32_t");

#define REASON_BIT(reason) (UINT32_C(1) << (reason))

/* Every device; every port of a device. Kernel indices are below this, ports count from 1. */
#define EVENT_ALL_DEVICES UINT32_MAX
#define EVENT_ALL_PORTS	  0U

typedef struct Event {
	uint32_t device; /* kernel index or EVENT_ALL_DEVICES */
	uint32_t port; /* number or EVENT_ALL_PORTS. May be a port that does not exist: the receiver
			  checks */
	EventReason reason;
} Event;

/* "port-active"; for outside numbers "unknown". Reverse: _REASON_INVALID. */
const char *event_reason_name(EventReason reason);
EventReason event_reason_from_name(const char *name);
