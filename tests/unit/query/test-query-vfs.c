/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads of virtual functions: from messages of rtnetlink, which are made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>

#include "nest.h"
#include "query-vfs.h"
#include "tree.h"

/* The beginning of a message; the list of functions stays open. */
static struct nl_msg *begin(uint16_t message_type, uint16_t type, struct nlattr **ret)
{
	struct ifinfomsg info = {.ifi_index = 3, .ifi_type = type};
	struct nl_msg *m = nlmsg_alloc_size(256 * 1024);

	assert_non_null(m);
	assert_non_null(nlmsg_put(m, 0, 0, message_type, 0, 0));
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "ib0");
	*ret = nla_nest_start(m, IFLA_VFINFO_LIST);
	return m;
}

static int end(struct nl_msg *m, struct nlattr *list, VfList *ret)
{
	int r;

	nest_end(m, list);
	r = vfs_parse(nlmsg_hdr(m), ret);
	nlmsg_free(m);
	return r;
}

static void put_vf(struct nl_msg *m, uint32_t number, uint32_t policy, uint32_t trust,
		   const uint64_t *guids)
{
	struct ifla_vf_mac mac = {.vf = number, .mac = {2, 0, 0, 0, 0, (uint8_t)number}};
	struct ifla_vf_link_state link = {.vf = number, .link_state = policy};
	struct ifla_vf_trust trusted = {.vf = number, .setting = trust};
	struct nlattr *vf = nla_nest_start(m, IFLA_VF_INFO);

	nla_put(m, IFLA_VF_MAC, sizeof(mac), &mac);
	nla_put(m, IFLA_VF_LINK_STATE, sizeof(link), &link);
	nla_put(m, IFLA_VF_TRUST, sizeof(trusted), &trusted);
	if (guids) {
		struct ifla_vf_guid node = {.vf = number, .guid = guids[0]};
		struct ifla_vf_guid port = {.vf = number, .guid = guids[1]};

		nla_put(m, IFLA_VF_IB_NODE_GUID, sizeof(node), &node);
		nla_put(m, IFLA_VF_IB_PORT_GUID, sizeof(port), &port);
	}
	nla_nest_end(m, vf);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(VfList));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void test_infiniband(void **state)
{
	static const uint64_t set[] = {0x0011223344556677, 0x0011223344556678}, none[] = {0, 0};
	VfList *l = *state;
	struct nlattr *list;
	struct nl_msg *m = begin(RTM_NEWLINK, ARPHRD_INFINIBAND, &list);

	put_vf(m, 0, IFLA_VF_LINK_STATE_ENABLE, 1, set);
	put_vf(m, 2, IFLA_VF_LINK_STATE_DISABLE, UINT32_MAX, none);
	assert_int_equal(end(m, list, l), 0);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->entries[0].number, 0);
	assert_int_equal(l->entries[0].has_guids, 1);
	assert_int_equal(l->entries[0].node_guid, set[0]);
	assert_int_equal(l->entries[0].port_guid, set[1]);
	assert_int_equal(l->entries[0].policy, IFLA_VF_LINK_STATE_ENABLE);
	assert_int_equal(l->entries[0].trust, 1);
	assert_string_equal(l->entries[0].address, "");
	assert_int_equal(l->entries[1].number, 2);
	assert_int_equal(l->entries[1].has_guids, 1);
	assert_int_equal(l->entries[1].node_guid, 0);
	assert_int_equal(l->entries[1].policy, IFLA_VF_LINK_STATE_DISABLE);
	assert_int_equal(l->entries[1].trust, UINT32_MAX);
}

static void test_ethernet(void **state)
{
	VfList *l = *state;
	struct nlattr *list;
	struct nl_msg *m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);

	put_vf(m, 1, IFLA_VF_LINK_STATE_AUTO, 7, NULL);
	assert_int_equal(end(m, list, l), 0);
	assert_int_equal(l->n, 1);
	assert_int_equal(l->entries[0].has_guids, 0);
	assert_int_equal(l->entries[0].trust, 1);
	assert_string_equal(l->entries[0].address, "02:00:00:00:00:01");
}

