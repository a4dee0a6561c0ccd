/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The values of netlink attributes, read so that no length that the kernel may send leads astray.
 */

#include <netlink/attr.h>

#include "util.h"

/* The number in A, which may have 1, 2, 4 or 8 bytes: the kernel's headers and the kernel disagree
 * about the width of some attributes, and a later kernel may change one. False, with *RET
 * untouched, if A is NULL or has another length. */
bool netlink_number(struct nlattr *a, uint64_t *ret);
/* The same; UINT64_MAX if it is none. */
static inline uint64_t netlink_number_or_max(struct nlattr *a)
{
	uint64_t v;

	return netlink_number(a, &v) ? v : UINT64_MAX;
}
/* The text of A up to its first zero byte, into the SIZE bytes at BUFFER: cut to SIZE - 1 bytes,
 * terminated, and with zeros behind the end. The attribute itself need not be terminated. False,
 * with BUFFER untouched, if A is NULL. */
bool netlink_text(struct nlattr *a, char *buffer, size_t size);
/* The structure that A holds, into the SIZE bytes at RET: an attribute is at a multiple of four
 * bytes, and the structure may need one of eight. A later kernel may have more of it behind. False,
 * with RET untouched, if A is NULL or has less. */
bool netlink_structure(const struct nlattr *a, void *ret, size_t size);
