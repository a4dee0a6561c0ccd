/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RoCE ports that are active, and that no program can use as it should: one without a GID has no
 * source address, and of two ports with one address the wrong one answers. */

#include "check-parts.h"
#include "checks.h"
#include "gid.h"

static bool is_roce(const Object *port)
{
	return object_is_active(port) && streq(object_text(port, PORT_ATTR_protocol), "roce");
}

void look_for_gids(CheckRun *r)
{
	const Value *gids = object_value(r->port, PORT_ATTR_gids);

	if (is_roce(r->port) && check_is_in_use(r) && gids && gids->type == VALUE_ARRAY &&
	    gids->n == 0 && !check_stands_by(r->port) &&
	    !check_is_expected(r, &port_attributes[PORT_ATTR_gids]))
		check_find(r, &port_attributes[PORT_ATTR_gids],
			   "the port is active, but has no GID: programs cannot connect over it");
}

/* Whether E is about an address that others reach, and in RET which the port had before. */
static bool is_of_address(const Seen *e, uint8_t ret[16])
{
	return streq(e->what, port_attributes[PORT_ATTR_gids].name) &&
	       gid_parse(seen_without_index(e->from), ret) == 0 && !gid_is_link_local(ret);
}

/* When somebody put the interface into the bridge or the like that it is in, which has its
 * addresses since; 0: it was always there, or is in none. */
static uint64_t find_move(const CheckRun *r, const SeenSource *evidence)
{
	uint64_t when = 0;
	Seen e;

	for (size_t i = 0;
	     *object_text(r->port, PORT_ATTR_netdev_master) && seen_read(evidence, i, &e); i++)
		if (streq(e.what, port_attributes[PORT_ATTR_netdev_master].name) && *e.to)
			when = e.realtime_usec;
	return when;
}

/* Ours: who moves an interface gives its addresses to another one in one go. */
#define MOVE_USEC (60 * USEC_PER_SEC)

/* The last address that others reach, and that the port has had before; false: none was seen. */
static bool find_lost_address(const CheckRun *r, char ret[46])
{
	SeenSource evidence = check_evidence(r, r->port);
	const uint64_t moved = find_move(r, &evidence);
	bool found = false;
	uint8_t gid[16];
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		if (!is_of_address(&e, gid) ||
		    (moved < e.realtime_usec + MOVE_USEC && e.realtime_usec < moved + MOVE_USEC))
			continue;
		gid_format_address(gid, GID_TYPE_ROCE_V2, ret);
		found = true;
	}
	return found;
}

/* A port without an address may be meant so; one that has lost its last one hardly. */
void look_for_lost_address(CheckRun *r)
{
	char lost[46];

	if (!is_roce(r->port) || check_is_reachable(r->port) != 0 ||
	    check_may_be_idle(r, r->port) || check_is_ignored(r, r->check->name) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_gids]))
		return;
	if (find_lost_address(r, lost))
		check_find(r, &port_attributes[PORT_ATTR_gids],
			   "the address %s has gone, and the port has no other that peers reach",
			   lost);
}

/* An address that goes while the link stays up ends the connections that are made of it, however
 * soon it is back. NetworkManager asks for one by DHCP four times in a row
 * (connection.autoconnect-retries) before it waits, and takes all addresses away each time. */
#define FLAP_USEC   (3600 * USEC_PER_SEC)
#define FLAP_TEXT   "1h"
#define FLAPS_LEAST 4U

/* Whether E says that something has gone lately. */
static bool is_loss(const CheckRun *r, const Seen *e)
{
	return !*e->to && e->realtime_usec + FLAP_USEC >= r->now_usec;
}

/* How often the address GID has gone, and in *RET_LAST when it did last. */
static size_t count_losses(const CheckRun *r, const SeenSource *evidence, const uint8_t gid[16],
			   uint64_t *ret_last)
{
	uint8_t other[16];
	size_t n = 0;
	Seen e;

	for (size_t i = 0; seen_read(evidence, i, &e); i++) {
		if (!is_loss(r, &e) || !is_of_address(&e, other) ||
		    memcmp(gid, other, sizeof(other)) != 0)
			continue;
		*ret_last = e.realtime_usec;
		n++;
	}
	return n;
}

/* Whether PORT has ADDRESS now, on an interface that is here: those of containers come and go with
 * these. */
static bool has_address(const Object *port, const char *address)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);

	VALUE_FOREACH(gid, gids)
		if (*format_member_text(ATTR_GIDS, "netdev", gid) &&
		    streq(format_member_text(ATTR_GIDS, "address", gid), address))
			return true;
	return false;
}

/* Finds an address that has gone so often, and is back; returns how often, 0 if there is none. */
static size_t find_flapping(const CheckRun *r, size_t least, char address[46], uint64_t *ret_last)
{
	const SeenSource evidence = check_evidence(r, r->port);
	uint8_t gid[16];
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		size_t n = is_loss(r, &e) && is_of_address(&e, gid)
				   ? count_losses(r, &evidence, gid, ret_last)
				   : 0;

		if (n < least)
			continue;
		gid_format_address(gid, GID_TYPE_ROCE_V2, address);
		if (has_address(r->port, address))
			return n;
	}
	return 0;
}

/* A link that goes down may take its addresses along; the check flap finds that. A bond whose
 * members stand by for each other takes its addresses to the one that carries. */
