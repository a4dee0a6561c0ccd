/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network interfaces of RDMA ports, by listening to rtnetlink. */

#include "watch-rtnl.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dcbnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include "log.h"
#include "netlink-value.h"
#include "watch-socket.h"

/* The last attribute that is read here. */
#define LINK_ATTR_LAST IFLA_NEW_NETNSID

/* Limits for the walk from an interface with an address down to one that belongs to a port. A VLAN
 * on a bond of two interfaces has depth 2. */
#define LOWER_DEPTH_MAX 8U
#define LOWER_COUNT_MAX 64U
/* Enough for all 8192 ports that the kernel has room for, with 8 interfaces each. */
#define LINKS_MAX (64U * 1024U)

/* The interface index that stands for every IPoIB interface. */
#define ANY_IPOIB 0U

/* One interface of one port. */
typedef struct PortLink {
	uint32_t ifindex;
	uint32_t device;
	uint32_t port;
} PortLink;

struct WatchRtnl {
	WatchSocket socket;
	char *sysfs;
	PortLink *links; /* sorted by ifindex, device, port */
	size_t n_links;
};

static struct nla_policy link_policy[LINK_ATTR_LAST + 1] = {
	[IFLA_LINK] = {.type = NLA_U32, .maxlen = sizeof(uint32_t)},
	[IFLA_MASTER] = {.type = NLA_U32, .maxlen = sizeof(uint32_t)},
};

static int compare_links(const PortLink *a, const PortLink *b)
{
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return 0;
}

/* Index of the first link that is not below KEY. */
static size_t lower_bound(const WatchRtnl *w, const PortLink *key)
{
	return array_place(w->n_links, i, compare_links(&w->links[i], key) < 0);
}

/* Reports the ports of IFINDEX; false if there is none. */
static bool report(WatchRtnl *w, uint32_t ifindex, EventReason reason)
{
	size_t i = lower_bound(w, &(PortLink){.ifindex = ifindex});
	bool found = false;

	/* The handler may not change the map: it is called from the event loop and only notes the
	 * event. */
	for (; i < w->n_links && w->links[i].ifindex == ifindex; i++) {
		watch_socket_report(&w->socket,
				    &(Event){w->links[i].device, w->links[i].port, reason});
		found = true;
	}
	return found;
}

/* Reports the ports of OTHER, an interface that a message about IFINDEX names. Tunnels, and a veth
 * without its peer, name 0: that is no interface, and must not be taken for ANY_IPOIB. */
static void report_other(WatchRtnl *w, uint32_t other, uint32_t ifindex)
{
	if (other != 0 && other != ifindex)
		report(w, other, REASON_LINK);
}

static int on_link(WatchRtnl *w, struct nlmsghdr *m)
{
	struct nlattr *a[LINK_ATTR_LAST + 1];
	const struct ifinfomsg *link;
	uint32_t ifindex;

	if (nlmsg_parse(m, sizeof(*link), a, LINK_ATTR_LAST, link_policy) < 0)
		return -EBADMSG;
	link = nlmsg_data(m);
	if (link->ifi_index <= 0)
		return -EBADMSG;
	/* The message is about a scan of a wireless interface, not about the link. */
	if (a[IFLA_WIRELESS])
		return 0;
	ifindex = (uint32_t)link->ifi_index;
	/* __dev_change_net_namespace() in net/core/dev.c says which way it has gone. */
	report(w, ifindex,
	       m->nlmsg_type == RTM_DELLINK && a[IFLA_NEW_NETNSID] ? REASON_NAMESPACE
								   : REASON_LINK);
	/* The port of the interface below counts too (a VLAN has GIDs of the port), and that of the
	 * interface above (a bond). But the peer of a veth may be in another network namespace: its
	 * index means another interface here. */
	if (a[IFLA_LINK] && !a[IFLA_LINK_NETNSID])
		report_other(w, nla_get_u32(a[IFLA_LINK]), ifindex);
	if (a[IFLA_MASTER])
		report_other(w, nla_get_u32(a[IFLA_MASTER]), ifindex);
	if (link->ifi_type == ARPHRD_INFINIBAND)
		report(w, ANY_IPOIB, REASON_LINK);
	return 0;
}

static uint32_t read_ifindex(int dir)
{
	char text[16] = "";
	_cleanup_close_ int fd = openat(dir, "ifindex", O_RDONLY | O_CLOEXEC);
	uint64_t ifindex;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return text_to_u64(text, INT_MAX, &ifindex) < 0 ? 0 : (uint32_t)ifindex;
}

/*
 * Reports the ports of the interfaces below the one whose directory in sysfs is PARENT/NAME. To
 * read the links "lower_*" there takes no RTNL lock. The walk ends at an interface that belongs to
 * a port.
 */
static void report_lowers(WatchRtnl *w, int parent, const char *name, unsigned int depth,
			  unsigned int *count)
{
	struct dirent *entry;
	DIR *dir;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return; /* gone */
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while (*count < LOWER_COUNT_MAX && (entry = readdir(dir))) {
		_cleanup_close_ int lower = -EBADF;

		if (!startswith(entry->d_name, "lower_"))
			continue;
		(*count)++;
		lower = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (lower >= 0 && !report(w, read_ifindex(lower), REASON_ADDRESS) &&
		    depth < LOWER_DEPTH_MAX)
			report_lowers(w, lower, ".", depth + 1, count);
	}
	closedir(dir);
}

