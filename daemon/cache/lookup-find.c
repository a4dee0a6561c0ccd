/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the ports that a text names, by any of their names and addresses. */

#include "lookup.h"

#include "accelerator.h"
#include "name-index.h"
#include "pci.h"
#include "port-name.h"

static const char kind_names[_FIND_MAX][16] = {
#define F(kind, name, help) [FIND_##kind] = name,
	FIND_KINDS(F)
#undef F
};

const char *find_kind_name(FindKind kind)
{
	return kind_names[kind];
}

FindKind find_kind_from_name(const char *name)
{
	FindKind k = 0;

	while (k < _FIND_MAX && !streq(kind_names[k], name))
		k++;
	return k;
}

/* A look-up by one kind. */
typedef struct Search {
	const Cache *cache;
	const FindKey *key;
	FoundPort *found; /* those that there is ROOM for */
	size_t room, n;	  /* N counts the others too */
	const char *zone; /* of an address: behind the percent sign; NULL: none */
} Search;

static const GidEntry *usual_gid(const Search *s, const Port *p, const char *netdev);

/* P was found by GID, or NULL: by another name, which may be that of NETDEV. */
static void take(Search *s, Port *p, const GidEntry *gid, const char *netdev)
{
	if (s->n < s->room)
		s->found[s->n] = (FoundPort){
			.port = p, .gid = gid ? gid : usual_gid(s, p, netdev), .netdev = netdev};
	s->n++;
}

static void take_device(Search *s, const Device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		take(s, d->ports[i], NULL, NULL);
}

static const NameOwner *owners(const Search *s, NameKind kind, const void *name, size_t size)
{
	return name_index_find(s->cache->names, kind, name, size);
}

static int take_number(Search *s, const char *name, uint32_t number)
{
	Port *p = device_port_called(lookup_device(s->cache, name), number);

	if (p)
		take(s, p, NULL, NULL);
	return 0;
}

static int find_name(Search *s)
{
	AttrText name;
	uint32_t number;
	Device *d;
	int r = port_name_split(s->key->text, name, &number);

	if (r < 0)
		return r;
	if (number != PORT_NUMBER_NONE)
		return take_number(s, name, number);
	d = lookup_device(s->cache, s->key->text);
	if (d)
		take_device(s, d);
	return 0;
}

static int find_name_with_colon(Search *s)
{
	AttrText name;
	uint32_t number;
	int r = port_name_split_colon(s->key->text, name, &number);

	if (r < 0)
		return r;
	return number == PORT_NUMBER_NONE ? -EINVAL : take_number(s, name, number);
}

/* dev_valid_name() of net/core/dev.c takes neither an empty name nor a slash. */
static bool may_be_interface(const char *text)
{
	return *text && !strchr(text, '/');
}

/* NAME, an interface of P, as the cache has it. */
static const char *interface_called(const Port *p, const char *name)
{
	TABLE_FOREACH(NetdevEntry, e, p->now.tables[PORT_TABLE_NETDEVS])
		if (streq(e->name, name))
			return e->name;
	TABLE_FOREACH(GidEntry, e, p->now.tables[PORT_TABLE_GIDS])
		if (streq(e->netdev, name))
			return e->netdev;
	return streq(TEXT_OF(&p->now.values, netdev), name)
		       ? TEXT_OF(&p->now.values, netdev)
		       : TEXT_OF(&p->now.values, netdev_master);
}

static int find_netdev(Search *s)
{
	const char *text = s->key->text;

	if (!may_be_interface(text))
		return -EINVAL;
	for (const NameOwner *o = owners(s, NAME_NETDEV, text, strlen(text)); o; o = o->next)
		take(s, o->owner, NULL, interface_called(o->owner, text));
	return 0;
}

/* The name of interface IFINDEX, which is on P, is its bond or belongs to one of its GIDs. */
static const char *interface_name(const Port *p, uint32_t ifindex)
{
	TABLE_FOREACH(NetdevEntry, e, p->now.tables[PORT_TABLE_NETDEVS])
		if (e->ifindex == ifindex)
			return e->name;
	TABLE_FOREACH(GidEntry, e, p->now.tables[PORT_TABLE_GIDS])
		if (e->ifindex == ifindex)
			return e->netdev;
	if (ifindex && ifindex == p->now.values.ifindex)
		return TEXT_OF(&p->now.values, netdev);
	return ifindex && ifindex == p->now.values.bond_ifindex ? TEXT_OF(&p->now.values, bond)
								: NULL;
}

