/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An event says that a device or port may have changed, and why. An event carries no values: values
 * come from a query only. The row of a reason in EVENT_REASONS says which parts are asked about
 * because of it, and when. This rule stands in no other place.
 */

#include <stdbool.h>
#include <stdint.h>

#include "port-part.h"

/* The meaning of a reason. */
typedef enum EventMeaning {
	/* Everything is read again. When that is done, LastSyncTimestamp is set and Refresh() is
	 * answered. */
	MEANS_WHOLE = 1 << 0,
	/* Only a caller wants it. Between two such queries of a device there is a pause, and they
	 * do not count as queries because of events. */
	MEANS_CALLER = 1 << 1,
	/* Devices may have come or gone: enumerate them. */
	MEANS_DEVICES = 1 << 2,
	/* The attributes of the device itself may have changed. */
	MEANS_DEVICE = 1 << 3,
	/* The network interfaces of the machine may have changed: look for them again. */
	MEANS_LINKS = 1 << 4,
	/* The kernel sends this event before it has finished the change: ask again a little later.
	 */
	MEANS_SETTLING = 1 << 5,
	/* The subnet manager has configured the port: send SubnetReconfigured(), even if no value
	 * changed. */
	MEANS_SUBNET = 1 << 6,
	/* P_Keys are read if the kernel does not say when those of the device change (its row
	 * "events"). If it does, they are read in some of these looks only, and so is READ_SIGNAL,
	 * of which no event tells: LONG_LOOKS in manager/schedule.c. */
	MEANS_CHECK = 1 << 7,
	/* Nobody has said that anything changed. If something has, an event was lost, or there is
	 * none for it; the P_Keys may have changed too then. */
	MEANS_NO_EVENT = 1 << 8,
	/* The health of the function that the device is on has changed. With MEANS_SETTLING it is
	 * read in the looks that follow too: the kernel makes the dump after the event. */
	MEANS_HEALTH = 1 << 9,
	/* Anything of the device may have changed: its attributes and its interfaces are due. */
	MEANS_ANYTHING = MEANS_DEVICE | MEANS_LINKS,
} EventMeaning;

/*
 * R(reason, name, meaning, at once, later): the reasons for which something is read again, from the
 * most general to the most specific. If a change has several reasons, the last of them in this list
 * is published. The names are used on D-Bus (StateChanged, SubnetReconfigured) and in the
 * simulator's scenarios.
 *
 * The columns "at once" and "later" are sets of parts of a port, READ_* in port-part.h. The first
 * is what the event is about: subscribers wait for it. The second is what else may have changed
 * with it: a second query reads that a little later, when the first changes have had time to reach
 * the subscribers. The subnet manager sets all of PortInfo in one message, with the prefix of the
 * subnet, which is in GID 0: so each event of that message has all parts but the P_Keys, which are
 * a table of their own. It writes these anew when a port joins the subnet.
 */
