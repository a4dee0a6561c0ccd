/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-netdev.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <sys/socket.h>

#include "netlink-value.h"
#include "query-ifname.h"

/* IFF_LOWER_UP of linux/if.h, which is not to be included beside net/if.h. */
#define LOWER_UP 0x10000U
/* So many interfaces may be on one another. */
#define LOWER_MAX 8U

/* The number in attribute TYPE of the nest DATA, which may be NULL; OTHERWISE if there is none. */
static uint64_t nested_number(struct nlattr *data, int type, uint64_t otherwise)
{
	struct nlattr *a = data ? nla_find(nla_data(data), nla_len(data), type) : NULL;
	uint64_t number;

	return netlink_number(a, &number) ? number : otherwise;
}

static bool is_kind_of_bond(const char *kind)
{
	return streq(kind, "bond") || streq(kind, "team");
}

/* What LINKINFO, which may be NULL, says of the kind of D, and of its place in a bond. */
static void parse_linkinfo(struct nlattr *linkinfo, Netdev *d)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];
	char kind[16] = "", member_kind[16] = "";

	if (!linkinfo || nla_parse_nested(info, IFLA_INFO_MAX, linkinfo, NULL) < 0)
		return;
	(void)netlink_text(info[IFLA_INFO_KIND], kind, sizeof(kind));
	(void)netlink_text(info[IFLA_INFO_SLAVE_KIND], member_kind, sizeof(member_kind));
	d->is_bond = is_kind_of_bond(kind);
	d->is_bonded = is_kind_of_bond(member_kind);
	if (streq(kind, "vlan"))
		d->vlan_id = (uint32_t)nested_number(info[IFLA_INFO_DATA], IFLA_VLAN_ID, 0);
	if (streq(kind, "bond"))
		d->bond_mode = nested_number(info[IFLA_INFO_DATA], IFLA_BOND_MODE, UINT64_MAX);
	if (streq(kind, "ipoib")) {
		d->ipoib_mode = nested_number(info[IFLA_INFO_DATA], IFLA_IPOIB_MODE, UINT64_MAX);
		d->ipoib_pkey = nested_number(info[IFLA_INFO_DATA], IFLA_IPOIB_PKEY, 0);
	}
	if (streq(member_kind, "bond")) {
		d->member_state =
			nested_number(info[IFLA_INFO_SLAVE_DATA], IFLA_BOND_SLAVE_STATE, 0);
		d->member_link =
			nested_number(info[IFLA_INFO_SLAVE_DATA], IFLA_BOND_SLAVE_MII_STATUS, 0);
	}
}

int netdev_open(Netlink *n)
{
	const int on = 1;
	bool was_closed = n->fd < 0;
	int r = netlink_open(n, NETLINK_ROUTE);

	/* With it the kernel dumps the addresses of the one interface that is asked for. Without it
	 * (before 4.20) it dumps all, and those of others are left out here. */
	if (r == 0 && was_closed)
		(void)setsockopt(n->fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return r;
}

static void parse_altnames(struct nlattr *list, Netdev *d)
{
	struct nlattr *a;
	int left;

	nla_for_each_nested(a, list, left)
	{
		AltnameEntry *e = &d->altnames[d->n_altnames];

		if (d->n_altnames == NETDEV_ALTNAMES_MAX)
			break;
		if (nla_type(a) != IFLA_ALT_IFNAME || !netlink_text(a, e->name, sizeof(e->name)))
			continue;
		e->ifindex = d->ifindex;
		d->n_altnames++;
	}
}

int netdev_parse(const struct nlmsghdr *message, void *ret)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	const struct ifinfomsg *info = nlmsg_data(m);
	Netdev d = {.bond_mode = UINT64_MAX, .ipoib_mode = UINT64_MAX};
	uint64_t v;

	if (message->nlmsg_type != RTM_NEWLINK || nlmsg_datalen(m) < (int)sizeof(*info) ||
	    nlmsg_parse(m, sizeof(*info), tb, IFLA_MAX, NULL) < 0 || info->ifi_index <= 0 ||
	    !netlink_text(tb[IFLA_IFNAME], d.name, sizeof(d.name)))
		return -EBADMSG;
	d.ifindex = (uint32_t)info->ifi_index;
	d.type = info->ifi_type;
	d.has_mtu = netlink_number(tb[IFLA_MTU], &v);
	if (d.has_mtu)
		d.mtu = (uint32_t)v;
	/* IFLA_CARRIER is about the driver alone: it may say yes of an interface that is down. */
	d.up = info->ifi_flags & IFF_UP;
	d.carrier = info->ifi_flags & LOWER_UP;
	d.has_operstate = netlink_number(tb[IFLA_OPERSTATE], &v);
	if (d.has_operstate)
		d.operstate = (uint32_t)v;
	if (netlink_number(tb[IFLA_MASTER], &v))
		d.master = (uint32_t)v;
	if (!tb[IFLA_LINK_NETNSID] && netlink_number(tb[IFLA_LINK], &v) && v != d.ifindex)
		d.lower = (uint32_t)v;
	parse_linkinfo(tb[IFLA_LINKINFO], &d);
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) <= NETDEV_ADDRESS_MAX) {
		d.address_length = (size_t)nla_len(tb[IFLA_ADDRESS]);
		memcpy(d.address, nla_data(tb[IFLA_ADDRESS]), d.address_length);
	}
	if (tb[IFLA_PROP_LIST])
		parse_altnames(tb[IFLA_PROP_LIST], &d);
	*(Netdev *)ret = d;
	return 0;
}

