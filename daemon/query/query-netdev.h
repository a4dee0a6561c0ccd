/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What rtnetlink says of the network interface of a port, and which IPoIB interfaces there are. */

#include "port.h"
#include "query-netlink.h"

#define NETDEV_ADDRESS_MAX 32 /* MAX_ADDR_LEN of the kernel */

typedef struct Netdev {
	uint32_t ifindex;
	char name[16];
	uint16_t type; /* ARPHRD_* */
	uint32_t mtu;
	uint32_t master; /* ifindex, 0: none */
	uint32_t operstate;
	bool has_mtu, has_operstate;
	bool up, carrier; /* UP and LOWER_UP of "ip link" */
	size_t address_length;
	uint8_t address[NETDEV_ADDRESS_MAX];
} Netdev;

/*
 * Asks for one interface. Must come before the verbs query of its port: after a change of the MTU
 * the kernel tells the world first and the RDMA driver later, and this round trip waits for the
 * lock that is held meanwhile (6.12 and 6.1: without it the first query after the news returned the
 * old active_mtu every time).
 */
int netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret);

/* An IPoIB interface and the port GUID it is on, in network byte order. */
typedef struct Ipoib {
	NetdevEntry entry;
	uint8_t port_guid[8];
} Ipoib;

/* All IPoIB interfaces: *RET_N in a new array, which the caller frees. -EINTR: they change all the
 * time. */
int netdev_list_ipoib(Netlink *n, Ipoib **ret, size_t *ret_n);

/* Supplies the rows of S that are about its interface. */
void netdev_supply(const Netdev *d, PortSnapshot *s);

/* Reads one message (RTM_NEWLINK). -EBADMSG. */
int netdev_parse(const struct nlmsghdr *message, Netdev *ret);
/* What D is as an IPoIB interface; false if it is none. */
bool netdev_to_ipoib(const Netdev *d, Ipoib *ret);