void look_for_address_flaps(CheckRun *r)
{
	uint64_t last = 0;
	_cleanup_free_ char *when = NULL;
	char address[46];
	size_t n, downs;

	if (object_number(r->port, PORT_ATTR_gid_generation) < FLAPS_LEAST || !is_roce(r->port) ||
	    streq(object_text(r->port, PORT_ATTR_bond_mode), "active-backup") ||
	    check_is_ignored(r, r->check->name))
		return;
	downs = check_count_downs(r, r->now_usec - FLAP_USEC);
	if (downs == SIZE_MAX)
		return;
	n = find_flapping(r, FLAPS_LEAST + downs, address, &last);
	if (n == 0)
		return;
	when = format_time(last);
	check_find(r, &port_attributes[PORT_ATTR_gids],
		   "the address %s has gone %zu times in " FLAP_TEXT
		   " while the link was up, the last time at %s: connections end each time",
		   address, n - downs, when ? when : "");
}

/* Linux makes the first GIDs of the MAC address of the interface. If it has not noticed that this
 * has changed, peers and the GID table do not agree. */
void look_for_stale_gids(CheckRun *r)
{
	const Value *gids = object_value(r->port, PORT_ATTR_gids);
	const char *netdev = object_text(r->port, PORT_ATTR_netdev), *old = NULL;
	uint8_t mac[HW_ADDRESS_MAX], id[8], gid[16];

	if (!is_roce(r->port) || check_may_be_idle(r, r->port) || !*netdev ||
	    *object_text(r->port, PORT_ATTR_bond) ||
	    hw_address_parse(object_text(r->port, PORT_ATTR_netdev_address), mac) != 6)
		return;
	mac_interface_id(mac, id);
	VALUE_FOREACH(entry, gids) {
		const char *text = format_member_text(ATTR_GIDS, "gid", entry);

		if (!streq(format_member_text(ATTR_GIDS, "netdev", entry), netdev) ||
		    gid_parse(text, gid) < 0 || gid[0] != 0xfe || !gid_is_link_local(gid) ||
		    gid[11] != 0xff || gid[12] != 0xfe)
			continue;
		if (memcmp(gid + 8, id, sizeof(id)) == 0)
			return;
		old = text;
	}
	if (old)
		check_find(
			r, &port_attributes[PORT_ATTR_gids],
			"the GID %s is made of a MAC address that %s has not any more: it has %s",
			old, netdev, object_text(r->port, PORT_ATTR_netdev_address));
}

typedef struct PortAddress {
	const Object *port;
	size_t order; /* of the port among those that are checked */
	const char *netdev, *address;
} PortAddress;

typedef struct PortAddresses {
	PortAddress *items;
	size_t n;
} PortAddresses;

/* Adds the addresses of PORT. One without an interface here is that of another network namespace.
 */
static bool add_addresses(PortAddresses *a, const Object *port, size_t order)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);
	const char *mac = object_text(port, PORT_ATTR_netdev_address);

	/* what is in a bond has the MAC address of the bond */
	if (*mac && !*object_text(port, PORT_ATTR_netdev_master) &&
	    !*object_text(port, PORT_ATTR_bond)) {
		if (!array_grow(a->items, a->n))
			return false;
		a->items[a->n++] =
			(PortAddress){port, order, object_text(port, PORT_ATTR_netdev), mac};
	}
	VALUE_FOREACH(gid, gids) {
		const char *netdev = format_member_text(ATTR_GIDS, "netdev", gid);
		const char *address = format_member_text(ATTR_GIDS, "address", gid);

		/* an interface can have the same link-local address as another one */
		if (!*netdev || !check_reaches(address))
			continue;
		if (!array_grow(a->items, a->n))
			return false;
		a->items[a->n++] = (PortAddress){port, order, netdev, address};
	}
	return true;
}

static int compare_addresses(const void *a, const void *b)
{
	const PortAddress *x = a, *y = b;
	int r = strcmp(x->address, y->address);

	return r ?: (x->order > y->order) - (x->order < y->order);
}

/* Reports N entries of one address, in the order of their ports. The ports of a bond have the
 * interface in common. A finding is about the later one of two ports. */
static void report_address(CheckRun *r, const PortAddress *a, size_t n)
{
	char name[96];

	for (size_t i = 1; i < n; i++) {
		if (a[i].port == a[i - 1].port || streq(a[i].netdev, a[0].netdev))
			continue;
		r->port = a[i].port;
		r->device = object_list_device(r->objects, r->port);
		if (!check_is_ignored(r, r->check->name))
			check_find(r, &port_attributes[PORT_ATTR_gids],
				   "%s has the address %s too: connections can take the wrong port",
				   object_name(a[0].port, name), a[0].address);
	}
	r->port = r->device = NULL;
}

void look_at_addresses(CheckRun *r)
{
	PortAddresses a = {};

	for (size_t i = 0; i < r->n_ports && r->error == 0; i++)
		if (is_roce(r->ports[i]) && !check_may_be_idle(r, r->ports[i]) &&
		    !add_addresses(&a, r->ports[i], i))
			r->error = -ENOMEM;
	if (a.n > 0)
		sort(a.items, a.n, sizeof(*a.items), compare_addresses);
	for (size_t first = 0, end; first < a.n; first = end) {
		for (end = first + 1;
		     end < a.n && streq(a.items[end].address, a.items[first].address); end++)
			;
		report_address(r, &a.items[first], end - first);
	}
	free(a.items);
}
