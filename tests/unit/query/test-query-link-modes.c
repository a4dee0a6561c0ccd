/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The link modes of ethtool, from messages that are made here, in both forms of a set of bits. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "query-link-modes.h"

#define FAMILY 21
#define WORDS  4

#define ALL_SPEEDS "1G,2.5G,5G,10G,20G,25G,40G,50G,56G,100G,200G,400G,800G,1600G"

static struct nl_msg *begin(uint8_t command)
{
	struct genlmsghdr g = {.cmd = command, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(FAMILY, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	return m;
}

/* Adds the set TYPE as words: MODES, which end with -1, and those of MASK, if there is one. */
static void put_words(struct nl_msg *m, int type, const int *modes, const int *mask)
{
	struct nlattr *nest = nla_nest_start(m, type);
	uint32_t value[WORDS] = {}, all[WORDS] = {};

	for (; *modes >= 0; modes++)
		value[*modes / 32] |= 1U << *modes % 32;
	for (; mask && *mask >= 0; mask++)
		all[*mask / 32] |= 1U << *mask % 32;
	if (!mask)
		nla_put_flag(m, ETHTOOL_A_BITSET_NOMASK);
	nla_put_u32(m, ETHTOOL_A_BITSET_SIZE, 32 * WORDS);
	nla_put(m, ETHTOOL_A_BITSET_VALUE, sizeof(value), value);
	if (mask)
		nla_put(m, ETHTOOL_A_BITSET_MASK, sizeof(all), all);
	nla_nest_end(m, nest);
}

static void put_bit(struct nl_msg *m, uint32_t mode, bool value)
{
	struct nlattr *bit = nla_nest_start(m, ETHTOOL_A_BITSET_BITS_BIT);

	nla_put_u32(m, ETHTOOL_A_BITSET_BIT_INDEX, mode);
	nla_put_string(m, ETHTOOL_A_BITSET_BIT_NAME, "mode");
	if (value)
		nla_put_flag(m, ETHTOOL_A_BITSET_BIT_VALUE);
	nla_nest_end(m, bit);
}

static PortSnapshot supply(struct nl_msg *m)
{
	PortSnapshot s = {};

	assert_int_equal(link_modes_take(nlmsg_hdr(m), &s), 0);
	nlmsg_free(m);
	return s;
}

static void assert_speeds(const PortSnapshot *s, const char *supported, const char *advertised,
			  const char *partner)
{
	assert_string_equal(TEXT_OF(&s->values, supported_speeds), supported);
	assert_string_equal(TEXT_OF(&s->values, advertised_speeds), advertised);
	assert_string_equal(TEXT_OF(&s->values, partner_speeds), partner);
}

static void test_words(_unused_ void **state)
{
	static const int ours[] = {ETHTOOL_LINK_MODE_10000baseCR_Full_BIT,
				   ETHTOOL_LINK_MODE_Autoneg_BIT, -1},
			 all[] = {ETHTOOL_LINK_MODE_10000baseCR_Full_BIT,
				  ETHTOOL_LINK_MODE_1000baseX_Full_BIT,
				  ETHTOOL_LINK_MODE_25000baseSR_Full_BIT,
				  ETHTOOL_LINK_MODE_FEC_RS_BIT,
				  ETHTOOL_LINK_MODE_Autoneg_BIT,
				  -1},
			 peer[] = {ETHTOOL_LINK_MODE_25000baseCR_Full_BIT,
				   ETHTOOL_LINK_MODE_200000baseLR4_ER4_FR4_Full_BIT, -1};
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	nla_put_u8(m, ETHTOOL_A_LINKMODES_AUTONEG, 1);
	put_words(m, ETHTOOL_A_LINKMODES_OURS, ours, all);
	put_words(m, ETHTOOL_A_LINKMODES_PEER, peer, NULL);
	nla_put_u32(m, ETHTOOL_A_LINKMODES_SPEED, 10000);
	port_snapshot_done(&s);
	s = supply(m);
	assert_speeds(&s, "1G,10G,25G", "10G", "25G,200G");
	assert_int_equal(s.values.autoneg, 1);
}

static void test_list(_unused_ void **state)
{
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	struct nlattr *set = nla_nest_start(m, ETHTOOL_A_LINKMODES_OURS),
		      *bits = nla_nest_start(m, ETHTOOL_A_BITSET_BITS);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	put_bit(m, ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT, true);
	put_bit(m, 124, false);	      /* 1600000baseDR8_2 */
	put_bit(m, UINT32_MAX, true); /* of a later kernel */
	nla_put_u32(m, 9, 1);	      /* the same */
	nla_nest_end(m, bits);
	nla_nest_end(m, set);
	set = nla_nest_start(m, ETHTOOL_A_LINKMODES_PEER);
	nla_put_flag(m, ETHTOOL_A_BITSET_NOMASK);
	bits = nla_nest_start(m, ETHTOOL_A_BITSET_BITS);
	put_bit(m, ETHTOOL_LINK_MODE_40000baseCR4_Full_BIT, false);
	nla_nest_end(m, bits);
	nla_nest_end(m, set);
	port_snapshot_done(&s);
	s = supply(m);
	assert_speeds(&s, "100G,1600G", "100G", "40G");
	/* nothing was said of it */
	assert_false(mask_has(&s.supplied, PORT_ATTR_autoneg));
}

/* All that there are fit into the text. */
static void test_all(_unused_ void **state)
{
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	struct nlattr *set = nla_nest_start(m, ETHTOOL_A_LINKMODES_PEER);
	uint32_t words[2 * WORDS + 2];
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	memset(words, 0xff, sizeof(words));
	/* longer than all sets here, and with a piece of a word */
	nla_put(m, ETHTOOL_A_BITSET_VALUE, sizeof(words) - 1, words);
	nla_nest_end(m, set);
	port_snapshot_done(&s);
	s = supply(m);
	assert_speeds(&s, "", "", ALL_SPEEDS);

	/* what a set has beyond all modes is in no other set: those supported are beside those
	 * advertised */
	m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	set = nla_nest_start(m, ETHTOOL_A_LINKMODES_OURS);
	nla_put_u32(m, ETHTOOL_A_BITSET_VALUE, 0);
	nla_put(m, ETHTOOL_A_BITSET_MASK, sizeof(words), words);
	nla_nest_end(m, set);
	port_snapshot_done(&s);
	s = supply(m);
	assert_speeds(&s, ALL_SPEEDS, "", "");
}

/* A message that is cut anywhere: a sanitizer sees any byte that is read behind it. It begins at no
 * multiple of eight bytes. */
static void test_damaged(_unused_ void **state)
{
	static const int modes[] = {ETHTOOL_LINK_MODE_10000baseCR_Full_BIT, -1};
	struct nl_msg *m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	struct nlmsghdr *whole = nlmsg_hdr(m);
	struct nlattr *set, *bits, *bit;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	put_words(m, ETHTOOL_A_LINKMODES_OURS, modes, modes);
	for (uint32_t size = whole->nlmsg_len; size >= NLMSG_HDRLEN; size--) {
		char *buffer = malloc(size + 4);
		struct nlmsghdr *cut = (struct nlmsghdr *)(void *)(buffer + 4);

		assert_non_null(buffer);
		memcpy(cut, whole, size);
		cut->nlmsg_len = size;
		(void)link_modes_take(cut, &s);
		free(buffer);
	}
	nlmsg_free(m);

	port_snapshot_done(&s);
	m = begin(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	assert_int_equal(link_modes_take(nlmsg_hdr(m), &s), -EBADMSG);
	nlmsg_free(m);
	/* a bit without a number */
	m = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);
	set = nla_nest_start(m, ETHTOOL_A_LINKMODES_OURS);
	bits = nla_nest_start(m, ETHTOOL_A_BITSET_BITS);
	bit = nla_nest_start(m, ETHTOOL_A_BITSET_BITS_BIT);
	nla_put_flag(m, ETHTOOL_A_BITSET_BIT_VALUE);
	nla_nest_end(m, bit);
	nla_nest_end(m, bits);
	nla_nest_end(m, set);
	assert_int_equal(link_modes_take(nlmsg_hdr(m), &s), -EBADMSG);
	assert_true(mask_is_empty(&s.supplied));
	nlmsg_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
