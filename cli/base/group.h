/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The groups in which people read the attributes of a port or a device. First comes what they look
 * for most often. The group of every other attribute follows from the columns of its row, so a new
 * row needs no change here. rdmactl show prints these groups, and describe --json says which they
 * are.
 */

#include "attribute.h"

typedef enum Group {
	GROUP_FIRST, /* of a port first_rows, of a device what has no other group */
	GROUP_LINK,
	GROUP_INFINIBAND,
	GROUP_ETHERNET,
	GROUP_SIGNAL,
	GROUP_NEIGHBOR,
	GROUP_CABLE,
	GROUP_MLX5,
	GROUP_HBL,
	GROUP_TABLE,   /* each row is a table */
	GROUP_GENERAL, /* what has no other group */
	GROUP_TRUST,
	GROUP_OBJECT, /* what identifies the object of a port on the bus */
	GROUP_LIMITS, /* of a device */
	GROUP_HIDDEN, /* a reason is shown in place of its value, or it is no property */
	_GROUP_MAX
} Group;

/* The group of row I of ROWS, which is port_attributes or device_attributes. */
Group group_of_row(const Attribute *rows, size_t i);
/* The name of the group; NULL of GROUP_HIDDEN. */
const char *group_name(Group group);

/* The rows of a port that are in GROUP_FIRST, in the order in which they are shown. */
#define N_FIRST_ROWS 5U
extern const PortAttr first_rows[N_FIRST_ROWS];
