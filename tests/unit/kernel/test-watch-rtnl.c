/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rtnetlink: which interfaces concern which ports; by hand, and with real interfaces in a network
 * namespace. */

#include "test-watch.h"

#include <linux/dcbnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "watch-rtnl.h"

typedef struct Fixture {
	sd_event *event;
	WatchRtnl *watch;
	Recorder r;
} Fixture;

static void begin(Fixture *f, const char *sysfs)
{
	*f = (Fixture){};
	assert_true(sd_event_new(&f->event) >= 0);
	assert_int_equal(watch_rtnl_new(f->event, sysfs, &recorder_handler, &f->r, &f->watch), 0);
}

static void end(Fixture *f)
{
	watch_rtnl_free(f->watch);
	sd_event_unref(f->event);
}

/* PORT has the interface NETDEV, and GIDs on GID_NETDEV (0: InfiniBand GIDs). */
static void set_port(Fixture *f, uint32_t device, uint32_t port, uint32_t netdev,
		     uint32_t gid_netdev)
{
	NetdevEntry n = {.ifindex = netdev};
	GidEntry g[2] = {
		{.ifindex = gid_netdev, .type = gid_netdev ? GID_TYPE_ROCE_V2 : GID_TYPE_IB}};
	PortSnapshot s = {};

	g[1] = g[0]; /* there is more than one on an interface */
	g[1].index = 1;
	s.tables[PORT_TABLE_NETDEVS] = netdev ? table_new(&n, 1, sizeof(n)) : NULL;
	s.tables[PORT_TABLE_GIDS] = table_new(g, 2, sizeof(g[0]));
	watch_rtnl_port(f->watch, device, port, &s);
	port_snapshot_done(&s);
}

static int take(Fixture *f, Datagram *d)
{
	f->r = (Recorder){};
	return watch_rtnl_message(f->watch, datagram_last(d));
}

static Datagram link_message(uint16_t type, int ifindex, uint16_t hardware)
{
	struct ifinfomsg link = {.ifi_index = ifindex, .ifi_type = hardware};
	Datagram d = {};

	datagram_message(&d, type, 0, &link, sizeof(link));
	return d;
}

static Datagram address_message(uint16_t type, uint32_t ifindex)
{
	struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_index = ifindex};
	Datagram d = {};

	datagram_message(&d, type, 0, &address, sizeof(address));
	return d;
}

/* NAME: NULL for a message without one. */
static Datagram dcb_message(uint16_t type, const char *name)
{
	struct {
		struct dcbmsg dcb;
		struct nlattr head;
		char name[16];
	} m = {.dcb.cmd = DCB_CMD_IEEE_SET,
	       .head = {.nla_len = NLA_HDRLEN + sizeof(m.name), .nla_type = DCB_ATTR_IFNAME}};
	Datagram d = {};

	if (name)
		snprintf(m.name, sizeof(m.name), "%s", name);
	datagram_message(&d, type, 0, &m, name ? sizeof(m) : sizeof(m.dcb));
	return d;
}

/* Priorities: the message has a name. Of the interfaces of this machine, one is always there. */
static void test_dcb(_unused_ void **state)
{
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	set_port(&f, 1, 1, if_nametoindex("lo"), 60);
	set_port(&f, 1, 2, 6000, 60);
	d = dcb_message(RTM_SETDCB, "lo");
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 1, 1, REASON_DCB));
	d = dcb_message(RTM_GETDCB, "lo");
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 1, 1, REASON_DCB));
	/* one that is not there any more */
	d = dcb_message(RTM_SETDCB, "gone0");
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	d = dcb_message(RTM_SETDCB, NULL);
	assert_int_equal(take(&f, &d), -EBADMSG);
	datagram_message(&d, RTM_SETDCB, 0, "\0\0", 2);
	assert_int_equal(take(&f, &d), -EBADMSG);
	assert_int_equal(f.r.n, 0);
	end(&f);
}

