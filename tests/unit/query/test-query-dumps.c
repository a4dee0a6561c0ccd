/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dumps of the kernel that are interrupted, because what they are about changed meanwhile: the
 * worker asks again, from the beginning, and not for ever. The kernel is in this program. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "nest.h"
#include "query-devlink.h"
#include "query-netdev.h"
#include "query-nldev.h"
#include "query-resources.h"

#define FAMILY 21

static const DevlinkHandle function = {.bus = "pci", .device = "0000:c1:00.0"};

/* The kernel. So many dumps are interrupted from now on; so many were asked for. */
static unsigned int interrupts, dumps;

/* Adds one entry to M, a part of a dump about NUMBER: what is dumped twice is found out. */
typedef struct nl_msg *(*Entry)(uint32_t number);
static Entry entry;
static uint32_t n_entries;

int __wrap_netlink_open(Netlink *n, int protocol);
int __wrap_netlink_open(_unused_ Netlink *n, _unused_ int protocol)
{
	return 0;
}

static struct nl_msg *family_message(void)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};
	struct nl_msg *m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	return m;
}

static int hand_over(struct nl_msg *m, NetlinkHandler handler, void *userdata)
{
	int r = handler(nlmsg_hdr(m), userdata);

	nlmsg_free(m);
	return r;
}

int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(_unused_ Netlink *n, struct nl_msg *request, NetlinkHandler handler,
		       void *userdata)
{
	bool is_dump = (nlmsg_hdr(request)->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	bool is_family = nlmsg_hdr(request)->nlmsg_type == GENL_ID_CTRL;
	int r = 0;

	nlmsg_free(request);
	if (is_family)
		return hand_over(family_message(), handler, userdata);
	if (!is_dump)
		return 0;
	dumps++;
	/* one that is interrupted has something, too */
	for (uint32_t i = 0; i < n_entries && r == 0; i++)
		r = hand_over(entry(i), handler, userdata);
	if (r < 0 || interrupts == 0)
		return r;
	interrupts--;
	return -EINTR;
}

/* Dumps N entries E; the first INTERRUPTED of the dumps are not complete. */
static void script(Entry e, uint32_t n, unsigned int interrupted)
{
	entry = e;
	n_entries = n;
	interrupts = interrupted;
	dumps = 0;
}

/* Of DEVICE on the same bus */
static struct nl_msg *reporter_of(const char *device, uint32_t number)
{
	struct genlmsghdr g = {.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(FAMILY, 0);
	struct nlattr *nest;
	char name[16];

	snprintf(name, sizeof(name), "r%u", number);
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_string(m, DEVLINK_ATTR_BUS_NAME, function.bus);
	nla_put_string(m, DEVLINK_ATTR_DEV_NAME, device);
	nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 0);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, number);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 0);
	nest_end(m, nest);
	return m;
}

static struct nl_msg *reporter(uint32_t number)
{
	return reporter_of(function.device, number);
}

/* Every other one is of another function. */
static struct nl_msg *any_reporter(uint32_t number)
{
	return reporter_of(number % 2 ? "0000:c1:00.1" : function.device, number);
}

static struct nl_msg *link_of(uint32_t number)
{
	struct ifinfomsg info = {.ifi_index = (int)number + 1, .ifi_type = ARPHRD_INFINIBAND};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	const uint8_t address[20] = {[19] = (uint8_t)number};

	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "ib0");
	nla_put(m, IFLA_ADDRESS, sizeof(address), address);
	return m;
}

static struct nl_msg *address(uint32_t number)
{
	struct ifaddrmsg info = {.ifa_family = AF_INET, .ifa_index = 7};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWADDR, 0);
	const uint8_t v4[4] = {192, 0, 2, (uint8_t)number};

	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put(m, IFA_LOCAL, sizeof(v4), v4);
	return m;
}

