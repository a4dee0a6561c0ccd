/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gid.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "util.h"

/* Four hexadecimal digits and what follows them. By hand because every port that is published has
 * ten such groups, and snprintf() takes a fifth of the time of the whole answer for them. */
static char *put_group(char *p, unsigned int value, char after)
{
	static const char digits[] = "0123456789abcdef";

	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = digits[value >> shift & 0xf];
	*p++ = after;
	return p;
}

void gid_format(const uint8_t gid[16], char ret[40])
{
	for (unsigned int i = 0; i < 8; i++)
		ret = put_group(ret, (unsigned int)gid[2 * i] << 8 | gid[2 * i + 1],
				i < 7 ? ':' : '\0');
}

bool gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

/* A number below 256, and what follows it. By hand for the same reason: inet_ntop() calls
 * sprintf().
 */
static char *put_byte(char *p, unsigned int n, char after)
{
	if (n >= 100)
		*p++ = (char)('0' + n / 100);
	if (n >= 10)
		*p++ = (char)('0' + n / 10 % 10);
	*p++ = (char)('0' + n % 10);
	*p++ = after;
	return p;
}

void gid_format_address(const uint8_t gid[16], GidType type, char ret[46])
{
	ret[0] = '\0';
	if (type == GID_TYPE_IB)
		return;
	if (!gid_is_ipv4(gid)) {
		inet_ntop(AF_INET6, gid, ret, 46);
		return;
	}
	for (unsigned int i = 12; i < 16; i++)
		ret = put_byte(ret, gid[i], i < 15 ? '.' : '\0');
}

int gid_parse(const char *text, uint8_t ret[16])
{
	uint8_t v4[4];

	if (inet_pton(AF_INET6, text, ret) == 1)
		return 0;
	if (inet_pton(AF_INET, text, v4) != 1)
		return -EINVAL;
	memset(ret, 0, 10);
	ret[10] = ret[11] = 0xff;
	memcpy(ret + 12, v4, sizeof(v4));
	return 0;
}

const char *gid_type_name(uint32_t type, char buffer[24])
{
	static const char *const names[_GID_TYPE_MAX] = {"IB", "RoCE v1", "RoCE v2"};

	if (type < _GID_TYPE_MAX)
		return names[type];
	snprintf(buffer, 24, "unknown(%u)", type);
	return buffer;
}