static int find_altname(Search *s)
{
	const char *text = s->key->text;

	if (!may_be_interface(text))
		return -EINVAL;
	for (const NameOwner *o = owners(s, NAME_ALTNAME, text, strlen(text)); o; o = o->next) {
		const Port *p = o->owner;
		uint32_t ifindex = 0;

		TABLE_FOREACH(AltnameEntry, e, p->now.tables[PORT_TABLE_ALTNAMES])
			if (streq(e->name, text))
				ifindex = e->ifindex;
		take(s, o->owner, NULL, interface_name(p, ifindex));
	}
	return 0;
}

/* A member of a bond over all ports of an adapter, which are one device then (LAG). */
static int find_member(Search *s)
{
	const char *text = s->key->text;

	if (!may_be_interface(text))
		return -EINVAL;
	for (const NameOwner *o = owners(s, NAME_MEMBER, text, strlen(text)); o; o = o->next)
		if (((const Port *)o->owner)->device->now.values.num_lag_ports > 1)
			take(s, o->owner, NULL, NULL);
	return 0;
}

static int find_ifindex(Search *s)
{
	const NameOwner *o;
	uint64_t number;
	uint32_t ifindex;

	if (s->key->text[0] < '1' || s->key->text[0] > '9' ||
	    text_to_u64(s->key->text, INT32_MAX, &number) < 0)
		return -EINVAL;
	ifindex = (uint32_t)number;
	for (o = owners(s, NAME_IFINDEX, &ifindex, sizeof(ifindex)); o; o = o->next)
		take(s, o->owner, NULL, interface_name(o->owner, ifindex));
	return 0;
}

static int find_guid(Search *s, NameKind kind)
{
	const NameOwner *o;
	uint64_t guid;

	if (guid_parse(s->key->text, &guid) < 0)
		return -EINVAL;
	for (o = owners(s, kind, &guid, sizeof(guid)); o; o = o->next)
		if (kind == NAME_GUID)
			take(s, o->owner, NULL, NULL);
		else
			take_device(s, o->owner);
	return 0;
}

static int find_port_guid(Search *s)
{
	return find_guid(s, NAME_GUID);
}

static int find_node_guid(Search *s)
{
	return find_guid(s, NAME_NODE_GUID);
}

static int find_system_guid(Search *s)
{
	return find_guid(s, NAME_SYSTEM_GUID);
}

static int find_pci(Search *s)
{
	const NameOwner *o;
	char address[PCI_ADDRESS_SIZE];

	if (pci_address_parse(s->key->text, address) < 0)
		return -EINVAL;
	for (o = owners(s, NAME_PCI, address, strlen(address)); o; o = o->next)
		take_device(s, o->owner);
	return 0;
}

/* How far D is from the accelerator at ADDRESS; _DISTANCE_MAX: no way is known. */
static Distance distance_to(const Device *d, const char *address)
{
	TABLE_FOREACH(AcceleratorEntry, e, d->now.tables[DEVICE_TABLE_ACCELERATORS])
		if (streq(e->address, address))
			return distance_from_name(e->distance);
	return _DISTANCE_MAX;
}

/* The ports of the devices that are nearest to an accelerator. */
static int find_accelerator(Search *s)
{
	Device *const *devices = s->cache->devices;
	Distance nearest = _DISTANCE_MAX;
	char address[PCI_ADDRESS_SIZE];

	if (pci_address_parse(s->key->text, address) < 0)
		return -EINVAL;
	for (size_t d = 0; d < s->cache->n_devices; d++)
		nearest = MIN(nearest, distance_to(devices[d], address));
	for (size_t d = 0; nearest < _DISTANCE_MAX && d < s->cache->n_devices; d++)
		if (distance_to(devices[d], address) == nearest)
			take_device(s, devices[d]);
	return 0;
}

/* Whether interface IFINDEX of P is called NAME beside its own name. */
static bool has_altname(const Port *p, uint32_t ifindex, const char *name)
{
	TABLE_FOREACH(AltnameEntry, e, p->now.tables[PORT_TABLE_ALTNAMES])
		if (e->ifindex == ifindex && streq(e->name, name))
			return true;
	return false;
}

/* Whether S wants what belongs to interface NETDEV of P. */
static bool wants_netdev(const Search *s, const Port *p, const char *netdev, uint32_t ifindex)
{
	const char *wanted = s->key->netdev;

	return (!wanted || streq(netdev, wanted) || has_altname(p, ifindex, wanted)) &&
	       (gid_zone_fits(s->zone, netdev, ifindex) || has_altname(p, ifindex, s->zone));
}

/* Whether S wants G of P; with IS_ADDRESS only if it stands for an IP address. */
static bool wants_gid(const Search *s, const Port *p, const GidEntry *g, bool is_address)
{
	return !(is_address && g->type == GID_TYPE_IB) &&
	       (s->key->type == _GID_TYPE_MAX || g->type == s->key->type) &&
	       wants_netdev(s, p, g->netdev, g->ifindex);
}