static void test_wrong(void **state)
{
	struct ifla_vf_guid guid = {};
	VfList *l = *state;
	struct nlattr *list, *vf;
	struct nl_msg *m;

	/* another message; no list; an empty one */
	m = begin(RTM_DELLINK, ARPHRD_ETHER, &list);
	assert_int_equal(end(m, list, l), -EBADMSG);
	l->n = 7;
	m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	assert_int_equal(end(m, list, l), 0);
	assert_int_equal(l->n, 0);
	/* a function without a number */
	m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	vf = nla_nest_start(m, IFLA_VF_INFO);
	nla_put(m, IFLA_VF_IB_NODE_GUID, sizeof(guid), &guid);
	nla_nest_end(m, vf);
	assert_int_equal(end(m, list, l), -EBADMSG);
	/* with half of its number; what follows it is lost too */
	m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	put_vf(m, 0, 0, 0, NULL);
	vf = nla_nest_start(m, IFLA_VF_INFO);
	nla_put(m, IFLA_VF_MAC, 2, &guid);
	nla_nest_end(m, vf);
	assert_int_equal(end(m, list, l), -EBADMSG);
	assert_int_equal(l->n, 0);
	/* twice the same */
	m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	put_vf(m, 1, 0, 0, NULL);
	put_vf(m, 1, 0, 0, NULL);
	assert_int_equal(end(m, list, l), -EBADMSG);
	/* GUIDs that are too short are none */
	m = begin(RTM_NEWLINK, ARPHRD_INFINIBAND, &list);
	put_vf(m, 0, 0, 0, NULL);
	vf = nla_nest_start(m, IFLA_VF_INFO);
	nla_put(m, IFLA_VF_MAC, sizeof(struct ifla_vf_mac), &(struct ifla_vf_mac){.vf = 1});
	nla_put(m, IFLA_VF_IB_NODE_GUID, 8, &guid);
	nla_put(m, IFLA_VF_IB_PORT_GUID, 8, &guid);
	nla_nest_end(m, vf);
	assert_int_equal(end(m, list, l), 0);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->entries[1].has_guids, 0);
}

/* What the kernel says of N functions: the length of an attribute has 16 bits, and that of a list
 * that is longer is what is left of it (6.1 and 6.12 say 64 functions of 260). */
static int take_many(uint32_t n, VfList *ret)
{
	static const uint64_t guids[] = {1, 2};
	struct ifinfomsg info = {.ifi_index = 3, .ifi_type = ARPHRD_INFINIBAND};
	struct nl_msg *m = nlmsg_alloc_size(512 * 1024);
	struct nlattr *list;
	int r;

	assert_non_null(nlmsg_put(m, 0, 0, RTM_NEWLINK, 0, 0));
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_u32(m, IFLA_NUM_VF, n);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	for (uint32_t i = 0; i < n; i++)
		put_vf(m, i, 0, 0, guids);
	list->nla_len = (uint16_t)((char *)nlmsg_tail(nlmsg_hdr(m)) - (char *)list);
	r = vfs_parse(nlmsg_hdr(m), ret);
	nlmsg_free(m);
	return r;
}

static void test_cut(void **state)
{
	VfList *l = *state;

	assert_int_equal(take_many(600, l), 0); /* 64800 bytes */
	assert_int_equal(l->n, 600);
	for (uint32_t n = 610; n < 1000; n += 37) {
		l->n = 7;
		assert_int_equal(take_many(n, l), -EMSGSIZE);
		assert_int_equal(l->n, 0);
	}
}

/* What the kernel says of N_VFS functions with a list of N. */
static int take_some(uint32_t n, uint32_t n_vfs, VfList *ret)
{
	struct nlattr *list;
	struct nl_msg *m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	int r;

	for (uint32_t i = 0; i < n; i++) {
		put_vf(m, i, 0, 0, NULL);
		nla_put_u32(m, IFLA_VF_INFO + 1, 0); /* what a later kernel may have between them */
	}
	nest_end(m, list);
	nla_put_u32(m, IFLA_NUM_VF, n_vfs);
	r = vfs_parse(nlmsg_hdr(m), ret);
	nlmsg_free(m);
	return r;
}

static void test_one_missing(void **state)
{
	VfList *l = *state;

	assert_int_equal(take_some(3, 3, l), 0);
	assert_int_equal(l->n, 3);
	assert_int_equal(take_some(3, 4, l), -EMSGSIZE);
	assert_int_equal(take_some(1, 1, l), 0);
	assert_int_equal(take_some(1, 2, l), -EMSGSIZE);
	assert_int_equal(take_some(0, 0, l), 0);
	assert_int_equal(take_some(0, 1, l), -EMSGSIZE);
}

/* A message without attributes, one without its beginning, and one with a broken attribute */
static void test_short(void **state)
{
	struct ifinfomsg info = {.ifi_index = 3};
	const struct nlattr broken = {.nla_len = 2, .nla_type = IFLA_IFNAME};
	VfList *l = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);

		nlmsg_append(m, &info, i == 1 ? sizeof(info) - 4 : sizeof(info), NLMSG_ALIGNTO);
		if (i == 2)
			nlmsg_append(m, CONST_CAST(struct nlattr *, &broken), sizeof(broken),
				     NLMSG_ALIGNTO);
		assert_int_equal(vfs_parse(nlmsg_hdr(m), l), i == 1 ? -EBADMSG : 0);
		nlmsg_free(m);
	}
}

