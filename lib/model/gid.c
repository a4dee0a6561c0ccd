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

static bool is_v4_mapped(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

void gid_format_address(const uint8_t gid[16], GidType type, char ret[46])
{
	ret[0] = '\0';
	if (type == GID_TYPE_IB)
		return;
	if (is_v4_mapped(gid))
		inet_ntop(AF_INET, gid + 12, ret, 46);
	else
		inet_ntop(AF_INET6, gid, ret, 46);
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
	if (is_v4_mapped(gid))
		return gid[12] == 169 && gid[13] == 254;
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

int gid_compare(const GidChoice *a, const GidChoice *b)
{
	if (a->type != b->type)
		return a->type > b->type ? -1 : 1;
	if (gid_is_link_local(a->gid) != gid_is_link_local(b->gid))
		return gid_is_link_local(a->gid) ? 1 : -1;
	if (a->own_netdev != b->own_netdev)
		return a->own_netdev ? -1 : 1;
	if (is_v4_mapped(a->gid) != is_v4_mapped(b->gid))
		return is_v4_mapped(a->gid) ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
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

const char *pkey_membership(uint32_t pkey)
{
	return pkey & 0x8000 ? "full" : "limited";
}
