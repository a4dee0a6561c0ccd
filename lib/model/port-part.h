/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parts of a port: what can be read of it without the rest. Each row that a source supplies
 * belongs to one part: port_rows_of() in port.h. A set of parts is a mask of them.
 */

typedef enum PortPart {
	/* What ibv_query_port() says: state, LIDs, MTU, speed. Where verbs cannot be asked, what
	 * netlink and sysfs have in its place. */
	READ_VERBS = 1 << 0,
	/* What netlink says of the port and of its network interface, with the speed of that. */
	READ_LINKS = 1 << 1,
	/* The GIDs, and the network interfaces that are found with them. Who reads it reads
	 * READ_LINKS too, which has what the interfaces of the GIDs are compared with. */
	READ_GIDS = 1 << 2,
	/* What the library of the vendor says. */
	READ_DIRECT = 1 << 3,
	/* The P_Keys: on InfiniBand each entry of the table is a firmware command. */
	READ_PKEYS = 1 << 4,
	/* What the interface of an Ethernet port does with priorities. mlx5 asks its firmware for
	 * each of them, and the kernel holds the RTNL lock meanwhile. Who reads it reads
	 * READ_LINKS too, which has the interface. */
	READ_DCB = 1 << 5,
	/* The virtual functions: mlx5 asks its firmware for each of them, and the kernel holds the
	 * RTNL lock meanwhile. Who reads it reads READ_GIDS too, which has the interfaces. */
	READ_VFS = 1 << 6,

	/* What costs a few system calls, and a firmware command or two. */
	READ_USUAL = READ_VERBS | READ_LINKS | READ_GIDS | READ_DIRECT,
	READ_ALL = READ_USUAL | READ_PKEYS | READ_DCB | READ_VFS,
} PortPart;
