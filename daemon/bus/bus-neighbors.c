/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-neighbors.h"

#include "bus-network-manager.h"
#include "counters.h"
#include "decode.h"
#include "gid.h"
#include "list.h"

/* What the programs ask may take so long; the bus may have to start them. */
#define TIMEOUT_USEC (8 * USEC_PER_SEC)

#define PERCENT_MAX 100U

/* Of one entry of the answer of rdmad-neighbors, and of rdmad-networkd */
#define LLDP_TYPE "(ssssssuuitt)"
/* The same of the answer about counters */
#define COUNTERS_TYPES "susa(st)"

static const struct {
	const char *name, *path, *interface, *method;
	const char *type;   /* of one entry of the answer */
	const char *source; /* what NeighborSource says */
} services[] = {
	[NEIGHBORS_OF_LLDPD] = {"org.rdma.Neighbors", "/org/rdma/neighbors", "org.rdma.Neighbors",
				"List", LLDP_TYPE, "lldpd"},
	[NEIGHBORS_OF_NETWORKD] = {"org.rdma.Networkd", "/org/rdma/networkd", "org.rdma.Networkd",
				   "List", LLDP_TYPE, "systemd-networkd"},
	[NEIGHBORS_OF_NETWORK_MANAGER] = {"org.freedesktop.NetworkManager", "/org/freedesktop",
					  "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
					  NETWORK_MANAGER_TYPE, "NetworkManager"},
	[NEIGHBORS_OF_FABRIC] = {"org.rdma.Fabric", "/org/rdma/fabric", "org.rdma.Fabric", "List",
				 "(suyyttsuu)", "mad"},
	[FAR_COUNTERS] = {"org.rdma.Fabric", "/org/rdma/fabric", "org.rdma.Fabric", "GetCounters",
			  "(" COUNTERS_TYPES ")", NULL},
};

NeighborSource bus_neighbor_source(const PortSnapshot *s)
{
	NeighborSource source = 0;

	while (source < _NEIGHBOR_SOURCE_MAX &&
	       !(mask_has(&s->supplied, PORT_ATTR_neighbor_source) &&
		 streq(services[source].source, TEXT_OF(&s->values, neighbor_source))))
		source++;
	return source;
}

bool neighbor_ports_add(NeighborPorts *l, const Port *p)
{
	if (l->n == ARRAY_SIZE(l->items))
		return false;
	l->items[l->n++] = (NeighborPort){TEXT_OF(&p->now.values, device_name), p->number};
	return true;
}

static int append_ports(sd_bus_message *m, const NeighborPorts *l)
{
	int r = sd_bus_message_open_container(m, 'a', "(su)");

	for (size_t i = 0; i < l->n && r >= 0; i++)
		r = sd_bus_message_append(m, "(su)", l->items[i].name, l->items[i].number);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_ask_neighbors(Bus *b, NeighborSource source, const NeighborPorts *ports,
		      sd_bus_message_handler_t handler, void *userdata, sd_bus_slot **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *bus = bus_connection(b);
	int r = sd_bus_message_new_method_call(bus, &m, services[source].name,
					       services[source].path, services[source].interface,
					       services[source].method);

	/* who wants NetworkManager starts it himself */
	if (r >= 0 && source == NEIGHBORS_OF_NETWORK_MANAGER)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0 && source >= NEIGHBORS_OF_FABRIC)
		r = append_ports(m, ports);
	return r < 0 ? r : MIN(sd_bus_call_async(bus, ret, m, handler, userdata, TIMEOUT_USEC), 0);
}

int bus_take_neighbors(NeighborSource source, sd_bus_message *answer)
{
	return bus_enter_answer(answer, services[source].type);
}

static int next_heard(sd_bus_message *answer, uint64_t now_usec, NeighborPort *ret_port,
		      PortSnapshot *s)
{
	const char *interface, *system, *port, *port_text, *chassis, *address;
	uint8_t percents[sizeof(uint64_t)];
	AttrText list;
	uint64_t ets, since, sum = 0;
	uint32_t vlan, frame;
	int32_t pfc;
	int r = sd_bus_message_read(answer, LLDP_TYPE, &interface, &system, &port, &port_text,
				    &chassis, &address, &vlan, &frame, &pfc, &ets, &since);

	if (r <= 0)
		return r;
	PORT_SUPPLY_TEXT(s, neighbor, system);
	PORT_SUPPLY_TEXT(s, neighbor_port, port);
	PORT_SUPPLY_TEXT(s, neighbor_port_text, port_text);
	PORT_SUPPLY_TEXT(s, neighbor_chassis, chassis);
	PORT_SUPPLY_TEXT(s, neighbor_address, address);
	PORT_SUPPLY(s, neighbor_vlan, vlan <= VLAN_MAX ? vlan : 0);
	PORT_SUPPLY(s, neighbor_frame, frame);
	if (pfc >= 0 && pfc <= UINT8_MAX) {
		list_put_bits((uint8_t)pfc, list);
		PORT_SUPPLY_TEXT(s, neighbor_pfc, list);
	}
	memcpy(percents, &ets, sizeof(percents));
	for (size_t i = 0; i < sizeof(percents); i++)
		sum += percents[i];
	if (sum <= PERCENT_MAX) {
		list_put_numbers(percents, sizeof(percents), list);
		PORT_SUPPLY_TEXT(s, neighbor_ets, list);
	}
	PORT_SUPPLY(s, neighbor_since, MIN(since, now_usec));
	*ret_port = (NeighborPort){interface, 0};
	return 1;
}