static int on_address(WatchRtnl *w, struct nlmsghdr *m)
{
	const struct ifaddrmsg *address;
	char name[IF_NAMESIZE], path[PATH_MAX];
	unsigned int count = 0;

	if (!nlmsg_valid_hdr(m, sizeof(*address)))
		return -EBADMSG;
	address = nlmsg_data(m);
	if (address->ifa_index == 0 || address->ifa_index > INT_MAX)
		return -EBADMSG;
	if (report(w, address->ifa_index, REASON_ADDRESS))
		return 0;
	/* Perhaps it is above an interface of a port, but has no GID yet. if_indextoname() takes no
	 * RTNL lock. */
	if (if_indextoname(address->ifa_index, name) &&
	    (size_t)snprintf(path, sizeof(path), "%s/class/net/%s", w->sysfs, name) < sizeof(path))
		report_lowers(w, AT_FDCWD, path, 1, &count);
	return 0;
}

/* The message has a name and no index. if_nametoindex() takes no RTNL lock. An interface that was
 * renamed meanwhile is read because of that. */
static int on_dcb(WatchRtnl *w, struct nlmsghdr *m)
{
	struct nlattr *a[DCB_ATTR_IFNAME + 1];
	char name[IF_NAMESIZE];
	unsigned int ifindex;

	if (nlmsg_parse(m, sizeof(struct dcbmsg), a, DCB_ATTR_IFNAME, NULL) < 0 ||
	    !netlink_text(a[DCB_ATTR_IFNAME], name, sizeof(name)))
		return -EBADMSG;
	ifindex = if_nametoindex(name);
	if (ifindex)
		report(w, ifindex, REASON_DCB);
	return 0;
}

int watch_rtnl_message(WatchRtnl *w, struct nlmsghdr *m)
{
	/* Without RoCE and IPoIB nothing can concern a port. */
	if (w->n_links == 0)
		return 0;
	switch (m->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return on_link(w, m);
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return on_address(w, m);
	case RTM_GETDCB:
	case RTM_SETDCB:
		return on_dcb(w, m);
	default:
		return 0;
	}
}

static void add_link(WatchRtnl *w, uint32_t ifindex, uint32_t device, uint32_t port)
{
	PortLink link = {.ifindex = ifindex, .device = device, .port = port};
	size_t i = lower_bound(w, &link);

	if (i < w->n_links && compare_links(&w->links[i], &link) == 0)
		return;
	if (w->n_links >= LINKS_MAX) {
		log_debug("interface %u is one too many to watch", ifindex);
		return;
	}
	if (!array_grow(w->links, w->n_links))
		return; /* the reconcile timer still sees what changes */
	memmove(&w->links[i + 1], &w->links[i], (w->n_links - i) * sizeof(link));
	w->links[i] = link;
	w->n_links++;
}

/* PORT EVENT_ALL_PORTS: all of the device. */
static void remove_links(WatchRtnl *w, uint32_t device, uint32_t port)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_links; i++)
		if (w->links[i].device != device ||
		    (port != EVENT_ALL_PORTS && w->links[i].port != port))
			w->links[n++] = w->links[i];
	w->n_links = n;
}

void watch_rtnl_port(WatchRtnl *w, uint32_t device, uint32_t port, const PortSnapshot *now)
{
	remove_links(w, device, port);
	if (!now)
		return;
	if (now->values.bond_ifindex)
		add_link(w, now->values.bond_ifindex, device, port);
	TABLE_FOREACH(BondMember, e, now->tables[PORT_TABLE_BOND_MEMBERS])
		if (e->ifindex)
			add_link(w, e->ifindex, device, port);
	TABLE_FOREACH(NetdevEntry, e, now->tables[PORT_TABLE_NETDEVS])
		if (e->ifindex)
			add_link(w, e->ifindex, device, port);
	TABLE_FOREACH(GidEntry, e, now->tables[PORT_TABLE_GIDS])
		if (e->ifindex)
			add_link(w, e->ifindex, device, port);
		else if (e->type == GID_TYPE_IB)
			add_link(w, ANY_IPOIB, device, port);
}

void watch_rtnl_forget(WatchRtnl *w, uint32_t device)
{
	remove_links(w, device, EVENT_ALL_PORTS);
}

static int on_message(void *watch, struct nlmsghdr *m)
{
	return watch_rtnl_message(watch, m);
}

int watch_rtnl_listen(WatchRtnl *w)
{
	static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				     RTNLGRP_DCB};

	return watch_socket_listen(&w->socket, NETLINK_ROUTE, groups, ARRAY_SIZE(groups));
}

int watch_rtnl_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchRtnl **ret)
{
	_cleanup_(watch_rtnl_free_pointer) WatchRtnl *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->socket = watch_socket_new(event, "Cannot hear of network interfaces, will listen anew",
				     on_message, w, handler, userdata);
	w->sysfs = strdup(sysfs);
	if (!w->sysfs)
		return -ENOMEM;
	*ret = steal_pointer(&w);
	return 0;
}

void watch_rtnl_free(WatchRtnl *w)
{
	if (!w)
		return;
	watch_socket_close(&w->socket);
	sd_event_unref(w->socket.event);
	free(w->sysfs);
	free(w->links);
	free(w);
}
