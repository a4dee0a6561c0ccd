/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-neighbors.h"

#include "list.h"

#define NAME "org.rdma.Neighbors"
#define PATH "/org/rdma/neighbors"

/* What rdmad-neighbors asks may take so long; the bus may have to start it. */
#define TIMEOUT_USEC (8 * USEC_PER_SEC)

#define VLAN_MAX 4094U

int bus_ask_neighbors(Bus *b, sd_bus_message_handler_t handler, void *userdata, sd_bus_slot **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *bus = bus_connection(b);
	int r = sd_bus_message_new_method_call(bus, &m, NAME, PATH, NAME, "List");

	return r < 0 ? r : MIN(sd_bus_call_async(bus, ret, m, handler, userdata, TIMEOUT_USEC), 0);
}

int bus_take_neighbors(sd_bus_message *answer)
{
	if (sd_bus_message_is_method_error(answer, NULL))
		return -sd_bus_message_get_errno(answer);
	if (!sd_bus_message_has_signature(answer, "a(ssssssuuit)"))
		return -EBADMSG;
	return MIN(sd_bus_message_enter_container(answer, 'a', "(ssssssuuit)"), 0);
}

int bus_next_neighbor(sd_bus_message *answer, uint64_t now_usec, const char **ret_interface,
		      PortSnapshot *ret)
{
	const char *interface, *system, *port, *port_text, *chassis, *address;
	PortSnapshot s = {.parts = READ_NEIGHBOR};
	uint32_t vlan, frame;
	uint64_t since;
	int32_t pfc;
	int r = sd_bus_message_read(answer, "(ssssssuuit)", &interface, &system, &port, &port_text,
				    &chassis, &address, &vlan, &frame, &pfc, &since);

	if (r <= 0)
		return r;
	PORT_SUPPLY_TEXT(&s, neighbor, system);
	PORT_SUPPLY_TEXT(&s, neighbor_port, port);
	PORT_SUPPLY_TEXT(&s, neighbor_port_text, port_text);
	PORT_SUPPLY_TEXT(&s, neighbor_chassis, chassis);
	PORT_SUPPLY_TEXT(&s, neighbor_address, address);
	PORT_SUPPLY(&s, neighbor_vlan, vlan <= VLAN_MAX ? vlan : 0);
	PORT_SUPPLY(&s, neighbor_frame, frame);
	list_put_bits((uint8_t)pfc, s.values.neighbor_pfc);
	mask_set(&s.supplied, PORT_ATTR_neighbor_pfc, pfc >= 0 && pfc <= UINT8_MAX);
	PORT_SUPPLY_TEXT(&s, neighbor_source, "lldpd");
	PORT_SUPPLY(&s, neighbor_since, MIN(since, now_usec));
	*ret_interface = interface;
	*ret = s;
	return 1;
}
