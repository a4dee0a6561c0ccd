/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-dcb.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "list.h"
#include "netlink-value.h"

/* Of Linux 6.2, newer than the headers of Debian 12 */
#define ATTR_TRUST_TABLE 11
#define ATTR_IEEE_LAST	 ATTR_TRUST_TABLE
#define SELECTOR_PCP	 255

static int parse_pfc(const struct nlattr *a, Dcb *d)
{
	struct ieee_pfc pfc;

	if (!netlink_structure(a, &pfc, sizeof(pfc)))
		return -EBADMSG;
	d->has_pfc = true;
	d->pfc_cap = pfc.pfc_cap;
	d->pfc_enabled = pfc.pfc_en;
	return 0;
}

static int parse_ets(const struct nlattr *a, Dcb *d)
{
	struct ieee_ets ets;

	if (!netlink_structure(a, &ets, sizeof(ets)))
		return -EBADMSG;
	d->has_ets = true;
	memcpy(d->bandwidth, ets.tc_tx_bw, sizeof(d->bandwidth));
	memcpy(d->algorithm, ets.tc_tsa, sizeof(d->algorithm));
	memcpy(d->traffic_class, ets.prio_tc, sizeof(d->traffic_class));
	return 0;
}

/* The table maps Ethernet types and ports as well. */
static int parse_map(struct nlattr *table, Dcb *d)
{
	struct nlattr *a;
	int left;

	d->has_map = true;
	nla_for_each_nested(a, table, left)
	{
		struct dcb_app app;

		if (nla_type(a) != DCB_ATTR_IEEE_APP)
			continue;
		if (!netlink_structure(a, &app, sizeof(app)))
			return -EBADMSG;
		if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= DCB_DSCPS ||
		    app.priority >= DCB_PRIORITIES)
			continue;
		d->dscp[app.protocol] = MAX(d->dscp[app.protocol], (uint8_t)(app.priority + 1));
	}
	return 0;
}

static int parse_trust(struct nlattr *table, Dcb *d)
{
	struct nlattr *a;
	int left;

	d->has_trust = true;
	nla_for_each_nested(a, table, left)
	{
		uint64_t selector;

		if (!netlink_number(a, &selector) || selector > UINT8_MAX)
			return -EBADMSG;
		if (d->n_trust == DCB_TRUST_MAX)
			break;
		d->trust[d->n_trust++] = (uint8_t)selector;
	}
	return 0;
}

int dcb_parse(const struct nlmsghdr *message, void *ret)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1], *ieee[ATTR_IEEE_LAST + 1];
	struct nlmsghdr *m = CONST_CAST(struct nlmsghdr *, message);
	const struct dcbmsg *dcb = nlmsg_data(m);
	Dcb d = {};
	int r = 0;

	if (message->nlmsg_type != RTM_GETDCB || nlmsg_datalen(m) < (int)sizeof(*dcb) ||
	    dcb->cmd != DCB_CMD_IEEE_GET ||
	    nlmsg_parse(m, sizeof(*dcb), tb, DCB_ATTR_MAX, NULL) < 0 || !tb[DCB_ATTR_IEEE] ||
	    nla_parse_nested(ieee, ATTR_IEEE_LAST, tb[DCB_ATTR_IEEE], NULL) < 0)
		return -EBADMSG;
	if (ieee[DCB_ATTR_IEEE_PFC])
		r = parse_pfc(ieee[DCB_ATTR_IEEE_PFC], &d);
	if (r == 0 && ieee[DCB_ATTR_IEEE_ETS])
		r = parse_ets(ieee[DCB_ATTR_IEEE_ETS], &d);
	if (r == 0 && ieee[DCB_ATTR_IEEE_APP_TABLE])
		r = parse_map(ieee[DCB_ATTR_IEEE_APP_TABLE], &d);
	if (r == 0 && ieee[ATTR_TRUST_TABLE])
		r = parse_trust(ieee[ATTR_TRUST_TABLE], &d);
	if (r == 0)
		*(Dcb *)ret = d;
	return r;
}

