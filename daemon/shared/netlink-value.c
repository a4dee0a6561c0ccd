/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "netlink-value.h"

bool netlink_number(struct nlattr *a, uint64_t *ret)
{
	if (!a)
		return false;
	switch (nla_len(a)) {
	case sizeof(uint8_t):
		*ret = nla_get_u8(a);
		return true;
	case sizeof(uint16_t):
		*ret = nla_get_u16(a);
		return true;
	case sizeof(uint32_t):
		*ret = nla_get_u32(a);
		return true;
	case sizeof(uint64_t):
		*ret = nla_get_u64(a);
		return true;
	}
	return false;
}

bool netlink_text(struct nlattr *a, char *buffer, size_t size)
{
	size_t n;

	if (!a)
		return false;
	n = strnlen(nla_data(a), MIN((size_t)nla_len(a), size - 1));
	memcpy(buffer, nla_data(a), n);
	memset(buffer + n, 0, size - n);
	return true;
}

bool netlink_structure(const struct nlattr *a, void *ret, size_t size)
{
	if (!a || nla_len(a) < (int)size)
		return false;
	memcpy(ret, nla_data(a), size);
	return true;
}
