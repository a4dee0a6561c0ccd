/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A port and a device as values: what one query brought back, what can be derived from it, and
 * which of it is valid.
 */

#include "gid.h"
#include "port-part.h"
#include "table.h"
#include "unavailable.h"

/* The ports of a device that are served: those with a number from 1 to this. The kernel counts
 * ports with 32 bits since 5.13: an mlx5 device in switchdev mode has one for each function behind
 * its embedded switch. The limit is for the memory that a device may take here. */
#define RDMA_PORT_MAX 1024U
/* The same for all devices together: in the core they take 100 MiB. */
#define RDMA_PORTS_MAX 32768U

/* The rail of a port. All ports of the machine decide what it is. */
typedef struct PortRail {
	enum { RAIL_NOT_KNOWN, RAIL_NONE, RAIL_NUMBERED } known;
	uint32_t number;
	AttrRailSource source;
} PortRail;

/* A port as one query saw it. The snapshot owns its tables, and holds its texts. */
typedef struct PortSnapshot {
	PortValues values;
	AttrMask supplied; /* the rows that the sources filled */
	AttrMask valid;	   /* of them, those that have a value to publish: see port_derive() */
	/* Rows that are not supplied because the driver says the same whatever the link does. A
	 * port of which the state is among them is not known to be down. */
	AttrMask unmeasured;
	/* Rows that are not supplied because whoever was asked for them answered with an error.
	 * They are asked for in the next look, as others: not again before it, as those of `failed`
	 */
	AttrMask unanswered;
	int32_t open_error;  /* why verbs could not be asked: the negative errno of opening the
				device, -ECANCELED if the configuration keeps it closed, -ERANGE if
				it is open but verbs cannot name the port; 0 if verbs was asked */
	int32_t query_error; /* why the last query of the port failed: a negative errno; 0 if it did
				not. Only the cache writes it */
	const Unavailable *no_neighbor; /* why the other end is not known, as who was asked says;
				NULL: nobody was asked */
	PortRail rail;			/* only the cache writes it */
	/* The same. ONCE: rows that rdmad measures have had values. FULL: the counter of symbol
	 * errors, with which rdmad measures the ratio of bit errors, counts no more. */
	struct {
		bool once, full;
	} measured;
	unsigned int parts;  /* READ_*: those that were read. Of a row of another part the snapshot
				says nothing, unless it is supplied */
	unsigned int failed; /* READ_*: those of which a table, or what verbs has, could not be read
				now, but may be later. It is not supplied then */
	Table *tables[_PORT_TABLE_MAX];
} PortSnapshot;

/* The rows that belong to PARTS. Rows with source CORE or DERIVED, and the counters, belong to
 * none.
 */
AttrMask port_rows_of(unsigned int parts);
/* The part that row A belongs to; 0 if to none. */
unsigned int port_part_of(PortAttr a);

/* An error because of which verbs could not be asked, and what it means. */
typedef struct OpenError {
	int32_t error; /* a negative errno */
	bool lasts;    /* the device stays closed until somebody changes something */
	const Unavailable *why;
} OpenError;

/* The row of open-errors.def for ERROR. For an errno that is not there, a row with a general reason
 * that does not last. */
const OpenError *open_error_find(int32_t error);

/* A device as one query saw it. The snapshot owns its tables, and holds its texts. */
typedef struct DeviceSnapshot {
	DeviceValues values;
	AttrMask supplied;
	AttrMask valid;
	AttrMask unanswered; /* as that of PortSnapshot */
	int32_t open_error;  /* the same */
	Table *tables[_DEVICE_TABLE_MAX];
	bool is_read;	     /* a query of the device has answered. Only the cache writes this
				and the next */
	int32_t query_error; /* why the last one failed: a negative errno; 0 if it did not */
} DeviceSnapshot;

/* The number of the first port of a device. A switch has port 0, and no other port is one of its
 * own: rdma_start_port() in the kernel's include/rdma/ib_verbs.h. */
uint32_t device_first_port(const DeviceSnapshot *d);

