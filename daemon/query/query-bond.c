/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-bond.h"

#include "bond.h"
#include "query-sysfs.h"

/* BOND_LINK_UP of the kernel's net/bonding.h, and BOND_STATE_ACTIVE of linux/if_bonding.h */
#define MEMBER_LINK_UP	    0U
#define MEMBER_STATE_ACTIVE 0U

typedef struct Members {
	uint32_t bond;
	BondMember *entries;
	size_t n;
} Members;

BondMember bond_member(const Netdev *d)
{
	bool is_up = d->up && d->carrier && d->member_link == MEMBER_LINK_UP;
	BondMember m = {.ifindex = d->ifindex};

	text_copy(m.name, sizeof(m.name), d->name);
	text_copy(m.state, sizeof(m.state),
		  !is_up				   ? BOND_MEMBER_DOWN
		  : d->member_state == MEMBER_STATE_ACTIVE ? BOND_MEMBER_ACTIVE
							   : BOND_MEMBER_BACKUP);
	return m;
}

static int on_member(const struct nlmsghdr *message, void *userdata)
{
	Members *list = userdata;
	Netdev d;
	int r = netdev_parse(message, &d);

	if (r < 0)
		return r;
	if (d.master != list->bond || list->n >= TABLE_ENTRIES_MAX)
		return 0;
	if (!array_grow(list->entries, list->n))
		return -ENOMEM;
	list->entries[list->n++] = bond_member(&d);
	return 0;
}

static int compare_members(const void *a, const void *b)
{
	const BondMember *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

/* The kernel says none of an interface that is down, and some drivers none at all. */
static void read_speed(int net, BondMember *m)
{
	_cleanup_close_ int fd = sysfs_open_netdev_speed(net, m->name, m->ifindex);
	uint64_t speed;

	if (fd >= 0 && sysfs_read_netdev_speed(fd, &speed) == 0)
		m->speed = speed;
}

static int list_members(Netlink *n, int net, uint32_t bond, Table **ret)
{
	Members list = {.bond = bond};
	int r = netdev_dump(n, bond, on_member, &list.n, &list);

	if (r == 0) {
		sort(list.entries, list.n, sizeof(*list.entries), compare_members);
		for (size_t i = 0; i < list.n; i++)
			read_speed(net, &list.entries[i]);
		r = table_make(list.entries, list.n, sizeof(*list.entries), ret);
	}
	free(list.entries);
	return r;
}

/* The bond of D. *RET_HAS becomes false if D has none here: the bond may be in another network
 * namespace. */
static int find_bond(Netlink *n, const Netdev *d, Netdev *ret, bool *ret_has)
{
	int r = 0;

	*ret = *d;
	if (!d->is_bond && d->is_bonded && d->master)
		r = netdev_get(n, d->master, ret);
	if (r < 0 && r != -ENODEV)
		return r;
	*ret_has = r == 0 && ret->is_bond;
	return 0;
}

int bond_supply(Netlink *n, int net, const Netdev *d, PortSnapshot *s)
{
	Table *members = NULL;
	Netdev bond;
	bool has_bond;
	int r = find_bond(n, d, &bond, &has_bond);

	if (r < 0)
		return r;
	PORT_SUPPLY_TEXT(s, bond, has_bond ? bond.name : "");
	PORT_SUPPLY(s, bond_ifindex, has_bond ? bond.ifindex : 0);
	PORT_SUPPLY_TEXT(s, bond_mode, has_bond ? bond_mode_name(bond.bond_mode) : "");
	if (has_bond)
		r = list_members(n, net, bond.ifindex, &members);
	if (r < 0)
		return r;
	s->tables[PORT_TABLE_BOND_MEMBERS] = members;
	mask_set(&s->supplied, PORT_ATTR_bond_members, true);
	return 0;
}
