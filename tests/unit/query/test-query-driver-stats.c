/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the driver of an interface counts by names of its own: from the answers of a kernel to
 * ioctl(2), which is here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/ioctl.h>

#include "query-driver-stats.h"
#include "query-ifname.h"
#include "query-port.h"
#include "query-sysfs.h"

#define IB0   7U /* an interface that says it */
#define CHILD 8U /* one on it, for another P_Key */
#define OTHER 9U /* that of another port */

/* How the kernel answers. */
static struct Kernel {
	uint32_t n, n_names, n_values; /* how many statistics it says that there are */
	uint32_t place;		       /* of NAME among them */
	const char *name;
	const char *second; /* what is behind it */
	uint64_t value;
	uint32_t failing; /* the command that has no answer but ERROR */
	int error;
	const char *renamed; /* what IB0 is called when it has answered */
	unsigned int n_asked[3];
	uint32_t n_ioctls;
} kernel;

static int refuse(int error)
{
	errno = -error;
	return -1;
}

/* As the kernel does since 6.19: it writes nothing if there are other ones than the caller says. */
static uint32_t answer_n(uint32_t n, uint32_t expected)
{
	assert_true(expected > 0);
	return n == expected ? n : 0;
}

static int answer_ethtool(const struct ifreq *request)
{
	struct ethtool_sset_info *info = (void *)request->ifr_data;
	struct ethtool_gstrings *names = (void *)request->ifr_data;
	struct ethtool_stats *values = (void *)request->ifr_data;

	kernel.n_asked[streq(request->ifr_name, "ib0") ? 0 : 1]++;
	if (!streq(request->ifr_name, "ib0"))
		return refuse(-EOPNOTSUPP);
	if (info->cmd == kernel.failing)
		return refuse(kernel.error);
	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		assert_true(info->sset_mask == 1U << ETH_SS_STATS);
		info->data[0] = kernel.n;
		return 0;
	case ETHTOOL_GSTRINGS:
		assert_int_equal(names->string_set, ETH_SS_STATS);
		names->len = answer_n(kernel.n_names, names->len);
		for (uint32_t i = 0; i < names->len; i++)
			snprintf((char *)names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN,
				 "rx%u_packets", i);
		if (kernel.place < names->len)
			/* the longest has no end */
			strncpy(request->ifr_data + sizeof(*names) +
					(size_t)kernel.place * ETH_GSTRING_LEN,
				kernel.name, ETH_GSTRING_LEN);
		if (kernel.second)
			strcpy(request->ifr_data + sizeof(*names) +
				       (size_t)(kernel.place + 1) * ETH_GSTRING_LEN,
			       kernel.second);
		return 0;
	case ETHTOOL_GSTATS:
		values->n_stats = answer_n(kernel.n_values, values->n_stats);
		for (uint32_t i = 0; i < values->n_stats; i++)
			values->data[i] = i == kernel.place ? kernel.value : 1000 + i;
		return 0;
	}
	fail_msg("command %u", info->cmd);
	return -1;
}

int __wrap_ioctl(int fd, unsigned long request, struct ifreq *r);
int __wrap_ioctl(_unused_ int fd, unsigned long request, struct ifreq *r)
{
	const char *name = r->ifr_ifindex == IB0     ? "ib0"
			   : r->ifr_ifindex == CHILD ? "ib0.8001"
						     : "ib1";

	kernel.n_ioctls++;
	if (request == SIOCETHTOOL)
		return answer_ethtool(r);
	assert_int_equal(request, SIOCGIFNAME);
	assert_true(r->ifr_ifindex == IB0 || r->ifr_ifindex == CHILD);
	if (kernel.n_asked[0] == 3 && kernel.renamed)
		name = kernel.renamed;
	text_copy(r->ifr_name, sizeof(r->ifr_name), name);
	return 0;
}

static void begin(void)
{
	kernel = (struct Kernel){.n = 300,
				 .n_names = 300,
				 .n_values = 300,
				 .place = 120,
				 .name = "rx_corrected_bits_phy",
				 .value = UINT64_C(7000000000)};
}

