/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a node of InfiniBand says of itself in the answers to three subnet management packets, as
 * IBA vol. 1 lays them out in the chapter "Subnet management". */

#include "attribute.h"

/* What one answer has */
#define FAR_END_BYTES 64U

typedef enum FarEndPart {
	FAR_END_NODE, /* NodeInfo */
	FAR_END_TEXT, /* NodeDescription */
	FAR_END_PORT, /* PortInfo of the port that NodeInfo names */
	_FAR_END_PART_MAX
} FarEndPart;

/* The node at the other end of a link. What it does not say is 0 or "". */
typedef struct FarEnd {
	uint8_t type;	 /* 1 channel adapter, 2 switch, 3 router; 0: nothing is known */
	uint8_t port;	 /* its port that the link ends at */
	uint64_t guid;	 /* of the node */
	uint64_t system; /* of the system that the node is a part of, such as a chassis */
	AttrText text;	 /* valid, and without control characters */
	uint32_t widths; /* LinkWidthEnabled */
	uint32_t speeds; /* codes of ATTR_SPEED that are enabled, as a mask */
} FarEnd;

/* Takes PART of *E from DATA. -EBADMSG: no node says that; *E has not changed. */
int far_end_take(FarEnd *e, FarEndPart part, const uint8_t data[FAR_END_BYTES]);
