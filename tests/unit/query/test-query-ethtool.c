/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads of the PHY: from messages of ethtool, which are made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "query-ethtool.h"
#include "query-pauses.h"

#define FAMILY 21
/* newer than the headers of Debian 11 */
#define FEC_GET		       29
#define FEC_GET_REPLY	       30
#define FEC_ACTIVE	       4
#define FEC_STATS	       5
#define STAT_CORRECTED	       2
#define STAT_UNCORR	       3
#define STAT_BITS	       4
#define LINK_DOWNS	       7
#define STATS_GET	       32
#define STATS_GET_REPLY	       33
#define STATS_GROUPS	       3
#define STATS_GROUP	       4
#define GROUP_STAT	       4
#define DOWN_OF_A_LATER_KERNEL 200

static struct nl_msg *begin(uint8_t command)
{
	struct genlmsghdr g = {.cmd = command, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(FAMILY, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	return m;
}

static PortSnapshot end_link(struct nl_msg *m)
{
	PortSnapshot s = {};

	assert_int_equal(ethtool_take_link(nlmsg_hdr(m), &s), 0);
	nlmsg_free(m);
	return s;
}

static PortSnapshot link_is(uint8_t up, int state, int substate)
{
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKSTATE_GET_REPLY);

	nla_put_u8(m, ETHTOOL_A_LINKSTATE_LINK, up);
	if (state >= 0)
		nla_put_u8(m, ETHTOOL_A_LINKSTATE_EXT_STATE, (uint8_t)state);
	if (substate >= 0)
		nla_put_u8(m, ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, (uint8_t)substate);
	return end_link(m);
}

static bool has(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

/* The words, by the names that the kernel gives the numbers. */
static void test_reasons(_unused_ void **state)
{
	static const struct {
		int state, substate;
		const char *reason, *detail;
	} cases[] = {
		{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED,
		 "autonegotiation", "no-partner"},
		{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD,
		 "autonegotiation", "no-common-mode"},
		{ETHTOOL_LINK_EXT_STATE_AUTONEG,
		 ETHTOOL_LINK_EXT_SUBSTATE_AN_FEC_MISMATCH_DURING_OVERRIDE, "autonegotiation",
		 "fec-mismatch"},
		{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
		 ETHTOOL_LINK_EXT_SUBSTATE_LT_REMOTE_FAULT, "link-training", "remote-fault"},
		{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
		 ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED, "logical-mismatch",
		 "rs-fec-not-locked"},
		{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY,
		 ETHTOOL_LINK_EXT_SUBSTATE_BSI_LARGE_NUMBER_OF_PHYSICAL_ERRORS,
		 "bad-signal-integrity", "many-physical-errors"},
		{ETHTOOL_LINK_EXT_STATE_NO_CABLE, -1, "no-cable", ""},
		{ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE,
		 ETHTOOL_LINK_EXT_SUBSTATE_CI_CABLE_TEST_FAILURE, "cable-issue",
		 "cable-test-failure"},
		{ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE, 0, "eeprom-issue", ""},
		{ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE, -1, "calibration-failure", ""},
		{ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED, -1, "power-budget-exceeded", ""},
		{ETHTOOL_LINK_EXT_STATE_OVERHEAT, -1, "overheat", ""},
		{10, 1, "module", "cmis-not-ready"},
		{12, -1, "bmc-request", ""},
		{DOWN_OF_A_LATER_KERNEL, 9, "unknown(200)", "unknown(9)"},
		{ETHTOOL_LINK_EXT_STATE_NO_CABLE, 9, "no-cable", "unknown(9)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(port_snapshot_done) PortSnapshot s =
			link_is(0, cases[i].state, cases[i].substate);

		assert_string_equal(TEXT_OF(&s.values, link_down_reason), cases[i].reason);
		assert_string_equal(TEXT_OF(&s.values, link_down_detail), cases[i].detail);
	}
}

/* A link that is up has no reason to be down; a driver that says none is known to say none. */
static void test_no_reason(_unused_ void **state)
{
	_cleanup_(port_snapshot_done)
		PortSnapshot up = link_is(1, ETHTOOL_LINK_EXT_STATE_NO_CABLE, 0),
			     down = link_is(0, -1, -1);

	assert_true(has(&up, PORT_ATTR_link_down_reason));
	assert_string_equal(TEXT_OF(&up.values, link_down_reason), "");
	assert_true(has(&down, PORT_ATTR_link_down_reason));
	assert_string_equal(TEXT_OF(&down.values, link_down_reason), "");
	assert_false(has(&down, PORT_ATTR_phy_link_downs));
	assert_false(has(&down, PORT_ATTR_signal_quality));
}

static void test_numbers(_unused_ void **state)
{
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	nla_put_u32(m, ETHTOOL_A_LINKSTATE_SQI, 5);
	nla_put_u32(m, ETHTOOL_A_LINKSTATE_SQI_MAX, 7);
	nla_put_u32(m, LINK_DOWNS, 12);
	nla_put_u32(m, 5000, 1); /* of a later kernel */
	port_snapshot_done(&s);
	s = end_link(m);
	assert_int_equal(s.values.signal_quality, 5);
	assert_int_equal(s.values.signal_quality_max, 7);
	assert_int_equal(s.values.phy_link_downs, 12);

	/* better than the best */
	m = begin(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	nla_put_u32(m, ETHTOOL_A_LINKSTATE_SQI, 8);
	nla_put_u32(m, ETHTOOL_A_LINKSTATE_SQI_MAX, 7);
	port_snapshot_done(&s);
	s = end_link(m);
	assert_false(has(&s, PORT_ATTR_signal_quality));
}

static PortSnapshot end_fec(struct nl_msg *m)
{
	PortSnapshot s = {};

	assert_int_equal(ethtool_take_fec(nlmsg_hdr(m), &s), 0);
	nlmsg_free(m);
	return s;
}

static void test_fec(_unused_ void **state)
{
	static const uint64_t corrected[] = {70, 30, 40};
	struct nl_msg *m = begin(FEC_GET_REPLY);
	struct nlattr *stats;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	nla_put_u32(m, FEC_ACTIVE, ETHTOOL_LINK_MODE_FEC_RS_BIT);
	stats = nla_nest_start(m, FEC_STATS);
	nla_put(m, STAT_CORRECTED, sizeof(corrected), corrected);
	nla_put(m, STAT_UNCORR, sizeof(uint64_t), &corrected[1]);
	nla_put(m, STAT_BITS, 4, corrected); /* too short */
	nla_nest_end(m, stats);
	port_snapshot_done(&s);
	s = end_fec(m);
	assert_string_equal(TEXT_OF(&s.values, fec_mode), "rs");
	assert_true(s.values.fec_corrected == 70);
	assert_true(s.values.fec_uncorrectable == 30);
	assert_false(has(&s, PORT_ATTR_fec_corrected_bits));
}

static void test_fec_modes(_unused_ void **state)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} cases[] = {
		{ETHTOOL_LINK_MODE_FEC_NONE_BIT, "off"},
		{ETHTOOL_LINK_MODE_FEC_BASER_BIT, "baser"},
		{ETHTOOL_LINK_MODE_FEC_LLRS_BIT, "llrs"},
		{DOWN_OF_A_LATER_KERNEL, "unknown(200)"},
	};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = begin(FEC_GET_REPLY);

		nla_put_u32(m, FEC_ACTIVE, cases[i].bit);
		port_snapshot_done(&s);
		s = end_fec(m);
		assert_string_equal(TEXT_OF(&s.values, fec_mode), cases[i].word);
	}
	/* the link is down */
	port_snapshot_done(&s);
	s = end_fec(begin(FEC_GET_REPLY));
	assert_true(has(&s, PORT_ATTR_fec_mode));
	assert_string_equal(TEXT_OF(&s.values, fec_mode), "");
}

/* Adds statistic TYPE in a nest of its own. */
static void put_stat(struct nl_msg *m, int type, uint64_t n)
{
	struct nlattr *nest = nla_nest_start(m, GROUP_STAT);

	nla_put_u64(m, type, n);
	nla_nest_end(m, nest);
}

static void test_pauses(_unused_ void **state)
{
	PauseFrames f = {1, 2, 3, 4};
	struct nl_msg *m = begin(ETHTOOL_MSG_PAUSE_GET_REPLY);
	struct nlattr *nest = nla_nest_start(m, ETHTOOL_A_PAUSE_STATS);

	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 70);
	nla_nest_end(m, nest);
	assert_int_equal(pauses_parse(nlmsg_hdr(m), &f), 0);
	nlmsg_free(m);
	assert_true(f.tx == UINT64_MAX);
	assert_int_equal(f.rx, 70);
	assert_int_equal(f.tx_control, 3);

