/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lookup.h"

#include "name-index.h"
#include "names.h"
#include "port-name.h"

int lookup_device(const Cache *c, const char *name, Device **ret)
{
	const NameOwner *o = name_index_find(c->names, NAME_DEVICE, name, strlen(name));
	Device *found = NULL;

	/* while devices swap names two may have the same */
	for (; o; o = o->next) {
		Device *d = o->owner;

		if (!found || d->index < found->index)
			found = d;
	}
	if (!found)
		return -ENOENT;
	*ret = found;
	return 0;
}

/* The one port that is an owner of a name, whether it is on the bus or not. */
static int only_port(const NameOwner *o, Port **ret)
{
	if (!o)
		return -ENOENT;
	if (o->next)
		return -EEXIST;
	*ret = o->owner;
	return 0;
}

int lookup_port_by_netdev(const Cache *c, const char *netdev, Port **ret)
{
	if (!*netdev)
		return -EINVAL;
	return only_port(name_index_find(c->names, NAME_NETDEV, netdev, strlen(netdev)), ret);
}

int lookup_port_by_guid(const Cache *c, const char *text, Port **ret)
{
	uint64_t guid;

	if (guid_parse(text, &guid) < 0)
		return -EINVAL;
	return only_port(name_index_find(c->names, NAME_GUID, &guid, sizeof(guid)), ret);
}

/* Port NUMBER of the device called NAME. */
static int lookup_number(const Cache *c, const char *name, uint32_t number, Port **ret)
{
	Device *d;
	int r = lookup_device(c, name, &d);

	if (r < 0)
		return r;
	*ret = device_port_called(d, number);
	return *ret ? 0 : -ENOENT;
}

int lookup_port(const Cache *c, const char *text, Port **ret)
{
	AttrText name;
	uint32_t number;
	uint64_t guid;
	Device *d;
	int r = port_name_split(text, name, &number);

	if (r < 0)
		return r;
	if (number != PORT_NUMBER_NONE)
		return lookup_number(c, name, number, ret);
	if (lookup_device(c, text, &d) == 0) {
		if (d->n_ports > 1)
			return -EEXIST;
		*ret = device_port(d, 1);
		return *ret ? 0 : -ENOENT;
	}
	r = lookup_port_by_netdev(c, text, ret);
	if (r == -ENOENT && guid_parse(text, &guid) == 0)
		r = lookup_port_by_guid(c, text, ret);
	if (r == -ENOENT && port_name_split_colon(text, name, &number) == 0 &&
	    number != PORT_NUMBER_NONE)
		r = lookup_number(c, name, number, ret);
	return r;
}

typedef struct GidKey {
	uint8_t gid[16];
	GidType type;	    /* _GID_TYPE_MAX: any */
	const char *netdev; /* NULL: any */
} GidKey;

/* The GID of P that KEY describes; of several the newest type, then the lowest index. */
static const GidEntry *best_gid(const Port *p, const GidKey *key)
{
	const GidEntry *best = NULL;

	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS]) {
		if (memcmp(g->gid, key->gid, sizeof(key->gid)) != 0 ||
		    (key->type != _GID_TYPE_MAX && g->type != key->type) ||
		    (key->netdev && !streq(g->netdev, key->netdev)))
			continue;
		if (!best || g->type > best->type ||
		    (g->type == best->type && g->index < best->index))
			best = g;
	}
	return best;
}

int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
			  Port **ret, uint32_t *ret_index)
{
	GidKey key = {.type = type, .netdev = netdev};
	const GidEntry *found = NULL;
	const NameOwner *o;
	Port *p = NULL;

	if (gid_parse(text, key.gid) < 0)
		return -EINVAL;
	o = name_index_find(c->names, NAME_GID, key.gid, sizeof(key.gid));
	for (; o; o = o->next) {
		const GidEntry *best = best_gid(o->owner, &key);

		if (best && found)
			return -EEXIST;
		if (!best)
			continue;
		found = best;
		p = o->owner;
	}
	if (!found)
		return -ENOENT;
	*ret = p;
	*ret_index = found->index;
	return 0;
}

bool lookup_has_gid(const Port *p, const uint8_t gid[16])
{
	const NameOwner *o = name_index_find(p->device->cache->names, NAME_GID, gid, 16);

	while (o && o->owner != p)
		o = o->next;
	return o;
}

/* A decimal number as an object's path has it: no sign, no zero in front. *AT goes behind it. */
static int path_number(const char **at, uint64_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;

	if (*p == '0' && p[1] >= '0' && p[1] <= '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
		n = 10 * n + (uint64_t)(*p - '0');
	if (p == *at || n > UINT32_MAX)
		return -EINVAL;
	*at = p;
	*ret = n;
	return 0;
}

/* Every property that is read comes here: hence numbers by hand, and no path made to compare. */
int lookup_path(const Cache *c, const char *path, Device **ret_device, Port **ret_port)
{
	const char *at = startswith(path, RDMAD_DEVICE_PREFIX "/");
	uint64_t index, number;
	Port *p = NULL;
	Device *d;

	if (!at || path_number(&at, &index) < 0)
		return -ENOENT;
	d = cache_device(c, (uint32_t)index);
	if (!d)
		return -ENOENT;
	if (*at) {
		at = startswith(at, "/port/");
		if (!at || path_number(&at, &number) < 0 || *at)
			return -ENOENT;
		p = device_port_called(d, (uint32_t)number);
		if (!p)
			return -ENOENT;
	}
	if (p ? !p->published : !d->published)
		return -ENOENT;
	*ret_device = d;
	*ret_port = p;
	return 0;
}
