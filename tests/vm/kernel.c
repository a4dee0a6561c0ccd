/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "util.h"

/* Newer than the headers of Debian 12: Linux 6.11. */
#define NLDEV_CMD_NEWDEV    26
#define NLDEV_CMD_DELDEV    27
#define NLDEV_ATTR_DEV_TYPE 99
#define NLDEV_TYPE_SMI	    1

static int rtnl = -1, rtnl_away = -1, nldev = -1, nldev_away = -1, sim = -1;
static int here_ns = -1, away_ns = -1;

typedef struct Message {
	struct nlmsghdr h;
	char rest[1000];
} Message;

static void put(Message *m, const void *data, size_t size)
{
	memcpy((char *)m + m->h.nlmsg_len, data, size);
	m->h.nlmsg_len += (uint32_t)NLMSG_ALIGN(size);
}

static struct rtattr *put_attr(Message *m, uint16_t type, const void *data, size_t size)
{
	struct rtattr *a = (struct rtattr *)((char *)m + m->h.nlmsg_len);

	*a = (struct rtattr){(uint16_t)RTA_LENGTH(size), type};
	if (size > 0)
		memcpy(RTA_DATA(a), data, size);
	m->h.nlmsg_len += (uint32_t)RTA_ALIGN(RTA_LENGTH(size));
	return a;
}

static void put_text(Message *m, uint16_t type, const char *text)
{
	put_attr(m, type, text, strlen(text) + 1);
}

static void put_u32(Message *m, uint16_t type, uint32_t value)
{
	put_attr(m, type, &value, sizeof(value));
}

static void end_nested(Message *m, struct rtattr *a)
{
	a->rta_len = (uint16_t)((char *)m + m->h.nlmsg_len - (char *)a);
}

/* Sends a message and waits for the acknowledgement. */
static int talk(int fd, Message *m)
{
	static uint32_t sequence;
	char buffer[8192];

	m->h.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	m->h.nlmsg_seq = ++sequence;
	if (send(fd, m, m->h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
		struct nlmsghdr *h = (struct nlmsghdr *)buffer;

		if (n < 0)
			return -errno;
		for (size_t left = (size_t)n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left))
			if (h->nlmsg_seq == sequence && h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
	}
}

static Message link_message(uint16_t type, uint16_t flags, const char *name, uint32_t set,
			    uint32_t mask)
{
	struct ifinfomsg info = {.ifi_flags = set, .ifi_change = mask};
	Message m = {.h = {NLMSG_HDRLEN, type, flags, 0, 0}};

	put(&m, &info, sizeof(info));
	put_text(&m, IFLA_IFNAME, name);
	return m;
}

int kernel_add_dummy(const char *name, uint8_t last)
{
	uint8_t mac[6] = {2, 0, 0, 0, 0, last};
	Message m = link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name, 0, 0);
	struct rtattr *info = put_attr(&m, IFLA_LINKINFO, NULL, 0);

	put_text(&m, IFLA_INFO_KIND, "dummy");
	end_nested(&m, info);
	put_attr(&m, IFLA_ADDRESS, mac, sizeof(mac));
	return talk(rtnl, &m);
}

int kernel_add_veth(const char *name, const char *peer, uint8_t last)
{
	uint8_t mac[6] = {2, 0, 0, 0, 0, last};
	Message m = link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name, 0, 0);
	struct rtattr *info = put_attr(&m, IFLA_LINKINFO, NULL, 0), *data, *other;
	struct ifinfomsg header = {};

	put_text(&m, IFLA_INFO_KIND, "veth");
	data = put_attr(&m, IFLA_INFO_DATA, NULL, 0);
	other = put_attr(&m, VETH_INFO_PEER, NULL, 0);
	put(&m, &header, sizeof(header));
	put_text(&m, IFLA_IFNAME, peer);
	end_nested(&m, other);
	end_nested(&m, data);
	end_nested(&m, info);
	put_attr(&m, IFLA_ADDRESS, mac, sizeof(mac));
	return talk(rtnl, &m);
}

static int delete_link(int fd, const char *name)
{
	Message m = link_message(RTM_DELLINK, 0, name, 0, 0);

	return talk(fd, &m);
}

int kernel_delete_link(const char *name)
{
	return delete_link(rtnl, name);
}

int kernel_delete_container(const char *name)
{
	return delete_link(rtnl_away, name);
}

static int set_up(int fd, const char *name, bool up)
{
	Message m = link_message(RTM_NEWLINK, 0, name, up ? IFF_UP : 0, IFF_UP);

	return talk(fd, &m);
}

