/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ping-route.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>

/* The route to one address. */
typedef struct Question {
	struct nlmsghdr header;
	struct rtmsg route;
	uint8_t attributes[96];
} Question;

static socklen_t size_of(const PingSocket *s)
{
	return s->any.sa_family == AF_INET ? sizeof(s->v4) : sizeof(s->v6);
}

void ping_format_address(const PingSocket *s, char ret[PING_ADDRESS_MAX])
{
	if (getnameinfo(&s->any, size_of(s), ret, PING_ADDRESS_MAX, NULL, 0, NI_NUMERICHOST) != 0)
		ret[0] = '\0';
}

static void add(Question *q, unsigned short type, const void *data, size_t size)
{
	struct rtattr *a = (struct rtattr *)((uint8_t *)q + NLMSG_ALIGN(q->header.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(a), data, size);
	q->header.nlmsg_len = NLMSG_ALIGN(q->header.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static Question question(const PingSocket *to, const PingSocket *from)
{
	bool v4 = to->any.sa_family == AF_INET;
	size_t size = v4 ? sizeof(to->v4.sin_addr) : sizeof(to->v6.sin6_addr);
	uint8_t bits = (uint8_t)(size * 8);
	Question q = {
		.header = {NLMSG_LENGTH(sizeof(q.route)), RTM_GETROUTE, NLM_F_REQUEST, 0, 0},
		.route = {.rtm_family = (unsigned char)to->any.sa_family,
			  .rtm_dst_len = bits,
			  .rtm_src_len = from ? bits : 0},
	};

	add(&q, RTA_DST, v4 ? (const void *)&to->v4.sin_addr : &to->v6.sin6_addr, size);
	if (from)
		add(&q, RTA_SRC, v4 ? (const void *)&from->v4.sin_addr : &from->v6.sin6_addr, size);
	if (!v4 && to->v6.sin6_scope_id)
		add(&q, RTA_OIF, &to->v6.sin6_scope_id, sizeof(to->v6.sin6_scope_id));
	return q;
}

static int read_route(const struct nlmsghdr *h, PingWay *way)
{
	const struct rtmsg *m = NLMSG_DATA(h);
	size_t left = RTM_PAYLOAD(h), size = m->rtm_family == AF_INET ? 4 : 16;
	uint32_t ifindex = 0;

	for (const struct rtattr *a = RTM_RTA(m); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == RTA_GATEWAY && RTA_PAYLOAD(a) == size)
			(void)inet_ntop(m->rtm_family, RTA_DATA(a), way->hop, sizeof(way->hop));
		else if (a->rta_type == RTA_PREFSRC && RTA_PAYLOAD(a) == size)
			(void)inet_ntop(m->rtm_family, RTA_DATA(a), way->source,
					sizeof(way->source));
		else if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) == sizeof(ifindex))
			memcpy(&ifindex, RTA_DATA(a), sizeof(ifindex));
	return ifindex && if_indextoname(ifindex, way->netdev) ? 0 : -ENETUNREACH;
}

int ping_find_route(const PingSocket *to, const PingSocket *from, PingWay *way)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	_Alignas(struct nlmsghdr) uint8_t buffer[4096];
	const struct nlmsghdr *h = (const struct nlmsghdr *)buffer;
	Question q = question(to, from);
	ssize_t n;

	if (fd < 0 || send(fd, &q, q.header.nlmsg_len, 0) < 0)
		return -errno;
	n = recv(fd, buffer, sizeof(buffer), 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(h, (size_t)n) || h->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg)))
		return -EBADMSG;
	if (h->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
	text_copy(way->hop, sizeof(way->hop), way->address);
	if (from)
		ping_format_address(from, way->source);
	return read_route(h, way);
}
