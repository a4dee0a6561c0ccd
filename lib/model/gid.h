/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* GIDs, GUIDs and P_Keys as text. */

#include <stdint.h>

/* enum ibv_gid_type_sysfs and the uverbs ABI agree on these */
typedef enum GidType { GID_TYPE_IB, GID_TYPE_ROCE_V1, GID_TYPE_ROCE_V2, _GID_TYPE_MAX } GidType;

/* "fe80:0000:0000:0000:0002:c903:00ab:cdef", all digits, as sysfs and show_gids write a GID. RET
 * has room for 40 bytes. */
void gid_format(const uint8_t gid[16], char ret[40]);
/* The IP address in a RoCE GID: IPv4 if it is v4-mapped, else IPv6. "" for GID type IB. RET has
 * room for 46 bytes. */
void gid_format_address(const uint8_t gid[16], GidType type, char ret[46]);
/* The GID that holds IP address TEXT, an IPv4 address mapped into IPv6; or any GID in the notation
 * of IPv6. -EINVAL. */
int gid_parse(const char *text, uint8_t ret[16]);
/* "IB", "RoCE v1", "RoCE v2"; for a number that is no GidType "unknown(7)". Returns a static text
 * or BUFFER. */
const char *gid_type_name(uint32_t type, char buffer[24]);

/* Parses "0002:c903:00ab:cdef", with or without colons or 0x. -EINVAL. */
int guid_parse(const char *text, uint64_t *ret);
/* "0002:c903:00ab:cdef", all digits. RET has room for 20 bytes. */
void guid_format(uint64_t guid, char ret[20]);

/* "full" or "limited": bit 15 of a P_Key says which member of its partition the port is. */
const char *pkey_membership(uint32_t pkey);