int kernel_set_up(const char *name, bool up)
{
	return set_up(rtnl, name, up);
}

int kernel_set_container_up(const char *name, bool up)
{
	return set_up(rtnl_away, name, up);
}

int kernel_set_carrier(const char *name, bool on)
{
	Message m = link_message(RTM_NEWLINK, 0, name, 0, 0);
	uint8_t value = on;

	put_attr(&m, IFLA_CARRIER, &value, sizeof(value));
	return talk(rtnl, &m);
}

int kernel_set_mtu(const char *name, uint32_t mtu)
{
	Message m = link_message(RTM_NEWLINK, 0, name, 0, 0);

	put_u32(&m, IFLA_MTU, mtu);
	return talk(rtnl, &m);
}

int kernel_set_mac(const char *name, uint8_t last)
{
	uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)if_nametoindex(name), last};
	Message m = link_message(RTM_NEWLINK, 0, name, 0, 0);

	put_attr(&m, IFLA_ADDRESS, mac, sizeof(mac));
	return talk(rtnl, &m);
}

int kernel_rename_link(const char *name, const char *to)
{
	struct ifinfomsg info = {.ifi_index = (int)if_nametoindex(name)};
	Message m = {.h = {NLMSG_HDRLEN, RTM_NEWLINK, 0, 0, 0}};

	put(&m, &info, sizeof(info));
	put_text(&m, IFLA_IFNAME, to);
	return talk(rtnl, &m);
}

static int set_address(int fd, uint32_t ifindex, bool ipv6, uint8_t link, uint8_t n, bool add)
{
	struct ifaddrmsg header = {.ifa_family = ipv6 ? AF_INET6 : AF_INET,
				   .ifa_prefixlen = ipv6 ? 64 : 24,
				   .ifa_flags = ipv6 ? IFA_F_NODAD : 0,
				   .ifa_index = ifindex};
	uint8_t v4[4] = {10, link, n, 1}, v6[16] = {0xfd, 0, 0, link, 0, n, [15] = 1};
	Message m = {.h = {NLMSG_HDRLEN, add ? RTM_NEWADDR : RTM_DELADDR,
			   add ? NLM_F_CREATE | NLM_F_EXCL : 0, 0, 0}};

	put(&m, &header, sizeof(header));
	put_attr(&m, IFA_LOCAL, ipv6 ? v6 : v4, ipv6 ? sizeof(v6) : sizeof(v4));
	return talk(fd, &m);
}

int kernel_set_address(const char *name, bool ipv6, uint8_t link, uint8_t n, bool add)
{
	return set_address(rtnl, if_nametoindex(name), ipv6, link, n, add);
}

int kernel_set_container_address(const char *shadow, bool ipv6, uint8_t link, uint8_t n, bool add)
{
	return set_address(rtnl_away, if_nametoindex(shadow), ipv6, link, n, add);
}

static int add_macvlan(const char *name, const char *lower)
{
	Message m = link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name, 0, 0);
	struct rtattr *info = put_attr(&m, IFLA_LINKINFO, NULL, 0);

	put_text(&m, IFLA_INFO_KIND, "macvlan");
	end_nested(&m, info);
	put_u32(&m, IFLA_LINK, if_nametoindex(lower));
	return talk(rtnl, &m);
}

static int move_link_away(const char *name)
{
	Message m = link_message(RTM_NEWLINK, 0, name, 0, 0);

	put_u32(&m, IFLA_NET_NS_FD, (uint32_t)away_ns);
	return talk(rtnl, &m);
}

/* A dummy that gets the kernel index INDEX. */
static int add_shadow(const char *name, uint32_t index)
{
	Message m = link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, name, 0, 0);
	struct rtattr *info = put_attr(&m, IFLA_LINKINFO, NULL, 0);

	put_text(&m, IFLA_INFO_KIND, "dummy");
	end_nested(&m, info);
	((struct ifinfomsg *)NLMSG_DATA(&m.h))->ifi_index = (int)index;
	return talk(rtnl, &m);
}

int kernel_add_container(const char *name, const char *lower, const char *shadow)
{
	int r = add_macvlan(name, lower);
	uint32_t index = if_nametoindex(name);

	if (r < 0)
		return r;
	r = move_link_away(name);
	if (r < 0) {
		(void)kernel_delete_link(name);
		return r;
	}
	return add_shadow(shadow, index);
}

