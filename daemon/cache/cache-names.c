/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cache-names.h"

#include "name-index.h"

/* OWNER has a name once more, or once less. */
static void count_name(Cache *c, NameKind kind, const void *name, size_t size, void *owner,
		       bool more)
{
	bool changes = more ? name_index_add(c->names, kind, name, size, owner)
			    : name_index_remove(c->names, kind, name, size, owner);

	c->names_generation += changes;
}

static void count_text(Cache *c, NameKind kind, const char *text, void *owner, bool more)
{
	if (*text)
		count_name(c, kind, text, strlen(text), owner, more);
}

static void count_guid(Cache *c, NameKind kind, uint64_t guid, void *owner, bool more)
{
	if (guid)
		count_name(c, kind, &guid, sizeof(guid), owner, more);
}

static void count_interface(Cache *c, const char *name, uint32_t ifindex, Port *p, bool more)
{
	count_text(c, NAME_NETDEV, name, p, more);
	if (ifindex)
		count_name(c, NAME_IFINDEX, &ifindex, sizeof(ifindex), p, more);
}

void names_count_device(Device *d, const DeviceValues *v, bool more)
{
	Cache *c = d->cache;

	count_text(c, NAME_DEVICE, TEXT_OF(v, name), d, more);
	count_text(c, NAME_PCI, TEXT_OF(v, pci_address), d, more);
	count_guid(c, NAME_NODE_GUID, v->node_guid, d, more);
	count_guid(c, NAME_SYSTEM_GUID, v->sys_image_guid, d, more);
}

void names_count_port(Port *p, const PortSnapshot *s, const Table *stay, bool more)
{
	Cache *c = p->device->cache;
	uint8_t mac[HW_ADDRESS_MAX];
	TableCursor cursor = {};

	count_interface(c, TEXT_OF(&s->values, netdev), s->values.ifindex, p,
			more); /* also without a table */
	TABLE_FOREACH(NetdevEntry, n, s->tables[PORT_TABLE_NETDEVS])
		count_interface(c, n->name, n->ifindex, p, more);
	TABLE_FOREACH(AltnameEntry, a, s->tables[PORT_TABLE_ALTNAMES])
		count_text(c, NAME_ALTNAME, a->name, p, more);
	TABLE_FOREACH(BondMember, m, s->tables[PORT_TABLE_BOND_MEMBERS])
		count_text(c, NAME_MEMBER, m->name, p, more);
	TABLE_FOREACH(AddressEntry, a, s->tables[PORT_TABLE_ADDRESSES])
		count_name(c, NAME_ADDRESS, a->address, sizeof(a->address), p, more);
	for (const GidEntry *g; (g = table_next_own(s->tables[PORT_TABLE_GIDS], stay, &cursor));) {
		count_interface(c, g->netdev, g->ifindex, p, more);
		count_name(c, NAME_GID, g->gid, sizeof(g->gid), p, more);
	}
	count_interface(c, TEXT_OF(&s->values, netdev_master), s->values.bond_ifindex, p, more);
	if (hw_address_parse(TEXT_OF(&s->values, netdev_address), mac) == 6)
		count_name(c, NAME_MAC, mac, 6, p, more);
	if (mask_has(&s->valid, PORT_ATTR_port_guid))
		count_name(c, NAME_GUID, &s->values.port_guid, sizeof(uint64_t), p, more);
}

/* The tables that have names of a port: a mask of 1 << PortTable. */
#define NAME_TABLES                                                                                \
	(1U << PORT_TABLE_GIDS | 1U << PORT_TABLE_NETDEVS | 1U << PORT_TABLE_ALTNAMES |            \
	 1U << PORT_TABLE_BOND_MEMBERS | 1U << PORT_TABLE_ADDRESSES)

void names_change_port(Port *p, const PortSnapshot *s, unsigned int tables)
{
	const PortValues *a = &p->now.values, *b = &s->values;

	if (!(tables & NAME_TABLES) &&
	    mask_has(&p->now.valid, PORT_ATTR_port_guid) ==
		    mask_has(&s->valid, PORT_ATTR_port_guid) &&
	    a->port_guid == b->port_guid && streq(TEXT_OF(a, netdev), TEXT_OF(b, netdev)) &&
	    a->ifindex == b->ifindex &&
	    streq(TEXT_OF(a, netdev_master), TEXT_OF(b, netdev_master)) &&
	    a->bond_ifindex == b->bond_ifindex &&
	    streq(TEXT_OF(a, netdev_address), TEXT_OF(b, netdev_address)))
		return;
	names_count_port(p, s, p->now.tables[PORT_TABLE_GIDS], true);
	names_count_port(p, &p->now, s->tables[PORT_TABLE_GIDS], false);
}

void names_change_device(Device *d, const DeviceValues *v)
{
	const DeviceValues *now = &d->now.values;

	if (streq(TEXT_OF(now, name), TEXT_OF(v, name)) &&
	    streq(TEXT_OF(now, pci_address), TEXT_OF(v, pci_address)) &&
	    now->node_guid == v->node_guid && now->sys_image_guid == v->sys_image_guid)
		return;
	names_count_device(d, v, true);
	names_count_device(d, now, false);
}
