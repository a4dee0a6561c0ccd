/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "decode.h"

#include <strings.h>

/* Sparse enumerations have NULL in their holes. */
#define NAMES_MAX 12

typedef struct Enumeration {
	const char *names[NAMES_MAX];
} Enumeration;

static const Enumeration enumerations[_ATTR_TYPE_MAX] = {
	[ATTR_PORT_STATE] = {{"nop", "down", "init", "armed", "active", "active-defer"}},
	[ATTR_PHYS_STATE] = {{"no-change", "sleep", "polling", "disabled",
			      "port-configuration-training", "link-up", "link-error-recovery",
			      "phy-test", NULL, "offline", NULL, "test"}},
	[ATTR_LINK_LAYER] = {{"unspecified", "infiniband", "ethernet"}},
	[ATTR_PROTOCOL] = {{"unknown", "infiniband", "roce", "iwarp", "opa", "usnic"}},
	/* enum rdma_node_type; libibverbs calls 7 "unspecified" as well */
	[ATTR_NODE_TYPE] = {{NULL, "ca", "switch", "router", "rnic", "usnic", "usnic-udp",
			     "unspecified"}},
	[ATTR_OPERSTATE] = {{"unknown", "not-present", "down", "lower-layer-down", "testing",
			     "dormant", "up"}},
};

/* LinkSpeed codes are bits: the name is that of bit n. 4 and 8 have the same nominal rate (8 is
 * FDR10). */
static const char *const speed_names[] = {"SDR", "DDR", "QDR", "FDR10", "FDR",
					  "EDR", "HDR", "NDR", "XDR"};

/* Published names of enum ibv_port_cap_flags and of the bits that verbs.h leaves out (10, 13, 27 to
 * 31). Bit 26 is verbs' own meaning: the uverbs layer replaces IsOtherLocalChangesNoticeSupported
 * by IP_BASED_GIDS. */
static const char *const cap_names[32] = {
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
};

static const char *const cap2_names[32] = {
	"set-node-description",
	"port-info-extended",
	"virtualization",
	"switch-port-state-table",
	"link-width-2x",
	"link-speed-hdr",
	"bit-6",
	"bit-7",
	"bit-8",
	"bit-9",
	"link-speed-ndr",
	"bit-11",
	"link-speed-xdr",
	"bit-13",
	"bit-14",
	"bit-15",
	"bit-16",
	"bit-17",
	"bit-18",
	"bit-19",
	"bit-20",
	"bit-21",
	"bit-22",
	"bit-23",
	"bit-24",
	"bit-25",
	"bit-26",
	"bit-27",
	"bit-28",
	"bit-29",
	"bit-30",
	"bit-31",
};

/* Codes that stand for numbers. */
typedef struct Code {
	uint32_t code, number;
} Code;

static const Code mtu_codes[] = {{1, 256}, {2, 512}, {3, 1024}, {4, 2048}, {5, 4096}, {0}};
/* 16 is 2x: it came later than the others */
static const Code width_codes[] = {{1, 1}, {16, 2}, {2, 4}, {4, 8}, {8, 12}, {0}};
static const Code vl_codes[] = {{1, 1}, {2, 2}, {3, 4}, {4, 8}, {5, 15}, {0}};

static const Code *codes_of(AttrType type)
{
	return type == ATTR_MTU	      ? mtu_codes
	       : type == ATTR_WIDTH   ? width_codes
	       : type == ATTR_VL_CODE ? vl_codes
				      : NULL;
}

const char *decode_name(AttrType type, uint32_t value)
{
	if (type == ATTR_SPEED) {
		unsigned int bit = value ? (unsigned int)__builtin_ctz(value) : 32;

		return bit < ARRAY_SIZE(speed_names) && value == 1U << bit ? speed_names[bit]
									   : NULL;
	}
	return value < NAMES_MAX ? enumerations[type].names[value] : NULL;
}

int decode_value(AttrType type, const char *name, uint32_t *ret)
{
	if (type == ATTR_SPEED) {
		for (unsigned int bit = 0; bit < ARRAY_SIZE(speed_names); bit++)
			if (strcasecmp(speed_names[bit], name) == 0) {
				*ret = 1U << bit;
				return 0;
			}
		return -EINVAL;
	}
	for (uint32_t v = 0; v < NAMES_MAX; v++)
		if (enumerations[type].names[v] &&
		    strcasecmp(enumerations[type].names[v], name) == 0) {
			*ret = v;
			return 0;
		}
	return -EINVAL;
}

const char *const *decode_names(AttrType type)
{
	static const char *names[_ATTR_TYPE_MAX][NAMES_MAX + 1];
	size_t n = 0;

	if (!names[type][0]) {
		if (type == ATTR_SPEED)
			for (; n < ARRAY_SIZE(speed_names); n++)
				names[type][n] = speed_names[n];
		else
			for (uint32_t v = 0; v < NAMES_MAX; v++)
				if (enumerations[type].names[v])
					names[type][n++] = enumerations[type].names[v];
	}
	return names[type][0] ? names[type] : NULL;
}

const char *decode_capability(AttrType type, unsigned int bit)
{
	return type == ATTR_CAP_FLAGS ? cap_names[bit] : cap2_names[bit];
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
