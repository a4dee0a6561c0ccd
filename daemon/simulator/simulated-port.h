/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The values of one simulated port: what its protocol gives it by default, and how settings change
 * them.
 *
 * The keys of settings are the fields of the attribute table of ports, and gid.INDEX, pkey.INDEX,
 * vf.NUMBER, counter.NAME and hw_counter.NAME. A port is changed by an edit, which takes effect as
 * a whole or not at all.
 */

#include "port.h"
#include "simulated-value.h"

typedef struct SimulatedDevice SimulatedDevice;

typedef struct SimulatedPort {
	AttrProtocol protocol; /* whose defaults it has; PROTOCOL_UNKNOWN: it is one of a record,
				  and has what recorded-values.h sets, and nothing else */
	PortSnapshot now;      /* what a query brings, but for its counters: those in it are the
				  ones that settings have set */
	int error;	       /* the negative errno that its queries fail with; 0: none */
	uint32_t error_count;  /* how many queries more fail with it; 0: all */
	bool is_open; /* of a record: an event has said more of its state than its last answer */
	uint32_t n_counted[2]; /* how often its counters were read, and those of the other end */
} SimulatedPort;

/* A change of a port that is not made yet. */
typedef struct PortEdit {
	SimulatedPort *port; /* the port that is changed; NULL: no edit has begun */
	PortSnapshot next;   /* what it will be; tables that do not change are still the port's */
	AttrMask touched;    /* the rows that settings or defaults have set */
} PortEdit;

/* Begins a change of PORT, which stays as it is until port_edit_commit(). */
void port_edit_begin(PortEdit *e, SimulatedPort *port);
/* Sets the defaults of the port's protocol. The port is one of D. */
int port_edit_defaults(PortEdit *e, const SimulatedDevice *d);
/* Applies N settings in order, entries of tables after all others. On an error there is a message,
 * and *RET_LINE is the line of the setting. */
int port_edit_apply(PortEdit *e, const Setting *settings, size_t n, unsigned int *ret_line,
		    char **ret_message);
/* Sets what follows from other attributes of a new port and was not set: its GIDs, its P_Key and
 * the speed of its network interface. The port is one of D. */
int port_edit_complete(PortEdit *e, const SimulatedDevice *d);
/* Makes attributes agree that belong together, such as the two speeds. -EINVAL with a message: a
 * table is shorter than its entries need. */
int port_edit_finish(PortEdit *e, char **ret_message);
/* Makes the change. The edit is over. */
void port_edit_commit(PortEdit *e);
/* Drops the change. The edit is over; it may be over already, or all zero. */
void port_edit_discard(PortEdit *e);
