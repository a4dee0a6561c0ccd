/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-interfaces.h"

#include "decode.h"
#include "query-sysfs.h"

/* The GUID of an InfiniBand port, the lower half of GID 0, in network byte order; NULL if that is
 * not known. */
static const uint8_t *port_guid(const PortSnapshot *s)
{
	if (!mask_has(&s->supplied, PORT_ATTR_link_layer) ||
	    s->values.link_layer != LINK_LAYER_INFINIBAND)
		return NULL;
	TABLE_FOREACH(GidEntry, e, s->tables[PORT_TABLE_GIDS])
		if (e->index == 0)
			return e->gid + 8;
	return NULL;
}

static int compare_netdevs(const void *a, const void *b)
{
	const NetdevEntry *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

int interfaces_read_netdevs(Target *t, const PortSnapshot *s, Table **ret)
{
	const uint8_t *guid = port_guid(s);
	_cleanup_free_ NetdevEntry *entries = NULL;
	Ipoib *ipoib = NULL;
	size_t n_ipoib = 0, n = 0;
	int r = guid ? target_ipoib(t, &ipoib, &n_ipoib) : 0;

	if (r < 0)
		return r;
	entries = calloc(n_ipoib + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (s->values.ifindex) {
		entries[n].ifindex = s->values.ifindex;
		text_copy(entries[n].name, sizeof(entries[n].name), TEXT_OF(&s->values, netdev));
		n++;
	}
	for (size_t i = 0; i < n_ipoib; i++)
		if (memcmp(ipoib[i].port_guid, guid, 8) == 0)
			entries[n++] = ipoib[i].entry;
	sort(entries, n, sizeof(*entries), compare_netdevs);
	return table_make(entries, n, sizeof(*entries), ret);
}

size_t interfaces_find_ipoib(Target *t, uint32_t port, uint32_t *ret, size_t room)
{
	uint8_t guid[8];
	Ipoib *ipoib = NULL;
	size_t n_ipoib = 0, n = 0;

	if (target_ipoib(t, &ipoib, &n_ipoib) < 0 || n_ipoib == 0 ||
	    sysfs_read_port_guid(target_sysfs(t), port, guid) < 0)
		return 0;
	for (size_t i = 0; i < n_ipoib && n < room; i++)
		if (memcmp(ipoib[i].port_guid, guid, 8) == 0)
			ret[n++] = ipoib[i].entry.ifindex;
	return n;
}

int interfaces_read_altnames(Target *t, const PortSnapshot *s, Table **ret)
{
	const uint8_t *guid = port_guid(s);
	_cleanup_free_ AltnameEntry *entries = NULL;
	size_t n_ipoib = 0, n = 0;
	Ipoib *ipoib = NULL;
	int r = guid ? target_ipoib(t, &ipoib, &n_ipoib) : 0;

	if (r < 0)
		return r;
	entries = calloc((n_ipoib + 1) * NETDEV_ALTNAMES_MAX, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (t->netdev.ifindex == s->values.ifindex)
		for (size_t i = 0; i < t->netdev.n_altnames; i++)
			entries[n++] = t->netdev.altnames[i];
	for (size_t i = 0; i < n_ipoib; i++)
		for (size_t k = 0; k < ipoib[i].n_altnames; k++)
			if (memcmp(ipoib[i].port_guid, guid, 8) == 0)
				entries[n++] = ipoib[i].altnames[k];
	return table_make(entries, MIN(n, (size_t)TABLE_ENTRIES_MAX), sizeof(*entries), ret);
}

/* The addresses of IPoIB interface I: read once until the interfaces of the machine change. So a
 * query of InfiniBand rarely waits for the lock of the network interfaces. */
static int read_ipoib_addresses(Target *t, Ipoib *i)
{
	int r = i->has_addresses
			? 0
			: netdev_read_addresses(&t->querier->rtnl, i->entry.ifindex, &i->addresses);

	i->has_addresses = r == 0;
	return r;
}

static Ipoib *find_ipoib(const Target *t, uint32_t ifindex)
{
	const Querier *q = t->querier;

	for (size_t i = 0; i < q->n_ipoib; i++)
		if (q->ipoib[i].entry.ifindex == ifindex)
			return &q->ipoib[i];
	return NULL;
}

/* Adds the addresses of interface IFINDEX to ENTRIES, in which there are *N. */
static int add_addresses(Target *t, uint32_t ifindex, AddressEntry *entries, size_t *n)
{
	Ipoib *ipoib = find_ipoib(t, ifindex);
	Table *own = NULL;
	int r = netdev_open(&t->querier->rtnl);

	if (r == 0)
		r = ipoib ? read_ipoib_addresses(t, ipoib)
			  : netdev_read_addresses(&t->querier->rtnl, ifindex, &own);
	TABLE_FOREACH(AddressEntry, e, r < 0 ? NULL : ipoib ? ipoib->addresses : own)
		if (*n < TABLE_ENTRIES_MAX)
			entries[(*n)++] = *e;
	table_free(own);
	return r;
}

int interfaces_read_addresses(Target *t, const PortSnapshot *s, Table **ret)
{
	_cleanup_free_ AddressEntry *entries = NULL;
	size_t n = 0;
	int r = 0;

	*ret = NULL;
	TABLE_FOREACH(GidEntry, e, s->tables[PORT_TABLE_GIDS])
		if (e->type != GID_TYPE_IB)
			return 0;
	if (!s->tables[PORT_TABLE_NETDEVS])
		return 0;
	entries = calloc(TABLE_ENTRIES_MAX, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	TABLE_FOREACH(NetdevEntry, e, s->tables[PORT_TABLE_NETDEVS])
		if (r == 0)
			r = add_addresses(t, e->ifindex, entries, &n);
	return r < 0 ? r : table_make(entries, n, sizeof(*entries), ret);
}