/* clang-format off */
#define EVENT_REASONS(R)                                                                                                               \
	/* rdmad has started */                                                                                                        \
	R(STARTUP,           "startup",           MEANS_WHOLE | MEANS_ANYTHING,                   READ_NEWS,             READ_SIGNAL)  \
	/* a device came, went, or changed its name */                                                                                 \
	R(DEVICE,            "device",            MEANS_DEVICES | MEANS_ANYTHING | MEANS_SETTLING, READ_NEWS,             READ_SIGNAL) \
	/* the timer of ReconcileIntervalSec */                                                                                        \
	R(RECONCILE,         "reconcile",         MEANS_WHOLE | MEANS_ANYTHING | MEANS_CHECK |                                         \
	                                          MEANS_NO_EVENT,                                 READ_USUAL | READ_DCB | READ_VFS, 0) \
	/* Manager.Refresh() */                                                                                                        \
	R(REFRESH,           "refresh",           MEANS_WHOLE | MEANS_CALLER | MEANS_ANYTHING,    READ_ALL,              0)           \
	/* Port.Query() */                                                                                                             \
	R(QUERY,             "query",             MEANS_CALLER | MEANS_LINKS | MEANS_NO_EVENT,    READ_USUAL | READ_DCB | READ_VFS | READ_SIGNAL, 0) \
	/* the machine is awake again after suspend */                                                                                 \
	R(RESUME,            "resume",            MEANS_WHOLE | MEANS_ANYTHING,                   READ_NEWS,             READ_SIGNAL)  \
	/* a source lost events */                                                                                                     \
	R(OVERRUN,           "overrun",           MEANS_WHOLE | MEANS_ANYTHING,                   READ_NEWS,             READ_SIGNAL)  \
	/* the second look, a little after an event that has MEANS_SETTLING */                                                         \
	R(SETTLE,            "settle",            MEANS_LINKS,                                    READ_USUAL | READ_VFS, 0)           \
	/* a device answers again */                                                                                                   \
	R(RECOVERED,         "recovered",         MEANS_ANYTHING,                                 READ_NEWS,             READ_SIGNAL)  \
	/* a character device came or went */                                                                                          \
	R(CHARDEV,           "chardev",           MEANS_DEVICE | MEANS_SETTLING,                  READ_NEWS,             READ_SIGNAL)  \
	/* a network interface was attached, detached or renamed */                                                                    \
	R(NETDEV,            "netdev",            MEANS_LINKS | MEANS_SETTLING,                   READ_USUAL | READ_DCB | READ_VFS, 0) \
	/* rtnetlink: MTU, carrier, MAC, master */                                                                                     \
	R(LINK,              "link",              MEANS_LINKS | MEANS_SETTLING,                   READ_LINKS,            0)           \
	/* rtnetlink: a network interface has moved to another network namespace */                                                      \
	R(NAMESPACE,         "namespace",         MEANS_LINKS | MEANS_SETTLING,                   READ_USUAL,            0)           \
	/* rtnetlink: IP address. What follows from it is a GID, which the kernel adds a little later */                               \
	R(ADDRESS,           "address",           MEANS_LINKS | MEANS_SETTLING,                   0,                     0)           \
	/* rtnetlink: what the interface does with priorities */                                                                      \
	R(DCB,               "dcb",               0,                                              READ_DCB,              READ_USUAL)           \
	/* devlink: an error was reported, or the driver has recovered; or the instance is new */                                      \
	R(DEVLINK,           "devlink",           MEANS_DEVICE | MEANS_HEALTH | MEANS_SETTLING,   READ_VERBS,            0)           \
	/* the other end of the link is another one, or has other values. Only the simulator and a record have such events */ \
	R(NEIGHBOR,          "neighbor",          0,                                              READ_LINKS,            READ_USUAL)  \
	/* the module in the cage is another one, or has other values. The same */                                                     \
	R(CABLE,             "cable",             0,                                              READ_LINKS,            READ_USUAL)  \
	/* from here on: asynchronous events of verbs */                                                                               \
	R(PORT_ACTIVE,       "port-active",       0,                                              READ_VERBS,             READ_NEWS)   \
	R(PORT_ERROR,        "port-error",        0,                                              READ_VERBS,             READ_USUAL) \
	R(LID_CHANGE,        "lid-change",        0,                                              READ_VERBS,             READ_USUAL) \
	R(SM_CHANGE,         "sm-change",         MEANS_SUBNET,                                   READ_VERBS,             READ_USUAL) \
	/* the prefix of the subnet, which only netlink says, comes with it */                                                         \
	R(CLIENT_REREGISTER, "client-reregister", MEANS_SUBNET,                                   READ_VERBS | READ_LINKS, READ_NEWS)  \
	R(PKEY_CHANGE,       "pkey-change",       0,                                              READ_PKEYS,             READ_USUAL) \
	R(GID_CHANGE,        "gid-change",        0,                                              READ_LINKS | READ_GIDS, READ_USUAL) \
	R(SPEED_CHANGE,      "speed-change",      0,                                              READ_VERBS,             READ_USUAL) \
	R(DEVICE_FATAL,      "device-fatal",      MEANS_DEVICES | MEANS_ANYTHING,                 READ_NEWS,             READ_SIGNAL)
/* clang-format on */

typedef enum EventReason {
#define R(reason, name, meaning, at_once, later) REASON_##reason,
	EVENT_REASONS(R)
#undef R
		_REASON_MAX,
	_REASON_INVALID = -1
} EventReason;

_Static_assert(_REASON_MAX <= 32, "a set of reasons is a uint32_t");

#define REASON_BIT(reason) (UINT32_C(1) << (reason))
/* The asynchronous events of verbs */
#define REASONS_OF_VERBS (REASON_BIT(_REASON_MAX - 1) * 2 - REASON_BIT(REASON_PORT_ACTIVE))
/* The events that say something of the state of a port */
#define REASONS_OF_STATE (REASON_BIT(REASON_PORT_ACTIVE) | REASON_BIT(REASON_PORT_ERROR))

/* The set of the reasons that have any bit of MEANING: a mask of REASON_BIT. The compiler makes a
 * constant of it if MEANING is a constant. */
static inline uint32_t event_reasons_meaning(unsigned int meaning)
{
	uint32_t reasons = 0;

#define R(reason, name, means, at_once, later)                                                     \
	reasons |= (means)&meaning ? REASON_BIT(REASON_##reason) : 0;
	EVENT_REASONS(R)
#undef R
	return reasons;
}

/* The parts of a port that are to be read at once for REASONS, a mask of REASON_BIT. For an empty
 * mask there are none. */
unsigned int event_parts_at_once(uint32_t reasons);
/* The parts that are to be read a little later for REASONS, if a query reads PARTS at once. */
unsigned int event_parts_later(uint32_t reasons, unsigned int parts);

/* Every device, and every port of a device. Neither is a valid number: kernel indices are smaller,
 * and port numbers begin with 1. */
#define EVENT_ALL_DEVICES UINT32_MAX
#define EVENT_ALL_PORTS	  0U

typedef struct Event {
	uint32_t device;    /* kernel index or EVENT_ALL_DEVICES */
	uint32_t port;	    /* number or EVENT_ALL_PORTS. It may be a port that does not exist: the
			       receiver has to check that */
	EventReason reason; /* why it may have changed */
} Event;

/* The name of a reason, such as "port-active"; "unknown" for a number that is no reason. */
const char *event_reason_name(EventReason reason);
/* The reason that has NAME, or _REASON_INVALID. */
EventReason event_reason_from_name(const char *name);
/* The reason to publish for REASONS, a mask of REASON_BIT: the most specific one. For an empty mask
 * it is REASON_RECONCILE. */
EventReason event_reason_to_publish(uint32_t reasons);
/* The same for a transition of the state of a port, which made it active or ended that, as
 * IS_ACTIVE says. An event that says the opposite is not its reason: the port went down and came
 * back, or the other way round, before it was read. */
EventReason event_reason_of_state(uint32_t reasons, bool is_active);