/* The bond that the interface of a port is in, and the other members of it. */
static void test_bond(_unused_ void **state)
{
	const BondMember members[] = {{5, "eth0", "active", 0}, {6, "eth1", "down", 0}};
	PortSnapshot s = {.values.bond_ifindex = 30};
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	s.tables[PORT_TABLE_BOND_MEMBERS] = table_new(members, 2, sizeof(members[0]));
	watch_rtnl_port(f.watch, 1, 1, &s);
	for (int ifindex = 4; ifindex <= 30; ifindex++) {
		bool is_watched = ifindex == 5 || ifindex == 6 || ifindex == 30;

		d = link_message(RTM_NEWLINK, ifindex, ARPHRD_ETHER);
		assert_int_equal(take(&f, &d), 0);
		assert_int_equal(recorded(&f.r, 1, 1, REASON_LINK), is_watched);
	}
	/* an interface that comes to the bond */
	d = link_message(RTM_NEWLINK, 7, ARPHRD_ETHER);
	DATAGRAM_NUMBER(&d, IFLA_MASTER, uint32_t, 30);
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 1, 1, REASON_LINK));
	port_snapshot_done(&s);
	end(&f);
}

static void test_map(_unused_ void **state)
{
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	/* Without any port, messages are not even looked at. */
	d = link_message(RTM_NEWLINK, 5, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);

	set_port(&f, 1, 1, 5, 5);
	set_port(&f, 1, 2, 6, 60);
	set_port(&f, 2, 1, 5, 61);
	/* two ports on one interface */
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 2);
	assert_true(recorded(&f.r, 1, 1, REASON_LINK));
	assert_true(recorded(&f.r, 2, 1, REASON_LINK));
	/* one that only has GIDs of the port */
	/* it moves to another network namespace */
	d = link_message(RTM_DELLINK, 5, ARPHRD_ETHER);
	DATAGRAM_NUMBER(&d, IFLA_NEW_NETNSID, uint32_t, 0);
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 1, 1, REASON_NAMESPACE));
	assert_false(recorded(&f.r, 1, 1, REASON_LINK));
	d = link_message(RTM_DELLINK, 60, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 1, 2, REASON_LINK));
	/* an interface of no port */
	d = link_message(RTM_NEWLINK, 7, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	/* addresses */
	d = address_message(RTM_NEWADDR, 6);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 1, 2, REASON_ADDRESS));
	d = address_message(RTM_DELADDR, 61);
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 2, 1, REASON_ADDRESS));
	/* messages of other types */
	d = link_message(RTM_NEWNSID, 5, 0);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);

	/* A port's interfaces are replaced, a device's are forgotten. */
	set_port(&f, 1, 2, 8, 8);
	d = address_message(RTM_NEWADDR, 60);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	d = address_message(RTM_NEWADDR, 8);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	watch_rtnl_forget(f.watch, 1);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	d = link_message(RTM_NEWLINK, 5, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 2, 1, REASON_LINK));
	watch_rtnl_port(f.watch, 2, 1, NULL);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	end(&f);
}

static void test_uppers_and_lowers(_unused_ void **state)
{
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	set_port(&f, 1, 1, 5, 5);
	/* a VLAN on it */
	d = link_message(RTM_NEWLINK, 70, ARPHRD_ETHER);
	DATAGRAM_NUMBER(&d, IFLA_LINK, uint32_t, 5);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 1, 1, REASON_LINK));
	/* a veth whose peer has that index in another network namespace */
	DATAGRAM_NUMBER(&d, IFLA_LINK_NETNSID, int32_t, 0);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	/* a member of the bond */
	d = link_message(RTM_NEWLINK, 71, ARPHRD_ETHER);
	DATAGRAM_NUMBER(&d, IFLA_MASTER, uint32_t, 5);
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 1, 1, REASON_LINK));
	/* an interface that names itself: one event */
	d = link_message(RTM_NEWLINK, 5, ARPHRD_ETHER);
	DATAGRAM_NUMBER(&d, IFLA_LINK, uint32_t, 5);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	/* a wireless scan */
	datagram_attribute(&d, IFLA_WIRELESS, "x", 1);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	end(&f);
}

static void test_ipoib(_unused_ void **state)
{
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	set_port(&f, 1, 1, 5, 5); /* RoCE */
	set_port(&f, 2, 1, 0, 0); /* InfiniBand */
	set_port(&f, 2, 2, 0, 0);
	d = link_message(RTM_NEWLINK, 80, ARPHRD_INFINIBAND);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 2);
	assert_true(recorded(&f.r, 2, 1, REASON_LINK));
	assert_true(recorded(&f.r, 2, 2, REASON_LINK));
	d = link_message(RTM_NEWLINK, 80, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	/* a tunnel, or a veth without its peer: below it there is no interface */
	DATAGRAM_NUMBER(&d, IFLA_LINK, uint32_t, 0);
	DATAGRAM_NUMBER(&d, IFLA_MASTER, uint32_t, 0);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 0);
	end(&f);
}