/* Without virtual functions the kernel is not asked: the socket is closed, and stays so. */
static void test_none(void **state)
{
	const Tree *t = *state;
	Netlink n = NETLINK_CLOSED;
	int other;
	Table *table = (Table *)&other;

	assert_int_equal(vfs_read(&n, t->fd, NULL, &table), 0);
	assert_null(table);
	tree_put(t, "device/sriov_numvfs", "0\n");
	table = (Table *)&other;
	assert_int_equal(vfs_read(&n, t->fd, NULL, &table), 0);
	assert_null(table);
	assert_true(n.fd < 0);
	/* there are some, and no interface that could tell of them */
	tree_put(t, "device/sriov_numvfs", "4\n");
	assert_int_equal(vfs_read(&n, t->fd, NULL, &table), -ENODATA);
	tree_put(t, "device/sriov_numvfs", "many\n");
	assert_int_equal(vfs_read(&n, t->fd, NULL, &table), -EINVAL);
	netlink_close(&n);
}

/* A kernel is asked: the loopback interface has no virtual functions. */
static void test_kernel(void **state)
{
	static const NetdevEntry lo = {.ifindex = 1, .name = "lo"};
	_cleanup_(table_free_pointer) Table *netdevs = table_new(&lo, 1, sizeof(lo));
	const Tree *t = *state;
	Netlink n = NETLINK_CLOSED;
	Table *table = NULL;

	tree_put(t, "device/sriov_numvfs", "4\n");
	assert_int_equal(vfs_read(&n, t->fd, netdevs, &table), -ENODATA);
	assert_null(table);
	netlink_close(&n);
}

/* The kernel, if SCRIPTED: the second interface that it is asked about has a virtual function. */
static bool scripted;
static unsigned int n_asked;
static unsigned int n_failing; /* so many questions fail first */

int __real_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata)
{
	const struct ifinfomsg *info = nlmsg_data(nlmsg_hdr(request));
	struct nlattr *mask = nlmsg_find_attr(nlmsg_hdr(request), sizeof(*info), IFLA_EXT_MASK);
	struct nlattr *list;
	struct nl_msg *m;
	int r;

	if (!scripted)
		return __real_netlink_ask(n, request, handler, userdata);
	assert_int_equal(nlmsg_hdr(request)->nlmsg_type, RTM_GETLINK);
	assert_int_equal(info->ifi_index, 40 + n_asked);
	assert_non_null(mask);
	assert_int_equal(nla_get_u32(mask), RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	nlmsg_free(request);
	n_asked++;
	if (n_asked <= n_failing)
		return -ENOBUFS;
	m = begin(RTM_NEWLINK, ARPHRD_ETHER, &list);
	if (n_asked == 2)
		put_vf(m, 0, IFLA_VF_LINK_STATE_AUTO, 0, NULL);
	nest_end(m, list);
	r = handler(nlmsg_hdr(m), userdata);
	nlmsg_free(m);
	return r;
}

/* One interface of the function after the other is asked, until one tells of all. */
static void test_interfaces(void **state)
{
	static const NetdevEntry interfaces[] = {{.ifindex = 40, .name = "a"},
						 {.ifindex = 41, .name = "b"},
						 {.ifindex = 42, .name = "c"}};
	_cleanup_(table_free_pointer) Table *netdevs =
		table_new(interfaces, ARRAY_SIZE(interfaces), sizeof(*interfaces));
	_cleanup_(table_free_pointer) Table *table = NULL;
	const Tree *t = *state;
	Netlink n = NETLINK_CLOSED;

	scripted = true;
	tree_put(t, "device/sriov_numvfs", "1\n");
	n_asked = 0;
	assert_int_equal(vfs_read(&n, t->fd, netdevs, &table), 0);
	assert_int_equal(table->n, 1);
	assert_int_equal(n_asked, 2);
	/* without an answer of the first, the second tells */
	table = table_free(table);
	n_asked = 0;
	n_failing = 1;
	assert_int_equal(vfs_read(&n, t->fd, netdevs, &table), 0);
	assert_int_equal(table->n, 1);
	/* without its answer nobody knows whether there are functions */
	table = table_free(table);
	n_asked = 0;
	n_failing = 2;
	assert_int_equal(vfs_read(&n, t->fd, netdevs, &table), -ENOBUFS);
	assert_null(table);
	assert_int_equal(n_asked, 3);
	n_failing = 0;
	scripted = false;
	netlink_close(&n);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_infiniband),
		TEST(test_ethernet),
		TEST(test_wrong),
		TEST(test_cut),
		TEST(test_one_missing),
		TEST(test_short),
		cmocka_unit_test_setup_teardown(test_none, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_kernel, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_interfaces, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests_name("query-vfs", tests, NULL, NULL);
}