static struct nl_msg *device_message(uint32_t number)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	char name[16];

	snprintf(name, sizeof(name), "mlx5_%u", number);
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, number + 40);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	return m;
}

static struct nl_msg *qp(uint32_t number)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	struct nlattr *table, *nest;

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	nest = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4711 + number);
	nla_nest_end(m, nest);
	nla_nest_end(m, table);
	return m;
}

/* The dumps: each gives how many entries it has read, or an error. */

static int count_table(int r, Table *t)
{
	int n = t ? (int)t->n : 0;

	table_free(t);
	return r < 0 ? r : n;
}

static int read_reporters(void)
{
	Genl d = GENL_CLOSED;
	Table *t = NULL;
	int r = devlink_read_health(&d, &function, &t);

	return count_table(r, t);
}

static int read_links(void)
{
	Netlink n = NETLINK_CLOSED;
	Ipoib *list = NULL;
	size_t length = 0;
	int r = netdev_list_ipoib(&n, &list, &length);

	netdev_ipoib_free(list, length);
	return r < 0 ? r : (int)length;
}

static int read_addresses(void)
{
	Netlink n = NETLINK_CLOSED;
	Table *t = NULL;
	int r = netdev_read_addresses(&n, 7, &t);

	return count_table(r, t);
}

static int read_users(void)
{
	Netlink n = NETLINK_CLOSED;
	Table *t = NULL;
	int r = resources_get_users(&n, 5, 1, &t);
	uint32_t qps = 0;

	TABLE_FOREACH(HolderEntry, e, t)
		qps += e->qps;
	assert_int_equal(qps, t ? t->n : 0);
	return count_table(r, t);
}

static int find_device(void)
{
	Netlink n = NETLINK_CLOSED;
	uint32_t index;
	int r = nldev_find_device(&n, "mlx5_2", &index);

	if (r == 0)
		assert_int_equal(index, 42);
	return r < 0 ? r : 3;
}

static const struct {
	const char *what;
	Entry entry;
	int (*read)(void);
	unsigned int n_parts; /* dumps that are needed for all of it */
} cases[] = {
	{"reporters", reporter, read_reporters, 1},  {"links", link_of, read_links, 1},
	{"addresses", address, read_addresses, 2},   {"users", qp, read_users, 1},
	{"devices", device_message, find_device, 1},
};

static void test_complete(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		script(cases[i].entry, 3, 0);
		if (cases[i].read() != 3 || dumps != cases[i].n_parts)
			fail_msg("%s: %u dumps", cases[i].what, dumps);
	}
}

/* What an interrupted dump had is not there twice. */
static void test_again(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (unsigned int n = 1; n < NETLINK_DUMPS; n++) {
			script(cases[i].entry, 3, n);
			if (cases[i].read() != 3 || dumps != n + cases[i].n_parts)
				fail_msg("%s: %u dumps", cases[i].what, dumps);
		}
}

static void test_not_for_ever(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		script(cases[i].entry, 3, 1000);
		if (cases[i].read() != -EINTR || dumps != NETLINK_DUMPS)
			fail_msg("%s: %u dumps", cases[i].what, dumps);
	}
}

/* Kernels before 6.6 dump what all functions have. */
static void test_other_functions(_unused_ void **state)
{
	script(any_reporter, 5, 0);
	assert_int_equal(read_reporters(), 3);
	/* more than there is room for are left out */
	script(reporter, 1000, 0);
	assert_int_equal(read_reporters(), 256);
}

/* Nothing is there, and that is known. */
static void test_nothing(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		script(cases[i].entry, 0, 1);
		if (cases[i].read() != (cases[i].read == find_device ? -ENODEV : 0))
			fail_msg("%s", cases[i].what);
		assert_int_equal(dumps, 1 + cases[i].n_parts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),     cmocka_unit_test(test_again),
		cmocka_unit_test(test_not_for_ever), cmocka_unit_test(test_other_functions),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("query-dumps", tests, NULL, NULL);
}
