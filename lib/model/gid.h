/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* GIDs, GUIDs and P_Keys as text, and which GID of a port a program should use. */

#include <stdbool.h>
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

/* What decides which entry of the GID table of a port a program should use. */
typedef struct GidChoice {
	uint8_t gid[16];
	uint32_t type;	 /* GidType */
	bool own_netdev; /* its network interface is that of the port, and not a VLAN above it */
	uint32_t index;	 /* of the entry in the table */
} GidChoice;

/* Whether only neighbours on the same link reach the GID: fe80::/10, or 169.254.0.0/16 mapped into
 * IPv6. The default prefix of an InfiniBand subnet is such a one. */
bool gid_is_link_local(const uint8_t gid[16]);
/* Less than 0 if a program should use A before B, greater than 0 if B before A. This is the rule
 * of all of rdmad; the first difference decides:
 *  1. RoCE v2 before RoCE v1 (which no router forwards), and that before IB
 *  2. a global address before a link-local one
 *  3. the network interface of the port itself before another one
 *  4. IPv4 before IPv6, as NCCL and UCX prefer it
 *  5. the lower index */
int gid_compare(const GidChoice *a, const GidChoice *b);

/* Whose network interface an entry of a GID table belongs to. */
typedef enum GidNamespace {
	GID_NAMESPACE_OWN,   /* the network namespace of rdmad, or there is no interface */
	GID_NAMESPACE_OTHER, /* another one */
	_GID_NAMESPACE_MAX
} GidNamespace;

/* "" or "other"; "" for a number that is no GidNamespace. */
const char *gid_namespace_name(uint32_t namespace);

/* Parses "0002:c903:00ab:cdef", with or without colons or 0x, or with a colon after each byte, as
 * ip(8) writes it. -EINVAL. */
int guid_parse(const char *text, uint64_t *ret);
/* "0002:c903:00ab:cdef", all digits. RET has room for 20 bytes. */
void guid_format(uint64_t guid, char ret[20]);

/* "full" or "limited": bit 15 of a P_Key says which member of its partition the port is. */
const char *pkey_membership(uint32_t pkey);
