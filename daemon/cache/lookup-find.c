/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a text names: ports by any of their names and addresses. */

#include "lookup.h"

#include "name-index.h"
#include "port-name.h"

static const char *const kind_names[_FIND_MAX] = {
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
} Search;

static void take(Search *s, Port *p, const GidEntry *gid, const char *netdev)
{
	if (s->n < s->room)
		s->found[s->n] = (FoundPort){.port = p, .gid = gid, .netdev = netdev};
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
	Port *p = NULL;
	Device *d;

	if (lookup_device(s->cache, name, &d) == 0)
		p = device_port_called(d, number);
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
	if (lookup_device(s->cache, s->key->text, &d) == 0)
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
	return number == PORT_NUMBER_NONE ? 0 : take_number(s, name, number);
}

static int find_netdev(Search *s)
{
	const char *text = s->key->text;

	if (!*text)
		return -EINVAL;
	for (const NameOwner *o = owners(s, NAME_NETDEV, text, strlen(text)); o; o = o->next)
		take(s, o->owner, NULL, text);
	return 0;
}

/* The name of interface IFINDEX, which is on P or belongs to one of its GIDs. */
static const char *interface_name(const Port *p, uint32_t ifindex)
{
	TABLE_FOREACH(NetdevEntry, e, p->now.tables[PORT_TABLE_NETDEVS])
		if (e->ifindex == ifindex)
			return e->name;
	TABLE_FOREACH(GidEntry, e, p->now.tables[PORT_TABLE_GIDS])
		if (e->ifindex == ifindex)
			return e->netdev;
	return NULL;
}

static int find_altname(Search *s)
{
	const char *text = s->key->text;

	if (!*text)
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

/* Writes a PCI address as the kernel does: "0000:c1:00.0". -EINVAL. */
static int normalize_pci(const char *text, char ret[24])
{
	unsigned int domain = 0, bus, slot, function;
	int end = 0;

	if (strlen(text) > 16 || text[strspn(text, "0123456789abcdefABCDEF:.")])
		return -EINVAL;
	if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) != 4) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &end) != 3)
			return -EINVAL;
	}
	if (text[end] || bus > 0xff || slot > 0x1f || function > 7)
		return -EINVAL;
	snprintf(ret, 24, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return 0;
}

static int find_pci(Search *s)
{
	const NameOwner *o;
	char address[24];

	if (normalize_pci(s->key->text, address) < 0)
		return -EINVAL;
	for (o = owners(s, NAME_PCI, address, strlen(address)); o; o = o->next)
		take_device(s, o->owner);
	return 0;
}

/* What decides how good the entry is. */
static GidChoice choice_of(const Port *p, const GidEntry *g)
{
	GidChoice c = {.type = g->type, .index = g->index};

	memcpy(c.gid, g->gid, sizeof(c.gid));
	c.own_netdev = streq(g->netdev, p->now.values.netdev);
	return c;
}

static bool is_better(const Port *p, const GidEntry *a, const GidEntry *b)
{
	const GidChoice x = choice_of(p, a), y = choice_of(p, b);

	return gid_compare(&x, &y) < 0;
}

/* The entry of P with GID that KEY means; with IS_ADDRESS only if it stands for an IP address. */
static const GidEntry *best_gid(const Port *p, const FindKey *key, const uint8_t gid[16],
				bool is_address)
{
	const GidEntry *best = NULL;

	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS]) {
		if (memcmp(g->gid, gid, sizeof(g->gid)) != 0 ||
		    (is_address && g->type == GID_TYPE_IB) ||
		    (key->type != _GID_TYPE_MAX && g->type != key->type) ||
		    (key->netdev && !streq(g->netdev, key->netdev)))
			continue;
		if (!best || is_better(p, g, best))
			best = g;
	}
	return best;
}

static void take_gids(Search *s, const uint8_t gid[16], bool is_address)
{
	for (const NameOwner *o = owners(s, NAME_GID, gid, 16); o; o = o->next) {
		const GidEntry *best = best_gid(o->owner, s->key, gid, is_address);

		if (best)
			take(s, o->owner, best, *best->netdev ? best->netdev : NULL);
	}
}

/* The interface of P that has ADDRESS; NULL if KEY wants another one. */
static const char *interface_of(const Port *p, const FindKey *key, const uint8_t address[16])
{
	TABLE_FOREACH(AddressEntry, e, p->now.tables[PORT_TABLE_ADDRESSES]) {
		const char *name = interface_name(p, e->ifindex);

		if (name && memcmp(e->address, address, sizeof(e->address)) == 0 &&
		    (!key->netdev || streq(name, key->netdev)))
			return name;
	}
	return NULL;
}

/* GID 0 of P, if it is of the type that KEY wants: it is in the hardware address of IPoIB. */
static const GidEntry *first_gid(const Port *p, const FindKey *key)
{
	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS])
		if (g->index == 0 && (key->type == _GID_TYPE_MAX || g->type == key->type))
			return g;
	return NULL;
}

static int find_address(Search *s)
{
	uint8_t address[16];
	const NameOwner *o;

	if (gid_parse(s->key->text, address) < 0)
		return -EINVAL;
	take_gids(s, address, true);
	for (o = owners(s, NAME_ADDRESS, address, sizeof(address)); o; o = o->next) {
		const char *netdev = interface_of(o->owner, s->key, address);
		const GidEntry *first = first_gid(o->owner, s->key);

		if (netdev && (first || s->key->type == _GID_TYPE_MAX) &&
		    !best_gid(o->owner, s->key, address, true))
			take(s, o->owner, first, netdev);
	}
	return 0;
}

static int find_gid(Search *s)
{
	uint8_t gid[16];

	if (gid_parse(s->key->text, gid) < 0)
		return -EINVAL;
	take_gids(s, gid, false);
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
	{FIND_PORT_GUID, find_port_guid},
	{FIND_NODE_GUID, find_node_guid},
	{FIND_SYSTEM_GUID, find_system_guid},
	{FIND_NAME, find_name_with_colon},
	{FIND_PCI, find_pci},
	{FIND_IFINDEX, find_ifindex},
	{FIND_ADDRESS, find_address},
	{FIND_GID, find_gid},
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
	qsort(s->found, n, sizeof(*ret), compare_found);
	if (all)
		memcpy(ret, all, room * sizeof(*ret));
	return 0;
}

int lookup_find(const Cache *c, const FindKey *key, FoundPort *ret, size_t room, size_t *ret_n,
		FindKind *ret_by)
{
	int result = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		Search s = {.cache = c, .key = key};
		int r;

		if (key->by != _FIND_MAX && steps[i].by != key->by)
			continue;
		r = steps[i].find(&s);
		/* only a port has a name with a number behind a slash, and nothing has an empty one
		 */
		if (r < 0 && i == 0 && key->by == _FIND_MAX)
			return r;
		if (r == 0)
			result = -ENOENT;
		if (s.n == 0)
			continue;
		*ret_n = s.n;
		*ret_by = steps[i].by;
		return collect(&s, steps[i].find, ret, room);
	}
	return result;
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

int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
			  Port **ret, uint32_t *ret_index)
{
	const FindKey key = {.text = text, .by = FIND_GID, .type = type, .netdev = netdev};
	FoundPort found;
	FindKind by;
	size_t n;
	int r = lookup_find(c, &key, &found, 1, &n, &by);

	if (r < 0)
		return r;
	if (n > 1)
		return -EEXIST;
	*ret = found.port;
	*ret_index = found.gid->index;
	return 0;
}
