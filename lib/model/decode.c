/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "decode.h"

#include <strings.h>

/* One more than the largest number that has a name. */
#define NAMES_MAX 12

/* The names by number; NULL for a number that has none. */
typedef const char *const Enumeration[NAMES_MAX];

/* clang-format off */
static Enumeration *const enumerations[_ATTR_TYPE_MAX] = {
	[ATTR_PORT_STATE] = &(Enumeration){
		[PORT_STATE_NOP] = "nop",
		[PORT_STATE_DOWN] = "down",
		[PORT_STATE_INIT] = "init",
		[PORT_STATE_ARMED] = "armed",
		[PORT_STATE_ACTIVE] = "active",
		[PORT_STATE_ACTIVE_DEFER] = "active-defer",
	},
	[ATTR_PHYS_STATE] = &(Enumeration){
		"no-change", "sleep", "polling", "disabled", "port-configuration-training", "link-up",
		"link-error-recovery", "phy-test", NULL, "offline", NULL, "test",
	},
	[ATTR_LINK_LAYER] = &(Enumeration){
		[LINK_LAYER_UNSPECIFIED] = "unspecified",
		[LINK_LAYER_INFINIBAND] = "infiniband",
		[LINK_LAYER_ETHERNET] = "ethernet",
	},
	[ATTR_PROTOCOL] = &(Enumeration){
		[PROTOCOL_UNKNOWN] = "unknown",
		[PROTOCOL_INFINIBAND] = "infiniband",
		[PROTOCOL_ROCE] = "roce",
		[PROTOCOL_IWARP] = "iwarp",
		[PROTOCOL_OPA] = "opa",
		[PROTOCOL_USNIC] = "usnic",
		[PROTOCOL_RAW_PACKET] = "raw-packet",
	},
	[ATTR_RATE_SOURCE] = &(Enumeration){
		[RATE_SOURCE_LINK] = "link",
		[RATE_SOURCE_EFFECTIVE] = "effective-speed",
		[RATE_SOURCE_NETDEV] = "netdev-speed",
		[RATE_SOURCE_BOND] = "bond",
		[RATE_SOURCE_LAG_PORT] = "lag-port",
	},
	[ATTR_RAIL_SOURCE] = &(Enumeration){
		[RAIL_SOURCE_NEIGHBOR] = "neighbor",
		[RAIL_SOURCE_ORDER] = "order",
	},
	[ATTR_NODE_TYPE] = &(Enumeration){
		[NODE_TYPE_CA] = "ca",
		[NODE_TYPE_SWITCH] = "switch",
		[NODE_TYPE_ROUTER] = "router",
		[NODE_TYPE_RNIC] = "rnic",
		[NODE_TYPE_USNIC] = "usnic",
		[NODE_TYPE_USNIC_UDP] = "usnic-udp",
		[NODE_TYPE_UNSPECIFIED] = "unspecified",
	},
	[ATTR_ATOMIC_CAP] = &(Enumeration){
		"none", "hca", "global",
	},
	[ATTR_EVENTS] = &(Enumeration){
		[EVENTS_POLLED] = "polled",
		[EVENTS_VERBS] = "verbs",
	},
	[ATTR_VERDICT] = &(Enumeration){
		[VERDICT_UNKNOWN] = "unknown",
		[VERDICT_OK] = "ok",
		[VERDICT_WARNING] = "warning",
		[VERDICT_CRITICAL] = "critical",
	},
	[ATTR_DEVICE_TYPE] = &(Enumeration){
		[DEVICE_TYPE_NORMAL] = "normal",
		[DEVICE_TYPE_SMI] = "smi",
	},
	[ATTR_OPERSTATE] = &(Enumeration){
		"unknown", "not-present", "down", "lower-layer-down", "testing", "dormant", "up",
	},
};

/*
 * The speed of a lane. Its code is a bit: speeds[n] is that of bit n. Rates are in Mbit/s.
 *
 * SDR, DDR and QDR use 8b/10b encoding, so that 80 % of the signalling rate is data. The others use
 * 64b/66b encoding or a better one, and the rate that people name them by is what is left for data;
 * the rate on the wire is higher. FDR is the exception: 14 Gb/s is its rate before the encoding.
 */
