/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lookup.h"

#include "names.h"
#include "port-name.h"

int lookup_device(const Cache *c, const char *name, Device **ret)
{
	for (size_t i = 0; i < c->n_devices; i++)
		if (streq(c->devices[i]->now.values.name, name)) {
			*ret = c->devices[i];
			return 0;
		}
	return -ENOENT;
}

/* Whether a port is the one that KEY describes. */
typedef bool (*PortMatch)(const Port *p, const void *key);

/* The one port that MATCHES takes, whether it is on the bus or not. */
static int find_one_port(const Cache *c, PortMatch matches, const void *key, Port **ret)
{
	Port *found = NULL;

	for (size_t i = 0; i < c->n_devices; i++)
		for (uint32_t n = 1; n <= c->devices[i]->n_ports; n++) {
			Port *p = device_port(c->devices[i], n);

			if (!matches(p, key))
				continue;
			if (found)
				return -EEXIST;
			found = p;
		}
	if (!found)
		return -ENOENT;
	*ret = found;
	return 0;
}

static bool port_has_netdev(const Port *p, const void *netdev)
{
	TABLE_FOREACH(NetdevEntry, n, p->now.tables[PORT_TABLE_NETDEVS])
		if (streq(n->name, netdev))
			return true;
	TABLE_FOREACH(GidEntry, g, p->now.tables[PORT_TABLE_GIDS])
		if (streq(g->netdev, netdev))
			return true;
	return false;
}

int lookup_port_by_netdev(const Cache *c, const char *netdev, Port **ret)
{
	if (!*netdev)
		return -EINVAL;
	return find_one_port(c, port_has_netdev, netdev, ret);
}

static bool port_has_guid(const Port *p, const void *guid)
{
	return mask_has(&p->now.valid, PORT_ATTR_port_guid) &&
	       p->now.values.port_guid == *(const uint64_t *)guid;
}

int lookup_port_by_guid(const Cache *c, const char *text, Port **ret)
{
	uint64_t guid;

	if (guid_parse(text, &guid) < 0)
		return -EINVAL;
	return find_one_port(c, port_has_guid, &guid, ret);
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
	if (number > 0) {
		r = lookup_device(c, name, &d);
		if (r < 0)
			return r;
		*ret = device_port(d, number);
		return *ret ? 0 : -ENOENT;
	}
	if (lookup_device(c, text, &d) == 0) {
		if (d->n_ports > 1)
			return -EEXIST;
		*ret = device_port(d, 1);
		return *ret ? 0 : -ENOENT;
	}
	r = lookup_port_by_netdev(c, text, ret);
	if (r != -ENOENT || guid_parse(text, &guid) < 0)
		return r;
	return lookup_port_by_guid(c, text, ret);
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

static bool port_has_gid(const Port *p, const void *key)
{
	return best_gid(p, key);
}

int lookup_gid_by_address(const Cache *c, const char *text, GidType type, const char *netdev,
			  Port **ret, uint32_t *ret_index)
{
	GidKey key = {.type = type, .netdev = netdev};
	Port *p;
	int r;

	if (gid_parse(text, key.gid) < 0)
		return -EINVAL;
	r = find_one_port(c, port_has_gid, &key, &p);
	if (r < 0)
		return r;
	*ret = p;
	*ret_index = best_gid(p, &key)->index;
	return 0;
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
		p = device_port(d, (uint32_t)number);
		if (!p)
			return -ENOENT;
	}
	if (p ? !p->published : !d->published)
		return -ENOENT;
	*ret_device = d;
	*ret_port = p;
	return 0;
}
