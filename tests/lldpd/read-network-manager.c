/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* read-network-manager: asks NetworkManager once, as rdmad does, and prints what rdmad takes of its
 * answer: a line for each interface whose other end is known. */

#include "bus-neighbors.h"

int main(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *answer = NULL;
	NeighborPort port;
	PortSnapshot s;
	int r = sd_bus_open_system(&bus);

	if (r >= 0)
		r = sd_bus_call_method(bus, "org.freedesktop.NetworkManager", "/org/freedesktop",
				       "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
				       NULL, &answer, "");
	if (r >= 0)
		r = bus_take_neighbors(NEIGHBORS_OF_NETWORK_MANAGER, answer);
	while (r >= 0 &&
	       (r = bus_next_neighbor(NEIGHBORS_OF_NETWORK_MANAGER, answer, 0, &port, &s)) > 0) {
		const PortValues *v = &s.values;

		printf("%s: %s, %s, %s, %s, %s, %u, %u, %s\n", port.name, TEXT_OF(v, neighbor),
		       TEXT_OF(v, neighbor_port), TEXT_OF(v, neighbor_port_text),
		       TEXT_OF(v, neighbor_chassis), TEXT_OF(v, neighbor_address), v->neighbor_vlan,
		       v->neighbor_frame, TEXT_OF(v, neighbor_source));
	}
	if (r < 0)
		fprintf(stderr, "read-network-manager: %s\n", strerror(-r));
	return r < 0;
}
