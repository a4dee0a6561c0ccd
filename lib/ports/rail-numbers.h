/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The rails of a machine: its ports that are meant for the network of accelerators, numbered from
 * 0. These are the ports that have an accelerator at PXB or nearer, or if there is none, all that
 * are on a PCI function. Where the other ends of all of them are known, ports of one number are at
 * one switch, and the numbers have the order of the names of switches; else each port has its own,
 * in the order of PCI addresses and of numbers of ports. A virtual function and a subfunction have
 * the number of the port of their adapter whose cable they share.
 */

#include "object.h"

typedef struct RailNumber {
	const Object *port;
	size_t number;
	size_t order;	 /* the place of its cable by PCI address */
	bool is_another; /* it has the cable of the one before */
} RailNumber;

typedef struct RailNumbers {
	RailNumber *items; /* in that order */
	size_t n;
	bool by_neighbor;
} RailNumbers;

/* What the items point to is in OBJECTS. -ENOMEM. */
int rail_numbers_find(const ObjectList *objects, RailNumbers *ret);
void rail_numbers_done(RailNumbers *r);
/* NULL: PORT has none. */
const RailNumber *rail_number_of(const RailNumbers *r, const Object *port);
/* "neighbor" or "order" */
const char *rail_numbers_source(const RailNumbers *r);