static void test_bad(_unused_ void **state)
{
	static const struct {
		uint16_t type;
		size_t n;
	} wrong[] = {{IFLA_LINK, 2}, {IFLA_LINK, 8}, {IFLA_MASTER, 0}, {IFLA_MASTER, 5}};
	static const uint8_t zeros[8];
	Fixture f;
	Datagram d;

	begin(&f, "/nonexistent");
	set_port(&f, 1, 1, 5, 5);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		d = link_message(RTM_NEWLINK, 5, ARPHRD_ETHER);
		datagram_attribute(&d, wrong[i].type, zeros, wrong[i].n);
		assert_int_equal(take(&f, &d), -EBADMSG);
		assert_int_equal(f.r.n, 0);
	}
	d = link_message(RTM_NEWLINK, 0, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), -EBADMSG);
	d = link_message(RTM_NEWLINK, -5, ARPHRD_ETHER);
	assert_int_equal(take(&f, &d), -EBADMSG);
	d = address_message(RTM_NEWADDR, 0);
	assert_int_equal(take(&f, &d), -EBADMSG);
	d = address_message(RTM_NEWADDR, UINT32_MAX);
	assert_int_equal(take(&f, &d), -EBADMSG);
	/* too short for their headers */
	d = (Datagram){};
	datagram_message(&d, RTM_NEWLINK, 0, zeros, 8);
	assert_int_equal(take(&f, &d), -EBADMSG);
	d = (Datagram){};
	datagram_message(&d, RTM_NEWADDR, 0, zeros, 4);
	assert_int_equal(take(&f, &d), -EBADMSG);
	end(&f);
}

static void make_file(const char *root, const char *path, const char *text)
{
	char name[512];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	if (!text) {
		assert_int_equal(mkdir(name, 0700), 0);
		return;
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_symlink(const char *root, const char *path, const char *target)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/%s", root, path);
	assert_int_equal(symlink(target, name), 0);
}

static void remove_tree(const char *root)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

/* Interface 1 is "lo" in every namespace. What is below it is made here. */
static void test_walk(_unused_ void **state)
{
	char root[] = "/tmp/rdmad-test-XXXXXX";
	char path[64], below[128];
	Fixture f;
	Datagram d = address_message(RTM_NEWADDR, 1);

	if (if_nametoindex("lo") != 1)
		skip();
	assert_non_null(mkdtemp(root));
	make_file(root, "class", NULL);
	make_file(root, "class/net", NULL);
	make_file(root, "class/net/lo", NULL);
	make_file(root, "class/net/bond", NULL);
	make_file(root, "class/net/bond/ifindex", "900\n");
	make_file(root, "class/net/eth", NULL);
	make_file(root, "class/net/eth/ifindex", "901\n");
	make_file(root, "class/net/odd", NULL);
	make_file(root, "class/net/odd/ifindex", "many\n");
	make_symlink(root, "class/net/lo/lower_bond", "../bond");
	make_symlink(root, "class/net/lo/lower_odd", "../odd");
	make_symlink(root, "class/net/lo/lower_gone", "../gone");
	make_symlink(root, "class/net/lo/upper_eth", "../eth");
	make_symlink(root, "class/net/bond/lower_eth", "../eth");
	/* A circle, which the kernel does not make */
	make_symlink(root, "class/net/odd/lower_odd", "../odd");

	begin(&f, root);
	set_port(&f, 1, 1, 901, 901);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 1, 1, REASON_ADDRESS));
	/* The walk ends at an interface of a port. */
	set_port(&f, 2, 1, 900, 900);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_true(recorded(&f.r, 2, 1, REASON_ADDRESS));

	/* A chain that is too deep, and more interfaces than the limit */
	watch_rtnl_forget(f.watch, 2);
	snprintf(path, sizeof(path), "class/net/bond");
	for (unsigned int i = 0; i < 12; i++) {
		snprintf(below, sizeof(below), "class/net/c%u", i);
		make_file(root, below, NULL);
		snprintf(below, sizeof(below), "%s/lower_c", path);
		snprintf(path, sizeof(path), "../c%u", i);
		make_symlink(root, below, path);
		snprintf(path, sizeof(path), "class/net/c%u", i);
		snprintf(below, sizeof(below), "class/net/c%u/ifindex", i);
		make_file(root, below, i == 11 ? "911" : i == 2 ? "902" : "999");
	}
	set_port(&f, 3, 1, 911, 911);
	assert_int_equal(take(&f, &d), 0);
	assert_int_equal(f.r.n, 1);
	assert_false(recorded(&f.r, 3, 1, REASON_ADDRESS));
	set_port(&f, 3, 1, 902, 902);
	assert_int_equal(take(&f, &d), 0);
	assert_true(recorded(&f.r, 3, 1, REASON_ADDRESS));
	end(&f);
	remove_tree(root);
}

