/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a node of InfiniBand says of itself in the answers to management packets, as IBA vol. 1 lays
 * them out in the chapters "Subnet management" and "General services". */

#include "attribute.h"

/* What one answer has: of subnet management fewer bytes are data, and the others are its route. */
#define FAR_END_BYTES 192U

typedef enum FarEndPart {
	/* of subnet management */
	FAR_END_NODE, /* NodeInfo */
	FAR_END_TEXT, /* NodeDescription */
	FAR_END_PORT, /* PortInfo of the port that NodeInfo names */
	FAR_END_LID,  /* PortInfo of the port that has the LID: the same, and of a switch port 0 */
	/* of performance management (PMA) */
	FAR_END_CLASS,	  /* ClassPortInfo */
	FAR_END_COUNTERS, /* PortCounters */
	FAR_END_EXTENDED, /* PortCountersExtended */
	_FAR_END_PART_MAX
} FarEndPart;

/* How many counters a node may say, some of them in two widths */
#define FAR_COUNTERS_MAX 25U

#define FAR_END_SWITCH 2U

/* The node at the other end of a link. What it does not say is 0 or "". */
typedef struct FarEnd {
	uint8_t type;	 /* 1 channel adapter, 2 switch, 3 router; 0: nothing is known */
	uint8_t port;	 /* its port that the link ends at */
	uint64_t guid;	 /* of the node */
	uint64_t system; /* of the system that the node is a part of, such as a chassis */
	AttrText text;	 /* valid, and without control characters */
	uint32_t widths; /* LinkWidthEnabled */
	uint32_t speeds; /* codes of ATTR_SPEED that are enabled, as a mask */
	uint16_t lid; /* where its performance management is; 0: no subnet manager has given one */
	uint32_t parts;	    /* those that were taken: a bit for each FarEndPart */
	uint16_t abilities; /* CapabilityMask of ClassPortInfo */
	uint64_t counters[FAR_COUNTERS_MAX];
} FarEnd;

/* Takes PART of *E from DATA. -EBADMSG: no node says that; *E has not changed. */
int far_end_take(FarEnd *e, FarEndPart part, const uint8_t data[FAR_END_BYTES]);
/* Whether counters were taken. */
bool far_end_has_counters(const FarEnd *e);
/* The name of counter I, below FAR_COUNTERS_MAX, as the kernel calls it in sysfs, and its value;
 * NULL: the node does not say it, or says it under another number in more bits. */
const char *far_end_counter(const FarEnd *e, size_t i, uint64_t *ret);