/* IPOIB_MODE_* of linux/if_link.h; "" for another number. */
static const char *ipoib_mode_name(uint64_t mode)
{
	return mode == IPOIB_MODE_DATAGRAM    ? "datagram"
	       : mode == IPOIB_MODE_CONNECTED ? "connected"
					      : "";
}

/* What is known of interface D beside its name. */
static void describe_ipoib(const Netdev *d, NetdevEntry *e)
{
	AttrText state = "";

	if (d->has_operstate)
		attr_enumeration_text(ATTR_OPERSTATE, d->operstate, state);
	e->mtu = d->has_mtu ? d->mtu : 0;
	e->pkey = (uint32_t)d->ipoib_pkey;
	text_copy(e->state, sizeof(e->state), state);
	text_copy(e->mode, sizeof(e->mode), ipoib_mode_name(d->ipoib_mode));
}

/* The hardware address of IPoIB is flags and queue pair number (4 bytes) and the port's GID. */
bool netdev_to_ipoib(const Netdev *d, Ipoib *ret)
{
	if (d->type != ARPHRD_INFINIBAND || d->address_length != 20)
		return false;
	*ret = (Ipoib){.entry.ifindex = d->ifindex, .master = d->master};
	memcpy(ret->entry.name, d->name, sizeof(ret->entry.name));
	describe_ipoib(d, &ret->entry);
	memcpy(ret->port_guid, d->address + 12, sizeof(ret->port_guid));
	memcpy(ret->altnames, d->altnames, sizeof(d->altnames));
	ret->n_altnames = d->n_altnames;
	return true;
}

int netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret)
{
	struct ifinfomsg info = {.ifi_index = (int)ifindex};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	return netlink_ask(n, m, netdev_parse, ret);
}

uint32_t netdev_vlan_id(Netlink *n, uint32_t ifindex)
{
	Netdev d = {.lower = ifindex};

	for (unsigned int i = 0; i < LOWER_MAX && d.lower && !d.vlan_id; i++)
		if (netdev_get(n, d.lower, &d) < 0)
			return 0;
	return d.vlan_id;
}

typedef struct IpoibList {
	Ipoib *entries;
	size_t n;
} IpoibList;

static int on_any_link(const struct nlmsghdr *message, void *userdata)
{
	IpoibList *list = userdata;
	Netdev d;
	Ipoib entry;
	int r = netdev_parse(message, &d);

	if (r < 0)
		return r;
	if (!netdev_to_ipoib(&d, &entry) || list->n >= TABLE_ENTRIES_MAX)
		return 0;
	if (!array_grow(list->entries, list->n))
		return -ENOMEM;
	list->entries[list->n++] = entry;
	return 0;
}

static int dump_once(Netlink *n, uint32_t master,
		     int (*on_each)(const struct nlmsghdr *message, void *userdata), void *userdata)
{
	struct ifinfomsg info = {};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	if (master)
		nla_put_u32(m, IFLA_MASTER, master);
	return netlink_ask(n, m, on_each, userdata);
}

int netdev_dump(Netlink *n, uint32_t master,
		int (*on_each)(const struct nlmsghdr *message, void *userdata), size_t *found,
		void *userdata)
{
	int r = -EINTR;

	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		*found = 0;
		r = dump_once(n, master, on_each, userdata);
	}
	return r;
}

/* A bond has the hardware address of its member that carries, so that it is in LIST as well. */
static void name_masters(IpoibList *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->n && list->entries[i].master; k++)
			if (list->entries[k].entry.ifindex == list->entries[i].master)
				memcpy(list->entries[i].entry.master, list->entries[k].entry.name,
				       sizeof(list->entries[i].entry.master));
}