/* The entry of P whose first BITS are those of GID, and that S means. */
static const GidEntry *best_gid(const Search *s, const Port *p, const uint8_t gid[16],
				unsigned int bits, bool is_address)
{
	const GidEntry *best = NULL;

	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS]) {
		if (!gid_in_subnet(g->gid, gid, bits) || !wants_gid(s, p, g, is_address))
			continue;
		if (!best || port_prefers_gid(&p->now.values, g, best))
			best = g;
	}
	return best;
}

/* Whether NETDEV is an interface of P itself: no bond, and no other one above it. */
static bool is_on_port(const Port *p, const char *netdev)
{
	TABLE_FOREACH(NetdevEntry, e, p->now.tables[PORT_TABLE_NETDEVS])
		if (streq(e->name, netdev) || has_altname(p, e->ifindex, netdev))
			return true;
	return false;
}

/* The entry of P that a program should use which was told the port, or one of its interfaces. The
 * GIDs of InfiniBand have no interface, and those of a port in a bond may all be on the bond. */
static const GidEntry *usual_gid(const Search *s, const Port *p, const char *netdev)
{
	static const uint8_t any[16];
	const FindKey on_netdev = {.type = s->key->type,
				   .netdev = netdev ? netdev : s->key->netdev};
	const FindKey on_port = {.type = s->key->type};
	const GidEntry *best = best_gid(&(Search){.key = &on_netdev}, p, any, 0, false);

	if (best || !on_netdev.netdev || !is_on_port(p, on_netdev.netdev))
		return best;
	return best_gid(&(Search){.key = &on_port}, p, any, 0, false);
}

static void take_gids(Search *s, const uint8_t gid[16], bool is_address)
{
	for (const NameOwner *o = owners(s, NAME_GID, gid, 16); o; o = o->next) {
		const GidEntry *best = best_gid(s, o->owner, gid, 128, is_address);

		if (best)
			take(s, o->owner, best, *best->netdev ? best->netdev : NULL);
	}
}

/* The interface of P that has an address whose first BITS are those of ADDRESS; NULL if S wants
 * another one. */
static const char *interface_of(const Search *s, const Port *p, const uint8_t address[16],
				unsigned int bits)
{
	TABLE_FOREACH(AddressEntry, e, p->now.tables[PORT_TABLE_ADDRESSES]) {
		const char *name = interface_name(p, e->ifindex);

		if (name && gid_in_subnet(e->address, address, bits) &&
		    wants_netdev(s, p, name, e->ifindex))
			return name;
	}
	return NULL;
}

/* P, if one of its interfaces has such an address that is in none of its GIDs. */
static void take_address(Search *s, Port *p, const uint8_t address[16], unsigned int bits)
{
	const char *netdev = interface_of(s, p, address, bits);

	if (netdev && (s->key->type == _GID_TYPE_MAX || usual_gid(s, p, netdev)) &&
	    !best_gid(s, p, address, bits, true))
		take(s, p, NULL, netdev);
}

static int find_address(Search *s)
{
	uint8_t address[16];
	const NameOwner *o;

	if (gid_parse_zone(s->key->text, address, &s->zone) < 0)
		return -EINVAL;
	take_gids(s, address, true);
	for (o = owners(s, NAME_ADDRESS, address, sizeof(address)); o; o = o->next)
		take_address(s, o->owner, address, 128);
	return 0;
}

static int find_gid(Search *s)
{
	uint8_t gid[16];

	if (gid_parse_zone(s->key->text, gid, &s->zone) < 0)
		return -EINVAL;
	take_gids(s, gid, false);
	return 0;
}

static void take_in_subnet(Search *s, Port *p, const uint8_t subnet[16], unsigned int bits)
{
	const GidEntry *best = best_gid(s, p, subnet, bits, true);

	if (best)
		take(s, p, best, *best->netdev ? best->netdev : NULL);
	else
		take_address(s, p, subnet, bits);
}

static int find_subnet(Search *s)
{
	unsigned int bits;
	uint8_t subnet[16];

	if (gid_parse_subnet(s->key->text, subnet, &bits) < 0)
		return -EINVAL;
	for (size_t d = 0; d < s->cache->n_devices; d++)
		for (uint32_t i = 0; i < s->cache->devices[d]->n_ports; i++)
			take_in_subnet(s, s->cache->devices[d]->ports[i], subnet, bits);
	return 0;
}

/* A MAC address; or that of an IPoIB interface, which ends with a GID of the port. */
static int find_hw_address(Search *s)
{
	uint8_t address[HW_ADDRESS_MAX];
	int size = hw_address_parse(s->key->text, address);
	const NameOwner *o;

	if (size < 0)
		return size;
	if (size == (int)HW_ADDRESS_MAX) {
		take_gids(s, address + HW_ADDRESS_MAX - 16, false);
		return 0;
	}
	for (o = owners(s, NAME_MAC, address, (size_t)size); o; o = o->next)
		take(s, o->owner, NULL, TEXT_OF(&((const Port *)o->owner)->now.values, netdev));
	return 0;
}

