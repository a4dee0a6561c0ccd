/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Replies that are long: GetManagedObjects(), Properties.GetAll() of our interfaces, ListPorts().
 * Each is written at once, as it is sent: it holds for that moment, between what was signalled
 * before and what is signalled after.
 */

#include "bus-mint.h"
#include "bus-writer.h"
#include "cache.h"

typedef struct BusBulk BusBulk;

/* Answers GetManagedObjects() and GetAll() on BUS from C, before sd-bus does. */
int bus_bulk_new(sd_bus *bus, const Cache *c, BusBulk **ret);
BusBulk *bus_bulk_free(BusBulk *b);
DEFINE_CLEANUP(BusBulk, bus_bulk_free);

/* A kind of reply: SIGNATURE of the body, and the function that writes it for CALL. An error of
 * WRITE is the reply; 0 from it leaves CALL, which is rewound, to others. */
typedef struct BusBulkKind {
	const char *signature;
	int (*write)(BusWriter *w, sd_bus_message *call, const Cache *c, sd_bus_error *error);
} BusBulkKind;

/* Answers CALL. To be returned to sd-bus. */
int bus_bulk_answer(BusBulk *b, sd_bus_message *call, const BusBulkKind *kind, sd_bus_error *error);