static Message nldev_message(unsigned int command)
{
	return (Message){
		.h = {NLMSG_HDRLEN, (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), 0, 0, 0}};
}

int kernel_add_rxe(const char *name, const char *netdev)
{
	Message m = nldev_message(RDMA_NLDEV_CMD_NEWLINK);

	put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_text(&m, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	put_text(&m, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return talk(nldev, &m);
}

int kernel_delete_rxe(uint32_t index)
{
	Message m = nldev_message(RDMA_NLDEV_CMD_DELLINK);

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return talk(nldev, &m);
}

int kernel_add_plane(const char *name, uint32_t parent)
{
	Message m = nldev_message(NLDEV_CMD_NEWDEV);
	uint8_t type = NLDEV_TYPE_SMI;

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, parent);
	put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_attr(&m, NLDEV_ATTR_DEV_TYPE, &type, sizeof(type));
	return talk(nldev, &m);
}

int kernel_delete_plane(uint32_t index)
{
	Message m = nldev_message(NLDEV_CMD_DELDEV);

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return talk(nldev, &m);
}

int kernel_rename_device(uint32_t index, const char *to)
{
	Message m = nldev_message(RDMA_NLDEV_CMD_SET);

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, to);
	return talk(nldev, &m);
}

int kernel_move_device(uint32_t index, bool away)
{
	Message m = nldev_message(RDMA_NLDEV_CMD_SET);
	int r;

	put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_u32(&m, RDMA_NLDEV_NET_NS_FD, (uint32_t)(away ? away_ns : here_ns));
	if (away)
		return talk(nldev, &m);
	/* only a process in the other namespace may take the device from there */
	if (setns(away_ns, CLONE_NEWNET) < 0)
		return -errno;
	r = talk(nldev_away, &m);
	return setns(here_ns, CLONE_NEWNET) < 0 ? -errno : r;
}

int kernel_sim(const char *format, ...)
{
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return n >= (int)sizeof(line) ? -E2BIG : write(sim, line, (size_t)n) < 0 ? -errno : 0;
}

/* Takes the index from a message of a dump if the message is about device NAME. */
static void find_index(const struct nlmsghdr *h, const char *name, int *ret)
{
	const struct rtattr *a = NLMSG_DATA(h);
	bool is_it = false;
	uint32_t index = 0;

	for (unsigned int left = NLMSG_PAYLOAD(h, 0); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == RDMA_NLDEV_ATTR_DEV_INDEX)
			memcpy(&index, RTA_DATA(a), sizeof(index));
		else if (a->rta_type == RDMA_NLDEV_ATTR_DEV_NAME)
			is_it = streq((const char *)RTA_DATA(a), name);
	if (is_it)
		*ret = (int)index;
}

int kernel_device_index(const char *name)
{
	static char buffer[64 * 1024];
	Message m = nldev_message(RDMA_NLDEV_CMD_GET);
	int index = -ENODEV;

	m.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (send(nldev, &m, m.h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		ssize_t n = recv(nldev, buffer, sizeof(buffer), 0);
		struct nlmsghdr *h = (struct nlmsghdr *)buffer;

		if (n < 0)
			return -errno;
		for (size_t left = (size_t)n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				return index;
			find_index(h, name, &index);
		}
	}
}

static int open_socket(int family, int *ret)
{
	*ret = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);
	return *ret < 0 ? -errno : 0;
}

/* A device can be moved only if the namespaces do not share devices, and that mode can be set only
 * while there is one namespace. */
static int separate_namespaces(void)
{
	Message m = nldev_message(RDMA_NLDEV_CMD_SYS_SET);
	uint8_t exclusive = 0;

	put_attr(&m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &exclusive, sizeof(exclusive));
	return talk(nldev, &m);
}

int kernel_open(void)
{
	int r = open_socket(NETLINK_ROUTE, &rtnl);

	if (r == 0)
		r = open_socket(NETLINK_RDMA, &nldev);
	if (r == 0)
		r = separate_namespaces();
	if (r < 0)
		return r;
	here_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (here_ns < 0 || unshare(CLONE_NEWNET) < 0)
		return -errno;
	away_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	r = open_socket(NETLINK_RDMA, &nldev_away);
	if (r == 0)
		r = open_socket(NETLINK_ROUTE, &rtnl_away);
	if (away_ns < 0 || setns(here_ns, CLONE_NEWNET) < 0)
		return -errno;
	if (r < 0)
		return r;
	sim = open("/dev/rdma_sim", O_RDWR | O_CLOEXEC);
	return sim < 0 ? -errno : 0;
}
