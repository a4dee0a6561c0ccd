/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-ethtool.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "netlink-value.h"
#include "query-link-modes.h"

/* Newer than the headers of Debian 11, of Linux 5.10: FEC_GET is of 5.13, LINK_DOWNS of 6.3. */
#define FEC_GET	      29
#define FEC_GET_REPLY 30
#define LINK_DOWNS    7
#define LINK_LAST     LINK_DOWNS

enum { FEC_ACTIVE = 4, FEC_STATS = 5, FEC_LAST = FEC_STATS };
enum { STAT_CORRECTED = 2, STAT_UNCORRECTABLE, STAT_BITS, STAT_LAST = STAT_BITS };

/* The modes of FEC among the modes of a link, ETHTOOL_LINK_MODE_FEC_*_BIT */
static const struct {
	uint32_t bit;
	const char *word;
} fec_modes[] = {{49, "off"}, {50, "rs"}, {51, "baser"}, {74, "llrs"}};

/* The words for STATE or, if SUBSTATE is not 0, for what that adds to it; those of a later kernel
 * are "unknown(13)". */
static void put_words(uint64_t state, uint64_t substate, AttrText ret)
{
	static const struct {
		uint64_t state, substate;
		const char *words;
	} rows[] = {
#define LINK_DOWN(state, substate, words) {state, substate, words},
#include "link-down.def"
	};

	snprintf(ret, sizeof(AttrText), "unknown(%u)", (unsigned int)(substate ? substate : state));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].state == state && rows[i].substate == substate)
			text_copy(ret, sizeof(AttrText), rows[i].words);
}

int ethtool_take_link(const struct nlmsghdr *message, void *port)
{
	struct nlattr *a[LINK_LAST + 1];
	AttrText reason = "", detail = "";
	PortSnapshot *s = port;
	uint64_t state, substate, downs, sqi, sqi_max;
	int r = genl_parse(message, ETHTOOL_MSG_LINKSTATE_GET_REPLY, a, LINK_LAST);

	if (r < 0)
		return r;
	state = netlink_number_or_max(a[ETHTOOL_A_LINKSTATE_EXT_STATE]);
	substate = netlink_number_or_max(a[ETHTOOL_A_LINKSTATE_EXT_SUBSTATE]);
	/* A driver may keep the last reason, or name one that is over. */
	if (state <= UINT8_MAX && netlink_number_or_max(a[ETHTOOL_A_LINKSTATE_LINK]) != 1) {
		put_words(state, 0, reason);
		if (substate > 0 && substate <= UINT8_MAX)
			put_words(state, substate, detail);
	}
	PORT_SUPPLY_TEXT(s, link_down_reason, reason);
	PORT_SUPPLY_TEXT(s, link_down_detail, detail);
	downs = netlink_number_or_max(a[LINK_DOWNS]);
	if (downs <= UINT32_MAX)
		PORT_SUPPLY(s, phy_link_downs, (uint32_t)downs);
	sqi = netlink_number_or_max(a[ETHTOOL_A_LINKSTATE_SQI]);
	sqi_max = netlink_number_or_max(a[ETHTOOL_A_LINKSTATE_SQI_MAX]);
	if (sqi_max > UINT32_MAX || sqi > sqi_max)
		return 0;
	PORT_SUPPLY(s, signal_quality, (uint32_t)sqi);
	PORT_SUPPLY(s, signal_quality_max, (uint32_t)sqi_max);
	return 0;
}

/* Supplies ROW with the total of a statistic of FEC; behind it there may be those of the lanes. */
static void supply_total(const struct nlattr *a, PortAttr row, PortSnapshot *s)
{
	uint64_t v;

	if (netlink_structure(a, &v, sizeof(v)) && v != UINT64_MAX)
		port_supply_number(s, row, v);
}

int ethtool_take_fec(const struct nlmsghdr *message, void *port)
{
	struct nlattr *a[FEC_LAST + 1], *stat[STAT_LAST + 1] = {};
	PortSnapshot *s = port;
	AttrText mode = "";
	uint64_t active;
	int r = genl_parse(message, FEC_GET_REPLY, a, FEC_LAST);

	if (r < 0)
		return r;
	if (a[FEC_STATS] && nla_parse_nested(stat, STAT_LAST, a[FEC_STATS], NULL) < 0)
		return -EBADMSG;
	active = netlink_number_or_max(a[FEC_ACTIVE]);
	for (size_t i = 0; i < ARRAY_SIZE(fec_modes); i++)
		if (fec_modes[i].bit == active)
			text_copy(mode, sizeof(mode), fec_modes[i].word);
	if (!*mode && active <= UINT32_MAX)
		snprintf(mode, sizeof(mode), "unknown(%u)", (unsigned int)active);
	PORT_SUPPLY_TEXT(s, fec_mode, mode);
	supply_total(stat[STAT_CORRECTED], PORT_ATTR_fec_corrected, s);
	supply_total(stat[STAT_UNCORRECTABLE], PORT_ATTR_fec_uncorrectable, s);
	supply_total(stat[STAT_BITS], PORT_ATTR_fec_corrected_bits, s);
	return 0;
}

/* Keeps in *FIRST the first error that R is. An interface need not have an answer to each question:
 * virtual ones have no modes, and most drivers no FEC. */
static void note_error(int r, int *first)
{
	if (r < 0 && r != -EOPNOTSUPP && *first == 0)
		*first = r;
}

int ethtool_supply(Genl *g, uint32_t ifindex, PortSnapshot *s)
{
	int r = genl_open(g, ETHTOOL_GENL_NAME), error = 0;

	if (r < 0)
		return r;
	note_error(genl_ethtool_ask(g, ETHTOOL_MSG_LINKSTATE_GET, ifindex, ethtool_take_link, s),
		   &error);
	note_error(link_modes_read(g, ifindex, s), &error);
	note_error(genl_ethtool_ask(g, FEC_GET, ifindex, ethtool_take_fec, s), &error);
	return error;
}
