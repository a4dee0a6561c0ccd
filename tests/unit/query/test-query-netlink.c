/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads from netlink messages about ports, character devices and interfaces. The
 * messages are made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "query-bond.h"
#include "query-netdev.h"
#include "query-nldev.h"

static void test_port(_unused_ void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	nla_put_u64(m, RDMA_NLDEV_ATTR_CAP_FLAGS, UINT64_C(0x0000001f2651e848));
	nla_put_u32(m, RDMA_NLDEV_ATTR_LID, 0x12345); /* Omni-Path */
	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 4);
	nla_put(m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 3, "abc"); /* no number */
	assert_int_equal(nldev_parse_port(nlmsg_hdr(m), &s), 0);
	assert_true(s.values.cap_mask == UINT64_C(0x0000001f2651e848));
	assert_int_equal(s.values.lid, 0x12345);
	assert_int_equal(s.values.state, 4);
	assert_false(mask_has(&s.supplied, PORT_ATTR_phys_state));
	assert_false(mask_has(&s.supplied, PORT_ATTR_sm_lid));
	/* Without a netdev the port has no such attributes: that is known. */
	assert_true(mask_has(&s.supplied, PORT_ATTR_ifindex));
	assert_int_equal(s.values.ifindex, 0);
	nla_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, 9);
	nla_put_string(m, RDMA_NLDEV_ATTR_NDEV_NAME, "eth0");
	assert_int_equal(nldev_parse_port(nlmsg_hdr(m), &s), 0);
	assert_int_equal(s.values.ifindex, 9);
	assert_string_equal(TEXT_OF(&s.values, netdev), "eth0");
	nlmsg_free(m);

	m = nlmsg_alloc_simple(0, 0);
	assert_int_equal(nldev_parse_port(nlmsg_hdr(m), &s), -EBADMSG);
	nlmsg_free(m);
}

/* An entry of the message M about a counter; ON and VALUE: negative: the message has none. */
static void put_counter(struct nl_msg *m, const char *name, int on, int value)
{
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	if (name)
		nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	if (on >= 0)
		nla_put_u8(m, NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, (uint8_t)on);
	if (value >= 0)
		nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, (uint64_t)value);
	nla_nest_end(m, entry);
}

static void assert_counter(const CounterEntry *e, const char *name, uint64_t value, int error)
{
	assert_string_equal(e->file, name);
	assert_int_equal(e->group, COUNTER_GROUP_HARDWARE);
	assert_int_equal(e->value, value);
	assert_int_equal(e->error, error);
}

/* Of the optional counters those that are on are taken; their values are in a second message, with
 * those of all others. */
static void test_optional_counters(_unused_ void **state)
{
	CounterEntry entries[2] = {};
	NldevCounters c = {.entries = entries, .room = 2};
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	struct nlattr *list = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	put_counter(m, "out_of_buffer", -1, -1);
	put_counter(m, "rdma_tx_bytes", 0, -1);
	put_counter(m, "cc_rx_ce_pkts", 1, -1);
	put_counter(m, NULL, 1, -1);
	put_counter(m, "cc_tx_cnp_pkts", 1, -1);
	put_counter(m, "no_room", 1, -1);
	nla_nest_end(m, list);
	assert_int_equal(nldev_parse_counters(nlmsg_hdr(m), &c), 0);
	nlmsg_free(m);
	assert_int_equal(c.n, 2);
	assert_counter(&entries[0], "cc_rx_ce_pkts", 0, -ENODATA);

	m = nlmsg_alloc_simple(0, 0);
	list = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	put_counter(m, "out_of_buffer", -1, 5);
	put_counter(m, "cc_rx_ce_pkts", -1, 12);
	nla_nest_end(m, list);
	assert_int_equal(nldev_parse_counters(nlmsg_hdr(m), &c), 0);
	nlmsg_free(m);
	assert_int_equal(c.n, 2);
	assert_counter(&entries[0], "cc_rx_ce_pkts", 12, 0);
	assert_counter(&entries[1], "cc_tx_cnp_pkts", 0, -ENODATA);

	/* a port without counters */
	m = nlmsg_alloc_simple(0, 0);
	assert_int_equal(nldev_parse_counters(nlmsg_hdr(m), &c), 0);
	nlmsg_free(m);
}

static struct nl_msg *chardev_message(uint64_t driver_id, bool short_id, const char *name)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);

	if (short_id)
		nla_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, (uint32_t)driver_id);
	else
		nla_put_u64(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, driver_id);
	nla_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, UINT64_C(0x10e7c1)); /* 231:449 */
	if (name)
		nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	return m;
}