	/* the first statistic has the number 0; the third is of frames that nobody knows */
	m = begin(STATS_GET_REPLY);
	nest = nla_nest_start(m, STATS_GROUP);
	nla_put_u32(m, 2, 2);
	put_stat(m, 0, 500);
	put_stat(m, 1, 600);
	put_stat(m, 2, 700);
	nla_nest_end(m, nest);
	assert_int_equal(pauses_parse_control(nlmsg_hdr(m), &f), 0);
	nlmsg_free(m);
	assert_int_equal(f.tx_control, 500);
	assert_int_equal(f.rx_control, 600);
	assert_int_equal(f.rx, 70);

	/* a driver that counts nothing */
	m = begin(STATS_GET_REPLY);
	assert_int_equal(pauses_parse_control(nlmsg_hdr(m), &f), 0);
	assert_true(f.tx_control == UINT64_MAX && f.rx_control == UINT64_MAX);
	assert_int_equal(pauses_parse(nlmsg_hdr(m), &f), -EBADMSG);
	nlmsg_free(m);
	m = begin(ETHTOOL_MSG_PAUSE_GET_REPLY);
	assert_int_equal(pauses_parse(nlmsg_hdr(m), &f), 0);
	assert_true(f.tx == UINT64_MAX && f.rx == UINT64_MAX);
	assert_int_equal(pauses_parse_control(nlmsg_hdr(m), &f), -EBADMSG);
	nlmsg_free(m);
}