bool gid_is_link_local(const uint8_t gid[16])
{
	if (gid_is_ipv4(gid))
		return gid[12] == 169 && gid[13] == 254;
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

int gid_parse_zone(const char *text, uint8_t ret[16], const char **ret_zone)
{
	const char *sign = strchr(text, '%');
	char address[46];
	int r;

	if (sign && (!sign[1] || sign - text >= (ptrdiff_t)sizeof(address)))
		return -EINVAL;
	text_copy(address, sign ? (size_t)(sign - text) + 1 : sizeof(address), text);
	r = gid_parse(sign ? address : text, ret);
	if (r < 0)
		return r;
	*ret_zone = sign ? sign + 1 : NULL;
	return 0;
}

bool gid_zone_fits(const char *zone, const char *netdev, uint32_t ifindex)
{
	uint64_t number;

	return !zone || streq(zone, netdev) ||
	       (ifindex && text_to_u64(zone, UINT32_MAX, &number) == 0 && number == ifindex);
}

/* How many bits of an address are those of its subnet: a number, or a netmask of IPv4. */
static int parse_prefix_length(const char *text, bool v4, unsigned int *ret)
{
	uint64_t length;
	uint8_t mask[16];
	uint32_t bits;

	if (text_to_u64(text, v4 ? 32 : 128, &length) == 0) {
		*ret = (unsigned int)length;
		return 0;
	}
	if (!v4 || strchr(text, ':') || gid_parse(text, mask) < 0)
		return -EINVAL;
	bits = (uint32_t)mask[12] << 24 | (uint32_t)mask[13] << 16 | (uint32_t)mask[14] << 8 |
	       mask[15];
	if (~bits & (~bits + 1)) /* a one behind a zero */
		return -EINVAL;
	*ret = (unsigned int)__builtin_popcount(bits);
	return 0;
}

int gid_parse_subnet(const char *text, uint8_t ret[16], unsigned int *ret_bits)
{
	const char *slash = strchr(text, '/');
	char address[46];
	unsigned int length;
	bool v4;

	if (!slash || slash - text >= (ptrdiff_t)sizeof(address))
		return -EINVAL;
	text_copy(address, (size_t)(slash - text) + 1, text);
	v4 = !strchr(address, ':');
	if (parse_prefix_length(slash + 1, v4, &length) < 0 || gid_parse(address, ret) < 0)
		return -EINVAL;
	*ret_bits = length + (v4 ? 96 : 0);
	return 0;
}

bool gid_in_subnet(const uint8_t gid[16], const uint8_t subnet[16], unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;

	return memcmp(gid, subnet, bytes) == 0 &&
	       (!rest || ((gid[bytes] ^ subnet[bytes]) >> (8 - rest)) == 0);
}

GidWhere gid_where(const char *netdev, uint32_t vlan_id, uint32_t namespace,
		   const char *port_netdev, const char *port_master)
{
	if (namespace == GID_NAMESPACE_OTHER)
		return GID_WHERE_NAMESPACE;
	if (streq(netdev, port_netdev) || (*netdev && streq(netdev, port_master)))
		return GID_WHERE_OWN;
	return vlan_id ? GID_WHERE_VLAN : GID_WHERE_ABOVE;
}

int gid_compare_kind(const GidChoice *a, const GidChoice *b)
{
	bool other = a->where == GID_WHERE_NAMESPACE;

	if (other != (b->where == GID_WHERE_NAMESPACE))
		return other ? 1 : -1;
	if (a->type != b->type)
		return a->type > b->type ? -1 : 1;
	/* the first GID of an InfiniBand port is that which the others know it by */
	if (a->type == GID_TYPE_IB)
		return 0;
	if (gid_is_link_local(a->gid) != gid_is_link_local(b->gid))
		return gid_is_link_local(a->gid) ? 1 : -1;
	if (a->where != b->where)
		return a->where < b->where ? -1 : 1;
	if (gid_is_ipv4(a->gid) != gid_is_ipv4(b->gid))
		return gid_is_ipv4(a->gid) ? -1 : 1;
	return 0;
}

int gid_compare(const GidChoice *a, const GidChoice *b)
{
	int r = gid_compare_kind(a, b);

	return r ? r : (a->index > b->index) - (a->index < b->index);
}

const char *gid_namespace_name(uint32_t namespace)
{
	return namespace == GID_NAMESPACE_OTHER ? "other" : "";
}

int guid_parse(const char *text, uint64_t *ret)
{
	uint64_t guid = 0;
	unsigned int digits = 0, colons = 0, group = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (; *text; text++) {
		if (*text == ':') {
			/* groups of as many digits as the first one: four or two */
			if (!group)
				group = digits;
			if ((group != 2 && group != 4) || digits != group * ++colons)
				return -EINVAL;
			continue;
		}
		if (!isxdigit((unsigned char)*text) || ++digits > 16)
			return -EINVAL;
		guid = guid << 4 |
		       (uint64_t)(isdigit((unsigned char)*text) ? *text - '0'
								: (*text | 0x20) - 'a' + 10);
	}
	if (digits == 0 || (colons && (digits != 16 || group * (colons + 1) != 16)))
		return -EINVAL;
	*ret = guid;
	return 0;
}

void guid_format(uint64_t guid, char ret[20])
{
	for (int shift = 48; shift >= 0; shift -= 16)
		ret = put_group(ret, (unsigned int)(guid >> shift) & 0xffff,
				shift > 0 ? ':' : '\0');
}

int hw_address_parse(const char *text, uint8_t ret[HW_ADDRESS_MAX])
{
	/* with colons or hyphens, as a switch of Cisco writes it, and bare */
	const size_t group = strspn(text, "0123456789abcdefABCDEF");
	const char separator = text[group];
	unsigned int n = 0;

	if (!(group == 2 && (separator == ':' || separator == '-')) &&
	    !(group == 4 && separator == '.') && group != 12)
		return -EINVAL;
	for (;; text++) {
		for (size_t i = 0; i < group; i += 2, text += 2) {
			int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

			if (low < 0 || n == HW_ADDRESS_MAX)
				return -EINVAL;
			ret[n++] = (uint8_t)(high << 4 | low);
		}
		if (!*text)
			break;
		if (*text != separator)
			return -EINVAL;
	}
	return n == 6 || n == HW_ADDRESS_MAX ? (int)n : -EINVAL;
}

void mac_interface_id(const uint8_t mac[6], uint8_t ret[8])
{
	memcpy(ret, mac, 3);
	memcpy(ret + 5, mac + 3, 3);
	ret[0] ^= 2;
	ret[3] = 0xff;
	ret[4] = 0xfe;
}

const char *pkey_membership(uint32_t pkey)
{
	return pkey & 0x8000 ? "full" : "limited";
}
