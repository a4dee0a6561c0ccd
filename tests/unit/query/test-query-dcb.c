/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads of an interface's priorities: from netlink messages, which are made here,
 * and from files. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/rtnetlink.h>
#include <unistd.h>

#include "nest.h"
#include "query-dcb.h"
#include "tree.h"

#define TRUST_TABLE 11

/* The beginning of a message; the attribute that the tables are in stays open. */
static struct nl_msg *begin(uint16_t type, uint8_t command, struct nlattr **ret)
{
	struct dcbmsg dcb = {.cmd = command};
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	nlmsg_append(m, &dcb, sizeof(dcb), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, "eth0");
	*ret = nla_nest_start(m, DCB_ATTR_IEEE);
	return m;
}

static struct nl_msg *begin_get(struct nlattr **ret)
{
	return begin(RTM_GETDCB, DCB_CMD_IEEE_GET, ret);
}

static int end(struct nl_msg *m, struct nlattr *ieee, Dcb *ret)
{
	int r;

	nest_end(m, ieee);
	r = dcb_parse(nlmsg_hdr(m), ret);
	nlmsg_free(m);
	return r;
}

static void put_app(struct nl_msg *m, uint8_t selector, uint16_t protocol, uint8_t priority)
{
	struct dcb_app app = {.selector = selector, .priority = priority, .protocol = protocol};

	nla_put(m, DCB_ATTR_IEEE_APP, sizeof(app), &app);
}

static bool has(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

static void test_whole(_unused_ void **state)
{
	static const struct ieee_ets ets = {
		.ets_cap = 8,
		.tc_tx_bw = {50, 0, 0, 50},
		.tc_tsa = {IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_STRICT,
			   IEEE_8021QAZ_TSA_CB_SHAPER, IEEE_8021QAZ_TSA_ETS,
			   IEEE_8021QAZ_TSA_VENDOR, 7},
		.prio_tc = {0, 0, 0, 3, 0, 5, 0, 7}};
	static const struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = 1 << 3 | 1 << 4};
	struct nlattr *ieee, *table;
	struct nl_msg *m = begin_get(&ieee);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	Dcb d;

	nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
	nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	table = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
	put_app(m, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 0x22, 7); /* no DSCP */
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 3);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 26, 1); /* the higher one counts */
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 24, 3);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 48, 6);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 64, 3); /* there is no such DSCP */
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 30, 8); /* nor such a priority */
	nla_put_u32(m, 2, 0);			      /* entry of another kind */
	nest_end(m, table);
	table = nla_nest_start(m, TRUST_TABLE);
	nla_put_u8(m, 1, IEEE_8021QAZ_APP_SEL_DSCP);
	nla_put_u8(m, 2, 255);
	nla_put_u8(m, 1, 77);
	nest_end(m, table);
	nla_put_u32(m, 200, 5); /* of a later kernel */
	assert_int_equal(end(m, ieee, &d), 0);

	dcb_supply(&d, &s);
	assert_int_equal(s.values.pfc_cap, 8);
	assert_string_equal(TEXT_OF(&s.values, pfc_enabled), "3,4");
	assert_string_equal(TEXT_OF(&s.values, ets_bandwidth), "50,0,0,50,0,0,0,0");
	assert_string_equal(TEXT_OF(&s.values, ets_algorithm),
			    "ets,strict,cbs,ets,vendor,7,strict,strict");
	assert_string_equal(TEXT_OF(&s.values, prio_to_tc), "0,0,0,3,0,5,0,7");
	assert_string_equal(TEXT_OF(&s.values, dscp_to_priority), "24:3,26:3,48:6");
	assert_string_equal(TEXT_OF(&s.values, priority_trust), "dscp,pcp,77");
}

/* An attribute begins at a multiple of four bytes: half of them are not where their structure wants
 * to be. The sanitizer says so if one is read in its place. */
static void test_places(_unused_ void **state)
{
	static const struct ieee_ets ets = {.tc_tx_bw = {100}};
	static const struct ieee_pfc pfc = {.pfc_cap = 4, .pfc_en = 1 << 3};

	for (unsigned int i = 0; i < 2; i++) {
		struct nlattr *ieee;
		struct nl_msg *m = begin_get(&ieee);
		Dcb d;

		for (unsigned int k = 0; k < i; k++)
			nla_put(m, 200, 0, NULL); /* four bytes */
		nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
		nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
		assert_int_equal(end(m, ieee, &d), 0);
		assert_int_equal(d.pfc_cap, 4);
		assert_int_equal(d.pfc_enabled, 1 << 3);
		assert_int_equal(d.bandwidth[0], 100);
	}
}

