/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Network interfaces from rtnetlink: that of a port, those of IPoIB, and the IP addresses of one.
 * All of them are in the network namespace of this process. */

#include "port.h"
#include "query-netlink.h"

#define NETDEV_ADDRESS_MAX 32 /* MAX_ADDR_LEN of the kernel */
/* How many alternative names of an interface are read. The kernel has no limit; systemd gives an
 * interface up to five. */
#define NETDEV_ALTNAMES_MAX 8U

typedef struct Netdev {
	uint32_t ifindex;
	char name[16];
	uint16_t type; /* ARPHRD_* */
	uint32_t mtu;
	uint32_t master; /* ifindex, 0: none */
	uint32_t lower; /* ifindex of the interface that this one is on, as a macvlan is; 0: none in
			   this network namespace */
	uint32_t vlan_id; /* if this interface is a VLAN; else 0 */
	uint32_t operstate;
	bool is_bond, is_bonded; /* it is one, or is a member of one: of bonding, or a team */
	uint64_t bond_mode;	 /* of a bond: IFLA_BOND_MODE; UINT64_MAX: not known */
	/* of a member: IFLA_BOND_SLAVE_STATE and IFLA_BOND_SLAVE_MII_STATUS; 0 if it has none */
	uint64_t member_state, member_link;
	uint64_t ipoib_pkey; /* of IPoIB: its P_Key; 0: not known */
	uint64_t ipoib_mode; /* of IPoIB: IFLA_IPOIB_MODE; UINT64_MAX: not known */
	bool has_mtu, has_operstate;
	bool up, carrier; /* UP and LOWER_UP of "ip link" */
	size_t address_length;
	uint8_t address[NETDEV_ADDRESS_MAX];
	size_t n_altnames;
	AltnameEntry altnames[NETDEV_ALTNAMES_MAX];
} Netdev;

/* Opens N, if it is closed, for the functions below. A negative errno. */
int netdev_open(Netlink *n);

/*
 * Asks for one interface. Must come before the verbs query of its port: after a change of the MTU
 * the kernel tells the world first and the RDMA driver later, and this round trip waits for the
 * lock that is held meanwhile (6.12 and 6.1: without it the first query after the news returned the
 * old active_mtu every time).
 */
int netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret);

/*
 * The number of the VLAN that the frames of an interface get: of the interface itself, or of the
 * one that it is on, as the kernel decides for a GID (rdma_read_gid_l2_fields() in its
 * drivers/infiniband/core/cache.c). 0: of none. VLAN 0 is no VLAN (IEEE 802.1Q, priority-tagged).
 */
uint32_t netdev_vlan_id(Netlink *n, uint32_t ifindex);

/* An IPoIB interface and the port GUID it is on, in network byte order. */
typedef struct Ipoib {
	NetdevEntry entry;
	uint32_t master; /* the index of the interface of which it is a member; 0: of none */
	uint8_t port_guid[8];
	size_t n_altnames;
	AltnameEntry altnames[NETDEV_ALTNAMES_MAX];
	bool has_addresses; /* ADDRESSES was read */
	Table *addresses;   /* of AddressEntry */
} Ipoib;

/* All IPoIB interfaces: *RET_N in a new array, which the caller frees with netdev_ipoib_free().
 * Their addresses are not read. -EINTR: they change all the time. */
int netdev_list_ipoib(Netlink *n, Ipoib **ret, size_t *ret_n);
/* Frees an array of N of them. */
void netdev_ipoib_free(Ipoib *ipoib, size_t n);

/* The IP addresses of interface IFINDEX as a new table of AddressEntry, by family and then in the
 * order of the kernel; NULL if there is none. TABLE_ENTRIES_MAX at most. -EINTR: they change all
 * the time. */
int netdev_read_addresses(Netlink *n, uint32_t ifindex, Table **ret);
/* Reads one message (RTM_NEWADDR) about an address of FAMILY. -EBADMSG; -ENOENT if it is about
 * another family or another interface than IFINDEX. */
int netdev_parse_address(const struct nlmsghdr *message, int family, uint32_t ifindex,
			 AddressEntry *ret);

/* Supplies the rows of S that are about its interface. */
void netdev_supply(const Netdev *d, PortSnapshot *s);

/*
 * Has ON_EACH called with a message about each interface, or about each member of MASTER if it is
 * not 0. If interfaces change meanwhile, all begins anew, with 0 in *FOUND, where ON_EACH counts.
 * -EINTR: they change all the time; or a negative errno of ON_EACH.
 */
int netdev_dump(Netlink *n, uint32_t master,
		int (*on_each)(const struct nlmsghdr *message, void *userdata), size_t *found,
		void *userdata);
/* A NetlinkHandler: reads one message (RTM_NEWLINK) into a Netdev. -EBADMSG. */
int netdev_parse(const struct nlmsghdr *message, void *ret);
/* Fills *RET with the IPoIB interface D; false if D is none. */
bool netdev_to_ipoib(const Netdev *d, Ipoib *ret);
