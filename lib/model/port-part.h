/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parts of a port: what can be read of it without the rest. Each row that a source supplies
 * belongs to one part: port_rows_of() in port.h. A set of parts is a mask of them.
 */

typedef enum PortPart {
	/* The values of ibv_query_port(): state, LIDs, MTU, speed. Where verbs cannot be asked, the
	   values of netlink and sysfs in their place. */
	READ_VERBS = 1 << 0,
	/* The values of netlink about the port and its network interface, with the speed of that.
	 */
	READ_LINKS = 1 << 1,
	/* The GIDs, and the network interfaces that are found with them. A query reads READ_LINKS
	   with it, which has the interface to compare those of the GIDs with. */
	READ_GIDS = 1 << 2,
	/* The values of the vendor's library. */
	READ_DIRECT = 1 << 3,
	/* The P_Keys: on InfiniBand each entry of the table is a firmware command. */
	READ_PKEYS = 1 << 4,
	/* The priorities of the interface of an Ethernet port. mlx5 asks its firmware for each of
	   them, and the kernel holds the RTNL lock meanwhile. A query reads READ_LINKS with it,
	   which has the interface. */
	READ_DCB = 1 << 5,
	/* The virtual functions: mlx5 asks its firmware for each of them, and the kernel holds the
	   RTNL lock meanwhile. A query reads READ_GIDS with it, which has the interfaces. */
	READ_VFS = 1 << 6,
	/* The PHY and the sensors of the adapter: each value is a firmware command, and the kernel
	   holds the RTNL lock during those of the PHY. No event is about them. A query reads
	   READ_LINKS with it, which has the interface. */
	READ_SIGNAL = 1 << 7,

	/* The other end of the link. No worker reads it, and no query asks for it: another program
	   tells the core (manager/manager-neighbors.c). An answer of the simulator has it. */
	READ_NEIGHBOR = 1 << 8,

	/* The module in the cage. The same, with a program of its own (manager/manager-cable.c). */
	READ_CABLE = 1 << 9,

	/* The parts that cost a few system calls, and a firmware command or two. */
	READ_USUAL = READ_VERBS | READ_LINKS | READ_GIDS | READ_DIRECT,
	/* The parts that an event can be about. READ_SIGNAL follows in a query of its own. */
	READ_NEWS = READ_USUAL | READ_PKEYS | READ_DCB | READ_VFS,
	READ_ALL = READ_NEWS | READ_SIGNAL,
	/* All that an answer can have. */
	READ_ANY = READ_ALL | READ_NEIGHBOR | READ_CABLE,
} PortPart;