/* A node in /dev/infiniband, with or without the directory. */
static int find_chardev(Search *s)
{
	static const char directory[] = "/dev/infiniband/";
	const size_t size = sizeof(directory) - 1;
	const char *text = s->key->text;
	const char *name = strncmp(text, directory, size) == 0 ? text + size : text;

	if (!*name || strchr(name, '/'))
		return -EINVAL;
	for (size_t i = 0; i < s->cache->n_devices; i++) {
		Device *d = s->cache->devices[i];

		TABLE_FOREACH(ChardevEntry, e, d->now.tables[DEVICE_TABLE_CHARDEVS]) {
			const char *slash = strrchr(e->path, '/');
			Port *p = device_port(d, e->port);

			if (!slash || !streq(slash + 1, name))
				continue;
			if (p)
				take(s, p, NULL, NULL);
			else
				take_device(s, d);
		}
	}
	return 0;
}

/* The order in which they are tried. */
static const struct {
	FindKind by;
	int (*find)(Search *s);
} steps[] = {
	{FIND_NAME, find_name},
	{FIND_NETDEV, find_netdev},
	{FIND_ALTNAME, find_altname},
	{FIND_NETDEV, find_member},
	{FIND_PORT_GUID, find_port_guid},
	{FIND_NODE_GUID, find_node_guid},
	{FIND_SYSTEM_GUID, find_system_guid},
	{FIND_NAME, find_name_with_colon},
	{FIND_PCI, find_pci},
	{FIND_ACCELERATOR, find_accelerator},
	{FIND_HW_ADDRESS, find_hw_address},
	{FIND_IFINDEX, find_ifindex},
	{FIND_ADDRESS, find_address},
	{FIND_GID, find_gid},
	{FIND_SUBNET, find_subnet},
	{FIND_CHARDEV, find_chardev},
};

static int compare_found(const void *a, const void *b)
{
	const Port *x = ((const FoundPort *)a)->port, *y = ((const FoundPort *)b)->port;

	if (x->device != y->device)
		return x->device->index < y->device->index ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Fills RET with the first of those that S, which has counted them, finds by FIND. */
static int collect(Search *s, int (*find)(Search *s), FoundPort *ret, size_t room)
{
	_cleanup_free_ FoundPort *all = NULL;
	size_t n = s->n;

	if (room == 0)
		return 0;
	s->found = ret;
	s->room = room;
	if (n > room) {
		s->found = all = calloc(n, sizeof(*all));
		s->room = n;
	}
	if (!s->found)
		return -ENOMEM;
	s->n = 0;
	(void)find(s);
	sort(s->found, n, sizeof(*ret), compare_found);
	if (all)
		memcpy(ret, all, room * sizeof(*ret));
	return 0;
}

/* Whether KEY may be of the kind BY. An interface may be meant by either of its names. */
static bool is_tried(const FindKey *key, FindKind by)
{
	return key->by == _FIND_MAX || key->by == by ||
	       (key->by == FIND_NETDEV && by == FIND_ALTNAME);
}

static int find(const Cache *c, const FindKey *key, FoundPort *ret, size_t room, size_t *ret_n,
		FindKind *ret_by)
{
	int result = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		Search s = {.cache = c, .key = key};

		if (!is_tried(key, steps[i].by))
			continue;
		if (steps[i].find(&s) == 0)
			result = -ENOENT;
		if (s.n == 0)
			continue;
		*ret_n = s.n;
		*ret_by = steps[i].by;
		return collect(&s, steps[i].find, ret, room);
	}
	return result;
}

int lookup_find(const Cache *c, const FindKey *key, FoundPort *ret, size_t room, size_t *ret_n,
		FindKind *ret_by)
{
	char buffer[FIND_PLAIN_SIZE];
	FindKey plain;
	int r = find(c, key, ret, room, ret_n, ret_by);

	return (r == -ENOENT || r == -EINVAL) && find_key_plain(key, buffer, &plain)
		       ? find(c, &plain, ret, room, ret_n, ret_by)
		       : r;
}

int lookup_port_by(const Cache *c, const char *text, FindKind by, Port **ret)
{
	const FindKey key = {.text = text, .by = by, .type = _GID_TYPE_MAX};
	FoundPort found;
	FindKind is_by;
	size_t n;
	int r = lookup_find(c, &key, &found, 1, &n, &is_by);

	if (r < 0)
		return r;
	if (n > 1)
		return -EEXIST;
	*ret = found.port;
	return 0;
}