static void test_chardev(_unused_ void **state)
{
	static const struct {
		uint64_t driver_id;
		bool short_id;
		const char *name;
		int r;
	} cases[] = {
		{21, false, "uverbs257", 0},
		{14, true, "uverbs257", 0},
		{UINT64_C(1) << 32, false, "uverbs257", -EBADMSG},
		{21, false, NULL, -EBADMSG},
		{21, false, "umad0", -EBADMSG},
		{21, false, "uverbs/../x", -EBADMSG},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m =
			chardev_message(cases[i].driver_id, cases[i].short_id, cases[i].name);
		NldevChardev c = {.driver_id = 77};

		assert_int_equal(nldev_parse_chardev(nlmsg_hdr(m), &c), cases[i].r);
		assert_int_equal(c.driver_id, cases[i].r == 0 ? cases[i].driver_id : 77);
		if (cases[i].r == 0) {
			assert_string_equal(c.name, cases[i].name);
			assert_int_equal(c.major, 231);
			assert_int_equal(c.minor, 449);
		}
		nlmsg_free(m);
	}
}

/* IFF_LOWER_UP */
#define LOWER_UP 0x10000U

/* The interface is up and has a carrier. */
static struct nl_msg *link_message(int ifindex, unsigned short type)
{
	struct ifinfomsg info = {
		.ifi_index = ifindex, .ifi_type = type, .ifi_flags = IFF_UP | LOWER_UP};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);

	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "net0");
	return m;
}

static void test_netdev(_unused_ void **state)
{
	static const uint8_t mac[6] = {0x02, 0, 0, 0xab, 0xcd, 0xef};
	struct nl_msg *m = link_message(3, ARPHRD_ETHER);
	Netdev d = {};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_false(d.has_mtu || d.has_operstate);
	nla_put_u32(m, IFLA_MTU, 9000);
	nla_put_u8(m, IFLA_OPERSTATE, 6);
	nla_put(m, IFLA_ADDRESS, sizeof(mac), mac);
	nla_put_u32(m, IFLA_MASTER, if_nametoindex("lo"));
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	netdev_supply(&d, &s);
	assert_int_equal(s.values.ifindex, 3);
	assert_string_equal(TEXT_OF(&s.values, netdev), "net0");
	assert_int_equal(s.values.netdev_mtu, 9000);
	assert_int_equal(s.values.netdev_up, 1);
	assert_int_equal(s.values.netdev_carrier, 1);
	assert_int_equal(s.values.netdev_operstate, 6);
	assert_string_equal(TEXT_OF(&s.values, netdev_address), "02:00:00:ab:cd:ef");
	assert_string_equal(TEXT_OF(&s.values, netdev_master), "lo");
	nlmsg_hdr(m)->nlmsg_type = RTM_DELLINK;
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), -EBADMSG);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	nlmsg_hdr(m)->nlmsg_len = sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg) - 1;
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), -EBADMSG);
	nlmsg_free(m);

	m = link_message(0, ARPHRD_ETHER);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), -EBADMSG);
	nlmsg_free(m);
}

/* A driver may have a carrier while its interface is down. Nobody can use that. */
static void test_carrier(_unused_ void **state)
{
	static const struct {
		unsigned int flags;
		bool up, carrier;
	} cases[] = {{0, false, false},
		     {IFF_UP, true, false},
		     {IFF_UP | IFF_RUNNING, true, false},
		     {IFF_UP | IFF_RUNNING | LOWER_UP, true, true}};
	const DeviceSnapshot rnic = {.values.node_type = 4};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = link_message(3, ARPHRD_ETHER);
		struct ifinfomsg *info = nlmsg_data(nlmsg_hdr(m));
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		Netdev d = {};

		info->ifi_flags = cases[i].flags;
		nla_put_u8(m, IFLA_CARRIER, 1);
		assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
		netdev_supply(&d, &s);
		PORT_SUPPLY(&s, link_layer, 2);
		port_derive(&s, &rnic);
		assert_int_equal(s.values.netdev_carrier, cases[i].carrier);
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_netdev_carrier), cases[i].up);
		if (!cases[i].up)
			assert_string_equal(port_unavailable(&s, PORT_ATTR_netdev_carrier)->code,
					    "interface-down");
		nlmsg_free(m);
	}
}