int netdev_list_ipoib(Netlink *n, Ipoib **ret, size_t *ret_n)
{
	IpoibList list = {};
	int r = netdev_dump(n, 0, on_any_link, &list.n, &list);

	if (r < 0) {
		free(list.entries);
		return r;
	}
	name_masters(&list);
	*ret = list.entries;
	*ret_n = list.n;
	return 0;
}

void netdev_ipoib_free(Ipoib *ipoib, size_t n)
{
	for (size_t i = 0; i < n; i++)
		table_free(ipoib[i].addresses);
	free(ipoib);
}

/* The addresses of one family of an interface. */
typedef struct AddressList {
	uint32_t ifindex;
	int family;
	AddressEntry *entries;
	size_t n;
} AddressList;

int netdev_parse_address(const struct nlmsghdr *message, int family, uint32_t ifindex,
			 AddressEntry *ret)
{
	struct nlattr *tb[IFA_MAX + 1];
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	const struct ifaddrmsg *info = nlmsg_data(m);
	size_t size = family == AF_INET ? 4 : 16;
	AddressEntry e = {.ifindex = ifindex};
	const struct nlattr *a;

	if (message->nlmsg_type != RTM_NEWADDR || nlmsg_datalen(m) < (int)sizeof(*info) ||
	    nlmsg_parse(m, sizeof(*info), tb, IFA_MAX, NULL) < 0)
		return -EBADMSG;
	if (info->ifa_family != family || info->ifa_index != ifindex)
		return -ENOENT;
	/* IFA_ADDRESS is that of the other end of a point-to-point link */
	a = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!a || nla_len(a) != (int)size)
		return -EBADMSG;
	memcpy(e.address + 16 - size, nla_data(a), size);
	if (family == AF_INET)
		e.address[10] = e.address[11] = 0xff;
	*ret = e;
	return 0;
}

static int on_address(const struct nlmsghdr *message, void *userdata)
{
	AddressList *list = userdata;
	AddressEntry entry;
	int r = netdev_parse_address(message, list->family, list->ifindex, &entry);

	if (r == -ENOENT || list->n >= TABLE_ENTRIES_MAX)
		return 0;
	if (r < 0)
		return r;
	if (!array_grow(list->entries, list->n))
		return -ENOMEM;
	list->entries[list->n++] = entry;
	return 0;
}

static int dump_addresses(Netlink *n, int family, AddressList *list)
{
	struct ifaddrmsg info = {.ifa_family = (unsigned char)family, .ifa_index = list->ifindex};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_DUMP);

	if (!m)
		return -ENOMEM;
	list->family = family;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	return netlink_ask(n, m, on_address, list);
}

int netdev_read_addresses(Netlink *n, uint32_t ifindex, Table **ret)
{
	AddressList list = {.ifindex = ifindex};
	int r = -EINTR;

	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		list.n = 0;
		r = dump_addresses(n, AF_INET, &list);
		if (r == 0)
			r = dump_addresses(n, AF_INET6, &list);
	}
	if (r == -ENODEV) /* the interface has just gone */
		r = list.n = 0;
	if (r == 0)
		r = table_make(list.entries, list.n, sizeof(AddressEntry), ret);
	free(list.entries);
	return r;
}

void netdev_supply(const Netdev *d, PortSnapshot *s)
{
	AttrText text = "";
	char name[IF_NAMESIZE] = "";

	PORT_SUPPLY(s, ifindex, d->ifindex);
	PORT_SUPPLY_TEXT(s, netdev, d->name);
	if (d->has_mtu)
		PORT_SUPPLY(s, netdev_mtu, d->mtu);
	PORT_SUPPLY(s, netdev_up, d->up);
	PORT_SUPPLY(s, netdev_carrier, d->carrier);
	if (d->has_operstate)
		PORT_SUPPLY(s, netdev_operstate, d->operstate);
	for (size_t i = 0; i < d->address_length && 3 * (i + 1) <= sizeof(text); i++)
		snprintf(text + 3 * i, sizeof(text) - 3 * i, "%02x%s", d->address[i],
			 i + 1 < d->address_length ? ":" : "");
	PORT_SUPPLY_TEXT(s, netdev_address, text);
	if (d->master && ifname_of(d->master, name) < 0)
		return; /* gone meanwhile, or in another network namespace */
	PORT_SUPPLY_TEXT(s, netdev_master, name);
}
