/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-dcb.h"

#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "netlink-value.h"

/* Of Linux 6.3, newer than the headers of Debian 12 */
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

int dcb_parse(const struct nlmsghdr *message, Dcb *ret)
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
		*ret = d;
	return r;
}

static int on_dcb(const struct nlmsghdr *message, void *userdata)
{
	return dcb_parse(message, userdata);
}

int dcb_get(Netlink *n, const char *name, Dcb *ret)
{
	struct dcbmsg dcb = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);

	if (!m)
		return -ENOMEM;
	nlmsg_append(m, &dcb, sizeof(dcb), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, name);
	return netlink_ask(n, m, on_dcb, ret);
}

/* A text in the making. What does not fit is left out. */
typedef struct Line {
	char *text;
	size_t size, used;
} Line;

#define LINE(row)                                                                                  \
	{                                                                                          \
		.text = (row), .size = sizeof(row)                                                 \
	}

__attribute__((format(printf, 2, 3))) static void put(Line *l, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(l->text + l->used, l->size - l->used, format, arguments);
	va_end(arguments);
	l->used += MIN((size_t)MAX(n, 0), l->size - l->used - 1);
}

static void put_list(Line *l, const uint8_t numbers[DCB_PRIORITIES])
{
	for (unsigned int i = 0; i < DCB_PRIORITIES; i++)
		put(l, "%s%u", i ? "," : "", numbers[i]);
}

static void put_algorithms(Line *l, const uint8_t algorithms[IEEE_8021QAZ_MAX_TCS])
{
	for (unsigned int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		const char *comma = i ? "," : "";

		switch (algorithms[i]) {
		case IEEE_8021QAZ_TSA_STRICT:
			put(l, "%sstrict", comma);
			break;
		case IEEE_8021QAZ_TSA_CB_SHAPER:
			put(l, "%scbs", comma);
			break;
		case IEEE_8021QAZ_TSA_ETS:
			put(l, "%sets", comma);
			break;
		case IEEE_8021QAZ_TSA_VENDOR:
			put(l, "%svendor", comma);
			break;
		default:
			put(l, "%s%u", comma, algorithms[i]);
		}
	}
}

/* Neighbours of the same priority are put together: "0-7:0,26:3". */
static void put_map(Line *l, const uint8_t dscp[DCB_DSCPS])
{
	for (unsigned int i = 0; i < DCB_DSCPS; i++) {
		unsigned int first = i;

		if (!dscp[i])
			continue;
		while (i + 1 < DCB_DSCPS && dscp[i + 1] == dscp[i])
			i++;
		put(l, "%s%u", l->used ? "," : "", first);
		if (i > first)
			put(l, "-%u", i);
		put(l, ":%u", dscp[i] - 1U);
	}
	if (!l->used)
		put(l, "none");
}

static void put_trust(Line *l, const Dcb *d)
{
	static const char *const names[] = {
		[IEEE_8021QAZ_APP_SEL_ETHERTYPE] = "ethertype",
		[IEEE_8021QAZ_APP_SEL_STREAM] = "stream-port",
		[IEEE_8021QAZ_APP_SEL_DGRAM] = "dgram-port",
		[IEEE_8021QAZ_APP_SEL_ANY] = "port",
		[IEEE_8021QAZ_APP_SEL_DSCP] = "dscp",
	};

	for (size_t i = 0; i < d->n_trust; i++) {
		unsigned int selector = d->trust[i];
		const char *name = selector < ARRAY_SIZE(names) ? names[selector] : NULL;

		if (selector == SELECTOR_PCP)
			name = "pcp";
		put(l, "%s", i ? "," : "");
		if (name)
			put(l, "%s", name);
		else
			put(l, "%u", selector);
	}
	if (!l->used)
		put(l, "none");
}

void dcb_put_priorities(uint8_t priorities, AttrText ret)
{
	Line l = {.text = ret, .size = sizeof(AttrText)};

	for (unsigned int i = 0; i < DCB_PRIORITIES; i++)
		if (priorities >> i & 1)
			put(&l, "%s%u", l.used ? "," : "", i);
	if (!l.used)
		put(&l, "none");
}

static void supply_ets(const Dcb *d, PortSnapshot *s)
{
	AttrText bandwidth = "", traffic_class = "", algorithm = "";
	Line l = LINE(bandwidth);

	put_list(&l, d->bandwidth);
	PORT_SUPPLY_TEXT(s, ets_bandwidth, bandwidth);
	l = (Line)LINE(traffic_class);
	put_list(&l, d->traffic_class);
	PORT_SUPPLY_TEXT(s, prio_to_tc, traffic_class);
	l = (Line)LINE(algorithm);
	put_algorithms(&l, d->algorithm);
	PORT_SUPPLY_TEXT(s, ets_algorithm, algorithm);
}

void dcb_supply(const Dcb *d, PortSnapshot *s)
{
	AttrText text = "";
	AttrPath map = "";
	Line l = LINE(map);

	if (d->has_pfc) {
		PORT_SUPPLY(s, pfc_cap, d->pfc_cap);
		dcb_put_priorities(d->pfc_enabled, text);
		PORT_SUPPLY_TEXT(s, pfc_enabled, text);
	}
	if (d->has_ets)
		supply_ets(d, s);
	if (d->has_map) {
		put_map(&l, d->dscp);
		PORT_SUPPLY_TEXT(s, dscp_to_priority, map);
	}
	if (d->has_trust) {
		text[0] = '\0';
		l = (Line)LINE(text);
		put_trust(&l, d);
		PORT_SUPPLY_TEXT(s, priority_trust, text);
	}
}
