/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The ports that fake-rdmad has: one of each kind that rdmactl shows in another way. */

#include "port.h"

typedef struct FakePort {
	const char *name; /* "DEVICE/NUMBER" */
	const char *device;
	unsigned int device_index, number;
	const char *settings; /* FIELD=VALUE, separated by blanks */
	const char *gids;     /* GID, type and netdev of each entry, separated by blanks */
	const char *pkeys;    /* in hexadecimal, separated by blanks */
	bool present;
	PortSnapshot s;
} FakePort;

#define N_FAKE_PORTS 6
extern FakePort fake_ports[N_FAKE_PORTS];

/* What is the same for all devices. */
typedef struct FakeOptions {
	bool has_nodes; /* each device has a node for verbs */
	bool is_stale;	/* each device is stale */
} FakeOptions;
extern FakeOptions fake_options;

/* Fills in the values of P from its row. */
void fake_set_up(FakePort *p);
/* Sets FIELD=VALUE; "\s" in a value stands for a blank, and an empty value for what the driver does
 * not report. Ends the process if there is no such field or value. */
void fake_set(FakePort *p, const char *setting);
/* Adds an entry to the end of the GID table: GID in 32 hexadecimal digits, NETDEV "-" for none,
 * "other" for one in another network namespace; what is behind a dot in its name is its VLAN. */
void fake_add_gid(FakePort *p, const char *gid, GidType type, const char *netdev);
/* Derives what follows from the values; to be called after they were set. */
void fake_derive(FakePort *p);

/* The device of P; the caller frees it with device_snapshot_done(). */
DeviceSnapshot fake_device(const FakePort *p);
/* The port of that name if it is present; NULL. */
FakePort *fake_find(const char *name);
/* The object path of P, valid until the next call. */
const char *fake_path(const FakePort *p);
