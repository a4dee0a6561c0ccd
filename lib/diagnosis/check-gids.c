/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RoCE ports that are active, and that no program can use as it should: one without a GID has no
 * source address, and of two ports with one address the wrong one answers. */

#include "check-parts.h"
#include "checks.h"
#include "gid.h"
#include "gids.h"

#include <net/if.h>

static bool is_roce(const Object *port)
{
	return object_is_active(port) && streq(object_text(port, PORT_ATTR_protocol), "roce");
}

void look_for_gids(CheckRun *r)
{
	size_t n;

	if (is_roce(r->port) && check_is_in_use(r) && object_count(r->port, PORT_ATTR_gids, &n) &&
	    n == 0 && !check_stands_by(r->port) &&
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

/* An address that has gone, and when. */
typedef struct Loss {
	uint8_t gid[16];
	uint64_t usec;
} Loss;

static bool is_same_address(const Loss *a, const Loss *b)
{
	return memcmp(a->gid, b->gid, sizeof(a->gid)) == 0;
}

static int compare_losses(const void *a, const void *b)
{
	const Loss *x = a, *y = b;

	return memcmp(x->gid, y->gid, sizeof(x->gid)) ?: (x->usec > y->usec) - (x->usec < y->usec);
}

/* Finds the addresses that have gone lately, those of one address one after the other and in the
 * order of time. NULL: there are none. */
static Loss *find_losses(CheckRun *r, size_t *ret_n)
{
	const SeenSource evidence = check_evidence(r, r->port);
	Loss *losses = NULL, loss;
	size_t n = 0;
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		if (*e.to || e.realtime_usec + FLAP_USEC < r->now_usec ||
		    !is_of_address(&e, loss.gid))
			continue;
		loss.usec = e.realtime_usec;
		if (!array_grow(losses, n)) {
			r->error = -ENOMEM;
			break;
		}
		losses[n++] = loss;
	}
	if (n > 0)
		sort(losses, n, sizeof(*losses), compare_losses);
	*ret_n = n;
	return losses;
}

/* Whether PORT has the address GID now, on an interface that is here: those of containers come and
 * go with these. */
static bool has_address(const Object *port, const uint8_t gid[16])
{
	GidWalk w = gid_walk(port);

	for (const GidEntry *e; (e = gid_next(&w));)
		if (*e->netdev && memcmp(e->gid, gid, sizeof(e->gid)) == 0)
			return true;
	return false;
}

/* Of the addresses that have gone at least LEAST times, and are back, the one that went first; *RET
 * is its last loss. Returns how often it has gone, 0 if there is none. */
static size_t find_flapping(CheckRun *r, size_t least, Loss *ret)
{
	uint64_t first_usec = UINT64_MAX;
	size_t n, most = 0;
	_cleanup_free_ Loss *losses = find_losses(r, &n);

	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && is_same_address(&losses[end], &losses[first]);
		     end++)
			;
		if (end - first < least || losses[first].usec >= first_usec ||
		    !has_address(r->port, losses[first].gid))
			continue;
		first_usec = losses[first].usec;
		*ret = losses[end - 1];
		most = end - first;
	}
	return most;
}

/* A link that goes down may take its addresses along; the check flap finds that. A bond whose
 * members stand by for each other takes its addresses to the one that carries. */
void look_for_address_flaps(CheckRun *r)
{
	_cleanup_free_ char *when = NULL;
	char address[46];
	size_t n, downs;
	Loss last;

	if (object_number(r->port, PORT_ATTR_gid_generation) < FLAPS_LEAST || !is_roce(r->port) ||
	    streq(object_text(r->port, PORT_ATTR_bond_mode), "active-backup") ||
	    check_is_ignored(r, r->check->name))
		return;
	downs = check_count_downs(r, r->now_usec - FLAP_USEC);
	if (downs == SIZE_MAX)
		return;
	n = find_flapping(r, FLAPS_LEAST + downs, &last);
	if (n == 0)
		return;
	gid_format_address(last.gid, GID_TYPE_ROCE_V2, address);
	when = format_time(last.usec);
	check_find(r, &port_attributes[PORT_ATTR_gids],
		   "the address %s has gone %zu times in " FLAP_TEXT
		   " while the link was up, the last time at %s: connections end each time",
		   address, n - downs, when ? when : "");
}

/* Linux makes the first GIDs of the MAC address of the interface. If it has not noticed that this
 * has changed, peers and the GID table do not agree. */
