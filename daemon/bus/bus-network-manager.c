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

#define DEVICE_INTERFACE "org.freedesktop.NetworkManager.Device"

/* A MAC address as NetworkManager writes it */
#define MAC_DIGITS "0123456789ABCDEF:"
#define MAC_LENGTH 17U

/* What is read of one device */
typedef struct Found {
	const char *interface;
	bool is_known;
	PortSnapshot *s;
} Found;

/* Reads the value of KEY, which is the next one of M, and returns 1; 0: it does not want it. */
typedef int (*TakeValue)(sd_bus_message *m, const char *key, void *userdata);

/* The next value of M is a variant of TYPE. */
static bool is_variant_of(sd_bus_message *m, const char *type)
{
	const char *contents;
	char kind;

	return sd_bus_message_peek_type(m, &kind, &contents) > 0 && kind == 'v' &&
	       streq(contents, type);
}

/* Reads a dictionary, whose entries are of ENTRY: a text and a value of TYPE. */
static int each_key(sd_bus_message *m, const char *entry, const char *type, TakeValue take,
		    void *userdata)
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
			r = sd_bus_message_skip(m, type);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads a variant of dictionaries, and lets TAKE have the values of the first of them. 1: there is
 * none; 2: there is one. */
static int first_of(sd_bus_message *m, TakeValue take, void *userdata)
{
	int r = sd_bus_message_enter_container(m, 'v', "aa{sv}"), n = 1;

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "a{sv}");
	if (r >= 0 && !sd_bus_message_at_end(m, false)) {
		r = each_key(m, "sv", "v", take, userdata);
		n = 2;
	}
	while (r >= 0 && !sd_bus_message_at_end(m, false))
		r = sd_bus_message_skip(m, "a{sv}");
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : n;
}

static int take_address(sd_bus_message *m, const char *key, void *userdata)
{
	PortSnapshot *s = userdata;
	const void *address;
	size_t n;
	int r;

	if (!streq(key, "address") || !is_variant_of(m, "ay"))
		return 0;
	r = sd_bus_message_enter_container(m, 'v', "ay");
	if (r >= 0)
		r = sd_bus_message_read_array(m, 'y', &address, &n);
	if (r >= 0 && (n == sizeof(struct in_addr) || n == sizeof(struct in6_addr)) &&
	    inet_ntop(n == sizeof(struct in_addr) ? AF_INET : AF_INET6, address,
		      s->values.neighbor_address, sizeof(s->values.neighbor_address)))
		mask_set(&s->supplied, PORT_ATTR_neighbor_address, true);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : 1;
}

/* As lldpd writes it */
static void lower_mac(char *text)
{
	if (strlen(text) == MAC_LENGTH && strspn(text, MAC_DIGITS) == MAC_LENGTH)
		for (; *text; text++)
			*text = (char)tolower(*text);
}

static int take_text(sd_bus_message *m, PortAttr attr, PortSnapshot *s)
{
	const Attribute *a = &port_attributes[attr];
	char *to = (char *)&s->values + a->offset;
	const char *text;
	int r = sd_bus_message_read(m, "v", "s", &text);

	if (r < 0)
		return r;
	text_copy(to, a->size, text);
	lower_mac(to);
	mask_set(&s->supplied, attr, true);
	return 1;
}

static int take_number(sd_bus_message *m, PortAttr attr, uint32_t most, PortSnapshot *s)
{
	uint32_t number;
	int r = sd_bus_message_read(m, "v", "u", &number);

	if (r < 0)
		return r;
	attr_set_raw(&port_attributes[attr], &s->values, number <= most ? number : 0);
	mask_set(&s->supplied, attr, true);
	return 1;
}

static int take_said(sd_bus_message *m, const char *key, void *userdata)
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

	if (streq(key, "management-addresses") && is_variant_of(m, "aa{sv}"))
		return first_of(m, take_address, userdata);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!streq(key, rows[i].key) || !is_variant_of(m, rows[i].most ? "u" : "s"))
			continue;
		return rows[i].most ? take_number(m, rows[i].attr, rows[i].most, userdata)
				    : take_text(m, rows[i].attr, userdata);
	}
	return 0;
}

static int take_property(sd_bus_message *m, const char *key, void *userdata)
{
	Found *f = userdata;
	int r;

	if (streq(key, "Interface") && is_variant_of(m, "s"))
		return sd_bus_message_read(m, "v", "s", &f->interface);
	if (!streq(key, "LldpNeighbors") || !is_variant_of(m, "aa{sv}"))
		return 0;
	r = first_of(m, take_said, f->s);
	f->is_known = r > 1;
	return r;
}

static int take_interface(sd_bus_message *m, const char *key, void *userdata)
{
	int r;

	if (!streq(key, DEVICE_INTERFACE))
		return 0;
	r = each_key(m, "sv", "v", take_property, userdata);
	return r < 0 ? r : 1;
}

int network_manager_next(sd_bus_message *answer, const char **ret_interface, PortSnapshot *s)
{
	const PortSnapshot nothing = *s;
	Found f;
	int r;

	do {
		*s = nothing;
		f = (Found){.s = s};
		r = sd_bus_message_enter_container(answer, 'e', "oa{sa{sv}}");
		if (r <= 0)
			return r;
		r = sd_bus_message_skip(answer, "o");
		if (r >= 0)
			r = each_key(answer, "sa{sv}", "a{sv}", take_interface, &f);
		if (r >= 0)
			r = sd_bus_message_exit_container(answer);
	} while (r >= 0 && (!f.interface || !f.is_known));
	*ret_interface = f.interface;
	return r < 0 ? r : 1;
}