static const struct {
	const char *name;
	uint32_t signalling, data;
} speeds[] = {
	{"SDR", 2500, 2000},
	{"DDR", 5000, 4000},
	{"QDR", 10000, 8000},
	{"FDR10", 10000, 10000},
	{"FDR", 14000, 13636},
	{"EDR", 25000, 25000},
	{"HDR", 50000, 50000},
	{"NDR", 100000, 100000},
	{"XDR", 200000, 200000},
};
/* clang-format on */

typedef char BitName[32]; /* "": the bit has none */

/* Published names of enum ibv_port_cap_flags and of the bits that verbs.h leaves out (10, 13, 27 to
 * 31). Bit 26 is verbs' own meaning: the uverbs layer replaces IsOtherLocalChangesNoticeSupported
 * by IP_BASED_GIDS. The type CAP_NAMES has another bit for that. */
static const BitName cap_names[CAPABILITY_OTHER_LOCAL_CHANGES + 1] = {
	"reserved-0",
	"sm",
	"notice",
	"trap",
	"optional-ipd",
	"automatic-migration",
	"sl-mapping",
	"mkey-nvram",
	"pkey-nvram",
	"led-info",
	"sm-disabled",
	"system-image-guid",
	"pkey-switch-external-port-trap",
	"cable-info",
	"extended-speeds",
	"capability-mask2",
	"communication-management",
	"snmp-tunneling",
	"reinit",
	"device-management",
	"vendor-class",
	"dr-notice",
	"capability-mask-notice",
	"boot-management",
	"link-round-trip-latency",
	"client-reregistration",
	"ip-based-gids",
	"link-speed-width-pairs-table",
	"vendor-specific-mads-table",
	"multicast-pkey-trap-suppression",
	"multicast-fdb-top",
	"hierarchy-info",
	[CAPABILITY_OTHER_LOCAL_CHANGES] = "other-local-changes-notice",
};

static const BitName cap2_names[32] = {
	"set-node-description",	   "port-info-extended", "virtualization",
	"switch-port-state-table", "link-width-2x",	 "link-speed-hdr",
	[10] = "link-speed-ndr",   "extended-speeds2",	 "link-speed-xdr",
};

/* Direct verbs. Bit 1 of mlx5's flags is not used any more. */
static const BitName mlx5_flag_names[32] = {
	"cqe-version-1",
	[2] = "multi-packet-wqe",
	"enhanced-multi-packet-wqe",
	"cqe-128b-compression",
	"cqe-128b-padding",
	"packet-based-credit",
	"real-time-timestamps",
	"blueflame",
};

static const BitName efa_cap_names[32] = {
	"rdma-read",
	"rnr-retry",
	"cq-with-source-gid",
	"rdma-write",
	"unsolicited-write-receive",
	"cq-in-dma-buf",
	"completion-counters",
};

static const BitName hns_congest_names[32] = {"dcqcn", "ldcp", "hc3", "dip"};

/* A code that stands for a number; a list of them ends with code 0. */
typedef struct Code {
	uint32_t code, number;
} Code;

static const Code mtu_codes[] = {{1, 256}, {2, 512}, {3, 1024}, {4, 2048}, {5, 4096}, {0}};
/* Code 16, two lanes, came later than the others. */
static const Code width_codes[] = {{1, 1}, {16, 2}, {2, 4}, {4, 8}, {8, 12}, {0}};
static const Code vl_codes[] = {{1, 1}, {2, 2}, {3, 4}, {4, 8}, {5, 15}, {0}};

static const Code *codes_of(AttrType type)
{
	return type == ATTR_MTU	      ? mtu_codes
	       : type == ATTR_WIDTH   ? width_codes
	       : type == ATTR_VL_CODE ? vl_codes
				      : NULL;
}