void look_for_stale_gids(CheckRun *r)
{
	const char *netdev = object_text(r->port, PORT_ATTR_netdev);
	uint8_t mac[HW_ADDRESS_MAX], id[8];
	char old[40] = "";
	GidWalk w;

	if (!is_roce(r->port) || check_may_be_idle(r, r->port) || !*netdev ||
	    *object_text(r->port, PORT_ATTR_bond) ||
	    hw_address_parse(object_text(r->port, PORT_ATTR_netdev_address), mac) != 6)
		return;
	mac_interface_id(mac, id);
	w = gid_walk(r->port);
	for (const GidEntry *e; (e = gid_next(&w));) {
		if (!streq(e->netdev, netdev) || e->gid[0] != 0xfe || !gid_is_link_local(e->gid) ||
		    e->gid[11] != 0xff || e->gid[12] != 0xfe)
			continue;
		if (memcmp(e->gid + 8, id, sizeof(id)) == 0)
			return;
		gid_format(e->gid, old);
	}
	if (*old)
		check_find(
			r, &port_attributes[PORT_ATTR_gids],
			"the GID %s is made of a MAC address that %s has not any more: it has %s",
			old, netdev, object_text(r->port, PORT_ATTR_netdev_address));
}

typedef struct PortAddress {
	const Object *port;
	size_t order; /* of the port among those that are checked */
	char netdev[IF_NAMESIZE];
	const char *mac; /* the address is this one; NULL: it is GID */
	uint8_t gid[16];
} PortAddress;

typedef struct PortAddresses {
	PortAddress *items;
	size_t n;
} PortAddresses;

static bool add_address(PortAddresses *a, PortAddress address, const char *netdev)
{
	if (!array_grow(a->items, a->n))
		return false;
	text_copy(address.netdev, sizeof(address.netdev), netdev);
	a->items[a->n++] = address;
	return true;
}

/* Adds the addresses of PORT. One without an interface here is that of another network namespace.
 */
static bool add_addresses(PortAddresses *a, const Object *port, size_t order)
{
	const char *mac = object_text(port, PORT_ATTR_netdev_address);
	PortAddress address = {.port = port, .order = order, .mac = mac};
	GidWalk w = gid_walk(port);

	/* what is in a bond has the MAC address of the bond */
	if (*mac && !*object_text(port, PORT_ATTR_netdev_master) &&
	    !*object_text(port, PORT_ATTR_bond) &&
	    !add_address(a, address, object_text(port, PORT_ATTR_netdev)))
		return false;
	address.mac = NULL;
	for (const GidEntry *e; (e = gid_next(&w));) {
		/* an interface can have the same link-local address as another one */
		if (!*e->netdev || gid_is_link_local(e->gid))
			continue;
		memcpy(address.gid, e->gid, sizeof(address.gid));
		if (!add_address(a, address, e->netdev))
			return false;
	}
	return true;
}

static int compare_only_addresses(const PortAddress *x, const PortAddress *y)
{
	if (!x->mac != !y->mac)
		return x->mac ? -1 : 1;
	return x->mac ? strcmp(x->mac, y->mac) : memcmp(x->gid, y->gid, sizeof(x->gid));
}

static int compare_addresses(const void *a, const void *b)
{
	const PortAddress *x = a, *y = b;

	return compare_only_addresses(x, y) ?: (x->order > y->order) - (x->order < y->order);
}

static const char *address_text(const PortAddress *a, char buffer[46])
{
	if (a->mac)
		return a->mac;
	gid_format_address(a->gid, GID_TYPE_ROCE_V2, buffer);
	return buffer;
}

/* Reports N entries of one address, in the order of their ports. The ports of a bond have the
 * interface in common. A finding is about the later one of two ports. */
static void report_address(CheckRun *r, const PortAddress *a, size_t n)
{
	char name[96], text[46];

	for (size_t i = 1; i < n; i++) {
		if (a[i].port == a[i - 1].port || streq(a[i].netdev, a[0].netdev))
			continue;
		r->port = a[i].port;
		r->device = object_list_device(r->objects, r->port);
		if (!check_is_ignored(r, r->check->name))
			check_find(r, &port_attributes[PORT_ATTR_gids],
				   "%s has the address %s too: connections can take the wrong port",
				   object_name(a[0].port, name), address_text(&a[0], text));
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
		     end < a.n && compare_only_addresses(&a.items[end], &a.items[first]) == 0;
		     end++)
			;
		report_address(r, &a.items[first], end - first);
	}
	free(a.items);
}