static int supply(PortSnapshot *s)
{
	*s = (PortSnapshot){};
	return driver_stats_supply(RDMA_DRIVER_MLX5, IB0, s);
}

static void assert_nothing(int error)
{
	PortSnapshot s;

	assert_int_equal(supply(&s), error);
	assert_true(mask_is_empty(&s.supplied));
}

static void test_value(_unused_ void **state)
{
	static const uint32_t places[] = {0, 120, 299};
	PortSnapshot s;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		begin();
		kernel.place = places[i];
		assert_int_equal(supply(&s), 0);
		assert_true(s.values.fec_corrected_bits == UINT64_C(7000000000));
		assert_true(mask_has(&s.supplied, PORT_ATTR_fec_corrected_bits));
		/* nobody has said what corrects them */
		assert_false(mask_has(&s.supplied, PORT_ATTR_fec_mode));
	}
	/* as many as there can be */
	begin();
	kernel.n = kernel.n_names = kernel.n_values = 32768;
	kernel.place = 32767;
	assert_int_equal(supply(&s), 0);
	assert_true(s.values.fec_corrected_bits == UINT64_C(7000000000));
}

/* One without the other, and both; rx0_packets is at place 0. */
static void test_link_downs(_unused_ void **state)
{
	PortSnapshot s;

	begin();
	kernel.name = "link_down_events_phy";
	kernel.value = 3;
	assert_int_equal(supply(&s), 0);
	assert_true(mask_has(&s.supplied, PORT_ATTR_phy_link_downs));
	assert_int_equal(s.values.phy_link_downs, 3);
	assert_false(mask_has(&s.supplied, PORT_ATTR_fec_corrected_bits));
	begin();
	kernel.second = "link_down_events_phy";
	assert_int_equal(supply(&s), 0);
	assert_int_equal(s.values.phy_link_downs, 1121);
	assert_true(s.values.fec_corrected_bits == UINT64_C(7000000000));
	assert_int_equal(kernel.n_asked[0], 3);
}

/* A virtual function has 0, and a link without FEC, too: that is no count. */
static void test_zero(_unused_ void **state)
{
	begin();
	kernel.value = 0;
	assert_nothing(0);
}

static void test_no_such_statistic(_unused_ void **state)
{
	static const char *const names[] = {"rx_corrected_bits", "rx_corrected_bits_phy_",
					    "0123456789abcdef0123456789abcdef"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		begin();
		kernel.name = names[i];
		assert_nothing(-EOPNOTSUPP);
		assert_int_equal(kernel.n_asked[0], 2);
	}
	begin();
	kernel.n = 0;
	assert_nothing(-EOPNOTSUPP);
	assert_int_equal(kernel.n_asked[0], 1);
	kernel.n = 32769;
	assert_nothing(-E2BIG);
	assert_int_equal(kernel.n_asked[0], 2);
}

/* The driver has other statistics meanwhile, or the interface another name. */
static void test_changes(_unused_ void **state)
{
	PortSnapshot s;

	begin();
	kernel.n_names = 301;
	assert_nothing(-EAGAIN);
	begin();
	kernel.n_values = 299;
	assert_nothing(-EAGAIN);
	begin();
	kernel.renamed = "ib7";
	assert_nothing(-EAGAIN);
	begin();
	kernel.renamed = "ib0";
	assert_int_equal(supply(&s), 0);
}

static void test_errors(_unused_ void **state)
{
	static const uint32_t commands[] = {ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS, ETHTOOL_GSTATS};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		begin();
		kernel.failing = commands[i];
		kernel.error = -EIO;
		assert_nothing(-EIO);
		assert_int_equal(kernel.n_asked[0], i + 1);
	}
}

/* Whom a query asks: the IPoIB interfaces on the port, until one says it. */

static Ipoib ipoib[] = {{.entry.ifindex = OTHER, .port_guid = {[7] = 8}},
			{.entry.ifindex = CHILD, .port_guid = {2, [7] = 7}},
			{.entry.ifindex = IB0, .port_guid = {2, [7] = 7}}};
static size_t n_ipoib;
static int guid_error;
static unsigned int n_guids; /* how often it was read */
static uint32_t own;