static int next_of_network_manager(sd_bus_message *answer, uint64_t now_usec,
				   NeighborPort *ret_port, PortSnapshot *s)
{
	PORT_SUPPLY(s, neighbor_since, now_usec);
	ret_port->number = 0;
	return network_manager_next(answer, &ret_port->name, s);
}

/* Supplies ROW with what the bits of MASK stand for that are codes of CODE: the names of speeds, or
 * the numbers of lanes. A bit without a meaning is left out. */
static void supply_codes(PortSnapshot *s, PortAttr row, AttrType code, uint32_t mask)
{
	AttrText list;
	ListWriter w;

	if (mask == 0)
		return;
	list_begin(&w, code == ATTR_SPEED ? ATTR_WORDS : ATTR_NUMBERS, list, sizeof(list));
	for (uint32_t bit = 1; bit; bit <<= 1) {
		const char *name = mask & bit && code == ATTR_SPEED ? decode_name(code, bit) : NULL;
		uint32_t number = mask & bit && !name ? decode_number(code, bit) : 0;

		if (name)
			list_add_word(&w, name);
		else if (number)
			list_add_number(&w, number);
	}
	list_end(&w);
	port_supply_text(s, row, list);
}

/* CODE, if it is one that rdmad says. */
static const Unavailable *find_code(const char *code)
{
	const Unavailable *why = unavailable_find(code);

	return why && why->on_bus ? why : NULL;
}

static int next_of_fabric(sd_bus_message *answer, uint64_t now_usec, NeighborPort *ret_port,
			  PortSnapshot *s)
{
	uint32_t widths, speeds;
	uint64_t guid, system;
	AttrText number, guid_text;
	const char *text;
	uint8_t type, port;
	int r = sd_bus_message_read(answer, services[NEIGHBORS_OF_FABRIC].type, &ret_port->name,
				    &ret_port->number, &type, &port, &guid, &system, &text, &widths,
				    &speeds);

	if (r <= 0)
		return r;
	if (!type) {
		s->no_neighbor = find_code(text);
		return 1;
	}
	PORT_SUPPLY_TEXT(s, neighbor, text);
	PORT_SUPPLY(s, neighbor_guid, guid);
	PORT_SUPPLY(s, neighbor_type, type);
	snprintf(number, sizeof(number), "%u", port);
	PORT_SUPPLY_TEXT(s, neighbor_port, number);
	guid_format(system, guid_text);
	if (system)
		PORT_SUPPLY_TEXT(s, neighbor_chassis, guid_text);
	supply_codes(s, PORT_ATTR_neighbor_widths, ATTR_WIDTH, widths);
	supply_codes(s, PORT_ATTR_neighbor_speeds, ATTR_SPEED, speeds);
	PORT_SUPPLY(s, neighbor_since, now_usec);
	return 1;
}

int bus_next_neighbor(NeighborSource source, sd_bus_message *answer, uint64_t now_usec,
		      NeighborPort *ret_port, PortSnapshot *ret)
{
	static int (*const readers[])(sd_bus_message * answer, uint64_t now_usec,
				      NeighborPort * ret_port, PortSnapshot * s) = {
		[NEIGHBORS_OF_LLDPD] = next_heard,
		[NEIGHBORS_OF_NETWORKD] = next_heard,
		[NEIGHBORS_OF_NETWORK_MANAGER] = next_of_network_manager,
		[NEIGHBORS_OF_FABRIC] = next_of_fabric,
	};
	_cleanup_(port_snapshot_done) PortSnapshot s = {.parts = READ_NEIGHBOR};
	int r = readers[source](answer, now_usec, ret_port, &s);

	if (r <= 0)
		return r;
	if (!mask_is_empty(&s.supplied))
		PORT_SUPPLY_TEXT(&s, neighbor_source, services[source].source);
	*ret = s;
	s = (PortSnapshot){};
	return r;
}

/* Reads an array of names and values of counters. One that has no row, or came before, is left
 * out. */
static int read_counters(sd_bus_message *answer, Table **ret)
{
	_cleanup_free_ CounterEntry *entries = calloc(n_counter_rows, sizeof(*entries));
	const char *name;
	uint64_t value;
	size_t n = 0;
	int r = entries ? sd_bus_message_enter_container(answer, 'a', "(st)") : -ENOMEM;

	while (r >= 0 && (r = sd_bus_message_read(answer, "(st)", &name, &value)) > 0) {
		if (!counter_find(COUNTER_GROUP_PORT, name) || array_find(entries, n, file, name))
			continue;
		entries[n].group = COUNTER_GROUP_PORT;
		text_copy(entries[n].file, sizeof(entries[n].file), name);
		entries[n++].value = value;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(answer);
	return r < 0 ? r : table_make(entries, n, sizeof(*entries), ret);
}

int bus_next_far_counters(sd_bus_message *answer, NeighborPort *ret_port, Table **ret_counters,
			  const Unavailable **ret_why)
{
	_cleanup_(table_free_pointer) Table *counters = NULL;
	const char *why;
	int r = sd_bus_message_enter_container(answer, 'r', COUNTERS_TYPES);

	if (r <= 0)
		return r;
	r = sd_bus_message_read(answer, "sus", &ret_port->name, &ret_port->number, &why);
	if (r >= 0)
		r = read_counters(answer, &counters);
	if (r >= 0)
		r = sd_bus_message_exit_container(answer);
	if (r < 0)
		return r;
	*ret_why = find_code(why);
	*ret_counters = *why ? NULL : steal_pointer(&counters);
	return 1;
}