static void test_bad(_unused_ void **state)
{
	struct nl_msg *other = begin(FEC_GET_REPLY), *none = nlmsg_alloc_simple(FAMILY, 0);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(ethtool_take_link(nlmsg_hdr(other), &s), -EBADMSG);
	assert_int_equal(ethtool_take_link(nlmsg_hdr(none), &s), -EBADMSG);
	assert_int_equal(ethtool_take_fec(nlmsg_hdr(none), &s), -EBADMSG);
	assert_true(mask_is_empty(&s.supplied));
	nlmsg_free(other);
	nlmsg_free(none);
}

/* The questions about an interface, and the kernel that answers them if KERNEL is set. */
static const struct {
	uint8_t question, answer;
	PortAttr row; /* one that the answer supplies */
} questions[] = {
	{ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_MSG_LINKSTATE_GET_REPLY, PORT_ATTR_link_down_reason},
	{ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_LINKMODES_GET_REPLY, PORT_ATTR_supported_speeds},
	{FEC_GET, FEC_GET_REPLY, PORT_ATTR_fec_mode},
};
static const struct Kernel {
	uint8_t failing; /* the question that has no answer but ERROR */
	int error;
} * kernel;

static uint32_t groups, n_groups; /* the bits of the last question for statistics */

static void note_groups(struct nl_msg *request)
{
	struct nlattr *set = nlmsg_find_attr(nlmsg_hdr(request), GENL_HDRLEN, STATS_GROUPS);
	struct nlattr *bits, *size;

	assert_non_null(set);
	bits = nla_find(nla_data(set), nla_len(set), ETHTOOL_A_BITSET_VALUE);
	size = nla_find(nla_data(set), nla_len(set), ETHTOOL_A_BITSET_SIZE);
	assert_true(bits && size && nla_len(bits) == sizeof(groups));
	assert_non_null(nla_find(nla_data(set), nla_len(set), ETHTOOL_A_BITSET_NOMASK));
	groups = nla_get_u32(bits);
	n_groups = nla_get_u32(size);
}