/* A driver may say any part of it. */
static void test_parts(_unused_ void **state)
{
	static const struct ieee_pfc pfc = {};
	struct nlattr *ieee, *table;
	struct nl_msg *m = begin_get(&ieee);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	Dcb d;

	assert_int_equal(end(m, ieee, &d), 0);
	dcb_supply(&d, &s);
	assert_true(mask_is_empty(&s.supplied));

	m = begin_get(&ieee);
	nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	table = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
	nest_end(m, table);
	table = nla_nest_start(m, TRUST_TABLE);
	nest_end(m, table);
	assert_int_equal(end(m, ieee, &d), 0);
	dcb_supply(&d, &s);
	assert_string_equal(TEXT_OF(&s.values, pfc_enabled), "none");
	assert_string_equal(TEXT_OF(&s.values, dscp_to_priority), "none");
	assert_string_equal(TEXT_OF(&s.values, priority_trust), "none");
	assert_false(has(&s, PORT_ATTR_ets_bandwidth));
	assert_false(has(&s, PORT_ATTR_ets_algorithm));
	assert_false(has(&s, PORT_ATTR_prio_to_tc));
}

/* No text is longer than its row. */
static void test_longest(_unused_ void **state)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	Dcb d = {.has_ets = true, .has_map = true, .has_pfc = true, .has_trust = true};

	for (unsigned int i = 0; i < DCB_DSCPS; i++)
		d.dscp[i] = (uint8_t)(i % 8 + 1);
	memset(d.algorithm, IEEE_8021QAZ_TSA_VENDOR, sizeof(d.algorithm));
	memset(d.bandwidth, 255, sizeof(d.bandwidth));
	d.pfc_enabled = 255;
	for (uint8_t i = 1; i < 6; i++)
		d.trust[d.n_trust++] = i;
	d.trust[d.n_trust++] = 255;
	dcb_supply(&d, &s);
	assert_non_null(strstr(TEXT_OF(&s.values, dscp_to_priority), "0:0,1:1,2:2,"));
	assert_non_null(strstr(TEXT_OF(&s.values, dscp_to_priority), ",61:5,62:6,63:7"));
	assert_string_equal(TEXT_OF(&s.values, ets_algorithm),
			    "vendor,vendor,vendor,vendor,vendor,vendor,vendor,vendor");
	assert_string_equal(TEXT_OF(&s.values, ets_bandwidth), "255,255,255,255,255,255,255,255");
	assert_string_equal(TEXT_OF(&s.values, pfc_enabled), "0,1,2,3,4,5,6,7");
	assert_string_equal(TEXT_OF(&s.values, priority_trust),
			    "ethertype,stream-port,dgram-port,port,dscp,pcp");
	memset(d.algorithm, IEEE_8021QAZ_TSA_STRICT, sizeof(d.algorithm));
	for (unsigned int i = 0; i < DCB_DSCPS; i++)
		d.dscp[i] = (uint8_t)(i / 8 + 1);
	dcb_supply(&d, &s);
	assert_string_equal(TEXT_OF(&s.values, dscp_to_priority),
			    "0-7:0,8-15:1,16-23:2,24-31:3,32-39:4,40-47:5,48-55:6,56-63:7");
	assert_string_equal(TEXT_OF(&s.values, ets_algorithm),
			    "strict,strict,strict,strict,strict,strict,strict,strict");
}

static void expect_bad(struct nl_msg *m, struct nlattr *ieee)
{
	Dcb d = {.pfc_cap = 77};

	assert_int_equal(end(m, ieee, &d), -EBADMSG);
	assert_int_equal(d.pfc_cap, 77);
}

