/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-netdev.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>

#include "netlink-value.h"
#include "query-ifname.h"

/* IFF_LOWER_UP of linux/if.h, which is not to be included beside net/if.h. */
#define LOWER_UP 0x10000U

int netdev_parse(const struct nlmsghdr *message, Netdev *ret)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	const struct ifinfomsg *info = nlmsg_data(m);
	Netdev d = {};
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
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) <= NETDEV_ADDRESS_MAX) {
		d.address_length = (size_t)nla_len(tb[IFLA_ADDRESS]);
		memcpy(d.address, nla_data(tb[IFLA_ADDRESS]), d.address_length);
	}
	*ret = d;
	return 0;
}

/* The hardware address of IPoIB is flags and queue pair number (4 bytes) and the port's GID. */
bool netdev_to_ipoib(const Netdev *d, Ipoib *ret)
{
	if (d->type != ARPHRD_INFINIBAND || d->address_length != 20)
		return false;
	*ret = (Ipoib){.entry.ifindex = d->ifindex};
	memcpy(ret->entry.name, d->name, sizeof(ret->entry.name));
	memcpy(ret->port_guid, d->address + 12, sizeof(ret->port_guid));
	return true;
}

static int on_link(const struct nlmsghdr *message, void *userdata)
{
	return netdev_parse(message, userdata);
}

int netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret)
{
	struct ifinfomsg info = {.ifi_index = (int)ifindex};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, 0);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	return netlink_ask(n, m, on_link, ret);
}

typedef struct IpoibList {
	Ipoib *entries;
	size_t n;
} IpoibList;

static int on_any_link(const struct nlmsghdr *message, void *userdata)
{
	IpoibList *list = userdata;
	Netdev d;
	Ipoib entry, *entries;
	int r = netdev_parse(message, &d);

	if (r < 0)
		return r;
	if (!netdev_to_ipoib(&d, &entry) || list->n >= TABLE_ENTRIES_MAX)
		return 0;
	entries = reallocarray(list->entries, list->n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	list->entries = entries;
	entries[list->n++] = entry;
	return 0;
}

static int dump_links(Netlink *n, IpoibList *list)
{
	struct ifinfomsg info = {};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	return netlink_ask(n, m, on_any_link, list);
}

int netdev_list_ipoib(Netlink *n, Ipoib **ret, size_t *ret_n)
{
	IpoibList list = {};
	int r = -EINTR;

	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		list.n = 0;
		r = dump_links(n, &list);
	}
	if (r < 0) {
		free(list.entries);
		return r;
	}
	*ret = list.entries;
	*ret_n = list.n;
	return 0;
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