static void put_vlan(struct nl_msg *m, const char *kind, uint16_t id)
{
	struct nlattr *linkinfo = nla_nest_start(m, IFLA_LINKINFO), *data;

	nla_put_string(m, IFLA_INFO_KIND, kind);
	data = nla_nest_start(m, IFLA_INFO_DATA);
	nla_put_u16(m, IFLA_VLAN_ID, id);
	nla_nest_end(m, data);
	nla_nest_end(m, linkinfo);
}

/* Only the data of a VLAN has the number of one. An interface in another namespace is no lower one:
 * its index means another interface here. */
static void test_vlan(_unused_ void **state)
{
	struct nl_msg *m = link_message(5, ARPHRD_ETHER);
	Netdev d = {};

	put_vlan(m, "vlan", 20);
	nla_put_u32(m, IFLA_LINK, 3);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(d.vlan_id, 20);
	assert_int_equal(d.lower, 3);
	nla_put_u32(m, IFLA_LINK_NETNSID, 0);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(d.lower, 0);
	nlmsg_free(m);
	m = link_message(5, ARPHRD_ETHER);
	put_vlan(m, "macvlan", 20);
	nla_put_u32(m, IFLA_LINK, 5);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(d.vlan_id, 0);
	assert_int_equal(d.lower, 0);
	nlmsg_free(m);
}

static void put_number(struct nl_msg *m, int nest, int type, uint8_t number)
{
	struct nlattr *data = nla_nest_start(m, nest);

	nla_put_u8(m, type, number);
	nla_nest_end(m, data);
}

/* A bond has a mode, and a team has none. */
static void test_bond(_unused_ void **state)
{
	static const struct {
		const char *kind;
		bool is_bond;
		uint64_t mode;
	} cases[] = {{"bond", true, 4}, {"team", true, UINT64_MAX}, {"bridge", false, UINT64_MAX}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = link_message(30, ARPHRD_ETHER);
		struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO);
		Netdev d = {};

		nla_put_string(m, IFLA_INFO_KIND, cases[i].kind);
		put_number(m, IFLA_INFO_DATA, IFLA_BOND_MODE, 4);
		nla_nest_end(m, info);
		assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
		assert_int_equal(d.is_bond, cases[i].is_bond);
		assert_true(d.bond_mode == cases[i].mode);
		assert_false(d.is_bonded);
		nlmsg_free(m);
	}
}

/* The link of a member may be down for the bond while it has a carrier. */
static void test_bond_member(_unused_ void **state)
{
	static const struct {
		const char *kind;
		unsigned int flags;
		uint8_t state, link;
		bool is_bonded;
		const char *is;
	} cases[] = {
		{"bond", IFF_UP | LOWER_UP, 0, 0, true, "active"},
		{"bond", IFF_UP | LOWER_UP, 1, 0, true, "backup"},
		{"bond", IFF_UP | LOWER_UP, 0, 2, true, "down"},
		{"bond", IFF_UP, 0, 0, true, "down"},
		{"bond", LOWER_UP, 0, 0, true, "down"},
		{"team", IFF_UP | LOWER_UP, 1, 2, true, "active"},
		{"bridge", IFF_UP | LOWER_UP, 1, 2, false, "active"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = link_message(10, ARPHRD_ETHER);
		struct ifinfomsg *link = nlmsg_data(nlmsg_hdr(m));
		struct nlattr *info, *data;
		BondMember member;
		Netdev d = {};

		link->ifi_flags = cases[i].flags;
		info = nla_nest_start(m, IFLA_LINKINFO);
		nla_put_string(m, IFLA_INFO_SLAVE_KIND, cases[i].kind);
		data = nla_nest_start(m, IFLA_INFO_SLAVE_DATA);
		nla_put_u8(m, IFLA_BOND_SLAVE_STATE, cases[i].state);
		nla_put_u8(m, IFLA_BOND_SLAVE_MII_STATUS, cases[i].link);
		nla_nest_end(m, data);
		nla_nest_end(m, info);
		assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
		assert_int_equal(d.is_bonded, cases[i].is_bonded);
		assert_false(d.is_bond);
		member = bond_member(&d);
		assert_string_equal(member.state, cases[i].is);
		assert_string_equal(member.name, "net0");
		assert_int_equal(member.ifindex, 10);
		nlmsg_free(m);
	}
}

static void test_ipoib(_unused_ void **state)
{
	static const uint8_t address[20] = {0x80, 0,	0x01, 0x48, 0xfe, 0x80, 0,
					    0,	  0,	0,    0,    0,	  0x00, 0x02,
					    0xc9, 0x03, 0x00, 0xab, 0xcd, 0xef};
	struct nl_msg *m = link_message(4, ARPHRD_INFINIBAND);
	struct nlattr *info, *data;
	Netdev d = {};
	Ipoib ipoib;
	uint8_t long_address[64] = {};

	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_false(netdev_to_ipoib(&d, &ipoib));
	nla_put(m, IFLA_ADDRESS, sizeof(address), address);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_true(netdev_to_ipoib(&d, &ipoib));
	assert_memory_equal(ipoib.port_guid, address + 12, 8);
	assert_int_equal(ipoib.entry.ifindex, 4);
	assert_string_equal(ipoib.entry.name, "net0");
	assert_string_equal(ipoib.entry.mode, "");
	assert_int_equal(ipoib.entry.mtu, 0);
	nla_put_u32(m, IFLA_MTU, 2044);
	nla_put_u8(m, IFLA_OPERSTATE, 2);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "ipoib");
	data = nla_nest_start(m, IFLA_INFO_DATA);
	nla_put_u16(m, IFLA_IPOIB_PKEY, 0x8001);
	nla_put_u16(m, IFLA_IPOIB_MODE, IPOIB_MODE_CONNECTED);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_true(netdev_to_ipoib(&d, &ipoib));
	assert_int_equal(ipoib.entry.mtu, 2044);
	assert_int_equal(ipoib.entry.pkey, 0x8001);
	assert_string_equal(ipoib.entry.state, "down");
	assert_string_equal(ipoib.entry.mode, "connected");
	d.type = ARPHRD_ETHER;
	assert_false(netdev_to_ipoib(&d, &ipoib));
	nlmsg_free(m);

	m = link_message(4, ARPHRD_INFINIBAND);
	nla_put(m, IFLA_ADDRESS, sizeof(long_address), long_address);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(d.address_length, 0);
	nlmsg_free(m);
}

