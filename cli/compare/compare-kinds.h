/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which machines are of one kind, and which of their devices and ports correspond.
 *
 * Machines below one heading of the file are of one kind. The kind of others follows from their
 * devices. The models of the devices are what counts, and not names, firmware or drivers, which may
 * be what is wrong. A machine that has another set of models is of the same kind if at least three
 * quarters of the devices are the same; if it is one of few such machines, half of them are enough;
 * and a machine without any device is of the largest kind. So a machine that has lost a device does
 * not become a kind of its own, and a rack with other adapters does.
 *
 * Devices correspond by their names. One that has a name of its own is the one with the same model
 * and PCI address, or the next one of this model in the order of PCI addresses. Ports correspond by
 * their numbers on these devices.
 */

#include "compare-machines.h"

/* A device or a port that machines of a kind have. */
typedef struct Place {
	const Object **objects; /* by member of the kind; NULL: this machine does not have it */
	const Object *usual;	/* of a usual machine, or of the first that has it */
	size_t n;		/* so many have it */
	size_t device;		/* the place of its device; of a device: its own */
	uint64_t port;		/* the number of the port */
	bool is_port;
	char name[96]; /* what it is called on most machines */
} Place;

typedef struct Kind {
	char *name;		 /* the label of the file, or a number */
	char *hardware;		 /* "8 x MT4129, 1 x MT41692" */
	const Machine **members; /* in the order of the file */
	size_t n;
	Place *places; /* each device, and behind it its ports */
	size_t n_places;
} Kind;

typedef struct Kinds {
	Kind *items;
	size_t n;
} Kinds;

/* Finds the kinds of those machines that have answered. They are pointed to. */
ExitStatus kinds_find(const Machines *m, Kinds *ret);
void kinds_done(Kinds *k);
#define _cleanup_kinds_ _cleanup_(kinds_done)

/* Whether more than half of the machines have what is at this place. */
bool place_is_common(const Kind *k, const Place *p);
