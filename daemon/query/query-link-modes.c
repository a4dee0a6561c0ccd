/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-link-modes.h"

#include <linux/ethtool_netlink.h>

#include "list.h"
#include "netlink-value.h"

/* A set of link modes, by their numbers: link-modes.def. A mode with a higher number is left out.
 */
typedef struct LinkModeSet {
	uint64_t words[4];
} LinkModeSet;

#define MODES_MAX (64 * ARRAY_SIZE(((LinkModeSet *)NULL)->words))

static void set_mode(LinkModeSet *set, uint64_t mode)
{
	if (mode < MODES_MAX)
		set->words[mode / 64] |= UINT64_C(1) << mode % 64;
}

static bool has_mode(const LinkModeSet *set, unsigned int mode)
{
	return set->words[mode / 64] >> mode % 64 & 1;
}

/* Reads A, a set as words of 32 bits in the order of bytes of this machine. */
static void read_words(const struct nlattr *a, LinkModeSet *ret)
{
	*ret = (LinkModeSet){};
	for (size_t i = 0; a && 4 * (i + 1) <= (size_t)nla_len(a) && 32 * i < MODES_MAX; i++) {
		uint32_t word;

		memcpy(&word, (const char *)nla_data(a) + 4 * i, sizeof(word));
		ret->words[i / 2] |= (uint64_t)word << 32 * (i % 2);
	}
}

/* Reads LIST, in which each bit of the mask is a nest that says whether its value is 1. Without a
 * mask there are only those of which it is. */
static int read_list(struct nlattr *list, bool has_mask, LinkModeSet *ret_value,
		     LinkModeSet *ret_mask)
{
	struct nlattr *a, *bit[ETHTOOL_A_BITSET_BIT_MAX + 1];
	int left;

	*ret_value = *ret_mask = (LinkModeSet){};
	nla_for_each_nested(a, list, left)
	{
		uint64_t mode;

		if (nla_type(a) != ETHTOOL_A_BITSET_BITS_BIT)
			continue;
		if (nla_parse_nested(bit, ETHTOOL_A_BITSET_BIT_MAX, a, NULL) < 0 ||
		    !netlink_number(bit[ETHTOOL_A_BITSET_BIT_INDEX], &mode))
			return -EBADMSG;
		set_mode(ret_mask, mode);
		if (!has_mask || bit[ETHTOOL_A_BITSET_BIT_VALUE])
			set_mode(ret_value, mode);
	}
	return 0;
}

/* Reads the bits of NEST, which may be NULL: then there are none. */
static int read_set(struct nlattr *nest, LinkModeSet *ret_value, LinkModeSet *ret_mask)
{
	struct nlattr *a[ETHTOOL_A_BITSET_MAX + 1] = {};

	if (nest && nla_parse_nested(a, ETHTOOL_A_BITSET_MAX, nest, NULL) < 0)
		return -EBADMSG;
	if (a[ETHTOOL_A_BITSET_BITS])
		return read_list(a[ETHTOOL_A_BITSET_BITS], !a[ETHTOOL_A_BITSET_NOMASK], ret_value,
				 ret_mask);
	read_words(a[ETHTOOL_A_BITSET_VALUE], ret_value);
	read_words(a[ETHTOOL_A_BITSET_MASK], ret_mask);
	return 0;
}

/* The speeds of the modes of SET; "" if there are none. */
static void speeds_text(const LinkModeSet *set, AttrText ret)
{
	static const struct {
		const char *word;
		struct {
			uint8_t first, last;
		} ranges[4];
	} speeds[] = {
#define LINK_SPEED(word, ...) {word, {__VA_ARGS__}},
#include "link-modes.def"
	};
	ListWriter w;

	list_begin(&w, ATTR_WORDS, ret, sizeof(AttrText));
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		bool found = false;

		/* no range of a speed begins with 0 */
		for (size_t k = 0; k < 4 && speeds[i].ranges[k].first; k++)
			for (unsigned int mode = speeds[i].ranges[k].first;
			     mode <= speeds[i].ranges[k].last; mode++)
				found |= has_mode(set, mode);
		if (found)
			list_add_word(&w, speeds[i].word);
	}
}

int link_modes_take(const struct nlmsghdr *message, void *port)
{
	struct nlattr *a[ETHTOOL_A_LINKMODES_PEER + 1];
	LinkModeSet supported, advertised, partner, unused;
	PortSnapshot *s = port;
	AttrText text = {};
	uint64_t autoneg;
	int r = genl_parse(message, ETHTOOL_MSG_LINKMODES_GET_REPLY, a, ETHTOOL_A_LINKMODES_PEER);

	if (r == 0)
		r = read_set(a[ETHTOOL_A_LINKMODES_OURS], &advertised, &supported);
	if (r == 0)
		r = read_set(a[ETHTOOL_A_LINKMODES_PEER], &partner, &unused);
	if (r < 0)
		return r;
	if (netlink_number(a[ETHTOOL_A_LINKMODES_AUTONEG], &autoneg) && autoneg <= 1)
		PORT_SUPPLY(s, autoneg, (uint32_t)autoneg);
	speeds_text(&supported, text);
	PORT_SUPPLY_TEXT(s, supported_speeds, text);
	speeds_text(&advertised, text);
	PORT_SUPPLY_TEXT(s, advertised_speeds, text);
	/* empty: the other end is not heard */
	speeds_text(&partner, text);
	PORT_SUPPLY_TEXT(s, partner_speeds, text);
	return 0;
}

int link_modes_read(Genl *g, uint32_t ifindex, PortSnapshot *s)
{
	struct nl_msg *m =
		genl_ethtool_request(g, ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER,
				     ifindex, ETHTOOL_FLAG_COMPACT_BITSETS);

	return m ? netlink_ask(&g->netlink, m, link_modes_take, s) : -ENOMEM;
}
