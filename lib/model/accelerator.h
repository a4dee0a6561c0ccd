/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How far an accelerator is from a device: the words of the column "distance". */

#include "table.h"

/* The nearest first. table-columns.def says what they mean. */
typedef enum Distance {
	DISTANCE_LOC,
	DISTANCE_PIX,
	DISTANCE_PXB,
	DISTANCE_PHB,
	DISTANCE_NODE,
	DISTANCE_SYS,
	_DISTANCE_MAX
} Distance;

/* "PIX" */
const char *distance_name(Distance d);
/* _DISTANCE_MAX if it is the name of none. */
Distance distance_from_name(const char *name);
/* For sort(): orders AcceleratorEntry by how near they are, and then by address. */
int accelerator_compare(const void *a, const void *b);
