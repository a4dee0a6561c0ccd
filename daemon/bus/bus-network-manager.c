/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What NetworkManager says of a device: its properties Interface, and LldpNeighbors, which has a
 * dictionary for each system that it has heard there. The keys are those of libnm
 * (nm-dbus-interface.h: NM_LLDP_ATTR_...). Of IEEE 802.1Qaz (flow control and ETS) it has nothing,
 * nor since when it knows a system.
 */

#include "bus-network-manager.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "value.h"

#define DEVICE_INTERFACE "org.freedesktop.NetworkManager.Device"

/* A MAC address as NetworkManager writes it */
#define MAC_DIGITS "0123456789ABCDEF:"
#define MAC_LENGTH 17U

/* What is read of one device */
typedef struct Found {
	const char *interface;
	Value *systems; /* that were heard there */
} Found;

/* Reads the value of KEY, which is the next one of M, and returns 1; 0: it does not want it. */
typedef int (*TakeValue)(sd_bus_message *m, const char *key, void *userdata);

/* Reads a dictionary, whose entries are of ENTRY: a text, and a value of the rest. */
static int each_key(sd_bus_message *m, const char *entry, TakeValue take, void *userdata)
{
	char contents[16];
	const char *key;
	int r;

	snprintf(contents, sizeof(contents), "{%s}", entry);
	r = sd_bus_message_enter_container(m, 'a', contents);
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', entry)) > 0) {
		r = sd_bus_message_read_basic(m, 's', &key);
		if (r >= 0)
			r = take(m, key, userdata);
		if (r == 0)
			r = sd_bus_message_skip(m, entry + 1);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int take_property(sd_bus_message *m, const char *key, void *userdata)
{
	const char *contents;
	Found *f = userdata;
	char type;
	int r;

	if (streq(key, "Interface") && sd_bus_message_peek_type(m, &type, &contents) > 0 &&
	    streq(contents, "s"))
		return sd_bus_message_read(m, "v", "s", &f->interface);
	if (!streq(key, "LldpNeighbors"))
		return 0;
	value_done(f->systems);
	r = value_read(m, f->systems);
	return r < 0 ? r : 1;
}

static int take_interface(sd_bus_message *m, const char *key, void *userdata)
{
	int r;

	if (!streq(key, DEVICE_INTERFACE))
		return 0;
	r = each_key(m, "sv", take_property, userdata);
	return r < 0 ? r : 1;
}

/* The first of LIST, one of dictionaries; NULL: there is none. */
static const Value *first_of(const Value *list)
{
	return list && list->type == VALUE_ARRAY && list->n > 0 && list->items[0].type == VALUE_DICT
		       ? &list->items[0]
		       : NULL;
}

static void supply_address(const Value *address, PortSnapshot *s)
{
	size_t n = address && address->type == VALUE_ARRAY ? address->n : 0;
	uint8_t bytes[sizeof(struct in6_addr)];
	char text[INET6_ADDRSTRLEN];

	if (n != sizeof(struct in_addr) && n != sizeof(struct in6_addr))
		return;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)value_number(&address->items[i]);
	if (inet_ntop(n == sizeof(struct in_addr) ? AF_INET : AF_INET6, bytes, text, sizeof(text)))
		PORT_SUPPLY_TEXT(s, neighbor_address, text);
}

static void supply_text(const char *text, PortAttr attr, PortSnapshot *s)
{
	AttrText written;

	text_copy(written, sizeof(written), text);
	/* as lldpd writes it */
	if (strlen(text) == MAC_LENGTH && strspn(text, MAC_DIGITS) == MAC_LENGTH)
		for (char *c = written; *c; c++)
			*c = (char)tolower(*c);
	port_supply_text(s, attr, written);
}

static void supply_system(const Value *system, PortSnapshot *s)
{
	static const struct {
		const char *key;
		PortAttr attr;
		uint32_t most; /* of a number; 0: it is a text */
	} rows[] = {
		{"system-name", PORT_ATTR_neighbor, 0},
		{"port-id", PORT_ATTR_neighbor_port, 0},
		{"port-description", PORT_ATTR_neighbor_port_text, 0},
		{"chassis-id", PORT_ATTR_neighbor_chassis, 0},
		{"ieee-802-1-pvid", PORT_ATTR_neighbor_vlan, VLAN_MAX},
		{"ieee-802-3-max-frame-size", PORT_ATTR_neighbor_frame, UINT16_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const Value *v = value_lookup(system, rows[i].key);

		if (v && v->type == VALUE_TEXT && !rows[i].most)
			supply_text(v->text, rows[i].attr, s);
		else if (v && v->type == VALUE_UNSIGNED && rows[i].most)
			port_supply_number(s, rows[i].attr,
					   v->number <= rows[i].most ? v->number : 0);
	}
	supply_address(
		value_lookup(first_of(value_lookup(system, "management-addresses")), "address"), s);
}

/* The same as network_manager_next() of one object, which ANSWER has entered; 0: it is none. */
static int take_object(sd_bus_message *answer, const char **ret_interface, PortSnapshot *s)
{
	_cleanup_value_ Value systems = {};
	Found f = {.systems = &systems};
	const Value *system;
	int r = sd_bus_message_skip(answer, "o");

	if (r >= 0)
		r = each_key(answer, "sa{sv}", take_interface, &f);
	if (r >= 0)
		r = sd_bus_message_exit_container(answer);
	system = first_of(&systems);
	if (r < 0 || !f.interface || !system)
		return MIN(r, 0);
	supply_system(system, s);
	*ret_interface = f.interface;
	return 1;
}

int network_manager_next(sd_bus_message *answer, const char **ret_interface, PortSnapshot *s)
{
	int r;

	do {
		r = sd_bus_message_enter_container(answer, 'e', "oa{sa{sv}}");
		if (r <= 0)
			return r;
		r = take_object(answer, ret_interface, s);
	} while (r == 0);
	return r;
}