static void test_malformed(_unused_ void **state)
{
	static const struct {
		int table, type; /* 0: not in a table */
		size_t size;
	} shorter[] = {
		{0, DCB_ATTR_IEEE_PFC, sizeof(struct ieee_pfc) - 1},
		{0, DCB_ATTR_IEEE_PFC, 0},
		{0, DCB_ATTR_IEEE_ETS, sizeof(struct ieee_ets) - 1},
		{0, DCB_ATTR_IEEE_ETS, 1},
		{DCB_ATTR_IEEE_APP_TABLE, DCB_ATTR_IEEE_APP, sizeof(struct dcb_app) - 1},
		{DCB_ATTR_IEEE_APP_TABLE, DCB_ATTR_IEEE_APP, 0},
		{TRUST_TABLE, 1, 3},
		{TRUST_TABLE, 1, 0},
	};
	static const uint8_t bytes[256] = {0};
	struct nlattr *ieee, *table;
	struct nl_msg *m;
	Dcb d;

	for (size_t i = 0; i < ARRAY_SIZE(shorter); i++) {
		m = begin_get(&ieee);
		table = shorter[i].table ? nla_nest_start(m, shorter[i].table) : NULL;
		nla_put(m, shorter[i].type, (int)shorter[i].size, bytes);
		if (table)
			nest_end(m, table);
		expect_bad(m, ieee);
	}

	/* a selector that does not fit into its byte */
	m = begin_get(&ieee);
	table = nla_nest_start(m, TRUST_TABLE);
	nla_put_u32(m, 1, 256);
	nest_end(m, table);
	expect_bad(m, ieee);

	/* another message, and the answer to another question */
	m = begin(RTM_NEWLINK, DCB_CMD_IEEE_GET, &ieee);
	expect_bad(m, ieee);
	m = begin(RTM_GETDCB, DCB_CMD_CEE_GET, &ieee);
	expect_bad(m, ieee);

	/* a message without a header, and one without tables */
	m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	assert_int_equal(dcb_parse(nlmsg_hdr(m), &d), -EBADMSG);
	nlmsg_append(m, &(struct dcbmsg){.cmd = DCB_CMD_IEEE_GET}, sizeof(struct dcbmsg),
		     NLMSG_ALIGNTO);
	assert_int_equal(dcb_parse(nlmsg_hdr(m), &d), -EBADMSG);
	nlmsg_free(m);

	/* longer structures are those of a later kernel */
	m = begin_get(&ieee);
	nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(bytes), bytes);
	nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(bytes), bytes);
	table = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
	nla_put(m, DCB_ATTR_IEEE_APP, 32, bytes);
	nest_end(m, table);
	/* more selectors than there are */
	table = nla_nest_start(m, TRUST_TABLE);
	for (unsigned int i = 0; i < 200; i++)
		nla_put_u8(m, 1, IEEE_8021QAZ_APP_SEL_DSCP);
	nest_end(m, table);
	assert_int_equal(end(m, ieee, &d), 0);
	assert_true(d.has_pfc && d.has_ets && d.has_map);
	assert_int_equal(d.n_trust, DCB_TRUST_MAX);
}

static const Netdev eth0 = {.ifindex = 5, .name = "eth0"};

static void put_ecn(const Tree *t, const char *point, const char *values)
{
	for (unsigned int i = 0; values[i]; i++) {
		char path[64], text[] = {values[i], '\n', '\0'};

		snprintf(path, sizeof(path), "eth0/ecn/%s/enable/%u", point, i);
		tree_put(t, path, text);
	}
}

static void test_ecn(void **state)
{
	Tree *t = *state;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	dcb_supply_ecn(t->fd, &eth0, &s);
	tree_put(t, "eth0/ifindex", "5\n");
	dcb_supply_ecn(t->fd, &eth0, &s);
	assert_true(mask_is_empty(&s.supplied));

	put_ecn(t, "roce_np", "00010000");
	put_ecn(t, "roce_rp", "00000000");
	dcb_supply_ecn(t->fd, &eth0, &s);
	assert_string_equal(TEXT_OF(&s.values, ecn_notification), "3");
	assert_string_equal(TEXT_OF(&s.values, ecn_reaction), "none");

	/* not a number, too large, and one that is missing */
	port_snapshot_done(&s);
	put_ecn(t, "roce_np", "000x0000");
	put_ecn(t, "roce_rp", "00002000");
	dcb_supply_ecn(t->fd, &eth0, &s);
	assert_true(mask_is_empty(&s.supplied));
	put_ecn(t, "roce_np", "11111111");
	unlinkat(t->fd, "eth0/ecn/roce_rp/enable/7", 0);
	put_ecn(t, "roce_rp", "0000000");
	dcb_supply_ecn(t->fd, &eth0, &s);
	assert_string_equal(TEXT_OF(&s.values, ecn_notification), "0,1,2,3,4,5,6,7");
	assert_false(has(&s, PORT_ATTR_ecn_reaction));

	/* another interface has the name by now */
	port_snapshot_done(&s);
	tree_put(t, "eth0/ifindex", "6\n");
	dcb_supply_ecn(t->fd, &eth0, &s);
	assert_true(mask_is_empty(&s.supplied));
}