int __real_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata)
{
	const struct genlmsghdr *g = nlmsg_data(nlmsg_hdr(request));
	uint8_t question = g->cmd;
	int r = -EINVAL;

	if (!kernel)
		return __real_netlink_ask(n, request, handler, userdata);
	if (question == STATS_GET)
		note_groups(request);
	nlmsg_free(request);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		struct nl_msg *m = begin(questions[i].answer);

		if (questions[i].question == question)
			r = question == kernel->failing ? kernel->error
							: handler(nlmsg_hdr(m), userdata);
		nlmsg_free(m);
	}
	return r;
}

/* A question without an answer leaves only its own rows without a value. */
static void test_one_fails(_unused_ void **state)
{
	static const int errors[] = {-EOPNOTSUPP, -EIO, -ENOMEM, -EBADMSG, -ENODEV};
	Genl g = {.netlink = NETLINK_CLOSED, .family.id = FAMILY, .is_known = true};

	for (size_t i = 0; i < ARRAY_SIZE(questions) * ARRAY_SIZE(errors); i++) {
		size_t failing = i % ARRAY_SIZE(questions);
		struct Kernel k = {questions[failing].question, errors[i / ARRAY_SIZE(questions)]};
		_cleanup_(port_snapshot_done) PortSnapshot s = {};

		kernel = &k;
		assert_int_equal(ethtool_supply(&g, 2, &s), k.error == -EOPNOTSUPP ? 0 : k.error);
		for (size_t n = 0; n < ARRAY_SIZE(questions); n++)
			assert_int_equal(has(&s, questions[n].row), n != failing);
		kernel = NULL;
	}
	genl_done(&g);
}

/* Of the statistics those of MAC control frames are asked for, which are the third group. */
static void test_groups(_unused_ void **state)
{
	Genl g = {.netlink = NETLINK_CLOSED, .family.id = FAMILY, .is_known = true};
	PauseFrames f = {};

	kernel = &(struct Kernel){.failing = UINT8_MAX};
	assert_int_equal(pauses_get(&g, 2, &f), 0);
	kernel = NULL;
	assert_int_equal(groups, 1 << 2);
	assert_int_equal(n_groups, 3);
	genl_done(&g);
}

/* The kernel of this machine: lo has no PHY, and it is told so without a privilege. */
static void test_kernel(_unused_ void **state)
{
	Genl g = GENL_CLOSED;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	PauseFrames f = {};
	int r = ethtool_supply(&g, 1, &s);

	if (r != -EOPNOTSUPP && r != -ENODEV) { /* no such family, or no such interface */
		assert_int_equal(r, 0);
		assert_true(has(&s, PORT_ATTR_link_down_reason));
		assert_string_equal(TEXT_OF(&s.values, link_down_reason), "");
		assert_false(has(&s, PORT_ATTR_fec_mode));
		assert_int_equal(ethtool_supply(&g, INT32_MAX, &s), -ENODEV);
		assert_int_equal(pauses_get(&g, 1, &f), 0);
		assert_true(f.rx == UINT64_MAX && f.rx_control == UINT64_MAX);
	}
	genl_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),	  cmocka_unit_test(test_no_reason),
		cmocka_unit_test(test_numbers),	  cmocka_unit_test(test_fec),
		cmocka_unit_test(test_fec_modes), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_kernel),	  cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_one_fails), cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