/* The alternative names, of which there may be more than are read. */
static void test_altnames(_unused_ void **state)
{
	struct nl_msg *m = link_message(4, ARPHRD_ETHER);
	struct nlattr *list;
	Netdev d = {};

	list = nla_nest_start(m, IFLA_PROP_LIST);
	nla_put_u32(m, IFLA_MTU, 7);
	nla_put_string(m, IFLA_ALT_IFNAME, "enp1s0f0np0");
	for (unsigned int i = 0; i < 20; i++) {
		char name[200];

		memset(name, 'x', sizeof(name));
		name[100 + i] = '\0';
		nla_put_string(m, IFLA_ALT_IFNAME, name);
	}
	nla_nest_end(m, list);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(d.n_altnames, NETDEV_ALTNAMES_MAX);
	assert_string_equal(d.altnames[0].name, "enp1s0f0np0");
	assert_int_equal(d.altnames[0].ifindex, 4);
	assert_int_equal(strlen(d.altnames[7].name), 106);
	nlmsg_free(m);

	/* none is longer than the kernel has room for */
	m = link_message(4, ARPHRD_ETHER);
	list = nla_nest_start(m, IFLA_PROP_LIST);
	nla_put(m, IFLA_ALT_IFNAME, 130,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aa");
	nla_nest_end(m, list);
	assert_int_equal(netdev_parse(nlmsg_hdr(m), &d), 0);
	assert_int_equal(strlen(d.altnames[0].name), 127);
	nlmsg_free(m);
}

static struct nl_msg *address_message(int family, uint32_t ifindex, int type, const void *address,
				      int size)
{
	struct ifaddrmsg info = {.ifa_family = (unsigned char)family, .ifa_index = ifindex};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWADDR, 0);

	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put(m, type, size, address);
	return m;
}