int __wrap_target_ipoib(Target *t, Ipoib **ret, size_t *ret_n);
int __wrap_target_ipoib(_unused_ Target *t, Ipoib **ret, size_t *ret_n)
{
	*ret = ipoib;
	*ret_n = n_ipoib;
	return 0;
}

int __wrap_target_sysfs(Target *t);
int __wrap_target_sysfs(_unused_ Target *t)
{
	return -EBADF;
}

int __wrap_sysfs_read_port_guid(int device, uint32_t port, uint8_t ret[8]);
int __wrap_sysfs_read_port_guid(_unused_ int device, uint32_t port, uint8_t ret[8])
{
	static const uint8_t guid[8] = {2, [7] = 7};

	assert_int_equal(port, 3);
	assert_true(n_ipoib > 0);
	n_guids++;
	if (guid_error == 0)
		memcpy(ret, guid, sizeof(guid));
	return guid_error;
}

int __wrap_nldev_get_port(Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s);
int __wrap_nldev_get_port(_unused_ Netlink *n, _unused_ uint32_t index, _unused_ uint32_t port,
			  PortSnapshot *s)
{
	PORT_SUPPLY(s, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(s, lid, 17);
	PORT_SUPPLY(s, ifindex, own);
	return 0;
}

int __wrap_netdev_open(Netlink *n);
int __wrap_netdev_open(_unused_ Netlink *n)
{
	return -EIO;
}

int __wrap_ethtool_supply(Genl *g, uint32_t ifindex, PortSnapshot *s);
int __wrap_ethtool_supply(_unused_ Genl *g, uint32_t ifindex, PortSnapshot *s)
{
	assert_int_equal(ifindex, own);
	PORT_SUPPLY(s, fec_corrected_bits, 5);
	return 0;
}

/* Returns whether the port of a driver has CorrectedBits. */
static bool query(int64_t driver_id)
{
	Querier querier = {.net = -EBADF};
	Known known = {.verbs.driver_id = driver_id, .link.port = 3, .link.ifindex = own};
	const Query q = {.parts = READ_SIGNAL};
	Target t = {.querier = &querier, .query = &q, .known = &known};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(port_query(&t, 3, &s), 0);
	return mask_has(&s.supplied, PORT_ATTR_fec_corrected_bits);
}

static void test_whom(_unused_ void **state)
{
	begin();
	own = 0;
	n_ipoib = ARRAY_SIZE(ipoib);
	assert_true(query(RDMA_DRIVER_MLX5));
	assert_int_equal(kernel.n_asked[1], 1); /* the child, which has none */
	assert_int_equal(kernel.n_asked[0], 3);
	/* the first that says it is the last that is asked */
	kernel.n_asked[0] = 0;
	ipoib[1].entry.ifindex = IB0;
	ipoib[2].entry.ifindex = OTHER;
	assert_true(query(RDMA_DRIVER_MLX5));
	assert_int_equal(kernel.n_asked[1], 1);
	/* nobody is asked of another port, of one without an address, without an interface, of
	 * another driver */
	kernel.n_ioctls = 0;
	guid_error = -EIO;
	assert_false(query(RDMA_DRIVER_MLX5));
	guid_error = 0;
	n_ipoib = 0;
	assert_false(query(RDMA_DRIVER_MLX5));
	n_ipoib = 1;
	assert_false(query(RDMA_DRIVER_MLX5));
	n_ipoib = ARRAY_SIZE(ipoib);
	n_guids = 0;
	assert_false(query(RDMA_DRIVER_MLX4));
	assert_false(query(-1));
	/* of a port with an interface of its own, that one is asked, by netlink */
	own = 4;
	assert_true(query(RDMA_DRIVER_MLX5));
	assert_int_equal(kernel.n_ioctls + n_guids, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value),	cmocka_unit_test(test_link_downs),
		cmocka_unit_test(test_zero),	cmocka_unit_test(test_no_such_statistic),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_whom),
	};

	return cmocka_run_group_tests_name("query-driver-stats", tests, NULL, NULL);
}