int dcb_get(Netlink *n, const char *name, Dcb *ret)
{
	struct dcbmsg dcb = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &dcb, sizeof(dcb), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, name);
	return netlink_ask(n, m, dcb_parse, ret);
}

/* Adds the name that NAMES, which has N_NAMES, has at CODE; without one, the number. */
static void add_name(ListWriter *w, const char *const *names, size_t n_names, unsigned int code)
{
	if (code < n_names && names[code])
		list_add_word(w, names[code]);
	else
		list_add_number(w, code);
}

static void put_algorithms(const uint8_t algorithms[IEEE_8021QAZ_MAX_TCS], AttrText ret)
{
	static const char *const names[UINT8_MAX + 1] = {
		[IEEE_8021QAZ_TSA_STRICT] = "strict",
		[IEEE_8021QAZ_TSA_CB_SHAPER] = "cbs",
		[IEEE_8021QAZ_TSA_ETS] = "ets",
		[IEEE_8021QAZ_TSA_VENDOR] = "vendor",
	};
	ListWriter w;

	list_begin(&w, ATTR_WORDS, ret, sizeof(AttrText));
	for (unsigned int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		add_name(&w, names, ARRAY_SIZE(names), algorithms[i]);
	list_end(&w);
}

static void put_map(const uint8_t dscp[DCB_DSCPS], AttrPath ret)
{
	ListWriter w;

	list_begin(&w, ATTR_PAIRS, ret, sizeof(AttrPath));
	for (unsigned int i = 0; i < DCB_DSCPS; i++)
		if (dscp[i])
			list_add_pair(&w, i, dscp[i] - 1U);
	list_end(&w);
}

static void put_trust(const Dcb *d, AttrText ret)
{
	static const char *const names[UINT8_MAX + 1] = {
		[IEEE_8021QAZ_APP_SEL_ETHERTYPE] = "ethertype",
		[IEEE_8021QAZ_APP_SEL_STREAM] = "stream-port",
		[IEEE_8021QAZ_APP_SEL_DGRAM] = "dgram-port",
		[IEEE_8021QAZ_APP_SEL_ANY] = "port",
		[IEEE_8021QAZ_APP_SEL_DSCP] = "dscp",
		[SELECTOR_PCP] = "pcp",
	};
	ListWriter w;

	list_begin(&w, ATTR_WORDS, ret, sizeof(AttrText));
	for (size_t i = 0; i < d->n_trust; i++)
		add_name(&w, names, ARRAY_SIZE(names), d->trust[i]);
	list_end(&w);
}

static void supply_ets(const Dcb *d, PortSnapshot *s)
{
	AttrText text = "";

	list_put_numbers(d->bandwidth, ARRAY_SIZE(d->bandwidth), text);
	PORT_SUPPLY_TEXT(s, ets_bandwidth, text);
	list_put_numbers(d->traffic_class, ARRAY_SIZE(d->traffic_class), text);
	PORT_SUPPLY_TEXT(s, prio_to_tc, text);
	put_algorithms(d->algorithm, text);
	PORT_SUPPLY_TEXT(s, ets_algorithm, text);
}

void dcb_supply(const Dcb *d, PortSnapshot *s)
{
	AttrText text = "";
	AttrPath map = "";

	if (d->has_pfc) {
		PORT_SUPPLY(s, pfc_cap, d->pfc_cap);
		list_put_bits(d->pfc_enabled, text);
		PORT_SUPPLY_TEXT(s, pfc_enabled, text);
	}
	if (d->has_ets)
		supply_ets(d, s);
	if (d->has_map) {
		put_map(d->dscp, map);
		PORT_SUPPLY_TEXT(s, dscp_to_priority, map);
	}
	if (d->has_trust) {
		put_trust(d, text);
		PORT_SUPPLY_TEXT(s, priority_trust, text);
	}
}