/* The place of CODE among the speeds; -EINVAL. */
static int find_speed(uint32_t code)
{
	int bit = code ? __builtin_ctz(code) : 32;

	return bit < (int)ARRAY_SIZE(speeds) && code == 1U << bit ? bit : -EINVAL;
}

bool decode_state_meets(uint32_t state, uint32_t wanted)
{
	return wanted < PORT_STATE_INIT ? state == wanted
					: state >= wanted && state <= PORT_STATE_ACTIVE_DEFER;
}

const char *decode_name(AttrType type, uint32_t value)
{
	if (type == ATTR_SPEED) {
		int i = find_speed(value);

		return i < 0 ? NULL : speeds[i].name;
	}
	return value < NAMES_MAX && enumerations[type] ? (*enumerations[type])[value] : NULL;
}

int decode_value(AttrType type, const char *name, uint32_t *ret)
{
	if (type == ATTR_SPEED) {
		for (unsigned int bit = 0; bit < ARRAY_SIZE(speeds); bit++)
			if (strcasecmp(speeds[bit].name, name) == 0) {
				*ret = 1U << bit;
				return 0;
			}
		return -EINVAL;
	}
	for (uint32_t v = 0; v < NAMES_MAX; v++) {
		const char *known = decode_name(type, v);

		if (known && strcasecmp(known, name) == 0) {
			*ret = v;
			return 0;
		}
	}
	return -EINVAL;
}

const char *const *decode_names(AttrType type)
{
	static const char *names[_ATTR_TYPE_MAX][NAMES_MAX + 1];
	size_t n = 0;

	if (!names[type][0]) {
		if (type == ATTR_SPEED)
			for (; n < ARRAY_SIZE(speeds); n++)
				names[type][n] = speeds[n].name;
		else
			for (uint32_t v = 0; v < NAMES_MAX; v++)
				if (decode_name(type, v))
					names[type][n++] = decode_name(type, v);
	}
	return names[type][0] ? names[type] : NULL;
}

/* The names of the bits of TYPE. Of cap_names none is missing. */
static const BitName *names_of_bits(AttrType type)
{
	return type == ATTR_CAP_FLAGS2	  ? cap2_names
	       : type == ATTR_MLX5_FLAGS  ? mlx5_flag_names
	       : type == ATTR_EFA_CAPS	  ? efa_cap_names
	       : type == ATTR_HNS_CONGEST ? hns_congest_names
					  : cap_names;
}

const char *decode_capability(AttrType type, unsigned int bit)
{
	static const char numbers[32][8] = {
		"bit-0",  "bit-1",  "bit-2",  "bit-3",	"bit-4",  "bit-5",  "bit-6",  "bit-7",
		"bit-8",  "bit-9",  "bit-10", "bit-11", "bit-12", "bit-13", "bit-14", "bit-15",
		"bit-16", "bit-17", "bit-18", "bit-19", "bit-20", "bit-21", "bit-22", "bit-23",
		"bit-24", "bit-25", "bit-26", "bit-27", "bit-28", "bit-29", "bit-30", "bit-31",
	};
	const char *name = names_of_bits(type)[bit];

	return *name ? name : numbers[bit];
}

unsigned int decode_capability_bits(AttrType type)
{
	return type == ATTR_CAP_NAMES ? ARRAY_SIZE(cap_names) : 32;
}

uint32_t decode_number(AttrType type, uint32_t code)
{
	for (const Code *c = codes_of(type); c && c->code; c++)
		if (c->code == code)
			return c->number;
	return 0;
}

int decode_code(AttrType type, uint64_t number, uint32_t *ret)
{
	for (const Code *c = codes_of(type); c && c->code; c++)
		if (c->number == number) {
			*ret = c->code;
			return 0;
		}
	return -EINVAL;
}

bool decode_speed(uint32_t speed, uint64_t *ret_signalling, uint64_t *ret_data)
{
	int i = find_speed(speed);

	if (i < 0)
		return false;
	*ret_signalling = speeds[i].signalling * UINT64_C(1000000);
	*ret_data = speeds[i].data * UINT64_C(1000000);
	return true;
}
