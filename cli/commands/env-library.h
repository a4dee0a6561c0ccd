/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The communication libraries that rdmactl env knows: what each uses, and the variables that tell
 * it. A library is a row of env-libraries.def.
 */

#include <stdbool.h>
#include <stddef.h>

/* The contents of a variable. */
typedef enum VariableKind {
	VARIABLE_PORTS,	     /* all ports, "mlx5_0:1,mlx5_1:1" */
	VARIABLE_DEVICE,     /* the one device */
	VARIABLE_DEVICES,    /* all devices */
	VARIABLE_PORT,	     /* the one number of the ports of all devices, if it is not 1 */
	VARIABLE_NETDEV,     /* the one network interface */
	VARIABLE_NETDEVS,    /* all network interfaces */
	VARIABLE_GID_INDEX,  /* the one index that is right for all ports */
	VARIABLE_FAMILY,     /* of the GIDs, if no index is right for all ports */
	VARIABLE_PKEY_INDEX, /* the one index of a P_Key of which all are full members */
	VARIABLE_PKEY,	     /* that P_Key, without the bit of the membership */
	VARIABLE_CLASS,	     /* the one traffic class whose priority has flow control */
	VARIABLE_LEVEL,	     /* the one service level that is such a priority */
	VARIABLE_PROVIDER,   /* of libfabric, for EFA, which it does not use by verbs */
	VARIABLE_FIXED,	     /* always the same, PREFIX */
	VARIABLE_NAMES,	     /* "", so that devices without PREFIX in their name are taken too */
	VARIABLE_UCX,	     /* Open MPI uses UCX with each driver, but for Omni-Path */
} VariableKind;

typedef struct Variable {
	const char *name; /* NULL ends the list */
	VariableKind kind;
	const char *help;   /* for the manual */
	const char *prefix; /* in front of the value; NULL: nothing */
	/* What finds a GID index by itself, of each port, with IPv4, and with IPv6 where no port
	 * has IPv4; in place of "*" is the title of the library. NULL: nothing does. */
	const char *finder, *finder_v6;
	bool mixes_families; /* it takes the lower index, of IPv4 or IPv6, of each port */
	unsigned int dscp;   /* that of VARIABLE_CLASS, if it is not set */
} Variable;

typedef struct Library {
	const char *name, *title;
	const Variable *variables;
	const char *separators;	 /* no name in its lists can have one of these */
	bool excludes;		 /* a list that begins with '^' is of those that it does not use */
	bool iwarp;		 /* it uses iWARP too */
	bool by_prefix;		 /* it compares the beginnings of the names of devices */
	bool by_address;	 /* it finds a port by an IP address of an interface */
	bool interface;		 /* it uses interfaces and not ports */
	const char *without_efa; /* why it does not use EFA itself; NULL: it does */
	const char *efa_since;	 /* the version that was the first to; NULL: no matter */
	size_t ports_most;	 /* it takes so many ports; 0: any number */
	size_t name_most;	 /* "mlx5_0:1" has so many characters; 0: any number */
	const char *first_pkey;	 /* what takes the first P_Key and no other; NULL: nothing does */
} Library;

/* The last one has no name. */
extern const Library libraries[];
/* "|nccl|ucx": a bar before each name; and the same with " PORT" behind them. */
extern const char library_names[], library_arguments[];

/* Whether L has a variable of KIND. */
bool library_has(const Library *l, VariableKind kind);