static struct nl_sock *connect_route(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	assert_non_null(sk);
	assert_int_equal(nl_connect(sk, NETLINK_ROUTE), 0);
	return sk;
}

static void set_up(const char *name, bool up, int fd)
{
	struct ifreq request = {.ifr_flags = (short)(up ? IFF_UP : 0)};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
}

/* Makes the interface NAME of the first of TYPES that this kernel has; its index, or 0. */
static uint32_t add_link(struct nl_sock *sk, const char *name, const char *const *types)
{
	struct rtnl_link *link;
	int r = -1;

	for (size_t i = 0; types[i] && r < 0; i++) {
		link = rtnl_link_alloc();
		rtnl_link_set_name(link, name);
		rtnl_link_set_type(link, types[i]);
		r = rtnl_link_add(sk, link, NLM_F_CREATE | NLM_F_EXCL);
		rtnl_link_put(link);
	}
	return r < 0 ? 0 : if_nametoindex(name);
}

static void add_address(struct nl_sock *sk, uint32_t ifindex)
{
	struct rtnl_addr *address = rtnl_addr_alloc();
	struct nl_addr *local;

	assert_int_equal(nl_addr_parse("192.0.2.1/24", AF_INET, &local), 0);
	rtnl_addr_set_ifindex(address, (int)ifindex);
	rtnl_addr_set_local(address, local);
	assert_int_equal(rtnl_addr_add(sk, address, 0), 0);
	rtnl_addr_put(address);
	nl_addr_put(local);
}

/* Real interfaces: a link that changes, an address on a bridge above it; then more changes than the
 * socket has room for. */
static void test_live(_unused_ void **state)
{
	static const char *const plain[] = {"dummy", "ifb", NULL}, *const bridge[] = {"bridge",
										      NULL};
	char sysfs[] = "/tmp/rdmad-test-XXXXXX";
	_cleanup_close_ int fd = -EBADF;
	uint32_t port, upper;
	struct nl_sock *sk;
	Fixture f;

	if (!enter_namespace(sysfs)) {
		print_message("no namespaces here\n");
		skip();
	}
	sk = connect_route();
	begin(&f, sysfs);
	assert_int_equal(watch_rtnl_listen(f.watch), 0);
	port = add_link(sk, "p0", plain);
	upper = add_link(sk, "b0", bridge);
	if (!port || !upper) {
		print_message("no interfaces to be made here\n");
		skip();
	}
	assert_int_equal(rtnl_link_enslave_ifindex(sk, (int)upper, (int)port), 0);
	RUN_ALL(f.event);
	assert_int_equal(f.r.n, 0);

	set_port(&f, 4, 1, port, port);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	set_up("p0", true, fd);
	RUN_UNTIL(f.event, recorded(&f.r, 4, 1, REASON_LINK));
	add_address(sk, upper);
	RUN_UNTIL(f.event, recorded(&f.r, 4, 1, REASON_ADDRESS));

	RUN_ALL(f.event);
	assert_int_equal(f.r.overruns, 0);
	for (unsigned int i = 0; i < 20000; i++)
		set_up("p0", i % 2, fd);
	RUN_UNTIL(f.event, f.r.overruns > 0);
	/* After that it still reports. */
	RUN_ALL(f.event);
	f.r = (Recorder){};
	set_up("p0", false, fd);
	RUN_UNTIL(f.event, recorded(&f.r, 4, 1, REASON_LINK));
	assert_int_equal(f.r.overruns, 0);

	end(&f);
	nl_socket_free(sk);
	umount(sysfs);
	rmdir(sysfs);
}

/* It cannot listen because no descriptor is left, and can listen later. */
static void test_listen_again(_unused_ void **state)
{
	struct rlimit before, none;
	Fixture f;

	begin(&f, "/sys");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(watch_rtnl_listen(f.watch), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(watch_rtnl_listen(f.watch), 0);
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* it has a socket already */
	assert_int_equal(watch_rtnl_listen(f.watch), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listen_again),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_dcb),
		cmocka_unit_test(test_uppers_and_lowers),
		cmocka_unit_test(test_ipoib),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_live), /* last: it leaves the namespace */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
