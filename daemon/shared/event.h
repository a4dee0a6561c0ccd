/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An event says that a device or port may have changed, and why. It carries no values: those come
 * from a query only. What a reason means, for what has to be asked and when, is said here in its
 * row and nowhere else.
 */

#include <stdint.h>

/* What a reason means. */
typedef enum EventMeaning {
	/* It is part of a look at everything: LastSyncTimestamp, and the answer to Refresh(). */
	MEANS_WHOLE = 1 << 0,
	/* Only a caller wants it. Such queries keep a distance. */
	MEANS_CALLER = 1 << 1,
	/* Devices may have come or gone: enumerate them. */
	MEANS_DEVICES = 1 << 2,
	/* The attributes of the device itself may have changed. */
	MEANS_DEVICE = 1 << 3,
	/* Network interfaces may have changed: look for them anew. */
	MEANS_LINKS = 1 << 4,
	/* The P_Keys may have changed. On InfiniBand each entry of the table is a firmware
	 * command, so they are not read without need. */
	MEANS_PKEYS = 1 << 5,
	/* The same, but the event is news by itself, which does not wait for the table: P_Keys are
	 * read by a query of their own, when the news has had time to reach its subscribers. */
	MEANS_PKEYS_LATER = 1 << 6,
	/* The kernel is still at work when it tells of this: look again a little later. */
	MEANS_SETTLING = 1 << 7,
	/* The subnet manager has configured the port: SubnetReconfigured(), whatever changed. */
	MEANS_SUBNET = 1 << 8,
	/* All that the core asks for when it does not know what changed. */
	MEANS_ANYTHING = MEANS_DEVICE | MEANS_LINKS | MEANS_PKEYS,
} EventMeaning;

/* R(reason, name, meaning): the reasons for which something is read again, from the most general to
 * the most specific: of several, the last one is published. The names are on D-Bus (StateChanged,
 * SubnetReconfigured) and in the simulator's scenarios. */
/* clang-format off */
#define EVENT_REASONS(R)                                                                                         \
	/* the first look */                                                                                     \
	R(STARTUP,           "startup",           MEANS_WHOLE | MEANS_ANYTHING)                                  \
	/* a device came, went, or changed its name */                                                           \
	R(DEVICE,            "device",            MEANS_DEVICES | MEANS_ANYTHING | MEANS_SETTLING)               \
	/* the periodic look */                                                                                  \
	R(RECONCILE,         "reconcile",         MEANS_WHOLE | MEANS_ANYTHING)                                  \
	/* Manager.Refresh() */                                                                                  \
	R(REFRESH,           "refresh",           MEANS_WHOLE | MEANS_CALLER | MEANS_ANYTHING)                   \
	/* Port.Query() */                                                                                       \
	R(QUERY,             "query",             MEANS_CALLER | MEANS_LINKS)                                    \
	/* the machine slept */                                                                                  \
	R(RESUME,            "resume",            MEANS_WHOLE | MEANS_ANYTHING)                                  \
	/* a source lost events */                                                                               \
	R(OVERRUN,           "overrun",           MEANS_WHOLE | MEANS_ANYTHING)                                  \
	/* again, a little after another event */                                                                \
	R(SETTLE,            "settle",            MEANS_LINKS)                                                   \
	/* a device answers again */                                                                             \
	R(RECOVERED,         "recovered",         MEANS_ANYTHING)                                                \
	/* a character device came or went */                                                                    \
	R(CHARDEV,           "chardev",           MEANS_DEVICE | MEANS_PKEYS | MEANS_SETTLING)                   \
	/* netdev attached, detached, renamed */                                                                 \
	R(NETDEV,            "netdev",            MEANS_LINKS | MEANS_SETTLING)                                  \
	/* rtnetlink: MTU, carrier, MAC, master */                                                               \
	R(LINK,              "link",              MEANS_LINKS | MEANS_SETTLING)                                  \
	/* rtnetlink: IP address */                                                                              \
	R(ADDRESS,           "address",           MEANS_LINKS | MEANS_SETTLING)                                  \
	/* verbs async events from here */                                                                       \
	R(PORT_ACTIVE,       "port-active",       MEANS_PKEYS_LATER)                                             \
	R(PORT_ERROR,        "port-error",        0)                                                             \
	R(LID_CHANGE,        "lid-change",        0)                                                             \
	R(SM_CHANGE,         "sm-change",         MEANS_SUBNET)                                                  \
	R(CLIENT_REREGISTER, "client-reregister", MEANS_SUBNET | MEANS_PKEYS_LATER)                              \
	R(PKEY_CHANGE,       "pkey-change",       MEANS_PKEYS)                                                   \
	R(GID_CHANGE,        "gid-change",        0)                                                             \
	R(SPEED_CHANGE,      "speed-change",      0)                                                             \
	R(DEVICE_FATAL,      "device-fatal",      MEANS_DEVICES | MEANS_ANYTHING)
/* clang-format on */

typedef enum EventReason {
#define R(reason, name, meaning) REASON_##reason,
	EVENT_REASONS(R)
#undef R
		_REASON_MAX,
	_REASON_INVALID = -1
} EventReason;

_Static_assert(_REASON_MAX <= 32, "a set of reasons is a uint32_t");

#define REASON_BIT(reason) (UINT32_C(1) << (reason))

/* The set of the reasons that have any of MEANING: a mask of REASON_BIT. A constant where MEANING
 * is one. */
static inline uint32_t event_reasons_meaning(unsigned int meaning)
{
	uint32_t reasons = 0;

#define R(reason, name, means) reasons |= (means)&meaning ? REASON_BIT(REASON_##reason) : 0;
	EVENT_REASONS(R)
#undef R
	return reasons;
}

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
/* The reason to publish for a set of them: the most specific. For no reason REASON_RECONCILE. */
EventReason event_reason_to_publish(uint32_t reasons);
