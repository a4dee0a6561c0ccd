/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other ends of links, from NetworkManager (bus-network-manager.h), and from three programs
 * that the bus starts, because rdmad has no right to ask itself, or would have to wait:
 * rdmad-neighbors (daemon/neighbors/neighbors-main.c), which asks lldpd, rdmad-networkd
 * (daemon/networkd/networkd-main.c), which asks systemd-networkd, and rdmad-fabric
 * (daemon/fabric/fabric-main.c), which asks the other ends of links of InfiniBand. */

#include "bus.h"
#include "cache.h"

/* Of two that know the other end of a link the first one counts. */
typedef enum NeighborSource {
	NEIGHBORS_OF_LLDPD,
	NEIGHBORS_OF_NETWORKD,
	NEIGHBORS_OF_NETWORK_MANAGER,
	NEIGHBORS_OF_FABRIC,
	_NEIGHBOR_SOURCE_MAX,
	FAR_COUNTERS = _NEIGHBOR_SOURCE_MAX /* is asked in the same way, and says other things */
} NeighborSource;

/* A port whose other end is asked for, or told. */
typedef struct NeighborPort {
	const char *name; /* that of a device, or if rdmad-fabric is not asked of an interface */
	uint32_t number;  /* if rdmad-fabric is asked */
} NeighborPort;

/* So many ports are asked for at most. */
typedef struct NeighborPorts {
	NeighborPort items[255];
	size_t n;
} NeighborPorts;

/* Adds P; false: there is no room for it. */
bool neighbor_ports_add(NeighborPorts *l, const Port *p);

/* Who has told the other end of S; _NEIGHBOR_SOURCE_MAX: it is not known. */
NeighborSource bus_neighbor_source(const PortSnapshot *s);

/* Asks SOURCE; rdmad-fabric for PORTS, and the others for all that there are. HANDLER gets the
 * answer, an error too, once, unless *RET, which the caller frees, is freed before; it must be
 * freed before B. 0, or a negative errno. */
int bus_ask_neighbors(Bus *b, NeighborSource source, const NeighborPorts *ports,
		      sd_bus_message_handler_t handler, void *userdata, sd_bus_slot **ret);
/*
 * Begins to read ANSWER of SOURCE. 0, or a negative errno: it is no answer.
 * bus_next_neighbor() fills *RET with READ_NEIGHBOR of the other end of the link of *RET_PORT,
 * which ANSWER has, at NOW_USEC (CLOCK_REALTIME), without numbers that cannot be, or with why the
 * other end is not known: 1; 0: there are no more; a negative errno.
 */
int bus_take_neighbors(NeighborSource source, sd_bus_message *answer);
int bus_next_neighbor(NeighborSource source, sd_bus_message *answer, uint64_t now_usec,
		      NeighborPort *ret_port, PortSnapshot *ret);

/* The same of FAR_COUNTERS, the counters of the ports at the other ends of links of InfiniBand. The
 * *RET_COUNTERS of *RET_PORT, which the caller frees, are NULL if they are not known: *RET_WHY,
 * NULL if rdmad does not say such a code. */
int bus_next_far_counters(sd_bus_message *answer, NeighborPort *ret_port, Table **ret_counters,
			  const Unavailable **ret_why);