/* Frees what the snapshot owns and empties it. */
void port_snapshot_done(PortSnapshot *s);
void device_snapshot_done(DeviceSnapshot *s);
/* Frees an array of N devices with what they own. */
void device_array_free(DeviceSnapshot *devices, size_t n);

/* Supplies one row of S, a PortSnapshot or DeviceSnapshot: sets its field and its bit in
 * S->supplied. */
#define SUPPLY(s, prefix, field_, value)                                                           \
	do {                                                                                       \
		(s)->values.field_ = (value);                                                      \
		mask_set(&(s)->supplied, prefix##_##field_, true);                                 \
	} while (false)
#define PORT_SUPPLY(s, field, value)	   SUPPLY(s, PORT_ATTR, field, value)
#define DEVICE_SUPPLY(s, field, value)	   SUPPLY(s, DEVICE_ATTR, field, value)
#define PORT_SUPPLY_TEXT(s, field, text)   port_supply_text(s, PORT_ATTR_##field, text)
#define DEVICE_SUPPLY_TEXT(s, field, text) device_supply_text(s, DEVICE_ATTR_##field, text)
/* The same with the number of ROW. */
static inline void port_supply_number(PortSnapshot *s, PortAttr row, uint64_t number)
{
	attr_set_raw(&port_attributes[row], &s->values, number);
	mask_set(&s->supplied, row, true);
}

/* The same with TEXT. Without memory for it the row is not supplied. */
static inline void port_supply_text(PortSnapshot *s, PortAttr row, const char *text)
{
	mask_set(&s->supplied, row, attr_set_text(&port_attributes[row], &s->values, text) == 0);
}
static inline void device_supply_text(DeviceSnapshot *s, DeviceAttr row, const char *text)
{
	mask_set(&s->supplied, row, attr_set_text(&device_attributes[row], &s->values, text) == 0);
}

/*
 * Completes a snapshot in which the sources have supplied what they could: cleans all text, fills
 * the rows with source DERIVED, and computes S->valid: what was supplied, applies to the protocol
 * and keeps its validity rule. DEVICE gives node type and protocol. Leaves rows with source CORE
 * alone.
 */
void port_derive(PortSnapshot *s, const DeviceSnapshot *device);
/* The same for a device: cleans all text and computes S->valid. */
void device_derive(DeviceSnapshot *s);

/* Whether the port can have a rail, as far as it and its device decide that: it is on a PCI
 * function, and programs that use RDMA can use it. */
bool port_can_be_rail(const PortSnapshot *s, const DeviceSnapshot *device);

/* What decides about G, an entry of the GID table of a port with these values of Netdev and Master.
 */
GidChoice gid_choice_of(const GidEntry *g, const char *port_netdev, const char *port_master);
/* Whether a program should use A before B, entries of the GID table of the port with the values V:
 * the rule of gid_compare(). */
bool port_prefers_gid(const PortValues *v, const GidEntry *a, const GidEntry *b);
/* The entry that a program should use; NULL: there is none in the network namespace of rdmad. */
const GidEntry *port_best_gid(const PortSnapshot *s);

/* Which interfaces an object has, as a mask of 1 << AttrInterface. */
unsigned int port_interfaces(const PortSnapshot *s);
unsigned int device_interfaces(const DeviceSnapshot *s);

/*
 * The rows in which two snapshots differ as published: valid in both and unequal, or valid in one
 * only. Rows that are not signalled and the row "unavailable" are never among them.
 */
AttrMask port_diff(const PortSnapshot *a, const PortSnapshot *b);
AttrMask device_diff(const DeviceSnapshot *a, const DeviceSnapshot *b);

/*
 * Why row A has no value to publish, a row of unavailable.def; NULL if it has one. Rows with source
 * CORE always have one.
 */
const Unavailable *port_unavailable(const PortSnapshot *s, PortAttr a);
const Unavailable *device_unavailable(const DeviceSnapshot *s, DeviceAttr a);

/* Whether A and B differ in what port_unavailable() says of any row that is a property of one of
 * their interfaces: in the row "unavailable". */
bool port_reasons_differ(const PortSnapshot *a, const PortSnapshot *b);