static void test_addresses(_unused_ void **state)
{
	static const uint8_t v4[4] = {192, 0, 2, 1}, peer[4] = {192, 0, 2, 2};
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 1};
	static const uint8_t v6[16] = {0xfd, [15] = 1};
	struct nl_msg *m = address_message(AF_INET, 9, IFA_ADDRESS, peer, 4);
	AddressEntry e = {};

	/* IFA_ADDRESS is that of the peer if there is one */
	nla_put(m, IFA_LOCAL, 4, v4);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET, 9, &e), 0);
	assert_memory_equal(e.address, mapped, 16);
	assert_int_equal(e.ifindex, 9);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET, 8, &e), -ENOENT);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET6, 9, &e), -ENOENT);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET, 9, &e), -EBADMSG);
	nlmsg_free(m);

	m = address_message(AF_INET6, 9, IFA_ADDRESS, v6, 16);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET6, 9, &e), 0);
	assert_memory_equal(e.address, v6, 16);
	nlmsg_free(m);
	m = address_message(AF_INET6, 9, IFA_ADDRESS, v6, 4);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET6, 9, &e), -EBADMSG);
	nlmsg_free(m);
	m = address_message(AF_INET, 9, IFA_LABEL, v4, 4);
	assert_int_equal(netdev_parse_address(nlmsg_hdr(m), AF_INET, 9, &e), -EBADMSG);
	nlmsg_free(m);
}

/* So many dumps are interrupted from now on. */
static unsigned int interrupts, dumps;

/* In place of that of the C library. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, m, flags);
	int left = (int)n;

	if (n <= 0)
		return n;
	for (struct nlmsghdr *h = m->msg_iov->iov_base; nlmsg_ok(h, left);
	     h = nlmsg_next(h, &left)) {
		if (interrupts > 0 && h->nlmsg_flags & NLM_F_MULTI)
			h->nlmsg_flags |= NLM_F_DUMP_INTR;
		if (h->nlmsg_type == NLMSG_DONE) {
			interrupts -= interrupts > 0;
			dumps++;
		}
	}
	return n;
}

/* A dump that is not complete is asked for again, but not for ever. */
static void test_interrupted(_unused_ void **state)
{
	Netlink n = NETLINK_CLOSED;
	Ipoib *list = NULL;
	size_t length = 77;

	assert_int_equal(netlink_open(&n, NETLINK_ROUTE), 0);
	dumps = 0;
	interrupts = 2;
	assert_int_equal(netdev_list_ipoib(&n, &list, &length), 0);
	assert_int_equal(dumps, 3);
	free(list);
	list = NULL;
	interrupts = 1000;
	assert_int_equal(netdev_list_ipoib(&n, &list, &length), -EINTR);
	assert_null(list);
	interrupts = 0;
	netlink_close(&n);
}

/* The real kernel, which every machine has: a single answer, a dump, an error, and again after it.
 */
static void test_round_trip(_unused_ void **state)
{
	Netlink n = NETLINK_CLOSED;
	Netdev d = {};
	Ipoib *list = NULL;
	size_t count = 77;
	Table *addresses = NULL;
	static const uint8_t localhost[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1};
	bool has_localhost = false;

	assert_int_equal(netlink_open(&n, NETLINK_ROUTE), 0);
	assert_int_equal(netdev_get(&n, 2000000000, &d), -ENODEV);
	assert_int_equal(netdev_get(&n, if_nametoindex("lo"), &d), 0);
	assert_string_equal(d.name, "lo");
	assert_int_equal(d.type, ARPHRD_LOOPBACK);
	assert_int_equal(netdev_list_ipoib(&n, &list, &count), 0);
	assert_true(count < 77);
	free(list);
	assert_int_equal(netdev_get(&n, if_nametoindex("lo"), &d), 0);
	netlink_close(&n);

	/* 127.0.0.1, and nothing of other interfaces; of one that is not there nothing */
	assert_int_equal(netdev_open(&n), 0);
	assert_int_equal(netdev_get(&n, if_nametoindex("lo"), &d), 0);
	assert_int_equal(netdev_read_addresses(&n, if_nametoindex("lo"), &addresses), 0);
	TABLE_FOREACH(AddressEntry, e, addresses) {
		assert_int_equal(e->ifindex, if_nametoindex("lo"));
		has_localhost |= memcmp(e->address, localhost, 16) == 0;
	}
	assert_int_equal(has_localhost, d.up);
	table_free(addresses);
	addresses = NULL;
	assert_int_equal(netdev_read_addresses(&n, 2000000000, &addresses), 0);
	assert_null(addresses);
	netlink_close(&n);
	netlink_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port),	    cmocka_unit_test(test_optional_counters),
		cmocka_unit_test(test_chardev),	    cmocka_unit_test(test_netdev),
		cmocka_unit_test(test_carrier),	    cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_ipoib),	    cmocka_unit_test(test_bond),
		cmocka_unit_test(test_bond_member), cmocka_unit_test(test_altnames),
		cmocka_unit_test(test_addresses),   cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests_name("query-netlink", tests, NULL, NULL);
}