static void test_trust(void **state)
{
	Tree *t = *state;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	tree_put(t, "eth0/ifindex", "5\n");
	tree_put_link(t, "eth0/device/driver", "../../bus/pci/drivers/mlx5_core");
	dcb_supply_trust(t->fd, &eth0, &s);
	assert_false(has(&s, PORT_ATTR_priority_trust)); /* the map is not known */
	PORT_SUPPLY_TEXT(&s, dscp_to_priority, "none");
	dcb_supply_trust(t->fd, &eth0, &s);
	assert_string_equal(TEXT_OF(&s.values, priority_trust), "pcp");

	/* what the kernel has said counts */
	PORT_SUPPLY_TEXT(&s, priority_trust, "dscp,pcp");
	dcb_supply_trust(t->fd, &eth0, &s);
	assert_string_equal(TEXT_OF(&s.values, priority_trust), "dscp,pcp");

	port_snapshot_done(&s);
	PORT_SUPPLY_TEXT(&s, dscp_to_priority, "26:3");
	dcb_supply_trust(t->fd, &eth0, &s);
	assert_string_equal(TEXT_OF(&s.values, priority_trust), "dscp");

	/* of another driver it is not known */
	port_snapshot_done(&s);
	PORT_SUPPLY_TEXT(&s, dscp_to_priority, "26:3");
	unlinkat(t->fd, "eth0/device/driver", 0);
	tree_put_link(t, "eth0/device/driver", "../../bus/pci/drivers/other");
	dcb_supply_trust(t->fd, &eth0, &s);
	assert_false(has(&s, PORT_ATTR_priority_trust));
}

static void test_gid_type(void **state)
{
	Tree *t = *state;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	dcb_supply_gid_type(t->fd, "mlx5_0", 1, &s);
	tree_put(t, "mlx5_0/ports/1/default_roce_mode", "RoCE v3\n");
	dcb_supply_gid_type(t->fd, "mlx5_0", 1, &s);
	tree_put(t, "ports/1/default_roce_mode", "RoCE v2\n");
	dcb_supply_gid_type(t->fd, "", 1, &s);
	dcb_supply_gid_type(t->fd, ".", 1, &s);
	dcb_supply_gid_type(t->fd, "mlx5_0/..", 1, &s);
	assert_true(mask_is_empty(&s.supplied));
	tree_put(t, "mlx5_0/ports/1/default_roce_mode", "RoCE v2\n");
	dcb_supply_gid_type(t->fd, "mlx5_0", 2, &s);
	assert_true(mask_is_empty(&s.supplied));
	dcb_supply_gid_type(t->fd, "mlx5_0", 1, &s);
	assert_string_equal(TEXT_OF(&s.values, roce_gid_type), "RoCE v2");
	tree_put(t, "mlx5_0/ports/1/default_roce_mode", "IB/RoCE v1\n");
	dcb_supply_gid_type(t->fd, "mlx5_0", 1, &s);
	assert_string_equal(TEXT_OF(&s.values, roce_gid_type), "RoCE v1");
}

/* A kernel is asked: the loopback interface has no DCB. */
static void test_kernel(_unused_ void **state)
{
	Netlink n = NETLINK_CLOSED;
	Dcb d = {.pfc_cap = 77};

	assert_int_equal(netdev_open(&n), 0);
	assert_int_equal(dcb_get(&n, "lo", &d), -EOPNOTSUPP);
	assert_int_equal(d.pfc_cap, 77);
	netlink_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test_setup_teardown(test_ecn, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_trust, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_gid_type, tree_setup, tree_teardown),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests_name("query-dcb", tests, NULL, NULL);
}
